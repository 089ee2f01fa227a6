package engine

import (
	"math"
	"math/bits"

	"berth/internal/engine/state"
)

// narrowTotals are totals that fit a lane, which are added up a chunk at a time when they are read:
// of scores in bytes and of scores by class.
type narrowTotals struct {
	bytes []byteColumn
	all   uint64        // what all rows have by scores of one class
	by    []classTotals // by column of classes
	own   []*RuleScores // the scores by class that some rows have their own of
}

// classTotals are weighted scores by class of rows, that of rows without a class first.
type classTotals struct {
	of   []int32
	adds []uint64
}

// narrowed returns the totals without the score that all feasible rows share; ok is false where one
// may not fit a lane.
func (r *Result) narrowed() (n narrowTotals, ok bool) {
	n.bytes = r.byteColumns(false)
	most := int64(0)
	for i := range r.Scores {
		s := &r.Scores[i]
		if s.uniform {
			continue
		}
		if s.Weight < 0 || s.Weight > state.LaneMost {
			return n, false
		}
		if most += s.Weight * math.MaxUint8; most > state.LaneMost {
			return n, false
		}
		if s.RawBytes == nil && !n.addClasses(s, r.Feasible) {
			return n, false
		}
	}
	return n, true
}

// addClasses adds scores by class. It returns false where one does not fit a byte.
func (n *narrowTotals) addClasses(s *RuleScores, feasible state.Bits) bool {
	c := &s.classes
	var all int64
	for _, norm := range c.Norm {
		all |= norm
	}
	own := false
	for row := range c.Own.AllAnd(feasible) {
		all |= s.Norm[row]
		own = true
	}
	if all&^math.MaxUint8 != 0 {
		return false
	}
	if own {
		n.own = append(n.own, s)
	}
	if c.Of == nil {
		n.all += uint64(s.Weight * c.Norm[len(c.Norm)-1])
		return true
	}
	last := len(n.by) - 1
	if last < 0 || len(n.by[last].adds) != len(c.Norm) || &n.by[last].of[0] != &c.Of[0] {
		n.by = append(n.by, classTotals{c.Of, make([]uint64, len(c.Norm))})
		last++
	}
	for class, norm := range c.Norm {
		n.by[last].adds[(class+1)%len(c.Norm)] += uint64(s.Weight * norm)
	}
	return true
}

// chunk adds the totals of a chunk up; those of rows that are not feasible may be anything.
func (n *narrowTotals) chunk(i int, feasible uint64) (sums state.LaneSums) {
	first := i << state.ChunkBits
	sums.AddAll(n.all)
	for _, c := range n.bytes {
		sums.AddBytes((*[state.ChunkSize]uint8)(c.norm[first:]), uint64(c.weight))
	}
	for _, c := range n.by {
		sums.AddClasses(c.of[first:min(first+state.ChunkSize, len(c.of))], c.adds)
	}
	for _, s := range n.own {
		c := &s.classes
		for word := c.Own[i] & feasible; word != 0; word &= word - 1 {
			k := bits.TrailingZeros64(word)
			sums.Add(k, s.Weight*(s.Norm[first+k]-c.Norm[c.Class(first+k)]))
		}
	}
	return sums
}

// findBestNarrow is findBest for narrow totals: nothing is written for a row, and few chunks have a
// better total than those before.
func (r *Result) findBestNarrow() {
	top := int64(0)
	for i, word := range r.Feasible {
		if word == 0 {
			continue
		}
		sums := r.narrow.chunk(i, word)
		if sums.AnyFrom(uint64(top) + 1) {
			if most := sums.Most(word); most > top {
				top = most
				r.Best[:i].Zero()
			}
		} else if !sums.AnyFrom(uint64(top)) {
			continue
		}
		r.Best[i] = sums.Equal(uint64(top)) & word
	}
	r.Top = top + r.common
}
