package world

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"berth/internal/memory"
	"berth/internal/podlife"
)

// Left is a pod that leaves its node, and what becomes of its place. Seconds count from the
// start of the scenario.
type Left struct {
	Namespace string `json:"namespace" example:"prod"`
	Name      string `json:"name" example:"web-7d4b9-x2x5c"`
	// Node is the node that it leaves.
	Node string `json:"node" example:"worker-7"`
	// Owner is its controller.
	Owner string `json:"owner,omitempty" example:"ReplicaSet/web-7d4b9"`
	// Cause is why it leaves.
	Cause string `json:"cause" enums:"eviction,deletion,preemption,taint,orphaned,scale-down,update,job-failed,ended"`
	// By is the pod that a preemption is for; absent for other causes.
	By string `json:"by,omitempty" example:"prod/import-x7"`
	// Wave counts the rounds in which pods of its node are evicted, from 1; absent for other
	// causes.
	Wave int `json:"wave,omitempty"`
	// Budgets are the disruption budgets that select it.
	Budgets []string `json:"budgets,omitempty"`
	// Rule is why the Eviction API lets it go now; absent for other causes.
	Rule *podlife.Rule `json:"rule,omitempty"`
	// LeavesAfterSeconds is when its deletion begins.
	LeavesAfterSeconds int64 `json:"leavesAfterSeconds"`
	// GoneAfterSeconds is when it is gone at the latest, by its grace period, or has ended. Absent:
	// it stays Terminating, as its node is dead.
	GoneAfterSeconds *int64 `json:"goneAfterSeconds,omitempty"`
	// Replacement is the pod that its controller creates instead; absent where there is none.
	Replacement *Replacement `json:"replacement,omitempty"`
	// NotReplaced is why there is none.
	NotReplaced string `json:"notReplaced,omitempty" example:"no controller manages it"`
	held        bool   // its controller would replace it
	beside      bool   // it leaves for a pod that waited before
} // @name DisruptedPod

// Replacement is a pod that a controller creates for one that left.
type Replacement struct {
	// Namespace is that of a pod that waited before, and replaces none.
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name" example:"web-7d4b9-x2x5c-2"`
	// CreatedAfterSeconds is when it is created.
	CreatedAfterSeconds int64 `json:"createdAfterSeconds"`
	// Node is where it was placed; absent: it waits. If it leaves that node too, it is among the
	// pods that left.
	Node string `json:"node,omitempty" example:"worker-3"`
	// ReadyAfterSeconds is when it is ready.
	ReadyAfterSeconds *int64 `json:"readyAfterSeconds,omitempty"`
	// NotStarted is why it does not start on its node; absent where it does.
	NotStarted string `json:"notStarted,omitempty" example:"the volume of claim data-db-0 is attached to n1, where a pod uses it (Multi-Attach)"`
	// WaitedFor is why it waited before it was placed.
	WaitedFor string `json:"waitedFor,omitempty"`
	// Message is why it waits, in kube-scheduler's words.
	Message string `json:"message,omitempty" example:"0/3 nodes are available: 3 Insufficient cpu."`
} // @name ReplacementPod

// Replaced counts what becomes of the places of pods that left.
type Replaced struct {
	// Placed and Pending are the replacements with and without a node; NotReplaced pods do not come
	// back.
	Placed      int `json:"placed"`
	Pending     int `json:"pending"`
	NotReplaced int `json:"notReplaced"`
	// NotStarted counts those placed that do not start on their node. Held counts those not
	// replaced whose controller would, but waits for another pod, or has given up.
	NotStarted int `json:"notStarted,omitempty"`
	Held       int `json:"held,omitempty"`
}

// Add adds other counts.
func (r *Replaced) Add(o *Replaced) {
	r.Placed, r.Pending, r.NotReplaced = r.Placed+o.Placed, r.Pending+o.Pending, r.NotReplaced+o.NotReplaced
	r.NotStarted, r.Held = r.NotStarted+o.NotStarted, r.Held+o.Held
}

