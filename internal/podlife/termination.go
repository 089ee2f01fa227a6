package podlife

import (
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Cause says what ends a pod, or one of its containers.
type Cause string

// The causes of a termination.
const (
	CauseDelete    Cause = "delete"     // somebody deletes the pod through the API
	CauseEvictSoft Cause = "evict-soft" // the kubelet evicts it: a soft threshold was met for long enough
	CauseEvictHard Cause = "evict-hard" // the kubelet evicts it: a hard threshold is met
	CausePreempt   Cause = "preempt"    // the scheduler makes room for another pod
	CauseLiveness  Cause = "liveness"   // a container's liveness probe failed
	CauseStartup   Cause = "startup"    // a container's startup probe failed
	CauseShutdown  Cause = "shutdown"   // its node shuts down
)

// Causes are all that there are.
var Causes = []Cause{CauseDelete, CauseEvictSoft, CauseEvictHard, CausePreempt, CauseLiveness, CauseStartup, CauseShutdown}

// Ending is what happens to a pod. Periods are whole seconds.
type Ending struct {
	Pod   *corev1.Pod // not written
	Cause Cause
	// GracePeriodSeconds is the delete's option; for a shutdown the node's share
	// for the pod's priority. nil: not given.
	GracePeriodSeconds *int64
	// Force is a delete with period 0.
	Force bool
	// Container is the one whose probe failed; needed where several have one.
	Container string
	// PreStopSeconds is how long each container's hook runs; a sleep says so
	// itself, and any other hook that is not named counts as 0.
	PreStopSeconds map[string]int64
	// EvictionMaxPodGracePeriod is the kubelet's setting for soft evictions.
	EvictionMaxPodGracePeriod int32
	// Shutdown is the kubelet's configuration of graceful node shutdown; nil: not
	// known.
	Shutdown *ShutdownConfig
	// Now is when it happens.
	Now time.Time
}

// Terminate answers how a pod, or a container of it, ends. Errors name the
// fields of the question that have no good value.
func Terminate(e Ending) (*Termination, field.ErrorList) {
	if errs := e.check(); len(errs) > 0 {
		return nil, errs
	}
	w := &ending{Ending: e, out: &Termination{Cause: e.Cause, Steps: []Step{}, Containers: []Stop{}, Timeline: []Event{}}}
	w.declared = e.Pod.Spec.TerminationGracePeriodSeconds != nil
	w.Pod = e.Pod.DeepCopy()
	setDefaults(w.Pod)
	switch e.Cause {
	case CauseDelete, CausePreempt:
		w.deleted()
	case CauseEvictSoft, CauseEvictHard:
		w.evicted()
	case CauseShutdown:
		w.shutDown()
	case CauseLiveness, CauseStartup:
		w.probeFailed()
	}
	w.remark()
	w.finish()
	return w.out, nil
}

// ending is an answer in the making.
type ending struct {
	Ending
	out *Termination
	// declared says that the pod has a period of its own, not the default.
	declared bool
	last     int64 // seconds from now to the last SIGKILL
}

func (e *Ending) check() (errs field.ErrorList) {
	refuse := func(name string, value any, why string) {
		errs = append(errs, field.Invalid(field.NewPath(name), value, why))
	}
	if !slices.Contains(Causes, e.Cause) {
		errs = append(errs, field.NotSupported(field.NewPath("cause"), e.Cause, Causes))
		return errs
	}
	if e.Force && e.Cause == CauseDelete && e.GracePeriodSeconds != nil && *e.GracePeriodSeconds != 0 {
		refuse("force", e.Force, "it means gracePeriodSeconds 0, and another is given")
	}
	if e.EvictionMaxPodGracePeriod < 0 {
		refuse("evictionMaxPodGracePeriod", e.EvictionMaxPodGracePeriod, "must not be negative")
	}
	if e.Cause == CauseShutdown && e.GracePeriodSeconds != nil {
		if *e.GracePeriodSeconds < 0 {
			refuse("gracePeriodSeconds", *e.GracePeriodSeconds, "the node's share must not be negative")
		}
		if e.Shutdown != nil {
			refuse("shutdown", "", "gracePeriodSeconds is the node's share already: give one of the two")
		}
	}
	known := map[string]bool{}
	eachContainer(e.Pod, func(c *corev1.Container, _ string) { known[c.Name] = true })
	for _, name := range sortedKeys(e.PreStopSeconds) {
		at := field.NewPath("preStopSeconds").Key(name)
		switch n := e.PreStopSeconds[name]; {
		case !known[name]:
			errs = append(errs, field.Invalid(at, name, "the pod has no such container"))
		case n < 0:
			errs = append(errs, field.Invalid(at, n, "must not be negative"))
		}
	}
	if e.Container != "" && !known[e.Container] {
		refuse("container", e.Container, "the pod has no such container")
	}
	errs = append(errs, e.Shutdown.check()...)
	if e.Cause == CauseLiveness || e.Cause == CauseStartup {
		if _, why := e.probed(); why != "" && len(errs) == 0 {
			refuse("container", e.Container, why)
		}
	}
	return errs
}

// remark says which parts of the question play no part.
func (w *ending) remark() {
	unused := func(name string, given bool, causes ...Cause) {
		if given && !slices.Contains(causes, w.Cause) {
			w.out.Notes = append(w.out.Notes, name+" plays no part in "+string(w.Cause))
		}
	}
	unused("gracePeriodSeconds", w.GracePeriodSeconds != nil, CauseDelete, CauseShutdown)
	unused("force", w.Force, CauseDelete)
	unused("container", w.Container != "", CauseLiveness, CauseStartup)
	unused("evictionMaxPodGracePeriod", w.EvictionMaxPodGracePeriod != 0, CauseEvictSoft)
	unused("shutdown", w.Shutdown != nil, CauseShutdown)
	eachContainer(w.Pod, func(c *corev1.Container, _ string) {
		if _, given := w.PreStopSeconds[c.Name]; given && !hasPreStop(c) {
			w.out.Notes = append(w.out.Notes, "preStopSeconds of "+c.Name+" plays no part: it has no preStop hook")
		}
	})
	if why := protection(w.Pod); why != "" {
		switch w.Cause {
		case CauseEvictSoft, CauseEvictHard:
			w.out.Notes = append(w.out.Notes, "the kubelet would not evict this pod: "+why)
		case CauseDelete, CausePreempt:
			if isMirror(w.Pod) {
				w.out.Notes = append(w.out.Notes, "a mirror pod's object can be deleted; the kubelet leaves the static pod running and writes the object again")
			}
		}
	}
}

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

func sortedKeys(m map[string]int64) []string {
	list := make([]string, 0, len(m))
	for k := range m {
		list = append(list, k)
	}
	slices.SortFunc(list, strings.Compare)
	return list
}
