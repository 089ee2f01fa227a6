package engine

import "berth/internal/engine/state"

// Rule is one plugin with its arguments, built once per profile and used by many decisions at a
// time: it keeps nothing about a decision. It implements those of the phases below that it needs,
// and Adapt makes a Plugin from it. S is its PreFilter state: what its PreFilter returns for the
// later phases, NoState for a rule without. It is the zero value where PreFilter did not run, or
// skipped the pod.
type Rule interface {
	// Name is the plugin's name in kube-scheduler.
	Name() string
}

// NoState is the PreFilter state of rules that keep nothing.
type NoState struct{}

// PreEnqueuer holds pods back before any other phase: the outcome is Gated and the text is the
// message. An empty text lets the pod pass.
type PreEnqueuer interface {
	Rule
	PreEnqueue(q *Query) string
}

// PreFilterer runs once per decision, before any node is judged.
type PreFilterer[S any] interface {
	Rule
	PreFilter(q *Query) (S, PreFilterResult)
}

// PreFilterResult is the result of PreFilter. The zero value lets the decision continue.
type PreFilterResult struct {
	// Skip reports that the rule has nothing to filter for this pod.
	Skip bool
	// Code other than Success rejects the pod on every node, with Reason.
	Code   Code
	Reason string
	// Names, where not nil, are the only nodes to judge.
	Names map[string]struct{}
}

// Filterer rejects nodes. It judges all of in at once and adds to rej the nodes
// of in that fail.
type Filterer[S any] interface {
	Rule
	Filter(q *Query, state S, in state.Bits, rej *Rejected) error
}

// Scorer scores every feasible node, raw and normalised.
type Scorer[S any] interface {
	Rule
	Score(q *Query, state S, feasible state.Bits, out *Scores) error
}

// PartScorer is a scorer whose raw score is the sum of what several constraints or terms add.
type PartScorer[S any] interface {
	Scorer[S]
	// ScoreParts returns what takes the raw score of a feasible row apart. The points of a row's
	// parts, added up in order and rounded, are its raw score. It runs for nodes that an answer
	// shows in detail.
	ScoreParts(q *Query, state S, feasible state.Bits) func(row int) []ScorePart
}

// Locality is how far a rule reads when it judges a node for one pod.
type Locality uint8

// The localities.
const (
	// Anywhere: anything in the cluster may change the verdict. A rule that is not Local is
	// Anywhere.
	Anywhere Locality = iota
	// OwnRow: the verdict and the raw score of a node follow from the pod, the nodes, and the pods
	// on that node.
	OwnRow
	// NodesOnly: they follow from the pod and the nodes; of the other nodes, from their labels and
	// images alone.
	NodesOnly
)

// Local is a rule that knows its locality, so that a Decider may keep its verdicts on rows that did
// not change. The locality holds until the nodes, the labels of namespaces, the objects of the
// pod's namespace or the interned terms change. It may depend on these, but not on the pod's name,
// UID and age.
//
// A rule that is not Anywhere judges a row the same whatever other rows it judges. It calls Skip
// and Uniform for all rows or for none, and its normalised scores are the raw ones or follow from
// them by NormalizeByMax. If it is OwnRow and may return several reasons, it is a ReasonRanker.
type Local interface {
	Rule
	Locality(q *Query) Locality
}

// ReasonRanker orders the reasons of a rule that may have several for one node, where verdicts of
// several passes are merged. Reasons of one rank are ordered by text.
type ReasonRanker interface {
	Rule
	ReasonRank(text string) int
}

// Allotter names the devices that the pod would get on a node.
type Allotter[S any] interface {
	Rule
	Allotted(q *Query, state S, row int) []AllottedDevice
}

// Detailer explains a rejected node with structured details.
type Detailer[S any] interface {
	Rule
	Details(q *Query, state S, row int) []Detail
}

// BlockerNamer names the objects that cause a detail: it writes Blockers of a detail that Details
// returned for the same row. It runs where an answer shows them.
type BlockerNamer[S any] interface {
	Detailer[S]
	NameBlockers(q *Query, state S, row int, d *Detail)
}

// PreFilterDetailer explains why its PreFilter, or its PreEnqueue, rejects a pod: it describes the
// objects that keep the pod from every node, and names them as blockers. It runs where an answer
// shows them, and a record keeps them.
type PreFilterDetailer interface {
	Rule
	PreFilterDetails(q *Query) []Detail
}

// Spreader lists the domains of topology spread, and returns how even they are now.
type Spreader interface {
	Rule
	Spread(q *Query) []SpreadConstraint
	// NamePods names the pods of the domains in a table of Spread.
	NamePods(q *Query, table []SpreadConstraint)
	Skews(q *Query) []Skew
}

// Skew is how evenly pods are spread by a constraint of a pod's own. Over reports whether a row's
// domain has more than MaxSkew pods above the emptiest one.
type Skew struct {
	Hard bool
	Over func(row int32) bool
}

// VolumePlanner returns what the pod's waiting claims would get on a feasible node, in order of the
// pod's volumes. It changes nothing.
type VolumePlanner[S any] interface {
	Rule
	Volumes(q *Query, state S, row int) []VolumeBinding
}

// Abstainer is a rule that cannot be judged for the pod in this version, or with this snapshot; ok
// is false where there is nothing to judge.
type Abstainer interface {
	Rule
	NotEvaluated(q *Query) (reason string, ok bool)
}

// Trier is a filter whose verdict on a node depends on the pods there, so that evictions may change
// it. Other filters judge a node the same whatever pods it has.
type Trier[S any] interface {
	Filterer[S]
	// Try returns a trial for single nodes; state is the PreFilter state.
	Try(q *Query, state S) Trial
}

// Trial judges one node while pods leave it and come back. It reads the counts of PreFilter and one
// row's columns, and writes to neither. What it changes is its own, and Begin resets it
// (k8s.io/kube-scheduler/framework PreFilterExtensions AddPod, RemovePod).
type Trial interface {
	// Begin starts with a row as the state has it, together with the pods nominated to it.
	Begin(row int32, nominated []*state.Pod)
	// Move adds a pod to the node (n = 1) or removes it (n = -1).
	Move(p *state.Pod, n int32)
	// AffectedBy reports whether moving pods of a class can ever change Fits, on any node.
	AffectedBy(c *state.Class) bool
	// Fits reports whether the pod passes the filter now.
	Fits() bool
	// Verdict returns the code and reasons of Filter now; Success without any.
	Verdict() (Code, []string)
}

// Measurer is a Trier that is mainly a comparison of amounts. The pod fits where one more pod is
// allowed, need is left of every resource, and rest, which judges only what need leaves out, fits
// too. rest is nil where nothing is left out.
type Measurer interface {
	Rule
	Measure(q *Query) (need state.Amount, rest Trial)
}
