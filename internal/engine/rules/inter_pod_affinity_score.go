package rules

import (
	"cmp"
	"math"
	"slices"
	"strconv"

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
	var list []*domainPoints
	touched := false
	a.eachScored(q, func(t *state.Term, _ bool, weight int64, where *state.Postings) {
		key := t.TopologyKey
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
	})
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

// eachScored visits the terms that count: the pod's preferences with the pods that each selects,
// and those of other pods that select the pod. A pod without such a preference has none where
// existing ones are ignored.
func (a *InterPodAffinity) eachScored(q *engine.Query, visit func(t *state.Term, own bool, weight int64, where *state.Postings)) {
	own := false
	for _, t := range q.Terms() {
		own = own || t.Kind == state.PreferredAffinity || t.Kind == state.PreferredAntiAffinity
	}
	if a.IgnoreExisting && !own {
		return
	}
	for _, t := range q.Terms() {
		weight, counts := a.weight(t)
		if !counts || t.Kind == state.RequiredAffinity {
			continue
		}
		for _, shape := range q.ShapesSelected(nil, t) {
			visit(t, true, weight, q.State.ShapePostings(shape.ID))
		}
	}
	for _, t := range q.TermsSelectingPod(nil) {
		if weight, counts := a.weight(t); counts {
			visit(t, false, weight, q.State.TermPostings(t.ID))
		}
	}
}

// termPoints is what a term adds, by value of its topology key.
type termPoints struct {
	part   engine.ScorePart
	column *state.Column
	counts []int64
}

// maxTermParts is how many terms are told apart; the rest of them are added up.
const maxTermParts = 10

// ScoreParts has a part for each term, those that add or take most first.
func (a *InterPodAffinity) ScoreParts(q *engine.Query, _ *affinityCounts, _ state.Bits) func(row int) []engine.ScorePart {
	var list []*termPoints
	known := map[*state.Term]*termPoints{}
	a.eachScored(q, func(t *state.Term, own bool, weight int64, where *state.Postings) {
		p := known[t]
		if p == nil {
			p = &termPoints{engine.ScorePart{By: partKind(t, own), TopologyKey: t.TopologyKey, Term: engine.ClipTerm(q.Words(t, t.String)), Weight: float64(weight)}, q.Nodes.Column(t.TopologyKey), nil}
			p.counts = make([]int64, len(p.column.Values))
			known[t], list = p, append(list, p)
		}
		for _, seg := range where.Segments() {
			for _, e := range seg {
				if v := p.column.Value[e.Row]; v >= 0 {
					p.counts[v] += int64(e.N)
				}
			}
		}
	})
	return func(row int) (parts []engine.ScorePart) {
		for _, p := range list {
			part := p.part
			if v := p.column.Value[row]; v >= 0 {
				part.Count = p.counts[v]
			}
			part.Points = float64(part.Count) * part.Weight
			parts = append(parts, part)
		}
		slices.SortStableFunc(parts, func(x, y engine.ScorePart) int { return cmp.Compare(math.Abs(y.Points), math.Abs(x.Points)) })
		if len(parts) > maxTermParts {
			rest := engine.ScorePart{By: engine.PartMore, Term: strconv.Itoa(len(parts) - maxTermParts), Count: 1}
			for _, p := range parts[maxTermParts:] {
				rest.Points += p.Points
			}
			rest.Weight = rest.Points
			parts = append(parts[:maxTermParts], rest)
		}
		return parts
	}
}

func partKind(t *state.Term, own bool) engine.PartKind {
	switch against := t.Kind == state.PreferredAntiAffinity; {
	case own && against:
		return engine.PartAntiAffinity
	case own:
		return engine.PartAffinity
	case against:
		return engine.PartOthersAntiAffin
	}
	return engine.PartOthersAffinity
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
