package engine

// Preemption explains which pods would be evicted.
type Preemption struct {
	// Eligible reports whether the pod may preempt others; Reason why not.
	Eligible bool   `json:"eligible"`
	Reason   string `json:"reason,omitempty"`
	// WaitsFor are the pods that the pod had evicted from the node that it is nominated to and that
	// are still there: as long as they are, no other pods are evicted for it.
	WaitsFor []PodRef `json:"waitsFor,omitempty"`
	// Node is the node of the victims, the decision's nominatedNode.
	Node    string   `json:"node,omitempty"`
	Victims []Victim `json:"victims,omitempty"`
	// NumPDBViolations counts the victims whose eviction a budget forbids.
	NumPDBViolations int `json:"numPDBViolations"`
	// StartsWithinSeconds is the longest of the victims' grace periods: the pod can start by then.
	StartsWithinSeconds *int64 `json:"startsWithinSeconds,omitempty"`
	// Reprieved are the pods of lower priority that stay on the node.
	Reprieved []Reprieved `json:"reprieved,omitempty"`
	// ClearedNominations are the pods of lower priority that no longer wait for
	// the node.
	ClearedNominations []PodRef `json:"clearedNominations,omitempty"`
	// Candidates are the nodes on which evictions help, the chosen one first and the others in the
	// order of the choice.
	Candidates        []PreemptionCandidate `json:"candidates,omitempty"`
	CandidatesOmitted int                   `json:"candidatesOmitted,omitempty"`
	// Rounds count how many candidates fell in each round of the choice, listed or omitted. Rounds
	// in which none fell are left out; after the last one the chosen node is left.
	Rounds []PreemptionRound `json:"rounds,omitempty"`
	// NotCandidates are the other nodes, counted by why.
	NotCandidates []NotCandidate `json:"notCandidates,omitempty"`
}

// PodRef names a pod.
type PodRef struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	UID       string `json:"uid,omitempty"`
}

// Victim is a pod to evict.
type Victim struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	UID       string `json:"uid"`
	Priority  int32  `json:"priority"`
	// GracePeriodSeconds is its grace period at eviction, or what is set if it is terminating
	// already.
	GracePeriodSeconds int64 `json:"gracePeriodSeconds"`
	Terminating        bool  `json:"terminating,omitempty"`
	// ViolatesPDB reports whether a budget forbids the eviction; Budgets are the first 16 of the
	// pod.
	ViolatesPDB    bool     `json:"violatesPDB"`
	Budgets        []Budget `json:"budgets,omitempty"`
	BudgetsOmitted int      `json:"budgetsOmitted,omitempty"`
	// Because lists the reasons that keep the preemptor off the node if this pod stays.
	Because []string `json:"because,omitempty"`
	// Replacement is what becomes of the pod that the victim's controller makes instead, once the
	// victims are gone and the preemptor is on their node. It is tried beside suggestions, for the
	// first victims.
	Replacement string `json:"replacement,omitempty" example:"DaemonSet agent makes another, which fits nowhere then and waits"`
	// Unknown reports that the snapshot does not have the pod on the node: it is as the caller of
	// /preempt named it.
	Unknown bool `json:"unknown,omitempty"`
}

// Budget is what a victim takes from a PodDisruptionBudget. All potential victims of a node take
// from it in order of importance, also those that are reprieved.
type Budget struct {
	Name          string `json:"name"`
	AllowedBefore int32  `json:"allowedBefore"`
	AllowedAfter  int32  `json:"allowedAfter"`
	Violated      bool   `json:"violated"`
	// Disrupted reports that the budget counts the pod as gone already, so that it takes nothing.
	Disrupted bool `json:"disrupted,omitempty"`
}

// Reprieved is a pod of lower priority that need not go.
type Reprieved struct {
	Namespace   string `json:"namespace"`
	Name        string `json:"name"`
	UID         string `json:"uid"`
	Priority    int32  `json:"priority"`
	ViolatesPDB bool   `json:"violatesPDB"`
	// Budgets are the first 16 of the pod.
	Budgets        []Budget `json:"budgets,omitempty"`
	BudgetsOmitted int      `json:"budgetsOmitted,omitempty"`
	Why            string   `json:"why"`
}

// PreemptionCandidate is a node on which preemption would help.
type PreemptionCandidate struct {
	Node             string      `json:"node"`
	Victims          []Victim    `json:"victims"`
	NumPDBViolations int         `json:"numPDBViolations"`
	Chosen           bool        `json:"chosen,omitempty"`
	Lost             *Tournament `json:"lost,omitempty"`
}

// PreemptionRound is a round of the choice among the candidates: how many fell, and how many were
// left.
type PreemptionRound struct {
	Round     int    `json:"round"` // from 1
	Criterion string `json:"criterion"`
	Fell      int    `json:"fell"`
	Left      int    `json:"left"`
}

// Tournament names the criterion by which a candidate lost to the chosen one. A start is in
// nanoseconds since 1970.
type Tournament struct {
	Round     int    `json:"round"` // from 1
	Criterion string `json:"criterion"`
	Value     int64  `json:"value"`
	Best      int64  `json:"best"`
}

// NotCandidate counts nodes on which evictions would not help. Plugin and reasons are those of the
// filter that still fails without all pods of lower priority; where evictions were not tried, those
// of the decision itself.
type NotCandidate struct {
	Plugin string   `json:"plugin,omitempty"`
	Code   string   `json:"code"`
	Reason string   `json:"reason"`
	Tried  bool     `json:"tried"`
	Nodes  int      `json:"nodes"`
	Names  []string `json:"names,omitempty"` // by name; at most ten unless everything is explained
}

// NodeVictims is a node and the pods that kube-scheduler would evict there.
type NodeVictims struct {
	Node    string        `json:"node"`
	Victims []NamedVictim `json:"victims"`
	// NumPDBViolations is kube-scheduler's own count.
	NumPDBViolations int64 `json:"numPDBViolations,omitempty"`
}

// NamedVictim is a pod as kube-scheduler names it. The fields beside the UID are for pods that the
// state does not have on the node; they are nil or empty where only the UID was sent.
type NamedVictim struct {
	UID       string            `json:"uid"`
	Namespace string            `json:"namespace,omitempty"`
	Name      string            `json:"name,omitempty"`
	Priority  *int32            `json:"priority,omitempty"`
	Labels    map[string]string `json:"labels,omitempty"`
}
