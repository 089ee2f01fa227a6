package engine

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"math"
	"math/bits"
	"slices"
	"strings"
)

// Digest fingerprints the complete answer: outcome, choice, every node's first
// failing plugin, code and reasons, and every feasible node's raw and
// normalised scores and total, in order of the nodes' names. Two answers with the
// same digest explain themselves alike; it does not depend on the order of the
// input, nor on the rows that nodes happen to have.
func (r *Result) Digest() string {
	if r.digest == "" {
		r.digest = r.fingerprint()
	}
	return r.digest
}

func (r *Result) fingerprint() string {
	h := sha256.New()
	buf := make([]byte, 0, 4096)
	str := func(s string) {
		buf = binary.AppendUvarint(buf, uint64(len(s)))
		buf = append(buf, s...)
	}
	flush := func() {
		h.Write(buf)
		buf = buf[:0]
	}
	str("berth-answer-1")
	str(string(r.Outcome))
	str(r.Node())
	buf = append(buf, r.q.Nodes.digest[:]...)
	for _, g := range r.gates {
		str(g)
	}
	if r.PreFilter != nil {
		str(r.PreFilter.Plugin)
		buf = append(buf, byte(r.PreFilter.Code))
		str(r.PreFilter.Reason)
	}
	flush()
	r.column(h.Write, r.q.Candidates)
	for i := range r.Rejected {
		rej := &r.Rejected[i]
		str(rej.Plugin)
		flush()
		r.column(h.Write, rej.Unresolvable)
		for _, reason := range byText(rej.Reasons) {
			str(reason.Text)
			flush()
			r.column(h.Write, reason.Nodes)
		}
	}
	r.column(h.Write, r.Feasible)
	for k := range r.scores {
		w, s := r.scoreRules[k], &r.scores[k]
		str(r.q.Profile.Rules[w.Rule].Name())
		buf = binary.AppendVarint(buf, w.Weight)
		flush()
		h.Write(r.scoreColumn(s))
	}
	flush()
	r.digestPreemption(h.Write)
	return "sha256:" + hex.EncodeToString(h.Sum(nil))
}

// byText orders reasons so that the order in which they were found, which may
// depend on nodes that have others, leaves no trace.
func byText(reasons []Reason) []Reason {
	if len(reasons) < 2 {
		return reasons
	}
	out := slices.Clone(reasons)
	slices.SortFunc(out, func(a, b Reason) int { return strings.Compare(a.Text, b.Text) })
	return out
}

// scoreColumn writes a rule's scores in order of the nodes' names: a byte each
// where all are in 0..255, which they nearly always are, else eight; the
// normalised ones only where they differ from the raw. The form depends on the
// values alone, not on how the rule came to them.
func (r *Result) scoreColumn(s *Scores) []byte {
	n := r.Feasible.Count()
	sc := r.q.scratch
	if len(sc.bytes) < 2*n+2 {
		sc.bytes = make([]byte, 2*n+2)
	}
	// One buffer for both: the raw bytes behind their mark, the normalised ones
	// behind theirs.
	raw, norm := sc.bytes[1:n+1], sc.bytes[n+2:2*n+2]
	sc.bytes[0], sc.bytes[n+1] = 'b', 'n'
	var wide, differ int64 // bits beyond a byte; bits in which raw and normalised differ
	switch {
	case s.uniform:
		for i := range raw {
			raw[i], norm[i] = byte(s.raw), byte(s.norm)
		}
		wide, differ = s.raw, s.raw^s.norm
	case r.q.Nodes.inOrder:
		at := 0
		for i, word := range r.Feasible {
			for ; word != 0; word &= word - 1 {
				row := i<<6 + bits.TrailingZeros64(word)
				a, b := s.Raw[row], s.Norm[row]
				raw[at], norm[at] = byte(a), byte(b)
				at++
				wide |= a
				differ |= a ^ b
			}
		}
	default:
		at := 0
		for _, row := range r.q.Nodes.order {
			if r.Feasible.Has(int(row)) {
				a, b := s.Raw[row], s.Norm[row]
				raw[at], norm[at] = byte(a), byte(b)
				at++
				wide |= a
				differ |= a ^ b
			}
		}
	}
	small := wide&^0xff == 0
	switch {
	case small && differ == 0:
		return sc.bytes[:n+1]
	case small:
		return sc.bytes[:2*n+2]
	}
	out := r.wideColumn(s, n)
	if differ != 0 {
		out = append(out, sc.bytes[n+1:2*n+2]...)
	}
	return out
}

// wideColumn writes raw scores that do not fit a byte: two bytes each above the
// least where the span allows, which it does for all but strange weights, else
// eight.
func (r *Result) wideColumn(s *Scores, n int) []byte {
	least, most := int64(math.MaxInt64), int64(math.MinInt64)
	each := func(f func(raw int64)) {
		for _, row := range r.q.Nodes.order {
			if r.Feasible.Has(int(row)) {
				raw, _ := s.at(int(row))
				f(raw)
			}
		}
	}
	each(func(raw int64) { least, most = min(least, raw), max(most, raw) })
	sc := r.q.scratch
	if cap(sc.wide) < 10*n+16 {
		sc.wide = make([]byte, 0, 10*n+16) // the normalised ones may follow
	}
	out := sc.wide[:0]
	if most-least <= math.MaxUint16 && most-least >= 0 {
		out = binary.AppendVarint(append(out, 's'), least)
		each(func(raw int64) { out = binary.LittleEndian.AppendUint16(out, uint16(raw-least)) })
		return out
	}
	out = append(out, 'w')
	each(func(raw int64) { out = binary.LittleEndian.AppendUint64(out, uint64(raw)) })
	return out
}

// column writes a set of rows as bits in order of the nodes' names.
func (r *Result) column(write func([]byte) (int, error), rows Bits) {
	set := r.q.Nodes
	if cap(r.q.scratch.column) < set.n/8+16 {
		r.q.scratch.column = make([]byte, set.n/8+16)
	}
	out := r.q.scratch.column[:0]
	if set.inOrder {
		for _, w := range rows {
			out = binary.LittleEndian.AppendUint64(out, w)
		}
		out = out[:(set.n+7)/8]
	} else {
		out = out[:(set.n+7)/8]
		clear(out)
		for i, row := range set.order {
			if rows.Has(int(row)) {
				out[i>>3] |= 1 << (i & 7)
			}
		}
	}
	_, _ = write(out) // a hash does not fail
}
