package rules

import (
	"cmp"
	"slices"

	"k8s.io/apimachinery/pkg/labels"

	"berth/internal/engine"
	"berth/internal/engine/state"
	"berth/internal/semantics"
)

// The reasons of InterPodAffinity, in the order in which they are checked.
const (
	ReasonPodAffinity          = "node(s) didn't match pod affinity rules"
	ReasonPodAntiAffinity      = "node(s) didn't match pod anti-affinity rules"
	ReasonExistingAntiAffinity = "node(s) didn't satisfy existing pods anti-affinity rules"
)

// InterPodAffinity places pods near to other pods or away from them: by the pod's own terms and by
// the anti-affinity of existing pods (plugins/interpodaffinity).
type InterPodAffinity struct {
	// HardWeight is what an existing pod's required affinity adds to a score.
	HardWeight int32
	// IgnoreExisting leaves existing pods' preferences out for pods that have
	// none themselves.
	IgnoreExisting bool

	wakes affinityWakes
}

var (
	_ engine.PreFilterer[*affinityCounts] = (*InterPodAffinity)(nil)
	_ engine.Filterer[*affinityCounts]    = (*InterPodAffinity)(nil)
	_ engine.Scorer[*affinityCounts]      = (*InterPodAffinity)(nil)
	_ engine.Detailer[*affinityCounts]    = (*InterPodAffinity)(nil)
	_ engine.Local                        = (*InterPodAffinity)(nil)
)

// interPodAffinityDescriptor is the rule's entry in the registry.
var interPodAffinityDescriptor = Descriptor{
	Plugin: "InterPodAffinity", Phases: []string{phasePreFilter, phaseFilter, phaseScore}, Weight: 2,
	Also: []string{phasePreScore}, Needs: bothNeed,
	Judges: "The pod's required affinity, then its anti-affinity, then the anti-affinity of existing pods. The score adds up preferred terms in both directions.",
	Code:   codeUnresolvable + " for affinity; " + codeUnschedulable + " for both kinds of anti-affinity", Reasons: []string{ReasonPodAffinity, ReasonPodAntiAffinity, ReasonExistingAntiAffinity},
	Upstream: "interpodaffinity/filtering.go, scoring.go",
	Args:     codecOf(func(a *Args) { a.InterPodAffinity.HardPodAffinityWeight = 1 }, readInterPodAffinityArgs),
	Details: []*engine.DetailKind{
		termed("podAffinity", "topologyKey, domain, matching, term", engine.CausePodAffinityNotMatched, "; such pods: "),
		termed("podAntiAffinity", "topologyKey, domain, matching, term", engine.CausePodAntiAffinityViolated, "; such pods: "),
		termed("existingAntiAffinity", "topologyKey, domain, matching, term", engine.CauseOthersAntiAffinityViolated, ", a term of "),
	},
	build: func(a *Args, r *semantics.Release) (*engine.Plugin, error) {
		i := a.InterPodAffinity
		return engine.Adapt[*affinityCounts](&InterPodAffinity{i.HardPodAffinityWeight, i.IgnorePreferredTermsOfExistingPods, affinityWakesOf(r)}), nil
	},
}

// Name is the plugin's name.
func (*InterPodAffinity) Name() string { return "InterPodAffinity" }

// Locality returns Anywhere for a pod that has terms, or that a term of some pod selects. For any
// other pod only its node matters.
func (*InterPodAffinity) Locality(q *engine.Query) engine.Locality {
	if len(q.Terms()) > 0 || len(q.TermsSelectingPod(nil)) > 0 {
		return engine.Anywhere
	}
	return engine.NodesOnly
}

// domainCounts is a count per value of a topology key.
type domainCounts struct {
	column *state.Column
	n      []int32
	total  int32
}

func newDomainCounts(q *engine.Query, key string) *domainCounts {
	c := q.Nodes.Column(key)
	q.Work(len(c.Values))
	return &domainCounts{column: c, n: q.Counts(len(c.Values))}
}

func (d *domainCounts) add(p *state.Postings) {
	for _, seg := range p.Segments() {
		for _, e := range seg {
			if v := d.column.Value[e.Row]; v >= 0 {
				d.n[v] += e.N
				d.total += e.N
			}
		}
	}
}

// mark adds the nodes of every domain with a count above 0 to out.
func (d *domainCounts) mark(out state.Bits) {
	if d.total == 0 {
		return
	}
	for v, n := range d.n {
		if n > 0 {
			d.column.AddRows(v, out)
		}
	}
}

// affinityCounts is the PreFilter state of InterPodAffinity.
type affinityCounts struct {
	required []*state.Term
	near     []*domainCounts // per required affinity term: pods that match all of them
	anyNear  bool            // such a pod exists on a node with one of the keys
	first    bool            // the pod matches its own required terms
	anti     []*state.Term
	away     []*domainCounts // per required anti-affinity term: pods that match it
	existing map[string]*domainCounts
	terms    []*state.Term // existing pods' anti-affinity terms that select the pod
	nearby   state.Bits    // what nearRows found
}

