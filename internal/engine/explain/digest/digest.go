// Package digest hashes decisions: two answers with the same digest have the same explanation.
package digest

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"slices"
	"strings"
	"sync"

	"berth/internal/engine"
	"berth/internal/engine/state"
)

// Form is what a digest is over. Records have the digest of the newest form of their time.
type Form int

// The forms. They differ in how they write scores: the second one writes columns, which one hash
// covers; the third one has the hashes of blocks of scores, so that those of nodes that did not
// change can be kept.
const (
	Form2 Form = 2 + iota
	Form3
)

// FormOf returns the form of a record by the version of its engine; known is false, and the form
// the newest one, where this engine does not know the answers of that version.
func FormOf(version string) (form Form, known bool) {
	switch {
	case strings.HasPrefix(version, "v0.2."):
		return Form2, true
	case strings.HasPrefix(version, "v0.3."):
		return Form3, true
	}
	return Form3, false
}

// buffers hold encodings that later digests use again.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

// Of returns, in the newest form, a hash over the complete answer: outcome, choice, every node's
// first failing plugin, code and reasons, and every feasible node's raw and normalised scores and
// total, in order of the nodes' names, and the volumes and devices that the pod would get on the
// chosen one. It does not depend on the order of the input, nor on the rows of the nodes. It is
// worked out once a result.
func Of(r *engine.Result) string { return Form3.Of(r) }

// Of returns the digest of a result, in this form unless it was asked for in another one before.
func (f Form) Of(r *engine.Result) string {
	if r.Digest == "" {
		r.Digest = engine.Shared(r, f, func() string { return f.hash(r) })
	}
	return r.Digest
}

func (f Form) hash(r *engine.Result) string {
	buffer := buffers.Get().(*[]byte)
	defer buffers.Put(buffer)
	*buffer = f.Append((*buffer)[:0], r)
	text := Sum(*buffer)
	return string(text[:])
}

// Text is a digest as records have it.
type Text [len(prefix) + 2*sha256.Size]byte

const prefix = "sha256:"

// Sum returns the digest of an answer as Append encodes it.
func Sum(encoded []byte) (t Text) {
	sum := sha256.Sum256(encoded)
	hex.Encode(t[copy(t[:], prefix):], sum[:])
	return t
}

// Append encodes the answer, section by section, each after a mark. The digest is the hash of that.
func (f Form) Append(b []byte, r *engine.Result) []byte {
	b = append(append(b, "berth-answer-"...), '0'+byte(f))
	b = AppendText(b, string(r.Outcome))
	b = AppendText(b, r.Node())
	if r.Kept() {
		b = append(b, engine.SharedByKind(r, kindKey(f), func() ([]byte, int) {
			of := f.appendVerdicts(nil, r)
			return of, len(of)
		})...)
	} else {
		b = f.appendVerdicts(b, r)
	}
	b = appendPostFilter(b, r)
	for _, v := range r.Volumes() {
		b = AppendText(append(b, 'v'), v.Claim)
		b = AppendText(b, v.Volume)
		b = AppendText(b, v.Provision)
	}
	for _, d := range r.Devices() {
		b = append(b, 'd')
		for _, s := range []string{d.Claim, d.Request, d.Driver, d.Pool, d.Device} {
			b = AppendText(b, s)
		}
	}
	if r.HeldBack != "" {
		b = AppendText(append(b, 'h'), r.HeldBack)
	}
	// A new part of an answer gets its section here, with a mark of its own, and writes nothing
	// where it is absent.
	return b
}

// kindKey is what SharedByKind keeps the sections of appendVerdicts by.
type kindKey Form

// appendVerdicts encodes what does not depend on which of equal nodes was chosen.
func (f Form) appendVerdicts(b []byte, r *engine.Result) []byte {
	b = append(b, r.Query.Nodes.NamesDigest()...)
	for _, g := range r.Gates {
		b = AppendText(append(b, 'g'), g)
	}
	if r.PreFilter != nil {
		b = AppendText(append(b, 'p', byte(r.PreFilter.Code)), r.PreFilter.Plugin)
		b = AppendText(b, r.PreFilter.Reason)
	}
	if !slices.Equal(r.Query.Candidates, r.Query.Nodes.Alive()) {
		b = AppendRows(append(b, 'c'), r.Query.Nodes, r.Query.Candidates)
	}
	for i := range r.Rejected {
		rej := &r.Rejected[i]
		b = AppendText(append(b, 'r'), rej.Plugin)
		b = AppendRows(b, r.Query.Nodes, rej.Unresolvable)
		for _, reason := range byText(rej.Reasons) {
			b = AppendText(append(b, 't'), reason.Text)
			b = AppendRows(b, r.Query.Nodes, reason.Nodes)
		}
	}
	b = AppendRows(append(b, 'f'), r.Query.Nodes, r.Feasible)
	if len(r.Scores) > 0 {
		rows := inNameOrder(r, r.Feasible)
		for k := range r.Scores {
			s := &r.Scores[k]
			b = AppendText(append(b, 's'), r.Query.Profile.Rules[s.Rule].Name)
			b = binary.AppendVarint(b, s.Weight)
			if f == Form2 {
				b = appendScores(b, r, rows, &s.Scores)
			} else {
				b = appendPairs(b, r, rows, &s.Scores)
			}
		}
	}
	return b
}

// AppendText adds a text to the encoding of an answer.
func AppendText(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// byText orders reasons so that the digest does not depend on the order in which they were found.
func byText(reasons []engine.Reason) []engine.Reason {
	if len(reasons) < 2 {
		return reasons
	}
	out := slices.Clone(reasons)
	slices.SortFunc(out, func(a, b engine.Reason) int { return strings.Compare(a.Text, b.Text) })
	return out
}

// inNameOrder returns a set of rows as a set of indexes in the order of names.
func inNameOrder(r *engine.Result, rows state.Bits) state.Bits {
	set := r.Query.Nodes
	if set.InOrder() {
		return rows
	}
	out, order := r.Query.Bits(), set.Order()
	for i := range out {
		if from := i << state.ChunkBits; from < len(order) {
			out[i] = gather(rows, order[from:min(from+state.ChunkSize, len(order))])
		}
	}
	return out
}

// gather returns a word of the bits of up to 64 rows. It has no branch on them, since rows in order
// of names come in any order.
func gather(rows state.Bits, order []int32) (w uint64) {
	for k, row := range order {
		w |= rows[row>>state.ChunkBits] >> (row & (state.ChunkSize - 1)) & 1 << k
	}
	return w
}

// appendRows writes a set of rows as bits in order of the nodes' names.
func AppendRows(b []byte, set *state.NodeSet, rows state.Bits) []byte {
	from, size := len(b), (set.Count()+7)/8
	if set.InOrder() {
		for _, w := range rows {
			b = binary.LittleEndian.AppendUint64(b, w)
		}
		return b[:from+size]
	}
	for part := range slices.Chunk(set.Order(), state.ChunkSize) {
		b = binary.LittleEndian.AppendUint64(b, gather(rows, part))
	}
	return b[:from+size]
}

// appendPostFilter adds the phase to the digest. A decision without it adds nothing.
func appendPostFilter(b []byte, r *engine.Result) []byte {
	p := r.PostFilter
	if p == nil {
		return b
	}
	b = append(b, 'd')
	if p.Search != nil {
		return p.Search.AppendDigest(b)
	}
	for _, text := range []string{"", "", p.Text()} { // no node, no reason, no row tried
		b = AppendText(b, text)
	}
	none := r.Query.Bits()
	for range 3 {
		b = AppendRows(b, r.Query.Nodes, none)
	}
	return b
}
