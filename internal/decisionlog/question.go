package decisionlog

import (
	"net/http"
	"time"

	corev1 "k8s.io/api/core/v1"

	"berth/internal/cluster"
	"berth/internal/engine"
	"berth/internal/objects"
)

// The verbs of records.
const (
	VerbDecide     = "decide"
	VerbFilter     = "filter"
	VerbPrioritize = "prioritize"
	VerbPreempt    = "preempt"
	VerbBind       = "bind"
	// VerbBindResult is of a record that says what became of a bind which the
	// apiserver was asked for: the bind's own record is made before it is asked.
	VerbBindResult = "bind-result"
)

// ModeShadow is of answers that were recorded and not given: everything was let
// pass.
const ModeShadow = "shadow"

// Gone is a pod that does not count for a question though the snapshot has it:
// one that is evicted for the pod's sake.
type Gone struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	UID       string `json:"uid"`
}

// Question asks where a pod goes.
type Question struct {
	Verb     string // decide unless told
	Cluster  string // default unless told
	Revision int64  // 0: the newest
	// Pod or PodRef, the name of a pod in the snapshot, says what is asked about.
	Pod    *corev1.Pod
	PodRef *objects.Key
	// NodeNames limits the nodes considered; nil says all, or with Nodes theirs.
	NodeNames []string
	// Nodes stand in for the snapshot's nodes of the same names; unknown ones are
	// added for this decision.
	Nodes []*corev1.Node
	// Profile is the name of the profile wanted; "" takes the one that the pod's
	// schedulerName names, else the first. Profiles are a configuration to decide
	// under instead of the server's.
	Profile  string
	Profiles []*engine.Profile
	Explain  engine.Explain
	// NoPreemption tries no preemption, DryRun records nothing, Bind binds a
	// Scheduled outcome in the same write, and nominates the pod to the node of a
	// Preempting one, ScoreAlways scores a single feasible node too.
	NoPreemption, DryRun, Bind, ScoreAlways bool
	// Victims asks whether the pod would fit once these pods are gone.
	Victims []engine.NodeVictims
	// Suggest asks for changes that would let a pod fit that fits nowhere.
	Suggest bool
	Now     time.Time // zero: the log's clock
	// Mode is ModeShadow or empty.
	Mode string
	// Nominated is the node that the extender's caller has nominated the pod to.
	// Whom /preempt was told to evict there does not count.
	Nominated string
	// Gone do not count.
	Gone []Gone
	// recorded says that the pod is as it was asked about before.
	recorded bool
	// classes are those beside the snapshot's; nil: as they are stored now.
	classes classSource
}

// normal fills in defaults and refuses contradictions.
func (q Question) normal(clock func() time.Time) (Question, error) {
	if q.Verb == "" {
		q.Verb = VerbDecide
	}
	if q.Cluster == "" {
		q.Cluster = "default"
	}
	if err := cluster.CheckName(q.Cluster); err != nil {
		return q, bad(http.StatusBadRequest, "cluster", "%v", err)
	}
	switch q.Explain {
	case "":
		q.Explain = engine.ExplainFailures
	case engine.ExplainFailures, engine.ExplainFull, engine.ExplainGroups, engine.ExplainAll, engine.ExplainNone:
	default:
		return q, bad(http.StatusBadRequest, "explain", "%q is none of full, failures, groups, all and none", q.Explain)
	}
	switch {
	case q.Pod == nil && q.PodRef == nil:
		return q, bad(http.StatusBadRequest, "pod", "one of pod and podRef is needed")
	case q.Pod != nil && q.PodRef != nil:
		return q, bad(http.StatusBadRequest, "podRef", "only one of pod and podRef can be given")
	case q.Bind && q.DryRun:
		return q, bad(http.StatusBadRequest, "bind", "a dry run binds nothing: only one of bind and dryRun can be given")
	case q.Bind && q.Nodes != nil:
		return q, bad(http.StatusBadRequest, "bind", "a decision on nodes that stand in for the snapshot's cannot be bound")
	}
	if q.PodRef != nil {
		ref := *q.PodRef
		ref.Kind = "Pod"
		if ref.Name == "" {
			return q, bad(http.StatusBadRequest, "podRef.name", "a name is needed")
		}
		if ref.Namespace == "" {
			ref.Namespace = corev1.NamespaceDefault
		}
		q.PodRef = &ref
	}
	if q.Pod != nil && (q.Pod.Name == "" || q.Pod.Namespace == "") {
		return q, bad(http.StatusUnprocessableEntity, "pod.metadata.name", "a pod needs namespace and name")
	}
	if q.Now.IsZero() {
		q.Now = clock()
	}
	q.Now = q.Now.UTC().Truncate(time.Microsecond)
	return q, nil
}
