package podlife

import (
	"cmp"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"berth/internal/kube/object/apiserver"
	"berth/internal/semantics"
)

// Cause describes what ends a pod, or one of its containers.
type Cause string

// The causes of a termination.
const (
	CauseDelete    Cause = "delete"     // a client deletes the pod through the API
	CauseEvictSoft Cause = "evict-soft" // the kubelet evicts it: a soft threshold was met for long enough
	CauseEvictHard Cause = "evict-hard" // the kubelet evicts it: a hard threshold is met
	CausePreempt   Cause = "preempt"    // the scheduler makes room for another pod
	CauseLiveness  Cause = "liveness"   // a container's liveness probe failed
	CauseStartup   Cause = "startup"    // a container's startup probe failed
	CauseShutdown  Cause = "shutdown"   // its node shuts down
	// CauseAPIEviction is a call of the Eviction API, as kubectl drain makes it.
	CauseAPIEviction Cause = "api-eviction"
	// CauseTaint is a taint with effect NoExecute, or the loss of the node that
	// brings one.
	CauseTaint Cause = "taint"
	// CauseKubeletPreempt is the kubelet's own preemption: it makes room for a
	// critical pod that was bound to it.
	CauseKubeletPreempt Cause = "kubelet-preempt"
)

// Causes are all that there are.
var Causes = []Cause{
	CauseDelete, CauseEvictSoft, CauseEvictHard, CausePreempt, CauseLiveness, CauseStartup, CauseShutdown,
	CauseAPIEviction, CauseTaint, CauseKubeletPreempt,
}

// throughAPI reports whether a cause deletes the pod's object.
func (c Cause) throughAPI() bool {
	return c == CauseDelete || c == CausePreempt || c == CauseAPIEviction || c == CauseTaint
}

// ofProbe reports whether a cause stops one container only.
func (c Cause) ofProbe() bool { return c == CauseLiveness || c == CauseStartup }

// Ending is what happens to a pod. Periods are whole seconds.
type Ending struct {
	Pod   *corev1.Pod // not written
	Cause Cause
	// GracePeriodSeconds is the delete's option, also of an eviction through the
	// API; for a shutdown the node's share for the pod's priority. nil: not given.
	GracePeriodSeconds *int64
	// Force is a delete with period 0.
	Force bool
	// Container is the one whose probe failed; needed where several have one.
	Container string
	// PreStopSeconds is how long each container's hook runs; a sleep says so
	// itself, and any other hook that is not named may take the whole period.
	PreStopSeconds map[string]int64
	// EvictionMaxPodGracePeriod is the kubelet's setting for soft evictions.
	EvictionMaxPodGracePeriod int32
	// Shutdown is the kubelet's configuration of graceful node shutdown; nil: not
	// known.
	Shutdown *ShutdownConfig
	// Node is the pod's node: nil with NodeGiven is one that does not exist any
	// more, nil without one that is taken to be healthy. Not written.
	Node      *corev1.Node
	NodeGiven bool
	// NodeLostSince is the last sign of life of the node's kubelet, or when a node
	// that is gone went.
	NodeLostSince *time.Time
	// Budgets are the PodDisruptionBudgets that an eviction through the API meets.
	Budgets []*policyv1.PodDisruptionBudget
	// ExitSeconds is how long containers take to exit after the stop signal; those
	// that are not named run until they are killed.
	ExitSeconds map[string]int64
	// ExitCodes are what they exit with, 0 to 255; those that are not named with 0.
	ExitCodes map[string]int32
	// HookFails names the containers whose preStop hook fails.
	HookFails []string
	// Then is what happens later, in order of time.
	Then []Following
	// Now is when it happens.
	Now time.Time
	// Release is as in LifeQuestion.
	Release *semantics.Release
}

// Terminate answers how a pod, or a container of it, ends. Errors name the
// fields of the question that have no good value.
func Terminate(e Ending) (*Termination, field.ErrorList) {
	if errs := e.check(); len(errs) > 0 {
		return nil, errs
	}
	out := e.answer(false)
	if len(e.ExitSeconds) > 0 {
		out.Expected = e.answer(true).expected()
	}
	return out, nil
}

// answer works out the slowest end; or, if real, the one in which containers exit
// when ExitSeconds says.
func (e *Ending) answer(real bool) *Termination {
	w := &ending{Ending: *e, real: real, out: &Termination{Cause: e.Cause, Steps: []Step{}, Containers: []Stop{}, Timeline: []Event{}}, done: map[string]bool{}, exited: map[string]bool{}}
	w.declared = e.Pod.Spec.TerminationGracePeriodSeconds != nil
	w.by, w.out.Followed = followed(e.Node, e.Release)
	w.Pod = heeded(e.Pod.DeepCopy(), w.by)
	apiserver.SetPodDefaults(w.Pod)
	switch e.Cause {
	case CauseDelete, CausePreempt:
		w.deleted()
	case CauseAPIEviction:
		w.evictedByAPI()
	case CauseTaint:
		w.tainted()
	case CauseEvictSoft, CauseEvictHard, CauseKubeletPreempt:
		w.evicted()
	case CauseShutdown:
		w.shutDown()
	case CauseLiveness, CauseStartup:
		w.probeFailed()
	}
	w.follow()
	w.remark()
	w.finish()
	return w.out
}

// ending is an answer in the making.
type ending struct {
	Ending
	out *Termination
	// declared reports whether the pod has a period of its own, not the default.
	declared bool
	last     int64 // seconds from now to the end of the last container
	// real reports whether containers exit when ExitSeconds says.
	real bool
	// shift is when it begins, in seconds from Now; all offsets are moved by it.
	shift int64
	// period is the one that the kubelet stops the containers with; 0 before it
	// has begun.
	period int64
	// kill is how the kubelet ends the pod of its own accord; nil: it does not.
	kill *kill
	// removed reports whether the object went at once.
	removed bool
	// done are containers that have stopped before the kubelet began anew, exited
	// those that ended by themselves.
	done, exited map[string]bool
	// by is how the kubelet leads the pod's life.
	by semantics.Life
}

// exitCode is what a container exits with by itself.
func (e *Ending) exitCode(name string) int32 { return e.ExitCodes[name] }

func (w *ending) step(source, rule string, value int64) {
	w.out.Steps = append(w.out.Steps, Step{Source: source, Rule: rule, Value: value})
}

// eachContainer visits main containers, then those before them, then ephemeral
// ones, with the kind that lifecycle gives them.
func eachContainer(p *corev1.Pod, f func(c *corev1.Container, kind string)) {
	for i := range p.Spec.Containers {
		f(&p.Spec.Containers[i], "container")
	}
	for i := range p.Spec.InitContainers {
		c := &p.Spec.InitContainers[i]
		if isSidecar(c) {
			f(c, "sidecar")
		} else {
			f(c, "init")
		}
	}
	for i := range p.Spec.EphemeralContainers {
		f((*corev1.Container)(&p.Spec.EphemeralContainers[i].EphemeralContainerCommon), "ephemeral")
	}
}

// sortedKeys lists the keys of a map in order.
func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }
