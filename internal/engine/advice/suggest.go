package advice

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"berth/internal/engine"
	"berth/internal/engine/state"
)

// Suggestion is a change after which a pod that fits nowhere would fit somewhere: a
// single one, or a pair where no single one helps. It has been tried: Fits and Nodes are what the engine said of the
// pod, or the cluster, with the change in place.
type Suggestion struct {
	Kind   string   `json:"kind"`            // gate, toleration, resource, topologySpread, nodeSelector, nodeAffinity, podAffinity, podAntiAffinity, hostPort, claim; uncordon, recover, capacity, label; preemptionPolicy, priorityClass, budget; node (one more), pair
	Parts  []string `json:"parts,omitempty"` // of a pair: the kinds of its two changes
	Change string   `json:"change"`          // in words
	Target string   `json:"target"`          // pod, node, budget or claim
	Node   string   `json:"node,omitempty"`
	// Like is the node that one more would be a copy of, without its pods.
	Like  string   `json:"like,omitempty"`
	Fits  int      `json:"fits"`  // nodes that the pod could go to; of a budget's, those where no budget would be violated
	Nodes []string `json:"nodes"` // up to five of them, by name
	// Outcome is Scheduled, or Preempting where the change lets the pod evict others.
	Outcome engine.Outcome `json:"outcome" enums:"Scheduled,Preempting" swaggertype:"string"`
	// Action says who makes such a change.
	Action Action `json:"action" enums:"wait,changePod,askPlatform" swaggertype:"string"`
	// Edit is the change as a JSON patch: the very one that was tried. That of a
	// claim makes the object, whose size is a stand-in.
	Edit Edit `json:"edit"`
	// Edits are all patches of a change of several objects, edit being the first: what
	// was tried had all of them.
	Edits []Edit `json:"edits,omitempty"`
	// Cures says which groups the nodes are from that the pod could go to.
	Cures []Cure `json:"cures,omitempty"`
	// VerifiedBy is the engine that tried it.
	VerifiedBy string `json:"verifiedBy" example:"engine v0.2.1"`
}

// Cure is how many nodes of a group a change opens.
type Cure struct {
	Rule   string `json:"rule"`
	Reason string `json:"reason"`
	Detail string `json:"detail,omitempty"`
	Nodes  int    `json:"nodes"`
}

// Question is the decision that suggestions are wanted for.
type Question struct {
	State   *state.State
	Pod     *corev1.Pod // as it was decided on
	Profile *engine.Profile
	Options engine.Options
	// Object gives a node or budget of the state as JSON; nil where it has none.
	Object func(kind, namespace, name string) []byte
}

const (
	// MaxTries bounds the decisions that one question's single changes take,
	// MaxPairTries those of what is tried after them.
	MaxTries     = 128
	MaxPairTries = 96
	// maxSuggested is how many suggestions are given, maxAlike how many of one kind.
	maxSuggested = 12
	maxAlike     = 3
	maxExamples  = 5
)

// What kinds of changes cost, in the order that they are offered: what the
// pod's owner decides alone comes before what an operator has to do, and what
// takes nothing from anybody before what evicts others. Within one cost what
// opens more nodes comes first.
const (
	costGate = iota
	costToleration
	costResource
	costSkew
	costPolicy // another policy of a spread constraint
	costSoften
	costSelector
	costAffinity
	costPodAffinity
	costPort
	costClaim
	costPair // two changes of the pod
	costUncordon
	costRecover
	costLabel
	costCapacity
	costPairCapacity // two changes, of which one is of a node
	costNode
	costEvicting // a toleration that lets the pod evict others
	costBudget
	costPreemptionPolicy
	costPriorityClass
)

// Suggest gives the changes that would let the pod fit, cheapest first: single ones, one
// more node, and pairs where no single change helps.
// r is the decision on the question; there is nothing to suggest for a pod that
// fits. The same question gives the same suggestions, and each of them has been
// tried by a decision of its own. Within Result.Within the search ends with its context.
func Suggest(q Question, r *engine.Result) []Suggestion {
	if r.Outcome == engine.Scheduled || r.Options().Victims != nil {
		return nil
	}
	s := &seeker{q: q, base: r, check: r.CheckContext, seen: collect(r, r.CheckContext), limit: MaxTries}
	var err error
	if s.pod, err = encode(q.Pod); err != nil {
		return nil
	}
	if r.Outcome == engine.Gated {
		s.gates()
	} else {
		s.tolerations()
		s.resources()
		s.spreading()
		s.selectors()
		s.affinity()
		s.podAffinity()
		s.ports()
		s.claim()
		s.cordons()
		s.recoveries()
		s.budgets()
		s.preemption()
		s.beyond()
	}
	s.check() // a change that was not tried for want of time is not to be missed
	slices.SortStableFunc(s.found, cheapest)
	out := make([]Suggestion, 0, min(len(s.found), maxSuggested))
	alike := map[string]int{}
	for _, f := range s.found {
		if alike[f.Kind]++; alike[f.Kind] <= maxAlike && len(out) < maxSuggested {
			out = append(out, f.Suggestion)
		}
	}
	return out
}

func cheapest(a, b offer) int {
	return cmp.Or(a.cost-b.cost, b.Fits-a.Fits, cmp.Compare(a.Change, b.Change))
}

// beyond tries what is more than one change of what is there: one more node, and,
// where no single change finds a free place, pairs and tolerations by which the pod
// would evict others.
func (s *seeker) beyond() {
	s.limit = s.tries + MaxPairTries
	helped := slices.ContainsFunc(s.found, func(o offer) bool { return o.Outcome == engine.Scheduled })
	alone, err := s.base.Alone()
	if err != nil { // the caller's context has ended
		return
	}
	defer alone.Release()
	s.oneMoreNode(alone)
	if !helped {
		s.pairs(alone)
		s.tolerateAndEvict()
	}
}
