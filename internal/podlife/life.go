package podlife

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"berth/internal/semantics"
)

// NodeState is what is known of the node that a pod is bound to.
type NodeState int

// A node without news is taken to be healthy.
const (
	// NodeHealthy has a kubelet that acts and reports.
	NodeHealthy NodeState = iota
	// NodeLost is a node that is not Ready: no kubelet updates its pods, whatever happens to them.
	NodeLost
	// NodeGone has no object any more; PodGC takes its pods.
	NodeGone
)

// NodeStateOf reads a node's Ready condition; nil is a node that does not exist. A node without any
// condition counts as healthy, as in a ledger that no kubelet writes to, unless it has a taint for
// lost nodes. One with other conditions but not Ready is lost (pkg/controller/nodelifecycle
// node_lifecycle_controller.go tryUpdateNodeHealth).
func NodeStateOf(node *corev1.Node) NodeState {
	if node == nil {
		return NodeGone
	}
	if len(node.Status.Conditions) == 0 && !slices.ContainsFunc(node.Spec.Taints, taintOfLoss) {
		return NodeHealthy
	}
	if c := readyCondition(node); c != nil && c.Status == corev1.ConditionTrue {
		return NodeHealthy
	}
	return NodeLost
}

// taintOfLoss reports whether only nodes that do not answer get such a taint.
func taintOfLoss(t corev1.Taint) bool {
	switch t.Key {
	case corev1.TaintNodeUnreachable, corev1.TaintNodeNotReady, corev1.TaintNodeOutOfService:
		return t.Effect == corev1.TaintEffectNoExecute
	}
	return false
}

// Unannounced reports whether a node is not Ready by its conditions and has no taint for it, so
// that schedulers still bind pods to it: nothing taints nodes where no node controller runs
// (pkg/controller/nodelifecycle node_lifecycle_controller.go nodeConditionToTaintKeyStatusMap).
func Unannounced(node *corev1.Node) bool {
	return NodeStateOf(node) == NodeLost && !slices.ContainsFunc(node.Spec.Taints, func(t corev1.Taint) bool {
		return t.Key == corev1.TaintNodeUnreachable || t.Key == corev1.TaintNodeNotReady || t.Key == corev1.TaintNodeOutOfService
	})
}

// Life is where a pod stands and what comes next, each statement with the rule
// that made it.
type Life struct {
	// Phase is what the kubelet would write next: Pending, Running, Succeeded,
	// Failed or Unknown.
	Phase corev1.PodPhase `json:"phase" swaggertype:"string" example:"Running"`
	// PhaseRule is the reason why.
	PhaseRule Rule `json:"phaseRule"`
	// OverdueSince is when a pod that was deleted was to be gone at the latest; absent before that.
	OverdueSince *time.Time `json:"overdueSince,omitempty"`
	// Reason and Message belong to the phase and stay as long as it does.
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message,omitempty"`
	// DeadlineAt is when the kubelet fails the pod for its activeDeadlineSeconds,
	// if it has not ended by then; absent without one, and once it is over.
	DeadlineAt *time.Time `json:"deadlineAt,omitempty"`
	// NodeDeletion is when the control plane deletes the pod because of its node, and
	// why, or why not; absent where nothing was said of the node.
	NodeDeletion *NodeDeletion `json:"nodeDeletion,omitempty"`
	// Timeline is what follows from the events that were given.
	Timeline *LifeTimeline `json:"timeline,omitempty"`
	// Status is the STATUS column of kubectl get pod for the pod as posted.
	Status string `json:"status" example:"CrashLoopBackOff"`
	// StatusRule is the reason why.
	StatusRule Rule `json:"statusRule"`
	// StatusAfter is how the last run ended of the container that the status is about,
	// where that waits to run again.
	StatusAfter string `json:"statusAfter,omitempty" example:"OOMKilled (137)"`
	// Ready is the READY column: ready containers of all that should run on.
	Ready string `json:"ready" example:"1/2"`
	// Restarts is the RESTARTS column: how many, and how long ago the last.
	Restarts string `json:"restarts" example:"3 (2m ago)"`
	// Conditions are those of others first, as they are, then the kubelet's.
	Conditions []LifeCondition `json:"conditions"`
	// Containers are in the order of the spec: init, main, ephemeral ones.
	Containers []LifeContainer `json:"containers"`
	Followed
	// Snapshot is where a pod that was named was read; callers that read snapshots fill it in.
	Snapshot string `json:"snapshot,omitempty" example:"prod@1042"`
	// Warnings name the parts of the request that were ignored; callers that read
	// requests fill them in.
	Warnings []string `json:"warnings,omitempty"`
} // @name PodLife

