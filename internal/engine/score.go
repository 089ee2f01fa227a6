package engine

import (
	"cmp"
	"fmt"
	"math"

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
		case !s.Summed:
			r.addWeighted(s.Norm, w.Weight) // at once, while the column is in the processor's cache
		}
	}
	if sums := r.run.Sums(); sums != nil && r.total == nil {
		r.total = sums
	} else if sums != nil {
		r.addWeighted(sums, 1)
	}
	r.findBest()
	return nil
}

// addWeighted adds weight × norm to the totals of the feasible rows.
func (r *Result) addWeighted(norm []int64, weight int64) {
	first := r.total == nil
	if first {
		r.total = r.Query.Column()
	}
	for from, to := range r.Feasible.Runs() {
		totals := r.total[from:to]
		for k, n := range norm[from:to] {
			if n *= weight; first {
				totals[k] = n
			} else {
				totals[k] += n
			}
		}
	}
}

// findBest finds the rows with the best total.
func (r *Result) findBest() {
	if r.total == nil { // all share one score
		copy(r.Best, r.Feasible)
		r.Top = r.common
		return
	}
	top := int64(math.MinInt64)
	for from, to := range r.Feasible.Runs() {
		for k, t := range r.total[from:to] {
			if t < top {
				continue
			}
			row := from + k
			if t > top {
				top = t
				r.Best[:row>>state.ChunkBits+1].Zero()
			}
			r.Best.Set(row)
		}
	}
	r.Top = top + r.common
}
