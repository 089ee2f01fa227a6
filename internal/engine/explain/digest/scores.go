package digest

import (
	"crypto/sha256"
	"encoding/binary"
	"iter"
	"math"
	"math/bits"
	"slices"

	"berth/internal/engine"
	"berth/internal/engine/state"
)

// column is a rule's raw or normalised scores of the feasible nodes.
type column struct {
	// scores are in order of the nodes' names, in blocks of 64 without those that have no feasible
	// node, and 0 for other nodes. They are in memory of the decision.
	scores      []int64
	least, most int64
}

// newColumn reads scores by row; rows are the feasible nodes by their indexes in order of name.
func newColumn(r *engine.Result, rows state.Bits, scores []int64) column {
	c := column{r.Query.Column()[:0], math.MaxInt64, math.MinInt64}
	order := r.Nodes().Order()
	for i, word := range rows {
		if word == 0 {
			continue
		}
		from := len(c.scores)
		c.scores = c.scores[:from+state.ChunkSize]
		block := (*[state.ChunkSize]int64)(c.scores[from:])
		clear(block[:])
		for ; word != 0; word &= word - 1 {
			k := bits.TrailingZeros64(word)
			v := scores[order[i<<state.ChunkBits+k]]
			block[k], c.least, c.most = v, min(c.least, v), max(c.most, v)
		}
	}
	return c
}

// fitsByte reports whether each score is a byte.
func (c *column) fitsByte() bool { return c.least >= 0 && c.most <= math.MaxUint8 }

// appendScores writes a rule's scores of the feasible nodes, rows being their indexes in order of
// name: the raw ones, then the normalised ones unless they are the same. The form depends on the
// values alone, not on how the rule computed them.
func appendScores(b []byte, r *engine.Result, rows state.Bits, s *engine.Scores) []byte {
	if raw, norm, equal := s.AllEqual(); equal {
		b = appendUniform(b, raw)
		if raw == norm {
			return append(b, '=')
		}
		return appendUniform(b, norm)
	}
	defer r.Query.DropColumns(2)
	raw, norm, from := newColumn(r, rows, s.Raw), newColumn(r, rows, s.Norm), len(b)
	b = raw.append(b, rows)
	at := len(b)
	b = norm.append(b, rows)
	if string(b[from:at]) == string(b[at:]) {
		b = append(b[:at], '=')
	}
	return b
}

func appendUniform(b []byte, v int64) []byte { return binary.AppendVarint(append(b, 'u'), v) }

// append writes the scores of the feasible nodes in the shortest of four forms: one score that they
// all have; one byte each, in blocks; two bytes each, as the difference to the least; eight bytes
// each.
func (c *column) append(b []byte, rows state.Bits) []byte {
	span := c.most - c.least
	switch {
	case span == 0:
		return appendUniform(b, c.least)
	case c.fitsByte():
		return c.appendBytes(append(b, 'b'))
	case span > 0 && span <= math.MaxUint16:
		b = binary.AppendVarint(append(b, 's'), c.least)
		for at := range positions(rows) {
			b = binary.LittleEndian.AppendUint16(b, uint16(c.scores[at]-c.least))
		}
		return b
	}
	b = append(b, 'w')
	for at := range positions(rows) {
		b = binary.LittleEndian.AppendUint64(b, uint64(c.scores[at]))
	}
	return b
}

// appendBytes writes the blocks, a byte each.
func (c *column) appendBytes(b []byte) []byte {
	from := len(b)
	b = slices.Grow(b, len(c.scores))[:from+len(c.scores)]
	for k, out := 0, b[from:]; k < len(out); k++ {
		out[k] = byte(c.scores[k])
	}
	return b
}

// positions returns where the feasible nodes are in a column's blocks.
func positions(rows state.Bits) iter.Seq[int] {
	return func(yield func(at int) bool) {
		block := 0
		for _, word := range rows {
			if word == 0 {
				continue
			}
			for ; word != 0; word &= word - 1 {
				if !yield(block + bits.TrailingZeros64(word)) {
					return
				}
			}
			block += state.ChunkSize
		}
	}
}

// maxPairs is how many pairs the index of one, a byte, tells apart.
const maxPairs = 256

// pair is a raw and a normalised score.
type pair struct{ raw, norm int64 }

func (p pair) append(b []byte) []byte {
	return binary.AppendVarint(binary.AppendVarint(b, p.raw), p.norm)
}