// LifeCondition is a condition of a pod as it would be written next.
type LifeCondition struct {
	Type               corev1.PodConditionType `json:"type" swaggertype:"string" example:"Ready"`
	Status             corev1.ConditionStatus  `json:"status" swaggertype:"string" enums:"True,False,Unknown"`
	Reason             string                  `json:"reason,omitempty"`
	Message            string                  `json:"message,omitempty"`
	ObservedGeneration int64                   `json:"observedGeneration,omitempty"`
	// LastTransitionTime is now where the status is another than in the pod.
	LastTransitionTime *time.Time `json:"lastTransitionTime,omitempty"`
	Rule               Rule       `json:"rule"`
} // @name PodLifeCondition

// ContainerKind is the part that a container plays in its pod.
type ContainerKind string

// A sidecar is an init container that restarts always.
const (
	KindInit      ContainerKind = "init"
	KindSidecar   ContainerKind = "sidecar"
	KindContainer ContainerKind = "container"
	KindEphemeral ContainerKind = "ephemeral"
)

// LifeContainer is where one container stands.
type LifeContainer struct {
	Name string        `json:"name"`
	Kind ContainerKind `json:"kind" swaggertype:"string" enums:"init,sidecar,container,ephemeral"`
	// State is waiting, running or terminated.
	State string `json:"state" enums:"waiting,running,terminated"`
	// Reason is that of the state, in the kubelet's words.
	Reason string `json:"reason,omitempty" example:"CrashLoopBackOff"`
	// Message is that of the state; snapshots do not keep it.
	Message string `json:"message,omitempty" example:"back-off 5m0s restarting failed container"`
	// ExitCode is that of a terminated container.
	ExitCode *int32 `json:"exitCode,omitempty"`
	// LastRun is how the last run that is over ended; absent where none is known.
	LastRun *LastRun `json:"lastRun,omitempty"`
	// StartedAt is when the present or the last run began.
	StartedAt *time.Time `json:"startedAt,omitempty"`
	// FinishedAt is when the last run ended; absent while the container runs.
	FinishedAt   *time.Time `json:"finishedAt,omitempty"`
	Ready        bool       `json:"ready"`
	Started      bool       `json:"started"`
	RestartCount int32      `json:"restartCount"`
	// Rule describes where the state comes from.
	Rule Rule `json:"rule"`
	Next Next `json:"next"`
	// IfItEnds is what it would cost a running container to end now with exit code
	// 1.
	IfItEnds *Crash `json:"ifItEnds,omitempty"`
	// Probes are those of main containers and sidecars, also the ones that are
	// not set, with what counts for them.
	Probes []Probe `json:"probes,omitempty"`
} // @name PodLifeContainer

// Next is what happens to a container next.
type Next struct {
	Action Action `json:"action" swaggertype:"string" enums:"start,restart,backoff,wait,leave"`
	// At is when a back-off ends, finishedAt + backoffSeconds; absent for
	// images, whose back-off the kubelet keeps to itself.
	At *time.Time `json:"at,omitempty"`
	// BackoffSeconds is the whole length of the back-off.
	BackoffSeconds int64 `json:"backoffSeconds,omitempty"`
	// RemainingSeconds is what is left of it at now, rounded up.
	RemainingSeconds int64 `json:"remainingSeconds,omitempty"`
	// For names the containers that are waited for.
	For  []string `json:"for,omitempty"`
	Rule Rule     `json:"rule"`
} // @name PodLifeNext

// Action is what happens to a container next.
type Action string

// The five things that may happen.
const (
	// ActionStart starts one that has never run, now.
	ActionStart Action = "start"
	// ActionRestart starts one that has run, now.
	ActionRestart Action = "restart"
	// ActionBackoff starts it after a delay.
	ActionBackoff Action = "backoff"
	// ActionWait starts it when others are done, or never without a node.
	ActionWait Action = "wait"
	// ActionLeave does nothing: it runs, has stopped for good, or its pod has.
	ActionLeave Action = "leave"
)