// PreFilter counts, per topology domain, the pods that the pod's required terms select and the
// existing pods whose anti-affinity selects it.
func (a *InterPodAffinity) PreFilter(q *engine.Query) (*affinityCounts, engine.PreFilterResult) {
	s := &affinityCounts{existing: map[string]*domainCounts{}}
	for _, t := range q.TermsSelectingPod(nil) {
		if t.Kind != state.RequiredAntiAffinity {
			continue
		}
		where := q.State.TermPostings(t.ID)
		if where.Total() == 0 {
			continue
		}
		d := s.existing[t.TopologyKey]
		if d == nil {
			d = newDomainCounts(q, t.TopologyKey)
			s.existing[t.TopologyKey] = d
		}
		d.add(where)
		s.terms = append(s.terms, t)
	}
	for key, d := range s.existing {
		if d.total == 0 {
			delete(s.existing, key)
		}
	}
	for _, t := range q.Terms() {
		switch t.Kind {
		case state.RequiredAffinity:
			s.required = append(s.required, t)
		case state.RequiredAntiAffinity:
			s.anti = append(s.anti, t)
		default:
		}
	}
	if len(s.existing) == 0 && len(s.required) == 0 && len(s.anti) == 0 {
		return nil, engine.PreFilterResult{Skip: true}
	}
	a.countNear(q, s)
	for _, t := range s.anti {
		d := newDomainCounts(q, t.TopologyKey)
		for _, shape := range q.ShapesSelected(nil, t) {
			d.add(q.State.ShapePostings(shape.ID))
		}
		s.away = append(s.away, d)
	}
	return s, engine.PreFilterResult{}
}

// countNear counts the pods that match all of the required affinity terms: only such pods count for
// any of them.
func (a *InterPodAffinity) countNear(q *engine.Query, s *affinityCounts) {
	if len(s.required) == 0 {
		return
	}
	for _, t := range s.required {
		s.near = append(s.near, newDomainCounts(q, t.TopologyKey))
	}
	for _, shape := range q.ShapesSelected(nil, s.required[0]) {
		if !selectsAll(s.required[1:], shape.Namespace, shape.Labels) {
			continue
		}
		where := q.State.ShapePostings(shape.ID)
		for _, d := range s.near {
			d.add(where)
		}
	}
	for _, d := range s.near {
		s.anyNear = s.anyNear || d.total > 0
	}
	s.first = selectsAll(s.required, q.Pod.Namespace, q.Pod.Labels)
}

func selectsAll(terms []*state.Term, ns string, set labels.Set) bool {
	for _, t := range terms {
		if !t.Matches(ns, nil, set) {
			return false
		}
	}
	return true
}

// Filter rejects nodes that the pod's affinity excludes (unresolvable), then those that its
// anti-affinity excludes, then those that the anti-affinity of existing pods excludes.
func (a *InterPodAffinity) Filter(q *engine.Query, s *affinityCounts, in state.Bits, rej *engine.Rejected) error {
	if s == nil {
		return nil
	}
	left := q.Bits()
	copy(left, in)
	if len(s.required) > 0 {
		out := q.Bits()
		copy(out, left)
		out.AndNot(s.nearRows(q))
		rej.Add(ReasonPodAffinity, engine.UnschedulableAndUnresolvable, out)
		left.AndNot(out)
	}
	if len(s.anti) > 0 {
		out := q.Bits()
		for _, d := range s.away {
			d.mark(out)
		}
		out.And(left)
		rej.Add(ReasonPodAntiAffinity, engine.Unschedulable, out)
		left.AndNot(out)
	}
	if len(s.existing) > 0 {
		out := q.Bits()
		for _, d := range s.existing {
			d.mark(out)
		}
		out.And(left)
		rej.Add(ReasonExistingAntiAffinity, engine.Unschedulable, out)
	}
	return nil
}

// nearRows returns the nodes that satisfy the required affinity: in every term's domain there is a
// pod that matches all terms. The first pod of a group with affinity to itself may go to any node
// that has the keys.
func (s *affinityCounts) nearRows(q *engine.Query) state.Bits {
	if s.nearby != nil {
		return s.nearby
	}
	out := q.Bits()
	copy(out, q.Nodes.Alive())
	alone := !s.anyNear && s.first
	for _, d := range s.near {
		ok := q.Bits()
		if alone {
			for v := range d.column.Values {
				d.column.AddRows(v, ok)
			}
		} else {
			d.mark(ok)
		}
		out.And(ok)
	}
	s.nearby = out
	return out
}

// Details names the terms that fail on the node and its domain.
func (a *InterPodAffinity) Details(q *engine.Query, s *affinityCounts, row int) []engine.Detail {
	if s == nil {
		return nil
	}
	var out []engine.Detail
	add := func(kind string, t *state.Term, d *domainCounts) {
		det := engine.Detail{Kind: kind, TopologyKey: t.TopologyKey, Term: q.Words(t, t.String)}
		if v := d.column.Value[row]; v >= 0 {
			n := int64(d.n[v])
			det.Domain, det.Matching = d.column.Values[v], &n
		}
		out = append(out, det)
	}
	counted := func(d *domainCounts) bool {
		v := d.column.Value[row]
		return v >= 0 && d.n[v] > 0
	}
	if len(s.required) > 0 && !s.nearRows(q).Has(row) {
		for i, t := range s.required {
			if !counted(s.near[i]) {
				add("podAffinity", t, s.near[i])
			}
		}
		return out
	}
	for i, t := range s.anti {
		if counted(s.away[i]) {
			add("podAntiAffinity", t, s.away[i])
		}
	}
	if len(out) > 0 {
		return out
	}
	for _, t := range s.terms {
		if d := s.existing[t.TopologyKey]; d != nil && counted(d) && holds(q, t, d, row) {
			add("existingAntiAffinity", t, d)
		}
	}
	// Terms have no stable order; their texts do.
	slices.SortFunc(out, func(a, b engine.Detail) int {
		return cmp.Or(cmp.Compare(a.TopologyKey, b.TopologyKey), cmp.Compare(a.Term, b.Term))
	})
	return out
}

// holds reports whether the row's domain has a pod with this very term.
func holds(q *engine.Query, t *state.Term, d *domainCounts, row int) bool {
	want, found := d.column.Value[row], false
	q.State.TermPostings(t.ID).Each(func(r, _ int32) { found = found || d.column.Value[r] == want })
	return found
}
