package rules

import (
	"slices"

	"berth/internal/engine"
	"berth/internal/engine/state"
)

// domainKey is a term or a constraint in one domain.
type domainKey struct {
	of    any
	value int32
}

// inDomain returns the objects of a term or constraint in a row's domain, which are the same for
// each of the domain's rows.
func inDomain(q *engine.Query, of any, value int32, name func(*engine.Blockers)) engine.Blockers {
	return q.Named(domainKey{of, value}, func() (l engine.Blockers) {
		name(&l)
		return l
	})
}

// NameBlockers names the pods whose anti-affinity forbids the node, those that the pod's own
// anti-affinity meets there, or where the pods are that its affinity wants.
func (a *InterPodAffinity) NameBlockers(q *engine.Query, s *affinityCounts, row int, d *engine.Detail) {
	if s == nil {
		return
	}
	var out engine.Blockers
	same := func(t *state.Term) bool {
		return t.TopologyKey == d.TopologyKey && engine.ClipTerm(q.Words(t, t.String)) == d.Term
	}
	switch d.Kind {
	case "podAffinity":
		if i := slices.IndexFunc(s.required, same); i >= 0 {
			out = inDomain(q, s.required[i], -1, func(l *engine.Blockers) { s.wanted(q, s.near[i].column, l) })
		}
	case "podAntiAffinity":
		if i := slices.IndexFunc(s.anti, same); i >= 0 {
			column := s.away[i].column
			out = inDomain(q, s.anti[i], column.Value[row], func(l *engine.Blockers) { met(q, s.anti[i], column, row, l) })
		}
	case "existingAntiAffinity":
		for _, t := range s.terms {
			if c := s.existing[t.TopologyKey]; c != nil && same(t) {
				column := c.column
				out = inDomain(q, d.TopologyKey+" "+d.Term, column.Value[row], func(l *engine.Blockers) { s.forbid(q, same, column, row, l) })
				break
			}
		}
	}
	out.Done(d)
}

// wanted names the pods that all of the required terms select, and, where none has a node, those
// that wait.
func (s *affinityCounts) wanted(q *engine.Query, column *state.Column, out *engine.Blockers) {
	placed := false
	for _, shape := range q.ShapesSelected(nil, s.required[0]) {
		if !selectsAll(s.required[1:], shape.Namespace, shape.Labels) {
			continue
		}
		eachOf(q, shape, func(int32) bool { return true }, func(p *state.Pod) {
			placed = true
			why := "its node lacks the label"
			if v := column.Value[p.Row]; v >= 0 {
				why = "in " + domainName(column.Values[v])
			}
			out.AddPod(q, p, nil, why)
		})
	}
	if placed {
		return
	}
	mine := onlyMetBy(q)
	for _, p := range q.State.Pending() {
		if p.UID == string(q.Pod.UID) || !selectsAll(s.required, p.Namespace, p.Class.Shape.Labels) {
			continue
		}
		why := ""
		if slices.ContainsFunc(p.Class.Terms, func(id int32) bool { return slices.Contains(mine, id) }) {
			why = "it waits for this pod in turn"
		}
		out.AddPod(q, p, nil, why)
	}
}

// onlyMetBy returns the required affinity terms of other pods that the pod in question meets and no
// pod with a node does: who has one waits for it.
func onlyMetBy(q *engine.Query) (terms []int32) {
	for _, t := range q.TermsSelectingPod(nil) {
		placed := t.Kind != state.RequiredAffinity
		for _, shape := range q.ShapesSelected(nil, t) {
			eachOf(q, shape, func(int32) bool { return true }, func(*state.Pod) { placed = true })
		}
		if !placed {
			terms = append(terms, t.ID)
		}
	}
	return terms
}

// met names the pods of a row's domain that one of the pod's own terms selects.
func met(q *engine.Query, t *state.Term, column *state.Column, row int, out *engine.Blockers) {
	for _, shape := range q.ShapesSelected(nil, t) {
		eachOf(q, shape, within(column, row), func(p *state.Pod) { out.AddPod(q, p, nil, "") })
	}
}

// forbid names the pods of a row's domain whose own term forbids it.
func (s *affinityCounts) forbid(q *engine.Query, same func(*state.Term) bool, column *state.Column, row int, out *engine.Blockers) {
	in := within(column, row)
	for _, t := range s.terms {
		if !same(t) {
			continue
		}
		q.State.TermPostings(t.ID).Each(func(r, _ int32) {
			if !in(r) {
				return
			}
			for p := range q.State.PodsOn(int(r)).All() {
				if slices.Contains(p.Class.Terms, t.ID) {
					out.AddPod(q, p, nil, "")
				}
			}
		})
	}
}

// within returns whether a row is in the domain of another one.
func within(column *state.Column, row int) func(r int32) bool {
	value := column.Value[row]
	return func(r int32) bool { return column.Value[r] == value }
}

// eachOf visits the pods of a shape on the rows that are in.
func eachOf(q *engine.Query, shape *state.Shape, in func(row int32) bool, visit func(*state.Pod)) {
	q.State.ShapePostings(shape.ID).Each(func(row, _ int32) {
		if !in(row) {
			return
		}
		for p := range q.State.PodsOn(int(row)).All() {
			if p.Class.Shape.ID == shape.ID {
				visit(p)
			}
		}
	})
}

// domainName writes the value of a topology key; an empty one is a domain as well.
func domainName(value string) string {
	if value == "" {
		return `""`
	}
	return value
}

// NameBlockers names the pods that the domain counts.
func (p *PodTopologySpread) NameBlockers(q *engine.Query, counts []*spreadCounts, row int, d *engine.Detail) {
	var out engine.Blockers
	for _, c := range counts {
		v := c.column.Value[row]
		if v < 0 || c.TopologyKey != d.TopologyKey || int64(c.skew(v)) <= int64(c.MaxSkew) {
			continue
		}
		out = inDomain(q, c, v, func(l *engine.Blockers) { c.counted(q, v, l) })
		break
	}
	out.Done(d)
}

// counted names the pods that count in a domain.
func (c *spreadCounts) counted(q *engine.Query, value int32, out *engine.Blockers) {
	c.eachMatching(q, func(row int32) bool { return c.column.Value[row] == value }, func(p *state.Pod, left string) {
		if left == "" {
			out.AddPod(q, p, nil, "")
		}
	})
}

// eachMatching visits the pods on the rows of in that the selector matches, each with the reason
// why it does not count, empty for one that does.
func (c *spreadCounts) eachMatching(q *engine.Query, in func(row int32) bool, visit func(p *state.Pod, left string)) {
	empty := c.selector.Empty()
	for _, shape := range q.ShapesIn(nil, q.Pod.Namespace, c.selector) {
		eachOf(q, shape, in, func(p *state.Pod) {
			left := c.leftOut(q, int(p.Row))
			switch {
			case shape.Terminating:
				left = "it is terminating"
			case empty && !slices.Contains(q.Added(), p):
				left = "an empty selector counts no pod that is there"
			}
			visit(p, left)
		})
	}
}

// leftOut returns why no pod of a node counts, empty where they do.
func (c *spreadCounts) leftOut(q *engine.Query, row int) string {
	switch required := q.RequiredRows(); {
	case !c.keyed.Has(row):
		return "its node lacks the topology key of a constraint"
	case c.counts == nil || c.counts.Has(row):
		return ""
	case c.honorAffinity && required != nil && !required.Has(row):
		return "its node does not match the pod's node affinity or selector"
	}
	return "its node has a taint that the pod does not tolerate"
}