// LifeQuestion asks where a pod stands and what comes next.
type LifeQuestion struct {
	Pod *corev1.Pod // not written
	// Node is the pod's node. Given and nil, it has no object any more; not given, it
	// is healthy.
	Node      *corev1.Node
	NodeGiven bool
	// NodeLostSince is the last sign of life of the node's kubelet, or when the node
	// went; nil: its Ready condition says it.
	NodeLostSince *time.Time
	// Storage finds the claims of the pod's volumes; empty: nothing is known of them.
	Storage Storage
	// MaxContainerRestartPeriod is the kubelet's
	// crashLoopBackOff.maxContainerRestartPeriod, such as "60s"; "" is its default.
	MaxContainerRestartPeriod string
	// Events are what happens from Now on; the timeline goes up to Until, by default
	// an hour beyond the last.
	Events []LifeEvent
	Until  *time.Time
	// PreStopSeconds, ExitSeconds and ExitCodes are as in Ending.
	PreStopSeconds, ExitSeconds map[string]int64
	ExitCodes                   map[string]int32
	Now                         time.Time
	// Release is the one whose kubelet leads the pod's life where the node tells none; nil: the
	// default one.
	Release *semantics.Release
	by      semantics.Life
}

// Live answers where a pod stands at a time and what comes next. Errors name the
// fields of the question that have no good value.
func Live(q LifeQuestion) (*Life, field.ErrorList) {
	longest, errs := restartPeriod(q.MaxContainerRestartPeriod)
	if errs = append(errs, q.checkEvents()...); len(errs) > 0 {
		return nil, errs
	}
	by, follows := followed(q.Node, q.Release)
	q.Pod, q.by = heeded(q.Pod, by), by
	r := readPod(q.Pod, q.state(), q.Now, by)
	r.longest = longest
	_, r.unmounted, _ = q.Storage.Unmounted(q.Pod)
	l := r.life()
	l.Followed = follows
	if at := q.Pod.DeletionTimestamp; at != nil && at.Time.Before(q.Now) {
		l.OverdueSince = inYears(at.Time)
	}
	if q.Pod.Spec.NodeName != "" && (q.NodeGiven || q.NodeLostSince != nil) {
		q.deletion(&l)
	}
	if len(q.Events) > 0 {
		l.Timeline = q.timeline(longest)
	}
	return &l, nil
}

// restartPeriod reads the kubelet's longest delay
// (pkg/kubelet/apis/config/validation ValidateKubeletConfiguration).
func restartPeriod(text string) (time.Duration, field.ErrorList) {
	if text == "" {
		return longestBackoff, nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d.Milliseconds() < 1000 || d.Milliseconds() > longestBackoff.Milliseconds() {
		return 0, field.ErrorList{field.Invalid(field.NewPath("maxContainerRestartPeriod"), text, "must be a duration between 1s and 300s, such as 60s")}
	}
	return d, nil
}

// state is the node's; one that is lost from now or before on is not Ready for
// its pods, whatever its condition still says.
func (q *LifeQuestion) state() NodeState {
	switch {
	case q.NodeGiven && q.Node == nil:
		return NodeGone
	case q.NodeLostSince != nil && !q.NodeLostSince.After(q.Now):
		return NodeLost
	case q.NodeGiven:
		return NodeStateOf(q.Node)
	}
	return NodeHealthy
}

// deletion adds when the control plane deletes the pod because of its node.
func (q *LifeQuestion) deletion(l *Life) {
	node := q.Node
	if !q.NodeGiven {
		node = &corev1.Node{}
	}
	d := DeletionByNode(q.Pod, node, q.NodeLostSince, q.Now)
	l.NodeDeletion = &d
}

// NotTaken returns why no API server has stored such a pod, so that it has no life and no end; nil
// where nothing forbids it.
func NotTaken(p *corev1.Pod, at *field.Path) *field.Error {
	switch {
	case p.APIVersion != "" && p.APIVersion != "v1":
		return field.NotSupported(at.Child("apiVersion"), p.APIVersion, []string{"v1"})
	case len(p.Spec.Containers) == 0:
		return field.Required(at.Child("spec", "containers"), "a pod has one container at least")
	}
	return nil
}
