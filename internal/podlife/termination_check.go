package podlife

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// check reports the fields of the question that have no good value.
func (e *Ending) check() (errs field.ErrorList) {
	refuse := func(name string, value any, why string) {
		errs = append(errs, field.Invalid(field.NewPath(name), value, why))
	}
	if !slices.Contains(Causes, e.Cause) {
		errs = append(errs, field.NotSupported(field.NewPath("cause"), e.Cause, Causes))
		return errs
	}
	errs = append(errs, e.checkNode()...)
	errs = append(errs, e.checkThen()...)
	if e.Force && e.Cause == CauseDelete && e.GracePeriodSeconds != nil && *e.GracePeriodSeconds != 0 {
		refuse("force", e.Force, "it means gracePeriodSeconds 0, and another is given")
	}
	if e.Cause == CauseShutdown && e.GracePeriodSeconds != nil {
		if *e.GracePeriodSeconds < 0 {
			refuse("gracePeriodSeconds", *e.GracePeriodSeconds, "the node's share must not be negative")
		}
		if e.Shutdown != nil {
			refuse("shutdown", "", "gracePeriodSeconds is the node's share already: give one of the two")
		}
	}
	known := containerNames(e.Pod)
	errs = append(errs, checkSeconds("preStopSeconds", e.PreStopSeconds, known)...)
	errs = append(errs, checkSeconds("exitSeconds", e.ExitSeconds, known)...)
	errs = append(errs, checkExitCodes(e.ExitCodes, e.ExitSeconds)...)
	for i, name := range e.HookFails {
		if !known[name] {
			errs = append(errs, field.Invalid(field.NewPath("hookFails").Index(i), name, "the pod has no such container"))
		}
	}
	if e.Container != "" && !known[e.Container] {
		refuse("container", e.Container, "the pod has no such container")
	}
	errs = append(errs, e.Shutdown.check()...)
	if e.Cause.ofProbe() {
		if _, why := e.probed(); why != "" && len(errs) == 0 {
			refuse("container", e.Container, why)
		}
	}
	return errs
}

func containerNames(pod *corev1.Pod) map[string]bool {
	known := map[string]bool{}
	eachContainer(pod, func(c *corev1.Container, _ string) { known[c.Name] = true })
	return known
}

// checkSeconds reports what is wrong with seconds by container.
func checkSeconds(path string, each map[string]int64, known map[string]bool) (errs field.ErrorList) {
	for _, name := range sortedKeys(each) {
		at := field.NewPath(path).Key(name)
		switch n := each[name]; {
		case !known[name]:
			errs = append(errs, field.Invalid(at, name, "the pod has no such container"))
		case n < 0:
			errs = append(errs, field.Invalid(at, n, "must not be negative"))
		}
	}
	return errs
}

// checkExitCodes reports what is wrong with exit codes by container.
func checkExitCodes(codes map[string]int32, exits map[string]int64) (errs field.ErrorList) {
	names := make([]string, 0, len(codes))
	for name := range codes {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		at := field.NewPath("exitCodes").Key(name)
		if _, exit := exits[name]; !exit {
			errs = append(errs, field.Invalid(at, name, "exitSeconds does not say when it exits; without that it runs until it is killed"))
		}
		if n := codes[name]; n < 0 || n > 255 {
			errs = append(errs, field.Invalid(at, n, "want an exit code, 0 to 255"))
		}
	}
	return errs
}

// remark notes which parts of the question play no part.
func (w *ending) remark() {
	unused := func(name string, given bool, causes ...Cause) {
		if given && !slices.ContainsFunc(causes, w.Involves) {
			w.out.Notes = append(w.out.Notes, name+" plays no part in "+string(w.Cause))
		}
	}
	unused("gracePeriodSeconds", w.GracePeriodSeconds != nil, CauseDelete, CauseShutdown, CauseAPIEviction)
	unused("budgets", len(w.Budgets) > 0, CauseAPIEviction)
	if w.Involves(CauseAPIEviction) && w.Budgets == nil {
		w.out.Notes = append(w.out.Notes, "no budgets are known: give budgets, or the snapshot to take them from")
	}
	if w.nodeState() == NodeLost && !w.Cause.throughAPI() {
		w.out.Notes = append(w.out.Notes, "the node is not Ready: nothing of what its kubelet does shows before it reports again")
	}
	unused("force", w.Force, CauseDelete)
	unused("container", w.Container != "", CauseLiveness, CauseStartup)
	unused("evictionMaxPodGracePeriod", w.EvictionMaxPodGracePeriod != 0, CauseEvictSoft)
	unused("shutdown", w.Shutdown != nil, CauseShutdown)
	eachContainer(w.Pod, func(c *corev1.Container, _ string) {
		if s := w.stopOf(c.Name); s != nil && s.PreStopUnknown && s.PreStopSeconds != nil {
			w.out.Notes = append(w.out.Notes, fmt.Sprintf(
				"nothing tells how long the preStop hook of %s (%s) runs: it may take the whole period, and these times are the latest; preStopSeconds gives its length", c.Name, w.hookDetail(s)))
		}
		if _, given := w.PreStopSeconds[c.Name]; given && !hasPreStop(c) {
			w.out.Notes = append(w.out.Notes, "preStopSeconds of "+c.Name+" plays no part: it has no preStop hook")
		}
		if slices.Contains(w.HookFails, c.Name) && !hasPreStop(c) {
			w.out.Notes = append(w.out.Notes, "hookFails of "+c.Name+" plays no part: it has no preStop hook")
		}
		if c.Lifecycle != nil && c.Lifecycle.StopSignal != nil {
			w.out.Notes = append(w.out.Notes, "lifecycle.stopSignal of "+c.Name+" plays no part: the feature gate ContainerStopSignals is off in v1.36")
		}
	})
	if kind, owner := ownerOf(w.Pod); kind == "StatefulSet" && len(w.out.LeftRunning) > 0 && w.removed {
		w.out.Notes = append(w.out.Notes, "StatefulSet "+owner+" may start a pod of the same name and identity while this one still runs: a forced delete breaks its promise of at most one")
	}
	if why := protection(w.Pod); why != "" {
		if w.Cause == CauseKubeletPreempt {
			w.out.Notes = append(w.out.Notes, "the kubelet would preempt this pod for a critical one of higher priority only: "+why)
		}
	}
}

// stopOf finds what the answer has of a container that is stopped; nil of others.
func (w *ending) stopOf(name string) *Stop {
	for i := range w.out.Containers {
		if w.out.Containers[i].Name == name {
			return &w.out.Containers[i]
		}
	}
	return nil
}
