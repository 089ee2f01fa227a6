package engine

import (
	"math"
	"math/bits"
	"slices"
	"strings"

	"berth/internal/engine/state"
)

// BestRows returns up to n of the best feasible rows: by total, then by the node's name.
func (r *Result) BestRows(n int) []int32 {
	n = min(n, r.Feasible.Count())
	if n <= 0 {
		return nil
	}
	set, rows := r.Nodes(), make([]int32, 0, n)
	if !r.Scored || r.Best.Count() >= n { // all of these have one total
		equals := r.Best
		if !r.Scored {
			equals = r.Feasible
		}
		for row := range set.ByName(equals) {
			if rows = append(rows, int32(row)); len(rows) == n {
				break
			}
		}
		return rows
	}
	t, least := r.blockTotals(), int64(math.MinInt64) // no lower total is among the best
	totals := make([]int64, 0, n)
	for i, word := range r.Feasible {
		if word == 0 || t.bound(i) < least {
			continue
		}
		for block := t.of(i); word != 0; word &= word - 1 {
			k := bits.TrailingZeros64(word)
			row, total := i<<state.ChunkBits+k, block[k]
			if total < least {
				continue
			}
			name := set.Node(row).Name
			at := len(rows)
			for at > 0 && (total > totals[at-1] || total == totals[at-1] && strings.Compare(name, set.Node(int(rows[at-1])).Name) < 0) {
				at--
			}
			if len(rows) == n {
				if at == n {
					continue
				}
				rows, totals = rows[:n-1], totals[:n-1]
			}
			rows, totals = slices.Insert(rows, at, int32(row)), slices.Insert(totals, at, total)
			if len(rows) == n {
				if least = totals[n-1]; set.InOrder() {
					least++ // of equals the first stays
				}
			}
		}
	}
	return rows
}

// Second returns the best total below Top; ok is false where no feasible node has one.
func (r *Result) Second() (second int64, ok bool) {
	if !r.Scored {
		return 0, false
	}
	second = math.MinInt64
	t := r.blockTotals()
	for i, word := range r.Feasible {
		if word &^= r.Best[i]; word == 0 || t.bound(i) <= second {
			continue
		}
		for block := t.of(i); word != 0; word &= word - 1 {
			second = max(second, block[bits.TrailingZeros64(word)])
		}
	}
	return second, second > math.MinInt64
}

// blockTotals reads the totals of a scored result, a block of 64 rows at a time. Totals of rows
// that are not feasible may be anything.
type blockTotals struct {
	r       *Result
	byClass []*RuleScores          // what the sums lack, less the score that all rows share
	most    int64                  // what a row has beyond its sum at most
	total   [state.ChunkSize]int64 // of the last block
}

func (r *Result) blockTotals() blockTotals {
	t := blockTotals{r: r, most: r.common}
	if r.sums == nil {
		return t
	}
	for i := range r.Scores {
		s := &r.Scores[i]
		if s.Kept || s.uniform {
			continue
		}
		t.byClass = append(t.byClass, s)
		most := slices.Max(s.classes.Norm)
		for row := range s.classes.Own.AllAnd(r.Feasible) {
			most = max(most, s.Norm[row])
		}
		t.most += s.Weight * most
	}
	return t
}

// bound returns a number that no total of a block is above.
func (t *blockTotals) bound(i int) int64 {
	switch {
	case t.r.total != nil:
		return state.Largest((*[state.ChunkSize]int64)(t.r.total[i<<state.ChunkBits:]))
	case t.r.sums == nil:
		sums := t.r.narrow.chunk(i, t.r.Feasible[i])
		return t.most + sums.Most(t.r.Feasible[i])
	}
	return t.most + int64(state.Largest((*[state.ChunkSize]int32)(t.r.sums[i<<state.ChunkBits:])))
}

// of returns the totals of a block, valid until the next call.
func (t *blockTotals) of(i int) *[state.ChunkSize]int64 {
	switch {
	case t.r.total != nil:
		return (*[state.ChunkSize]int64)(t.r.total[i<<state.ChunkBits:])
	case t.r.sums == nil:
		sums := t.r.narrow.chunk(i, t.r.Feasible[i])
		for k := range t.total {
			t.total[k] = t.r.common
		}
		sums.AddTo(&t.total)
		return &t.total
	}
	for k, sum := range (*[state.ChunkSize]int32)(t.r.sums[i<<state.ChunkBits:]) {
		t.total[k] = int64(sum) + t.r.common
	}
	for _, s := range t.byClass {
		for word := t.r.Feasible[i]; word != 0; word &= word - 1 {
			k := bits.TrailingZeros64(word)
			_, norm := s.At(i<<state.ChunkBits + k)
			t.total[k] += s.Weight * norm
		}
	}
	return &t.total
}