// appendPairs writes a rule's scores of the feasible nodes in the third form, rows being their
// indexes in order of name. It is the first of these that can have them, by the values alone: one
// pair of a raw and a normalised score; a byte each where the two are the same; a list of up to 256
// pairs, in the order in which they come, and each node's index in it; the columns of the second
// form. All but the first are hashed by blocks.
//
// Where a pod changes the score of its zone, the list of pairs changes, but no index.
func appendPairs(b []byte, r *engine.Result, rows state.Bits, s *engine.Scores) []byte {
	if raw, norm, equal := s.AllEqual(); equal {
		return pair{raw, norm}.append(append(b, 'u'))
	}
	if s.NormIsRaw() {
		if out, ok := appendSmall(b, r.Nodes().Order(), rows, s.Raw); ok {
			return out
		}
	}
	defer r.Query.DropColumns(1)
	raw := newColumn(r, rows, s.Raw)
	norm := raw
	if !s.NormIsRaw() {
		defer r.Query.DropColumns(1)
		norm = newColumn(r, rows, s.Norm)
	}
	switch {
	case raw.least == raw.most && norm.least == norm.most:
		return pair{raw.least, norm.least}.append(append(b, 'u'))
	case raw.fitsByte() && slices.Equal(raw.scores, norm.scores):
		return hashBlocks(raw.appendBytes(append(b, 'b')), len(b)+1)
	}
	list, indexes := pairsOf(rows, &raw, &norm)
	if len(list) > maxPairs {
		return hashBlocks(appendScores(append(b, 'w'), r, rows, s), len(b)+1)
	}
	b = binary.AppendUvarint(append(b, 'd'), uint64(len(list)))
	for _, x := range list {
		b = x.append(b)
	}
	return hashBlocks(append(b, indexes...), len(b))
}

// appendSmall is appendPairs of scores that are bytes and are not normalised, which those of nodes'
// resources are; false for others. Replays hash two columns of them for each record.
func appendSmall(b []byte, order []int32, rows state.Bits, scores []int64) ([]byte, bool) {
	from, first := len(b), int64(-1)
	b = append(b, 'b')
	var all, differ int64
	for i, word := range rows {
		if word == 0 {
			continue
		}
		names := order[i<<state.ChunkBits:]
		if first < 0 {
			first = scores[names[bits.TrailingZeros64(word)]]
		}
		at := len(b)
		b = slices.Grow(b, state.ChunkSize)[:at+state.ChunkSize]
		block := (*[state.ChunkSize]byte)(b[at:])
		if word == math.MaxUint64 { // each node of the chunk, without a search for the next one
			for k, row := range (*[state.ChunkSize]int32)(names) {
				v := scores[row]
				block[k], all, differ = byte(v), all|v, differ|(v^first)
			}
			continue
		}
		clear(block[:])
		for ; word != 0; word &= word - 1 {
			k := bits.TrailingZeros64(word)
			v := scores[names[k]]
			block[k], all, differ = byte(v), all|v, differ|(v^first)
		}
	}
	switch {
	case first < 0 || all < 0 || all > math.MaxUint8:
		return b[:from], false
	case differ == 0:
		return pair{first, first}.append(append(b[:from], 'u')), true
	}
	return hashBlocks(b, from+1), true
}

// pairsOf returns the pairs of two columns, and each node's index in the list, in blocks as the
// scores are; more than maxPairs pairs where there are too many.
func pairsOf(rows state.Bits, raw, norm *column) (list []pair, indexes []byte) {
	known := map[pair]int{}
	indexes = make([]byte, len(raw.scores))
	// A map takes longer than all else here: a slot has the pair of its hash that came last.
	var slots [1 << slotBits]struct {
		x     pair
		index int // from 1
	}
	for at := range positions(rows) {
		x := pair{raw.scores[at], norm.scores[at]}
		slot := &slots[x.slot()]
		if slot.index == 0 || slot.x != x {
			index, have := known[x]
			if !have {
				if len(list) > maxPairs {
					return list, nil
				}
				index, list = len(list), append(list, x)
				known[x] = index
			}
			slot.x, slot.index = x, index+1
		}
		indexes[at] = byte(slot.index - 1)
	}
	return list, indexes
}

const slotBits = 7

// slot is a hash of a pair.
func (x pair) slot() uint64 {
	return (uint64(x.raw)*0x9E3779B97F4A7C15 + uint64(x.norm)*0xC2B2AE3D27D4EB4F) >> (64 - slotBits)
}

// blockSize is how many bytes of an encoding are hashed together.
const blockSize = 2048

// hashBlocks puts the hashes of its blocks in place of an encoding, which starts at an index, where
// it is longer than one block.
func hashBlocks(b []byte, from int) []byte {
	if len(b)-from <= blockSize {
		return b
	}
	to := from // never behind the next block
	for from < len(b) {
		block := b[from:min(from+blockSize, len(b))]
		from += len(block)
		sum := sha256.Sum256(block)
		to += copy(b[to:], sum[:])
	}
	return b[:to]
}
