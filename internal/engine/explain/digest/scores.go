package digest

import (
	"encoding/binary"
	"math"
	"math/bits"
	"slices"

	"berth/internal/engine"
	"berth/internal/engine/state"
)

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
	c := column{r: r, rows: rows, wide: s.Raw, narrow: s.RawBytes}
	classes, classed := s.Classes()
	if classed {
		c.setClasses(classes, classes.Raw)
	}
	from := len(b)
	b = c.append(b)
	if s.NormIsRaw() {
		return append(b, '=')
	}
	if c.wide, c.narrow = s.Norm, s.NormBytes; classed {
		c.setClasses(classes, classes.Norm)
	}
	at := len(b)
	b = c.append(b)
	if string(b[from:at]) == string(b[at:]) {
		b = append(b[:at], '=')
	}
	return b
}

func appendUniform(b []byte, v int64) []byte { return binary.AppendVarint(append(b, 'u'), v) }

// column is a rule's raw or normalised scores.
type column struct {
	r    *engine.Result
	rows state.Bits // the feasible nodes, in order of name

	wide    []int64
	narrow  []uint8         // instead of wide, where not nil
	classes *engine.Classes // where not nil, wide has the scores of the rows in Own
	scores  []int64         // by class, the last one first

	buffer [state.ChunkSize]int64
}

func (c *column) setClasses(classes *engine.Classes, scores []int64) {
	last := len(scores) - 1
	c.classes, c.scores = classes, append(append(c.scores[:0], scores[last]), scores[:last]...)
}

// append writes the scores of the feasible nodes in the shortest of four forms: one score that they
// all have; one byte each, 64 at a time, without blocks that have no feasible node, and 0 for other
// nodes; two bytes each, as the difference to the least; eight bytes each.
func (c *column) append(b []byte) []byte {
	from := len(b)
	b, equal, fits := c.appendBytes(append(b, 'b'))
	switch {
	case equal:
		return appendUniform(b[:from], c.at(c.r.Feasible.First()))
	case fits:
		return b
	}
	return c.appendWide(b[:from])
}

// at returns the score of a feasible row.
func (c *column) at(row int) int64 {
	switch {
	case c.narrow != nil:
		return int64(c.narrow[row])
	case c.classes == nil || c.classes.Own.Has(row):
		return c.wide[row]
	case c.classes.Of == nil:
		return c.scores[0]
	}
	return c.scores[c.classes.Of[row]+1]
}

// block returns the scores of a block of 64 nodes in order of name, valid until the next call.
// Those of nodes that are not feasible may be anything.
func (c *column) block(i int) *[state.ChunkSize]int64 {
	set, from := c.r.Query.Nodes, i<<state.ChunkBits
	if !set.InOrder() {
		for word := c.rows[i]; word != 0; word &= word - 1 {
			k := bits.TrailingZeros64(word)
			c.buffer[k] = c.at(int(set.Order()[from+k]))
		}
		return &c.buffer
	}
	if c.classes == nil {
		return (*[state.ChunkSize]int64)(c.wide[from:])
	}
	if c.classes.Of == nil {
		for k := range c.buffer {
			c.buffer[k] = c.scores[0]
		}
	} else {
		of, scores, buffer := c.classes.Of[from:min(from+state.ChunkSize, set.Len())], c.scores, &c.buffer
		for k, class := range of {
			buffer[k&(state.ChunkSize-1)] = scores[class+1]
		}
	}
	for word := c.classes.Own[i]; word != 0; word &= word - 1 {
		k := bits.TrailingZeros64(word)
		c.buffer[k] = c.wide[from+k]
	}
	return &c.buffer
}

// appendBytes writes blocks of bytes. It reports whether all scores are equal, and whether all fit
// a byte; it stops at one that does not.
func (c *column) appendBytes(b []byte) (out []byte, equal, fits bool) {
	first := c.at(c.r.Feasible.First())
	ones := uint64(uint8(first)) * 0x0101010101010101
	b = slices.Grow(b, len(c.rows)*state.ChunkSize)
	var other uint64
	for i, word := range c.rows {
		if word == 0 {
			continue
		}
		b = b[:len(b)+state.ChunkSize]
		block := (*[state.ChunkSize]byte)(b[len(b)-state.ChunkSize:])
		if !c.pack(block, i) {
			return b, c.allEqual(first), false
		}
		for k := 0; k < state.ChunkSize; k += 8 {
			v := binary.LittleEndian.Uint64(block[k:])
			if word != ^uint64(0) {
				mask := state.ByteMask(uint8(word >> k))
				other |= (v ^ ones) & mask
				binary.LittleEndian.PutUint64(block[k:], v&mask)
				continue
			}
			other |= v ^ ones
		}
	}
	return b, other == 0, true
}

// pack writes a block in bytes. It returns false where a feasible node's score does not fit one.
func (c *column) pack(out *[state.ChunkSize]byte, i int) bool {
	if c.narrow != nil {
		set, from := c.r.Query.Nodes, i<<state.ChunkBits
		if set.InOrder() {
			*out = [state.ChunkSize]byte(c.narrow[from:])
			return true
		}
		for k, row := range set.Order()[from:min(from+state.ChunkSize, set.Count())] {
			out[k] = c.narrow[row]
		}
		return true
	}
	block := c.block(i)
	for k := 0; k < state.ChunkSize; k += 8 {
		v := (*[8]int64)(block[k:])
		if (v[0]|v[1]|v[2]|v[3]|v[4]|v[5]|v[6]|v[7])&^math.MaxUint8 != 0 {
			for n, score := range v {
				if score&^math.MaxUint8 != 0 && c.rows[i]>>(k+n)&1 == 1 {
					return false
				}
				out[k+n] = uint8(score)
			}
			continue
		}
		binary.LittleEndian.PutUint64(out[k:], uint64(v[0]|v[1]<<8|v[2]<<16|v[3]<<24|v[4]<<32|v[5]<<40|v[6]<<48|v[7]<<56))
	}
	return true
}

// allEqual reports whether all scores are this one.
func (c *column) allEqual(score int64) bool {
	for row := range c.r.Feasible.All() {
		if c.at(row) != score {
			return false
		}
	}
	return true
}

// mask sets the bytes of nodes that are not among some.
func mask(block *[state.ChunkSize]byte, nodes uint64, to byte) {
	if nodes == ^uint64(0) {
		return
	}
	for k := 0; k < state.ChunkSize; k += 8 {
		these := state.ByteMask(uint8(nodes >> k))
		v := binary.LittleEndian.Uint64(block[k:])
		binary.LittleEndian.PutUint64(block[k:], v&these|uint64(to)*0x0101010101010101&^these)
	}
}

// appendWide writes scores that do not fit a byte: two bytes each, as the difference to the least,
// where the span allows it, which it does for all but strange weights; otherwise eight.
func (c *column) appendWide(b []byte) []byte {
	scores, n := c.r.Query.Column(), 0
	defer c.r.Query.DropColumns(1)
	for i, word := range c.rows {
		if word == 0 {
			continue
		}
		// No branch: the next score takes the place of one that is not feasible.
		for k, score := range c.block(i) {
			scores[n] = score
			n += int(word >> k & 1)
		}
	}
	scores = scores[:n]
	least, most := span(scores)
	if most-least > math.MaxUint16 || most-least < 0 {
		b = append(b, 'w')
		for _, score := range scores {
			b = binary.LittleEndian.AppendUint64(b, uint64(score))
		}
		return b
	}
	b = binary.AppendVarint(append(b, 's'), least)
	from := len(b)
	b = slices.Grow(b, 2*n)[:from+2*n]
	for out := b[from:]; len(scores) > 0; scores, out = scores[1:], out[2:] {
		binary.LittleEndian.PutUint16(out, uint16(scores[0]-least))
	}
	return b
}

// span returns the least and the most of some numbers. It compares every other one apart, which the
// processor does in parallel.
func span(v []int64) (least, most int64) {
	a, b, c, d := v[0], v[len(v)-1], v[0], v[len(v)-1]
	for ; len(v) >= 2; v = v[2:] {
		a, b, c, d = min(a, v[0]), min(b, v[1]), max(c, v[0]), max(d, v[1])
	}
	return min(a, b), max(c, d)
}