// Without counts the places that stay without a running pod.
func (r *Replaced) Without() int { return r.Pending + r.NotStarted + r.Held }

// Unserved reports whether a place stays without a running pod.
func (r *Replaced) Unserved() bool { return r.Without() > 0 }

// Log returns the pods that left, in this order.
func (w *World) Log() []*Left { return w.log }

// Totals counts the pods that left: those that the question is about, those that were preempted for
// them, and what becomes of the places of both. Preemptions for pods that waited before are no part
// of it: they would come about in any case.
func (w *World) Totals() (own, preempted int, r Replaced) {
	for _, p := range w.log {
		if p.beside {
			continue
		}
		own++
		if p.Cause == CausePreemption {
			preempted++
		}
		switch {
		case p.Replacement == nil:
			if r.NotReplaced++; p.held {
				r.Held++
			}
		case p.Replacement.Node == "":
			r.Pending++
		default:
			if r.Placed++; p.Replacement.NotStarted != "" {
				r.NotStarted++
			}
		}
	}
	return own - preempted, preempted, r
}

// FirstUnserved returns the first pod whose place stays without a running pod, and why; empty where
// there is none. It is there where Replaced.Unserved reports so of the totals.
func (w *World) FirstUnserved() (pod, why string) {
	for _, p := range w.log {
		r := p.Replacement
		pod = p.Namespace + "/" + p.Name
		switch {
		case p.beside:
		case r == nil && p.held:
			return pod, p.NotReplaced
		case r != nil && r.Node == "":
			return pod, r.Message
		case r != nil && r.NotStarted != "":
			return pod, r.NotStarted
		}
	}
	return "", ""
}

// Assumptions are what worlds over one base had to assume.
type Assumptions struct {
	// Starts counts the pods of which it is not known how long they take to start; Seconds is what
	// was taken.
	Starts  int
	Seconds int64
	// Unseen are the budgets that the disruption controller has not looked at.
	Unseen []string
	// Jobs are those of pods that left which the base lacks, in order.
	Jobs []string
}

// Assumed returns what the world had to assume.
func (w *World) Assumed() Assumptions {
	return Assumptions{w.assumed, seconds(w.start), w.budgets.Unseen, w.jobs.guessed()}
}

// Add adds what another world over the same base had to assume.
func (a *Assumptions) Add(b *Assumptions) {
	a.Starts, a.Seconds, a.Unseen = a.Starts+b.Starts, b.Seconds, b.Unseen
	a.Jobs = slices.Concat(a.Jobs, b.Jobs)
	slices.Sort(a.Jobs)
	a.Jobs = slices.Compact(a.Jobs)
}

// Warnings has a text for each kind of assumption, and for each budget.
func (a *Assumptions) Warnings() (list []string) {
	if a.Starts > 0 {
		list = append(list, fmt.Sprintf("of %d pods it is not known how long they take until they are ready; %d s were taken", a.Starts, a.Seconds))
	}
	for _, name := range a.Unseen {
		list = append(list, "budget "+name+" has no status: the disruption controller has not looked at it, so it allows nothing")
	}
	if n := len(a.Jobs); n > 0 {
		list = append(list, fmt.Sprintf("Jobs of pods that left are not in the snapshot: %d; their backoffLimit is taken for the default, %d", n, defaultJobLimit))
	}
	return list
}

// Warnings names what the world had to assume.
func (w *World) Warnings() []string {
	a := w.Assumed()
	return a.Warnings()
}

// Causes why pods leave their nodes.
const (
	CauseEviction   = "eviction"
	CauseDeletion   = "deletion"
	CausePreemption = "preemption"
	CauseTaint      = "taint"
	CauseOrphaned   = "orphaned"
	CauseScaleDown  = "scale-down"
	// CauseUpdate is of pods that a StatefulSet replaces by its new template.
	CauseUpdate = "update"
	// CauseJobFailed is of pods that a Job deletes once it has failed.
	CauseJobFailed = "job-failed"
	// CauseEnded is of pods whose containers have stopped for good.
	CauseEnded = "ended"
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
