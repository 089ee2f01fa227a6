package suggest

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"berth/internal/engine"
	"berth/internal/engine/explain"
	"berth/internal/engine/state"
)

// Suggestion is a change after which a pod that fits nowhere would fit: a single one, or a pair
// where no single one helps. It was tried: Fits and Nodes are the engine's result with the change
// in place.
type Suggestion struct {
	Kind   string   `json:"kind"`            // gate, toleration, resource, topologySpread, nodeSelector, nodeAffinity, podAffinity, podAntiAffinity, hostPort, claim; uncordon, recover, capacity, label; preemptionPolicy, priorityClass, budget; node (one more), pair; wait, delete, resize (of other pods)
	Parts  []string `json:"parts,omitempty"` // of a pair: the kinds of its two changes
	Change string   `json:"change"`          // in words
	Target string   `json:"target"`          // pod, node, budget or claim
	Node   string   `json:"node,omitempty"`
	// Like is the existing node that the new one would copy, without its pods.
	Like string `json:"like,omitempty"`
	// Zone is the one that the copy is in, where it is another than that of the node; new-zone
	// stands for one without nodes.
	Zone string `json:"zone,omitempty"`
	// Labels are what the copy has otherwise by keys beside the zone, which a spread or a volume of
	// the pod reads; new-KEY stands for a value that no node has.
	Labels map[string]string `json:"labels,omitempty"`
	// nodes on which the pod would fit; of a budget's, those where no budget would be violated
	Fits  int      `json:"fits"`
	Nodes []string `json:"nodes"` // up to five of them, by name
	// Outcome is Scheduled, or Preempting where the change lets the pod evict others.
	Outcome engine.Outcome `json:"outcome" enums:"Scheduled,Preempting" swaggertype:"string"`
	// Action names who makes such a change.
	Action Action `json:"action" enums:"wait,changePod,askPlatform" swaggertype:"string"`
	// Edit is the change as a JSON patch, exactly as it was tried. For a claim it makes the object,
	// with a placeholder for its size.
	Edit Edit `json:"edit"`
	// Edits are all patches of a change of several objects, edit being the first. They were tried
	// together.
	Edits []Edit `json:"edits,omitempty"`
	// Cures counts, for each group, the nodes on which the pod would fit.
	Cures []HelpedGroup `json:"cures,omitempty"`
	// Command is what people type for it; absent where no single command does it. A change of a pod
	// that a controller made is one of the controller's template.
	Command string `json:"command,omitempty" example:"kubectl uncordon node-a1"`
	// Warning is what speaks against the change.
	Warning string `json:"warning,omitempty"`
	// VerifiedBy is the engine that tried it.
	VerifiedBy string `json:"verifiedBy" example:"engine v0.3.0"`
}

// HelpedGroup is how many nodes of a group a change makes feasible.
type HelpedGroup struct {
	Rule   string `json:"rule"`
	Reason string `json:"reason"`
	Detail string `json:"detail,omitempty"`
	Nodes  int    `json:"nodes"`
} // @name suggest.Cure

// Question is the decision for which suggestions are made.
type Question struct {
	State   *state.State
	Pod     *corev1.Pod // as it was decided on
	Profile *engine.Profile
	Options engine.Options
	// Object returns a node or budget of the state as JSON; nil where it has none.
	Object func(kind, namespace, name string) []byte
}

const (
	// MaxTries bounds the decisions for the single changes of one question, MaxPairTries those for
	// the changes tried after them.
	MaxTries     = 128
	MaxPairTries = 96
	// maxSuggested is how many suggestions are answered, maxOfKind how many of one kind.
	maxSuggested = 12
	maxOfKind    = 3
	maxExamples  = 5
)

// The costs of the kinds of changes, in the order of the answer. A change by the pod's owner alone
// comes before one by an operator, and one that takes nothing from other pods before one that
// evicts some. Within one cost the change that makes more nodes feasible comes first.
const (
	costWait  = iota
	costForce // a deletion that is overdue
	costGate
	costTypo
	costRevision // a spread that counts pods of other revisions
	costResource
	costSkew
	costPolicy // another policy of a spread constraint
	costSoften
	costSelector
	costAffinity
	costPodAffinity
	costPort
	costClaim
	costPair   // two changes of the pod
	costResize // of another pod, which waits for it
	costDelete
	costUncordon
	costRecover
	costLabel
	costNode
	costCapacity
	costPairCapacity // two changes, of which one is of a node
	costToleration   // a taint keeps pods off on purpose
	costEvicting     // a toleration that lets the pod evict others
	costBudget
	costPreemptionPolicy
	costPriorityClass
	costLost // a volume and what is in it
)

// Suggest returns the changes that would let the pod fit, cheapest first: single ones, one more
// node, and pairs where no single change helps. r is the decision on the question. A pod that fits
// has no suggestions. The same question has the same suggestions, and each was tried by a decision
// of its own. The context of Result.Within ends the search.
func Suggest(q Question, r *engine.Result) []Suggestion {
	if r.Outcome == engine.Scheduled || r.Query.Options.Victims != nil {
		return nil
	}
	s := &searcher{q: q, base: r, check: r.CheckContext, seen: collect(r, r.CheckContext), limit: MaxTries}
	var err error
	if s.pod, err = encode(q.Pod); err != nil {
		return nil
	}
	switch {
	case r.Outcome == engine.Gated:
		s.gates()
	case r.Outcome == engine.Preempting: // evictions help already
		s.budgets()
	default:
		s.ending()
		s.typos()
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
		s.preemption()
		s.beyond()
		s.resizes()
		s.lostVolume()
		s.deletions()
	}
	s.check() // a change that was not tried for lack of time is no answer
	slices.SortStableFunc(s.found, cheapest)
	out := make([]Suggestion, 0, min(len(s.found), maxSuggested))
	ofKind := map[string]int{}
	for _, f := range s.found {
		if ofKind[f.Kind]++; ofKind[f.Kind] <= maxOfKind && len(out) < maxSuggested {
			out = append(out, f.Suggestion)
		}
	}
	return out
}

func cheapest(a, b offer) int {
	return cmp.Or(a.cost-b.cost, b.Fits-a.Fits, cmp.Compare(a.Change, b.Change))
}

// beyond tries more than single changes of what exists: one more node, pairs where no single change
// finds a free place, and tolerations with which the pod would evict others where none of the pod
// does: who may change the pod may not change the cluster.
func (s *searcher) beyond() {
	s.limit = s.tries + MaxPairTries
	helped, byPod := false, false
	for _, o := range s.found {
		fits := o.Outcome == engine.Scheduled
		helped, byPod = helped || fits, byPod || fits && o.Action == ChangePod
	}
	alone, err := explain.RunAlone(s.base)
	if err != nil { // the caller's context has ended
		return
	}
	defer alone.Release()
	s.oneMoreNode(alone)
	if !helped {
		s.pairs(alone)
	}
	if !byPod {
		s.tolerateAndEvict()
	}
}
