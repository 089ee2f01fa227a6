package report

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"berth/internal/decision"
	"berth/internal/decision/record"
	"berth/internal/engine"
	"berth/internal/engine/explain/suggest"
	"berth/internal/engine/state"
	"berth/internal/podlife"
)

// Story answers "why is my pod pending?" and what follows that question.
type Story struct {
	// Summary is the story in one sentence, of at most 120 characters.
	Summary string `json:"summary"`
	// State is where the pod stands: pending, gated, nominated, elsewhere (another
	// scheduler is to place it), bound, deleting, ended, or gone (the snapshot does
	// not have it any more).
	State    State     `json:"state" enums:"pending,gated,nominated,elsewhere,bound,deleting,ended,gone" swaggertype:"string"`
	Cluster  string    `json:"cluster"`
	Snapshot string    `json:"snapshot" example:"prod@1042"` // which everything but the past is of
	Taken    time.Time `json:"snapshotAt"`
	// At is the time of the answer.
	At  time.Time `json:"at"`
	Pod Pod       `json:"pod"`
	// Readiness is whether the pod may be scheduled, for a pod of the snapshot that
	// has no node yet.
	Readiness *Readiness `json:"readiness,omitempty"`
	// Queue is the pod's place among those that wait.
	Queue *Place `json:"queue,omitempty"`
	// Attempts are the decisions about the pod, the newest first, those that came out
	// alike put together.
	Attempts []Attempt `json:"attempts"`
	// Decisions is how many records the attempts are of; More that there are older
	// ones, which were not read or whose attempts were not asked for.
	Decisions int  `json:"decisions"`
	More      bool `json:"more,omitempty"`
	// Nomination is the node that a preemption holds for the pod.
	Nomination *Nomination `json:"nomination,omitempty"`
	// Evicted is what was to go for the pod, EvictedFor those that it was to go for;
	// the newest first.
	Evicted    []Eviction `json:"evicted,omitempty"`
	EvictedFor []Eviction `json:"evictedFor,omitempty"`
	Binding    *Binding   `json:"binding,omitempty"`
	// Lifecycle is where the pod and its containers stand, and what happens next.
	Lifecycle *podlife.Life `json:"lifecycle,omitempty"`
	// Ending is how a pod on a node would end if it were deleted at that time, or how
	// it ends where it is being deleted.
	Ending *podlife.Termination `json:"ending,omitempty"`
	// Next is what happens of itself, and when, over all components, the earliest
	// first: what is known to the second or as the latest moment.
	Next []Event `json:"next"`
	// Now is a decision about the pod on this snapshot, not recorded: what it waits
	// for. AfterGates is one without its scheduling gates, for a gated pod.
	Now        *Verdict `json:"now,omitempty"`
	AfterGates *Verdict `json:"afterGates,omitempty"`
	// Suggestions are single changes that would let the pod fit, each tried.
	Suggestions []suggest.Suggestion `json:"suggestions,omitempty"`
} // @name PodStory

// State is where a pod stands.
type State string

// The states.
const (
	StatePending   State = "pending"
	StateGated     State = "gated"
	StateNominated State = "nominated"
	StateElsewhere State = "elsewhere"
	StateBound     State = "bound"
	StateDeleting  State = "deleting"
	StateEnded     State = "ended"
	StateGone      State = "gone"
)

// Pod is who the story is about, as the snapshot has it, else as the last record
// names it.
type Pod struct {
	Namespace string     `json:"namespace"`
	Name      string     `json:"name"`
	UID       string     `json:"uid,omitempty"`
	Priority  *int32     `json:"priority,omitempty"`
	Class     string     `json:"priorityClassName,omitempty"`
	Scheduler string     `json:"schedulerName,omitempty"`
	Created   *time.Time `json:"createdAt,omitempty"`
} // @name PodStoryPod

// Readiness reports whether a pod may be scheduled at all.
type Readiness struct {
	Schedulable bool     `json:"schedulable"`
	Gates       []string `json:"gates,omitempty"`
	// Why describes what keeps it from being tried.
	Why string `json:"why,omitempty"`
	// Unscheduled is what the cluster's own scheduler last wrote about the pod.
	Unscheduled *Unscheduled `json:"unscheduled,omitempty"`
} // @name PodStoryReadiness

// Unscheduled is the condition PodScheduled of a pod without a node, where it is False.
type Unscheduled struct {
	Reason  string     `json:"reason" example:"Unschedulable"`
	Message string     `json:"message,omitempty"`
	Since   *time.Time `json:"since,omitempty"`
} // @name PodStoryUnscheduled

// UnscheduledOf reads that condition; nil where there is none, or the pod has a node.
func UnscheduledOf(pod *corev1.Pod) *Unscheduled {
	for _, c := range pod.Status.Conditions {
		if c.Type != corev1.PodScheduled || c.Status != corev1.ConditionFalse || pod.Spec.NodeName != "" {
			continue
		}
		u := &Unscheduled{Reason: c.Reason, Message: c.Message}
		if u.Reason == "" {
			u.Reason = corev1.PodReasonUnschedulable
		}
		if !c.LastTransitionTime.IsZero() {
			at := c.LastTransitionTime.UTC()
			u.Since = &at
		}
		return u
	}
	return nil
}

