package suggest

import (
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"

	"berth/internal/engine"
	"berth/internal/engine/preempt"
	"berth/internal/engine/state"
)

// searcher searches the suggestions for one decision.
type searcher struct {
	q     Question
	base  *engine.Result
	check func() // ends the search where the caller's context has ended
	seen  *collection
	pod   []byte // the pod as JSON, which patches change
	tries int
	limit int // of tries
	found []offer
}

// offer is a suggestion with its cost.
type offer struct {
	Suggestion
	cost int
	fits *verdict
}

// verdict is where the pod fits with a change; nil where it still fits nowhere.
type verdict struct {
	rows  state.Bits
	nodes *state.NodeSet
}

// effort is how much of a decision is made.
type effort uint8

const (
	probing  effort = iota // whether the pod would fit
	placing                // a whole decision, but for preemption
	evicting               // a whole decision
)

// decide runs the engine, unless its bound is reached or the caller's context has ended. A question
// that cannot be judged is no help.
func (s *searcher) decide(state *state.State, pod *corev1.Pod, e effort) *engine.Result {
	s.check()
	if ctx := s.q.Options.Context; s.tries >= s.limit || ctx != nil && ctx.Err() != nil {
		return nil
	}
	s.tries++
	o := s.q.Options
	o.NoScores, o.NoPreemption = o.NoScores || e == probing, o.NoPreemption || e != evicting
	r, err := engine.Decide(state, pod, s.q.Profile, o)
	if err != nil {
		return nil
	}
	return r
}

// fits returns where a pod would fit without evicting pods.
func (s *searcher) fits(state *state.State, pod *corev1.Pod, e effort) *verdict {
	r := s.decide(state, pod, e)
	if r == nil {
		return nil
	}
	defer r.Release()
	if r.Outcome != engine.Scheduled || r.Feasible.Empty() {
		return nil
	}
	return &verdict{r.Feasible.Clone(), r.Nodes()}
}

// probe returns where the pod would fit with an edit that is not suggested in this form.
func (s *searcher) probe(edit func(*corev1.Pod)) *verdict {
	p := s.q.Pod.DeepCopy()
	edit(p)
	return s.fits(s.q.State, p, probing)
}

// first returns the first node by name of the nodes that pass; "" without.
func (v *verdict) first(pass func(row int) bool) string {
	for _, row := range v.nodes.Order() {
		if v.rows.Has(int(row)) && pass(int(row)) {
			return v.nodes.Node(int(row)).Name
		}
	}
	return ""
}

// patched returns the pod with a patch applied; nil where the patch does not apply.
func (s *searcher) patched(ops []Op) *corev1.Pod {
	if s.tries >= s.limit {
		return nil
	}
	s.check()
	p := &corev1.Pod{}
	if apply(s.pod, ops, p) != nil {
		return nil
	}
	return p
}

// offerPod tries a patch of the pod and keeps it if it helps.
func (s *searcher) offerPod(kind string, cost int, action Action, change string, ops ...Op) *verdict {
	p := s.patched(ops)
	if p == nil {
		return nil
	}
	v := s.fits(s.q.State, p, placing)
	if v != nil {
		s.keep(v, engine.Scheduled, cost, Suggestion{
			Kind: kind, Change: change, Target: "pod", Action: action, Edit: Edit{"Pod", s.q.Pod.Namespace, s.q.Pod.Name, ops}, Command: s.atTemplate(kind, ops),
		})
	}
	return v
}

// last is the suggestion that was kept last.
func (s *searcher) last() *Suggestion { return &s.found[len(s.found)-1].Suggestion }

// node returns a node of the state to read; nil without.
func (s *searcher) node(name string) (*corev1.Node, []byte) {
	s.check()
	js := s.q.Object("Node", "", name)
	if js == nil {
		return nil, nil
	}
	n := &corev1.Node{}
	if apply(js, nil, n) != nil {
		return nil, nil
	}
	return n, js
}

