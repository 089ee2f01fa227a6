package rules

import (
	"berth/internal/engine"
	"berth/internal/engine/state"
)

var _ engine.Trier[*affinityCounts] = (*InterPodAffinity)(nil)

// Try returns the trial of the rule: it judges a node by the pods of its domains.
func (a *InterPodAffinity) Try(q *engine.Query, s *affinityCounts) engine.Trial {
	if s == nil {
		s = &affinityCounts{existing: map[string]*domainCounts{}}
	}
	t := &interPodTrial{affinityCounts: s, awayMoved: make([]int32, len(s.anti)), keyOf: map[int32]int{}}
	shapes := q.State.Tables().Size()
	if len(s.required) > 0 {
		t.isNear = make([]bool, shapes)
		for _, sh := range q.ShapesSelected(nil, s.required[0]) {
			if int(sh.ID) < shapes && selectsAll(s.required[1:], sh.Namespace, sh.Labels) {
				t.isNear[sh.ID] = true
			}
		}
	}
	for _, term := range s.anti {
		meets := make([]bool, shapes)
		for _, sh := range q.ShapesSelected(nil, term) {
			if int(sh.ID) < shapes {
				meets[sh.ID] = true
			}
		}
		t.isAway = append(t.isAway, meets)
	}
	// Terms that only pods added in the trial have count too, so all that select the pod are
	// listed.
	index := map[string]int{}
	for _, term := range q.TermsSelectingPod(nil) {
		if term.Kind != state.RequiredAntiAffinity {
			continue
		}
		k, known := index[term.TopologyKey]
		if !known {
			k = len(t.keys)
			index[term.TopologyKey] = k
			d := s.existing[term.TopologyKey]
			if d == nil {
				d = &domainCounts{column: q.Nodes.Column(term.TopologyKey)}
			}
			t.keys = append(t.keys, d)
		}
		t.keyOf[term.ID] = k
	}
	t.keyMoved = make([]int32, len(t.keys))
	return t
}

// interPodTrial is InterPodAffinity on one node: how far the counts of the node's domains have
// changed.
type interPodTrial struct {
	*affinityCounts
	row       int32
	isNear    []bool // by shape: matches all required affinity terms
	nearMoved int32
	isAway    [][]bool // by required anti-affinity term, by shape
	awayMoved []int32
	keys      []*domainCounts // of existing pods' anti-affinity, by topology key
	keyOf     map[int32]int   // by term
	keyMoved  []int32
}

// Begin starts with the counts of the row's domains.
func (t *interPodTrial) Begin(row int32, nominated []*state.Pod) {
	t.row, t.nearMoved = row, 0
	clear(t.awayMoved)
	clear(t.keyMoved)
	for _, p := range nominated {
		t.Move(p, 1)
	}
}

// Move counts a pod in or out, by its labels and by its own terms.
func (t *interPodTrial) Move(p *state.Pod, n int32) {
	shape := p.Class.Shape.ID
	if t.isNear != nil && t.isNear[shape] {
		t.nearMoved += n
	}
	for i, meets := range t.isAway {
		if meets[shape] {
			t.awayMoved[i] += n
		}
	}
	if len(t.keyOf) == 0 {
		return
	}
	for _, term := range p.Class.Terms {
		if k, ok := t.keyOf[term]; ok {
			t.keyMoved[k] += n
		}
	}
}

// AffectedBy reports whether a term of the pod selects pods of the class, or a term of theirs
// selects the pod.
func (t *interPodTrial) AffectedBy(c *state.Class) bool {
	if t.isNear != nil && t.isNear[c.Shape.ID] {
		return true
	}
	for _, meets := range t.isAway {
		if meets[c.Shape.ID] {
			return true
		}
	}
	for _, term := range c.Terms {
		if _, ok := t.keyOf[term]; ok {
			return true
		}
	}
	return false
}

// there returns a domain's count now; ok is false for a node without the key.
func (t *interPodTrial) there(d *domainCounts, moved int32) (n int32, ok bool) {
	v := d.column.Value[t.row]
	if v < 0 {
		return 0, false
	}
	if d.n == nil {
		return moved, true
	}
	return d.n[v] + moved, true
}

// nearBy reports whether the required affinity is met, or whether the pod would be the first of its
// group because no matching pod is left anywhere.
func (t *interPodTrial) nearBy() bool {
	company, left := true, int32(0)
	for _, d := range t.near {
		n, ok := t.there(d, t.nearMoved)
		if !ok {
			return false
		}
		company = company && n > 0
		left += d.total + t.nearMoved
	}
	return company || left == 0 && t.first
}

// Fits reports whether affinity and anti-affinity are satisfied.
func (t *interPodTrial) Fits() bool {
	_, reasons := t.Verdict()
	return reasons == nil
}

var (
	wantsNear  = []string{ReasonPodAffinity}
	wantsAway  = []string{ReasonPodAntiAffinity}
	wantedAway = []string{ReasonExistingAntiAffinity}
)

// Verdict returns the first reason in the order of Filter.
func (t *interPodTrial) Verdict() (engine.Code, []string) {
	if len(t.required) > 0 && !t.nearBy() {
		return engine.UnschedulableAndUnresolvable, wantsNear
	}
	for i, d := range t.away {
		if n, _ := t.there(d, t.awayMoved[i]); n > 0 {
			return engine.Unschedulable, wantsAway
		}
	}
	for k, d := range t.keys {
		if n, _ := t.there(d, t.keyMoved[k]); n > 0 {
			return engine.Unschedulable, wantedAway
		}
	}
	return engine.Success, nil
}