// Place is a place in the queue: of the active pods, or for a gated pod of the
// gated ones.
type Place struct {
	List     string `json:"list" enums:"active,gated"`
	Position int    `json:"position"` // from 1
	Of       int    `json:"of"`
	// HigherPriority and Older count those ahead by what puts them there.
	HigherPriority int `json:"higherPriority"`
	Older          int `json:"older"`
	// Sooner counts the others ahead: their turn comes before this pod's waits after
	// its failed attempts are over.
	Sooner int `json:"sooner,omitempty"`
	// Ahead names up to five of those ahead, the next to be tried first, of namespaces that the
	// caller may see.
	Ahead []decision.PodRef `json:"ahead,omitempty"`
	// Queue, Attempts, NextTry and Woken are as GET /v1/clusters/{cluster}/queue has them;
	// absent for a gated pod.
	Queue    state.SubQueue `json:"queue,omitempty" enums:"active,backoff,unschedulable" swaggertype:"string"`
	Attempts int            `json:"attempts,omitempty"`
	NextTry  *time.Time     `json:"nextTry,omitempty"`
	// Woken is the newest event that may have helped the pod since its last attempt.
	Woken *record.Woken `json:"woken,omitempty"`
} // @name PodStoryPlace

// Attempt is one or more decisions in a row that came out alike.
type Attempt struct {
	Outcome       string    `json:"outcome"`
	Node          string    `json:"node,omitempty"`
	NominatedNode string    `json:"nominatedNode,omitempty"`
	Message       string    `json:"message,omitempty"`
	Count         int       `json:"count"`
	First         time.Time `json:"first"`
	Last          time.Time `json:"last"`
	Verbs         []string  `json:"verbs"`
	// UID distinguishes pods that had the name one after the other.
	UID string `json:"uid"`
	// Decision and Snapshot are the newest one's.
	Decision string `json:"decision"`
	Snapshot string `json:"snapshot"`
	// Reasons are why nodes were rejected, by the newest one; absent for a pod that
	// fits.
	Reasons []Reason `json:"reasons,omitempty"`
} // @name PodStoryAttempt

// Reason counts the nodes that a plugin rejected.
type Reason struct {
	Plugin string `json:"plugin"`
	Reason string `json:"reason"`
	Nodes  int    `json:"nodes"`
} // @name PodStoryReason

// Nomination is a node that a pod waits for.
type Nomination struct {
	Node  string     `json:"node"`
	Since *time.Time `json:"since,omitempty"`
	// WaitsFor are the victims that still exist; what is not known is not named.
	WaitsFor []Victim `json:"waitsFor,omitempty"`

	hidden int // more of them, which the caller may not see
} // @name PodStoryNomination

// Eviction is a preemption: the victim, its node and the preemptor. berth itself evicts no pod.
type Eviction struct {
	At       time.Time       `json:"at"`
	Decision string          `json:"decision"`
	Node     string          `json:"node"`
	For      decision.PodRef `json:"for"`
	Victims  []Victim        `json:"victims"`
	// VictimsOmitted counts those that are not listed.
	VictimsOmitted int `json:"victimsOmitted,omitempty"`

	hidden int // victims that still exist, and that the caller may not see
} // @name PodStoryEviction

// Victim is a pod that was to go.
type Victim struct {
	decision.PodRef
	Priority int32 `json:"priority"`
	// There reports whether the snapshot still has the pod on that node.
	There       bool `json:"stillThere"`
	Terminating bool `json:"terminating,omitempty"`
} // @name PodStoryVictim

// Binding is how the pod came to its node.
type Binding struct {
	Node string `json:"node"`
	// At, Decision and Snapshot are of the record that bound it; absent where it was
	// not bound through berth.
	At       *time.Time `json:"at,omitempty"`
	Decision string     `json:"decision,omitempty"`
	Snapshot string     `json:"snapshot,omitempty"`
} // @name PodStoryBinding

// Verdict is a decision, in short.
type Verdict struct {
	Outcome       engine.Outcome  `json:"outcome,omitempty" enums:"Scheduled,Unschedulable,Gated,Preempting" swaggertype:"string"`
	Node          string          `json:"node,omitempty"`
	NominatedNode string          `json:"nominatedNode,omitempty"`
	Message       string          `json:"message,omitempty"`
	Profile       string          `json:"profile,omitempty"`
	Counts        engine.Counts   `json:"counts"`
	Groups        []suggest.Group `json:"groups,omitempty"`
	// Narrowed is which nodes the pod wants, and what those have against it.
	Narrowed *suggest.Narrowed `json:"narrowed,omitempty"`
	Victims  []engine.Victim   `json:"victims,omitempty"`
	// StartsWithinSeconds is how long the victims take at most once they are deleted.
	StartsWithinSeconds *int64                `json:"startsWithinSeconds,omitempty"`
	NotEvaluated        []engine.NotEvaluated `json:"notEvaluated,omitempty"`
	// Error is the reason why there is no decision.
	Error string `json:"error,omitempty"`

	victims int // also those that the caller may not see
} // @name PodStoryVerdict
