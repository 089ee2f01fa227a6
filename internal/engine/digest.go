package engine

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
)

// Digest fingerprints the complete answer: outcome, choice, every node's first
// failing plugin, code and reasons, and every feasible node's raw and
// normalised scores and total, in order of the nodes' names. Two answers with the
// same digest explain themselves alike; it does not depend on the order of the
// input, nor on the rows that nodes happen to have.
func (r *Result) Digest() string {
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
		for _, reason := range rej.Reasons {
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
		if s.uniform {
			// A uniform column is written as one that is not would be, run-length
			// coded: which of the two a rule chose is its own business.
			buf = run(buf, s.raw, s.norm, r.Feasible.Count())
			continue
		}
		var raw, norm int64
		n := 0
		for _, row := range r.q.Nodes.order {
			if !r.Feasible.Has(int(row)) {
				continue
			}
			if a, b := s.Raw[row], s.Norm[row]; n > 0 && a == raw && b == norm {
				n++
			} else {
				buf = run(buf, raw, norm, n)
				raw, norm, n = a, b, 1
			}
			if len(buf) > 3500 {
				flush()
			}
		}
		buf = run(buf, raw, norm, n)
	}
	flush()
	return "sha256:" + hex.EncodeToString(h.Sum(nil))
}

func run(buf []byte, raw, norm int64, n int) []byte {
	if n == 0 {
		return buf
	}
	buf = binary.AppendVarint(buf, raw)
	buf = binary.AppendVarint(buf, norm)
	return binary.AppendUvarint(buf, uint64(n))
}

// column writes a set of rows as bits in order of the nodes' names.
func (r *Result) column(write func([]byte) (int, error), rows Bits) {
	set := r.q.Nodes
	out := make([]byte, 0, (set.n+7)/8)
	if set.inOrder {
		for _, w := range rows {
			out = binary.LittleEndian.AppendUint64(out, w)
		}
		out = out[:(set.n+7)/8]
	} else {
		out = out[:(set.n+7)/8]
		for i, row := range set.order {
			if rows.Has(int(row)) {
				out[i>>3] |= 1 << (i & 7)
			}
		}
	}
	_, _ = write(out) // a hash does not fail
}
