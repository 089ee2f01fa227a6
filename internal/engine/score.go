package engine

import (
	"cmp"
	"fmt"
	"math"
	"math/bits"

	"berth/internal/engine/state"
)

// pick scores the feasible nodes and chooses.
func (r *Result) pick() error {
	q := r.Query
	n := r.Feasible.Count()
	if n == 0 {
		return nil
	}
	r.Outcome = Scheduled
	if q.Options.NoScores {
		return nil
	}
	if n == 1 && !q.Options.ScoreAlways {
		r.Row = r.Feasible.First()
		return nil
	}
	if err := r.score(); err != nil {
		return err
	}
	r.choose()
	return nil
}

// choose takes one of the best, by the order among equals.
func (r *Result) choose() {
	q := r.Query
	uid, hashes := q.chooser(), q.Nodes.NameHashes()
	var least uint64
	for row := range r.Best.All() {
		h := state.Mix(uid ^ hashes[row])
		if r.Row < 0 || h < least || h == least && q.Nodes.Node(row).Name < q.Nodes.Node(r.Row).Name {
			r.Row, least = row, h
		}
	}
}

// CompareEquals orders two rows that are equal otherwise, differently from pod to pod: by a hash of
// the pod's UID and the node's name.
func (q *Query) CompareEquals(a, b int) int {
	uid, x, y := q.chooser(), q.Nodes.Node(a), q.Nodes.Node(b)
	return cmp.Or(cmp.Compare(state.Mix(uid^x.NameHash()), state.Mix(uid^y.NameHash())), cmp.Compare(x.Name, y.Name))
}

func (q *Query) chooser() uint64 {
	return state.MixString(cmp.Or(q.Options.EqualsBy, string(q.Pod.UID)))
}

// score runs the scorers, adds their scores up and finds the best.
func (r *Result) score() error {
	q, p := r.Query, r.Query.Profile
	r.Best, r.Scored = q.Bits(), true
	for k, w := range p.Score {
		f := p.Rules[w.Rule]
		r.Scores = append(r.Scores, RuleScores{WeightedRule: w})
		s := &r.Scores[len(r.Scores)-1].Scores
		if f.Score == nil {
			s.Skip()
		} else if err := r.run.Score(q, k, r.States[w.Rule], r.Feasible, s); err != nil {
			return fmt.Errorf("%s: %w", f.Name, err)
		}
		switch {
		case s.skip && w.NoPreScore:
			s.skip = false
			s.Uniform(0, 0)
		case s.skip:
			r.Scores = r.Scores[:len(r.Scores)-1]
		case s.uniform:
			r.common += s.norm * w.Weight
		case s.RawBytes == nil && s.classes.Own == nil:
			r.addWeighted(s.Norm, w.Weight) // at once, while the column is in the processor's cache
		}
	}
	sums, top, all := r.run.Totals(r.Scores, r.Feasible, r.Best)
	if all {
		r.sums, r.Top = sums, top+r.common
		return nil
	}
	if sums == nil && r.total == nil {
		var ok bool
		if r.narrow, ok = r.narrowed(); ok {
			r.findBestNarrow()
			return nil
		}
	}
	r.addClasses()
	r.addBytes(r.byteColumns(sums != nil))
	r.findBest(sums)
	return nil
}

// totals returns the sums so far.
func (r *Result) totals() []int64 {
	if r.total == nil {
		r.total = r.Query.Column()
		clear(r.total)
	}
	return r.total
}

// addWeighted adds weight × norm to the totals of the feasible rows.
func (r *Result) addWeighted(norm []int64, weight int64) {
	total := r.totals()
	for from, to := range r.Feasible.Runs() {
		totals := total[from:to]
		for k, n := range norm[from:to] {
			totals[k] += weight * n
		}
	}
}

// none are the sums of 64 rows without scores in bytes.
var none [state.ChunkSize]int32

// findBest adds the score that all feasible nodes share, and the sums of a Runner where there are
// any, and finds the best.
func (r *Result) findBest(sums []int32) {
	top, total := int64(math.MinInt64), r.totals()
	for i, word := range r.Feasible {
		if word == 0 {
			continue
		}
		t, more := (*[state.ChunkSize]int64)(total[i<<state.ChunkBits:]), &none
		if sums != nil {
			more = (*[state.ChunkSize]int32)(sums[i<<state.ChunkBits:])
		}
		var best uint64
		for ; word != 0; word &= word - 1 {
			k := bits.TrailingZeros64(word)
			t[k] += int64(more[k]) + r.common
			if t[k] < top {
				continue
			}
			if t[k] > top {
				top, best = t[k], 0
				r.Best[:i].Zero()
			}
			best |= 1 << k
		}
		r.Best[i] = best
	}
	r.Top = top
}
