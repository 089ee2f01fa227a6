package digest

import (
	"encoding/binary"

	"berth/internal/engine"
	"berth/internal/engine/state"
)

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
	c := column{r: r, rows: rows, wide: s.Raw, narrow: s.RawBytes}
	classes, classed := s.Classes()
	if !classed && s.NormIsRaw() {
		if b, ok := c.appendSame(b); ok {
			return b
		}
	}
	p := pairLists.Get().(*pairList)
	defer p.release()
	p.reset(r, rows, s)
	switch ok := p.find(); {
	case !ok:
		return hashBlocks(appendScores(append(b, 'w'), r, rows, s), len(b)+1)
	case len(p.list) == 1:
		return p.list[0].append(append(b, 'u'))
	case p.same():
		if classed {
			c.setClasses(classes, classes.Raw)
		}
		b, _ = c.appendSame(b)
		return b
	}
	b = binary.AppendUvarint(append(b, 'd'), uint64(len(p.list)))
	for _, x := range p.list {
		b = x.append(b)
	}
	return hashBlocks(append(b, p.indexes...), len(b))
}

// appendSame writes scores that are raw and normalised the same, if they are all equal or fit a
// byte.
func (c *column) appendSame(b []byte) (out []byte, ok bool) {
	from := len(b)
	b, equal, fits := c.appendBytes(append(b, 'b'))
	if equal {
		v := c.at(c.r.Feasible.First())
		return pair{v, v}.append(append(b[:from], 'u')), true
	}
	if !fits {
		return b[:from], false
	}
	return hashBlocks(b, from+1), true
}

// pair is a raw and a normalised score.
type pair struct{ raw, norm int64 }

func (p pair) append(b []byte) []byte {
	return binary.AppendVarint(binary.AppendVarint(b, p.raw), p.norm)
}
