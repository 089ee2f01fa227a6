package rules

import (
	"math"
	"math/bits"

	"berth/internal/engine"
)

// domainPoints is a score per value of a topology key.
type domainPoints struct {
	column *engine.Column
	points []int64
}

// Score adds up, per topology domain, the weights of the pod's preferences that
// pods there satisfy, and of preferences and required affinity of pods there
// that the pod satisfies; anti-affinity counts against
// (plugins/interpodaffinity/scoring.go).
func (a *InterPodAffinity) Score(q *engine.Query, feasible engine.Bits, out *engine.Scores) error {
	own := false
	for _, t := range q.Terms() {
		own = own || t.Kind == engine.PreferredAffinity || t.Kind == engine.PreferredAntiAffinity
	}
	if a.IgnoreExisting && !own {
		out.Skip()
		return nil
	}
	var list []*domainPoints
	touched := false
	add := func(key string, weight int64, where *engine.Postings) {
		if where.Total() == 0 {
			return
		}
		var d *domainPoints
		for _, have := range list {
			if have.column.Key == key {
				d = have
			}
		}
		if d == nil {
			c := q.Nodes.Column(key)
			d = &domainPoints{c, make([]int64, len(c.Values))}
			list = append(list, d)
		}
		for _, seg := range where.Segments() {
			for _, e := range seg {
				if v := d.column.Value[e.Row]; v >= 0 {
					d.points[v] += weight * int64(e.N)
					touched = true
				}
			}
		}
	}
	for _, t := range q.Terms() {
		weight, counts := a.weight(t)
		if !counts || t.Kind == engine.RequiredAffinity {
			continue
		}
		for _, shape := range q.ShapesSelected(nil, t) {
			add(t.TopologyKey, weight, q.State.ShapePostings(shape.ID))
		}
	}
	for _, t := range q.TermsSelectingPod(nil) {
		if weight, counts := a.weight(t); counts {
			add(t.TopologyKey, weight, q.State.TermPostings(t.ID))
		}
	}
	if !touched {
		out.Skip()
		return nil
	}
	least, most := int64(math.MaxInt64), int64(math.MinInt64)
	for i, word := range feasible {
		for ; word != 0; word &= word - 1 {
			row := i<<6 + bits.TrailingZeros64(word)
			var sum int64
			for _, d := range list {
				if v := d.column.Value[row]; v >= 0 {
					sum += d.points[v]
				}
			}
			out.Raw[row] = sum
			least, most = min(least, sum), max(most, sum)
		}
	}
	span := float64(most - least)
	for i, word := range feasible {
		for ; word != 0; word &= word - 1 {
			row := i<<6 + bits.TrailingZeros64(word)
			out.Norm[row] = 0
			if span > 0 {
				out.Norm[row] = int64(float64(engine.MaxScore) * (float64(out.Raw[row]-least) / span))
			}
		}
	}
	return nil
}

// weight is what one pod that a term connects adds; counts is false for terms
// that play no part in scoring.
func (a *InterPodAffinity) weight(t *engine.Term) (weight int64, counts bool) {
	switch t.Kind {
	case engine.PreferredAffinity:
		return int64(t.Weight), true
	case engine.PreferredAntiAffinity:
		return -int64(t.Weight), true
	case engine.RequiredAffinity:
		return int64(a.HardWeight), a.HardWeight > 0
	default:
		return 0, false
	}
}
