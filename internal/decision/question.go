package decision

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"berth/internal/engine"
	"berth/internal/engine/state"
	"berth/internal/kube/object"
	"berth/internal/revision"
)

// The verbs of records.
const (
	VerbDecide     = "decide"
	VerbFilter     = "filter"
	VerbPrioritize = "prioritize"
	VerbPreempt    = "preempt"
	VerbBind       = "bind"
	// VerbBindResult is of the record of a bind's result: the bind's own record is made before the
	// apiserver is called.
	VerbBindResult = "bind-result"
)

// ModeShadow is of answers that were recorded while the caller let every node pass.
const ModeShadow = "shadow"

// The purposes of records.
const (
	// PurposeLive is of what was asked to place a pod: the extender's calls, binds, and decisions
	// that bind, whatever their outcome.
	PurposeLive = "live"
	// PurposeQuestion is of a decision that was asked for and binds nothing.
	PurposeQuestion = "question"
	PurposeShadow   = ModeShadow
)

// Excluded is a pod that the snapshot has and that does not count for a question: a victim that is
// evicted for the pod.
type Excluded struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	UID       string `json:"uid"`
}

// Question is a pod to place, and what to consider.
type Question struct {
	Verb     string // VerbDecide if empty
	Cluster  string // "default" if empty
	Revision int64  // 0: the newest
	// Pod or PodRef, the name of a pod in the snapshot, is the pod to place.
	Pod    *corev1.Pod
	PodRef *object.Key
	// PodJSON is Pod in canonical JSON, where the caller has it.
	PodJSON []byte
	// NodeNames limits the nodes considered; nil: all, or with Nodes theirs.
	NodeNames []string
	// Nodes replace the snapshot's nodes of the same names; unknown ones are added for this
	// decision.
	Nodes []*corev1.Node
	// Profile is the name of a profile; if empty, the one that the pod's schedulerName names, else
	// the first. Profiles replace those of the server.
	Profile  string
	Profiles []*engine.Profile
	Explain  engine.Explain
	// ExplainNode is the node whose scores ExplainAll takes apart, beside those of the best.
	ExplainNode string
	// NoPreemption tries no preemption. DryRun records nothing. Bind binds a Scheduled outcome in
	// the same write, and nominates the pod to the node of a Preempting one. ScoreAlways scores a
	// single feasible node too.
	NoPreemption, DryRun, Bind, ScoreAlways bool
	// Victims limits the question to whether the pod fits once these pods are evicted.
	Victims []engine.NodeVictims
	// Encoded lets the answer have its lists of nodes in its JSON alone: the caller writes it out
	// as it is, and reads no more than the rest.
	Encoded bool
	// Suggest adds changes that would let a pod fit that fits nowhere.
	Suggest bool
	Now     time.Time // zero: the time of the call
	// Clocked is set by Normalize where the question named no time, and the clock gave Now.
	Clocked bool
	// Place is the pod's place among those that the next revision creates.
	Place int
	// Mode is ModeShadow or empty.
	Mode string
	// Nominated is the node that the extender's caller has nominated the pod to. The victims that
	// an answer to /preempt named there do not count.
	Nominated string
	// Excluded pods do not count.
	Excluded []Excluded
	// Recorded is set for a question that is replayed.
	Recorded *Recorded
}

// Purpose returns the purpose of the question's record.
func (q *Question) Purpose() string {
	switch {
	case q.Mode == ModeShadow:
		return PurposeShadow
	case q.Verb == VerbDecide && !q.Bind:
		return PurposeQuestion
	}
	return PurposeLive
}

// Recorded is what a record has fixed of its question, so that a replay does not work it out anew.
type Recorded struct {
	// PodJSON is the pod as it was recorded; nil: the question's pod is another one.
	PodJSON []byte
	// Owned lets the question's pod be completed in place.
	Owned bool
	// Fallback is that no profile had the pod's schedulerName.
	Fallback bool
	// Class looks up the priority class that the record rests on; nil: classes as they are now.
	Class ClassSource
	// Candidates returns the names of the nodes to consider, nil for all; nil: all.
	Candidates func(*state.NodeSet) ([]string, error)
}

// Normalize fills in defaults and refuses contradictions. The time is read from clock unless the
// question has one.
func (q Question) Normalize(clock func() time.Time) (Question, error) {
	if q.Verb == "" {
		q.Verb = VerbDecide
	}
	if q.Cluster == "" {
		q.Cluster = "default"
	}
	if err := revision.CheckName(q.Cluster); err != nil {
		return q, Errorf(Malformed, "cluster", "%v", err)
	}
	if (q.Pod == nil) == (q.PodRef == nil) {
		return q, Errorf(Malformed, "pod", "one of pod and podRef is needed, and only one")
	}
	if q.PodRef != nil {
		ref := *q.PodRef
		ref.Kind = "Pod"
		if ref.Name == "" {
			return q, Errorf(Malformed, "podRef.name", "a name is needed")
		}
		if ref.Namespace == "" {
			ref.Namespace = corev1.NamespaceDefault
		}
		q.PodRef = &ref
	}
	switch q.Explain {
	case "":
		q.Explain = engine.ExplainFailures
	case engine.ExplainFailures, engine.ExplainFull, engine.ExplainGroups, engine.ExplainAll, engine.ExplainNone:
	default:
		return q, Errorf(Malformed, "explain", "want full, failures, groups, all or none")
	}
	switch {
	case q.Bind && q.DryRun:
		return q, Errorf(Malformed, "bind", "a dry run cannot bind")
	case q.Bind && q.Nodes != nil:
		return q, Errorf(Malformed, "bind", "a decision on nodes that replace the snapshot's cannot be bound")
	case q.Pod != nil && (q.Pod.Name == "" || q.Pod.Namespace == ""):
		return q, Errorf(Invalid, "pod.metadata.name", "a pod needs namespace and name")
	}
	if q.Now.IsZero() {
		q.Now, q.Clocked = clock(), true
	}
	q.Now = q.Now.UTC().Truncate(time.Microsecond)
	return q, nil
}
