package rules

import (
	"math"

	"berth/internal/engine"
	"berth/internal/engine/state"
)

// domainPoints is a score per value of a topology key.
type domainPoints struct {
	column *state.Column
	points []int64
}

// Score adds up, per topology domain, the weights of the pod's preferences that
// pods there satisfy, and of preferences and required affinity of pods there
// that the pod satisfies; anti-affinity counts against
// (plugins/interpodaffinity/scoring.go).
func (a *InterPodAffinity) Score(q *engine.Query, _ *affinityCounts, feasible state.Bits, out *engine.Scores) error {
	own := false
	for _, t := range q.Terms() {
		own = own || t.Kind == state.PreferredAffinity || t.Kind == state.PreferredAntiAffinity
	}
	if a.IgnoreExisting && !own {
		out.Skip()
		return nil
	}
	var list []*domainPoints
	touched := false
	add := func(key string, weight int64, where *state.Postings) {
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
			d = &domainPoints{column: c, points: q.Column()[:len(c.Values)]}
			clear(d.points)
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
		if !counts || t.Kind == state.RequiredAffinity {
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
	for row := range feasible.All() {
		sum := domainsAt(list, row)
		out.Raw[row] = sum
		least, most = min(least, sum), max(most, sum)
	}
	known := knownNorms(least, most, func(raw int64) int64 { return normalSpan(raw, least, most) })
	for row := range feasible.All() {
		out.Norm[row] = normOf(known, least, out.Raw[row], func(raw int64) int64 { return normalSpan(raw, least, most) })
	}
	return nil
}

// domainsAt returns the sum of a row's domains.
func domainsAt(list []*domainPoints, row int) (sum int64) {
	for _, d := range list {
		if v := d.column.Value[row]; v >= 0 {
			sum += d.points[v]
		}
	}
	return sum
}

// normalSpan maps least..most to 0..100, truncating; all equal is 0.
func normalSpan(raw, least, most int64) int64 {
	span := float64(most - least)
	if span == 0 {
		return 0
	}
	return int64(float64(engine.MaxScore) * (float64(raw-least) / span))
}

// weight is what one pod that a term connects adds; counts reports whether the term takes part in
// scoring.
func (a *InterPodAffinity) weight(t *state.Term) (weight int64, counts bool) {
	switch t.Kind {
	case state.PreferredAffinity:
		return int64(t.Weight), true
	case state.PreferredAntiAffinity:
		return -int64(t.Weight), true
	case state.RequiredAffinity:
		return int64(a.HardWeight), a.HardWeight > 0
	default:
		return 0, false
	}
}