// offerNode tries a patch of a node and keeps it if it helps.
func (s *searcher) offerNode(kind string, cost int, node, change string, ops ...Op) bool {
	n, js := s.node(node)
	if n == nil || s.tries >= s.limit {
		return false
	}
	*n = corev1.Node{}
	if apply(js, ops, n) != nil {
		return false
	}
	e := s.q.State.Overlay()
	if e.Put(n) != nil {
		return false
	}
	v := s.fits(e.Done(), s.q.Pod, placing)
	if v == nil {
		return false
	}
	s.keep(v, engine.Scheduled, cost, Suggestion{
		Kind: kind, Change: change, Target: "node", Node: node, Action: AskPlatform, Edit: Edit{"Node", "", node, ops},
	})
	return true
}

// evicts returns the nodes on which the pod would fit after evictions: all of them, and those where
// no budget is violated. Evictions of pods of the pod's own controller are no help: it would make
// them again.
func (s *searcher) evicts(state *state.State, pod *corev1.Pod) (all, unviolated *verdict, outcome engine.Outcome) {
	r := s.decide(state, pod, evicting)
	if r == nil {
		return nil, nil, ""
	}
	defer r.Release()
	switch r.Outcome {
	case engine.Scheduled:
		return &verdict{r.Feasible.Clone(), r.Nodes()}, nil, r.Outcome
	case engine.Preempting:
		for _, v := range preempt.Victims(r) {
			if s.sibling(v.Namespace, v.Name) {
				return nil, nil, ""
			}
		}
		a, u := preempt.CandidateRows(r)
		return &verdict{a, r.Nodes()}, &verdict{u, r.Nodes()}, r.Outcome
	default:
		return nil, nil, ""
	}
}

// offerEviction tries a patch of the pod that lets it evict others.
func (s *searcher) offerEviction(kind string, cost int, action Action, change string, ops ...Op) bool {
	p := s.patched(ops)
	if p == nil {
		return false
	}
	v, _, outcome := s.evicts(s.q.State, p)
	if v == nil {
		return false
	}
	s.keep(v, outcome, cost, Suggestion{
		Kind: kind, Change: change, Target: "pod", Action: action, Edit: Edit{"Pod", s.q.Pod.Namespace, s.q.Pod.Name, ops},
	})
	return true
}

// offerBudget tries a patch of a budget and keeps it if victims can then be evicted from some node
// without violating any.
func (s *searcher) offerBudget(namespace, name, change string, ops ...Op) {
	js := s.q.Object("PodDisruptionBudget", namespace, name)
	b := &policyv1.PodDisruptionBudget{}
	if js == nil || apply(js, ops, b) != nil {
		return
	}
	e := s.q.State.Overlay()
	if e.Put(b) != nil {
		return
	}
	_, v, outcome := s.evicts(e.Done(), s.q.Pod)
	if v == nil || v.rows.Empty() {
		return
	}
	s.keep(v, outcome, costBudget, Suggestion{
		Kind: "budget", Change: change, Target: "budget", Action: AskPlatform, Edit: Edit{"PodDisruptionBudget", namespace, name, ops},
	})
}

// keep completes a change that helps and keeps it.
func (s *searcher) keep(v *verdict, outcome engine.Outcome, cost int, g Suggestion) {
	g.Outcome, g.Fits, g.VerifiedBy = outcome, v.rows.Count(), "engine "+engine.Version
	for _, row := range v.nodes.Order() {
		if len(g.Nodes) == maxExamples {
			break
		}
		if v.rows.Has(int(row)) {
			g.Nodes = append(g.Nodes, v.nodes.Node(int(row)).Name)
		}
	}
	// Nodes keep their rows when they are changed.
	for _, b := range s.seen.list() {
		n := 0
		for row := range b.rows.All() {
			if v.rows.Has(row) {
				n++
			}
		}
		if n > 0 {
			g.Cures = append(g.Cures, HelpedGroup{b.cause.Rule, b.cause.Reason, b.cause.About, n})
		}
	}
	if len(g.Cures) > maxCures {
		g.Cures = g.Cures[:maxCures]
	}
	s.found = append(s.found, offer{g, cost, v})
}

// maxCures bounds the groups that a suggestion names; the largest come first.
const maxCures = 8
