package world

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"berth/internal/memory"
)

// Moment is one thing that happens.
type Moment struct {
	// AfterSeconds is when, from the start.
	AfterSeconds int64 `json:"afterSeconds"`
	// What happens, such as bound or nodeTainted.
	What string `json:"what" enums:"created,ungated,waits,nominated,bound,cannotStart,ready,unready,containerExited,containerRestarted,backOff,probeFailed,containerStopping,repeats,leaves,gone,succeeded,failed,refused,scaled,rolloutBegins,rolloutComplete,deadlineExceeded,nodeAdded,nodeDied,nodeReboots,nodeNotReady,nodeTainted,nodeBack,nodeRemoved,cordoned,uncordoned,tainted,untainted,drainBegins,drainEnds,applied,quotaChanged,budgetChanged,jobCreated,jobSkipped,jobDeleted"`
	// Pod is the pod that it happens to; absent where it happens to a node or a workload.
	Pod string `json:"pod,omitempty" example:"shop/web-1"`
	// Owner is the pod's controller, or the workload that it happens to.
	Owner string `json:"owner,omitempty" example:"ReplicaSet/web-7d4b9"`
	Node  string `json:"node,omitempty" example:"worker-7"`
	// Why it happens: kube-scheduler's message, the cause of an end, or a rule.
	Why string `json:"why,omitempty"`
} // @name SimulationMoment

// What happens.
const (
	PodCreated      = "created"
	PodUngated      = "ungated"
	PodWaits        = "waits"
	PodNominated    = "nominated"
	PodBound        = "bound"
	PodCannotStart  = "cannotStart"
	PodReady        = "ready"
	PodUnready      = "unready"
	PodLeaves       = "leaves"
	PodGone         = "gone"
	PodSucceeded    = "succeeded"
	PodFailed       = "failed"
	PodRepeats      = "repeats" // what happens to it, for ever
	Refused         = "refused" // by the API server
	Scaled          = "scaled"
	RolloutBegins   = "rolloutBegins"
	RolloutComplete = "rolloutComplete"
	// DeadlineExceeded is a Deployment without progress.
	DeadlineExceeded = "deadlineExceeded"
	NodeAdded        = "nodeAdded"
	NodeDied         = "nodeDied"
	NodeReboots      = "nodeReboots"
	NodeNotReady     = "nodeNotReady"
	NodeTainted      = "nodeTainted"
	NodeBack         = "nodeBack"
	NodeRemoved      = "nodeRemoved"
	NodeCordoned     = "cordoned"
	NodeUncordoned   = "uncordoned"
	TaintAdded       = "tainted"
	TaintRemoved     = "untainted"
	DrainBegins      = "drainBegins"
	DrainEnds        = "drainEnds"
	Applied          = "applied"
	QuotaChanged     = "quotaChanged"
	BudgetChanged    = "budgetChanged"
	// JobCreated is a Job that a CronJob starts, JobSkipped one that it does not start.
	JobCreated = "jobCreated"
	JobSkipped = "jobSkipped"
	JobDeleted = "jobDeleted" // with its pods

	ContainerExited    = "containerExited"
	ContainerRestarted = "containerRestarted"
	ContainerBackOff   = "backOff"
	ProbeFailed        = "probeFailed"
	ContainerStopping  = "containerStopping"
)

// Tell has the world write down what happens from now on. A large cluster has many moments, so that
// they are not kept unless they are read.
func (w *World) Tell() { w.telling = true }

// Note writes down what a scenario does itself.
func (w *World) Note(m Moment) { w.tell(m) }

// Timeline returns what was written down, in this order, and how many further moments were not.
func (w *World) Timeline() (list []Moment, omitted int) { return slices.Clip(w.moments), w.untold }

// mostMoments is how many moments are written down, and momentBytes about what one takes, with its
// JSON.
const (
	mostMoments = 100_000
	momentBytes = 512
	momentsAt   = 1024 // for so many, memory is taken at once
)

// tellPod writes a moment of a pod down, on its node.
func (w *World) tellPod(what string, p *corev1.Pod, why string) {
	if w.telling { // names are put together for readers alone
		w.tell(Moment{What: what, Pod: NameOf(p).String(), Owner: OwnerOf(p), Node: p.Spec.NodeName, Why: why})
	}
}

// tell writes a moment down, at the present instant.
func (w *World) tell(m Moment) {
	if !w.telling {
		return
	}
	m.AfterSeconds = w.Seconds()
	n, untold := len(w.moments), w.untold
	w.OnUndo(func() { w.moments, w.untold = w.moments[:n], untold })
	if n == mostMoments {
		w.untold++
		return
	}
	if n%momentsAt == 0 && w.failed == nil {
		if err := memory.Take(w.ctx, momentsAt*momentBytes); err != nil {
			w.failed = fmt.Errorf("timeline: %w", err)
		}
	}
	w.moments = append(w.moments, m)
}
