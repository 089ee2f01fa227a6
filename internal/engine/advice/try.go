package advice

import (
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"

	"berth/internal/engine"
	"berth/internal/engine/state"
)

// seeker looks for suggestions for one decision.
type seeker struct {
	q     Question
	base  *engine.Result
	check func() // ends the search where the caller's context has ended
	seen  *collection
	pod   []byte // the pod as JSON, which patches are of
	tries int
	limit int // of tries
	found []offer
}

// offer is a suggestion with what it costs.
type offer struct {
	Suggestion
	cost int
	fits *verdict
}

// verdict is what trying a change came to: nil where the pod still fits nowhere.
type verdict struct {
	rows  state.Bits
	nodes *state.NodeSet
}

// effort is how much of a decision is asked for.
type effort uint8

const (
	probing  effort = iota // whether the pod would fit
	placing                // a whole decision, but for preemption
	evicting               // a whole decision
)

// decide runs the engine, unless that was done often enough or the caller's context has
// ended. A question that cannot be judged is no help.
func (s *seeker) decide(state *state.State, pod *corev1.Pod, e effort) *engine.Result {
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

// fits says where a pod would fit without evicting anybody.
func (s *seeker) fits(state *state.State, pod *corev1.Pod, e effort) *verdict {
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

// probe says where the pod would fit with an edit that is not offered as it is.
func (s *seeker) probe(edit func(*corev1.Pod)) *verdict {
	p := s.q.Pod.DeepCopy()
	edit(p)
	return s.fits(s.q.State, p, probing)
}

// first gives the first node by name of the nodes that pass; "" without.
func (v *verdict) first(pass func(row int) bool) string {
	for _, row := range v.nodes.Order() {
		if v.rows.Has(int(row)) && pass(int(row)) {
			return v.nodes.Node(int(row)).Name
		}
	}
	return ""
}

// patched gives the pod with a patch made; nil where it cannot be made.
func (s *seeker) patched(ops []Op) *corev1.Pod {
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
func (s *seeker) offerPod(kind string, cost int, action Action, change string, ops ...Op) *verdict {
	p := s.patched(ops)
	if p == nil {
		return nil
	}
	v := s.fits(s.q.State, p, placing)
	if v != nil {
		s.keep(v, engine.Scheduled, cost, Suggestion{
			Kind: kind, Change: change, Target: "pod", Action: action, Edit: Edit{"Pod", s.q.Pod.Namespace, s.q.Pod.Name, ops},
		})
	}
	return v
}

// node gives a node of the state to look at; nil without.
func (s *seeker) node(name string) (*corev1.Node, []byte) {
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
func (s *seeker) offerNode(kind string, cost int, node, change string, ops ...Op) {
	n, js := s.node(node)
	if n == nil || s.tries >= s.limit {
		return
	}
	*n = corev1.Node{}
	if apply(js, ops, n) != nil {
		return
	}
	e := s.q.State.Overlay()
	if e.Put(n) != nil {
		return
	}
	if v := s.fits(e.Done(), s.q.Pod, placing); v != nil {
		s.keep(v, engine.Scheduled, cost, Suggestion{
			Kind: kind, Change: change, Target: "node", Node: node, Action: AskPlatform, Edit: Edit{"Node", "", node, ops},
		})
	}
}

// evicts says on which nodes evicting others would let a pod in: on all of them,
// and on those where no budget is violated.
func (s *seeker) evicts(state *state.State, pod *corev1.Pod) (all, unviolated *verdict, outcome engine.Outcome) {
	r := s.decide(state, pod, evicting)
	if r == nil {
		return nil, nil, ""
	}
	defer r.Release()
	switch r.Outcome {
	case engine.Scheduled:
		return &verdict{r.Feasible.Clone(), r.Nodes()}, nil, r.Outcome
	case engine.Preempting:
		a, u := r.CandidateRows()
		return &verdict{a, r.Nodes()}, &verdict{u, r.Nodes()}, r.Outcome
	default:
		return nil, nil, ""
	}
}

// offerEviction tries a patch of the pod that lets it evict others.
func (s *seeker) offerEviction(kind string, cost int, action Action, change string, ops ...Op) bool {
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

// offerBudget tries a patch of a budget and keeps it if some node can then be
// cleared without violating any.
func (s *seeker) offerBudget(namespace, name, change string, ops ...Op) {
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

// keep fills in what a change that helps comes to.
func (s *seeker) keep(v *verdict, outcome engine.Outcome, cost int, g Suggestion) {
	g.Outcome, g.Fits, g.VerifiedBy = outcome, v.rows.Count(), "engine "+engine.Version
	for _, row := range v.nodes.Order() {
		if len(g.Nodes) == maxExamples {
			break
		}
		if v.rows.Has(int(row)) {
			g.Nodes = append(g.Nodes, v.nodes.Node(int(row)).Name)
		}
	}
	// Nodes keep their rows when they are edited.
	for _, b := range s.seen.list() {
		n := 0
		for row := range b.rows.All() {
			if v.rows.Has(row) {
				n++
			}
		}
		if n > 0 {
			g.Cures = append(g.Cures, Cure{b.cause.Rule, b.cause.Reason, b.cause.About, n})
		}
	}
	if len(g.Cures) > maxCures {
		g.Cures = g.Cures[:maxCures]
	}
	s.found = append(s.found, offer{g, cost, v})
}

// maxCures bounds the groups that a suggestion names, of which the largest come
// first.
const maxCures = 8
