package podlife

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// systemCritical is the priority from which on a pod is critical
// (pkg/apis/scheduling SystemCriticalPriority).
const systemCritical = 2_000_000_000

// ShutdownConfig is what a kubelet is told about graceful node shutdown, by the
// names of its configuration (KubeletConfiguration): two durations, or a list by
// priority.
type ShutdownConfig struct {
	// ShutdownGracePeriod is for all pods, such as "30s".
	ShutdownGracePeriod string `json:"shutdownGracePeriod,omitempty" example:"30s"`
	// ShutdownGracePeriodCriticalPods is the part of it for critical pods.
	ShutdownGracePeriodCriticalPods string          `json:"shutdownGracePeriodCriticalPods,omitempty" example:"10s"`
	ByPodPriority                   []ShutdownShare `json:"shutdownGracePeriodByPodPriority,omitempty"`
} // @name ShutdownConfig

// ShutdownShare is the time of pods from a priority on.
type ShutdownShare struct {
	Priority                   int32 `json:"priority"`
	ShutdownGracePeriodSeconds int64 `json:"shutdownGracePeriodSeconds"`
} // @name ShutdownShare

func (c *ShutdownConfig) check() (errs field.ErrorList) {
	if c == nil {
		return nil
	}
	at := field.NewPath("shutdown")
	all, err := shutdownDuration(c.ShutdownGracePeriod)
	if err != "" {
		errs = append(errs, field.Invalid(at.Child("shutdownGracePeriod"), c.ShutdownGracePeriod, err))
	}
	critical, err := shutdownDuration(c.ShutdownGracePeriodCriticalPods)
	if err == "" && critical > all {
		err = "must not be longer than shutdownGracePeriod"
	}
	if err != "" {
		errs = append(errs, field.Invalid(at.Child("shutdownGracePeriodCriticalPods"), c.ShutdownGracePeriodCriticalPods, err))
	}
	if len(c.ByPodPriority) > 0 && all+critical > 0 {
		errs = append(errs, field.Forbidden(at.Child("shutdownGracePeriodByPodPriority"), "a kubelet takes it or the two durations, not both"))
	}
	for i, s := range c.ByPodPriority {
		if s.ShutdownGracePeriodSeconds < 0 || s.ShutdownGracePeriodSeconds > 1<<32 {
			errs = append(errs, field.Invalid(at.Child("shutdownGracePeriodByPodPriority").Index(i).Child("shutdownGracePeriodSeconds"), s.ShutdownGracePeriodSeconds, "must not be negative, nor more than a hundred years"))
		}
	}
	return errs
}

func shutdownDuration(s string) (time.Duration, string) {
	if s == "" {
		return 0, ""
	}
	d, err := time.ParseDuration(s)
	switch {
	case err != nil:
		return 0, "want a duration such as 30s"
	case d < 0:
		return 0, "must not be negative"
	}
	return d, ""
}

// shares returns the shares by priority, the lowest first
// (pkg/kubelet/nodeshutdown migrateConfig, newPodManager); none: the kubelet
// stops nothing by itself.
func (c *ShutdownConfig) shares() []ShutdownShare {
	list := slices.Clone(c.ByPodPriority)
	if len(list) == 0 {
		all, _ := shutdownDuration(c.ShutdownGracePeriod)
		critical, _ := shutdownDuration(c.ShutdownGracePeriodCriticalPods)
		if all == 0 {
			return nil
		}
		list = []ShutdownShare{{0, int64((all - critical) / time.Second)}, {systemCritical, int64(critical / time.Second)}}
	}
	slices.SortStableFunc(list, func(a, b ShutdownShare) int { return cmp.Compare(a.Priority, b.Priority) })
	total := int64(0)
	for _, s := range list {
		total += s.ShutdownGracePeriodSeconds
	}
	if total == 0 {
		return nil
	}
	return list
}

// shareOf finds a priority's share: the last that begins at or below it, and the
// first for what is below all (pkg/kubelet/nodeshutdown groupByPriority). before
// is the sum of the shares that come first.
func shareOf(list []ShutdownShare, priority int32) (share ShutdownShare, before int64) {
	at := sort.Search(len(list), func(i int) bool { return list[i].Priority >= priority })
	if at == len(list) || at > 0 && list[at].Priority > priority {
		at--
	}
	for _, s := range list[:at] {
		before += s.ShutdownGracePeriodSeconds
	}
	return list[at], before
}

// shutDown ends the pod with its node: in its priority's share of the time that
// the node has, or in its own period if that is shorter (pkg/kubelet/nodeshutdown
// killPods).
func (w *ending) shutDown() {
	override, k := w.shutdownKill(w.GracePeriodSeconds)
	w.out.GracePeriodSeconds = effective(0, w.Pod.DeletionGracePeriodSeconds, override, w.spec(), w.step)
	w.event(0, actorKubelet, "node shutdown", "", "its turn among the priorities has come")
	w.followKill(override == nil && w.Pod.DeletionTimestamp == nil || override != nil && w.overrides(*override))
	w.kill = k
	w.failed(*k)
}

// shutdownKill is the override of a shutdown, and what the kubelet writes.
func (w *ending) shutdownKill(share *int64) (*int64, *kill) {
	var override *int64
	switch {
	case share != nil:
		override = new(*share)
		w.step("request.gracePeriodSeconds", "the node's share for the pod's priority", *override)
	case w.Shutdown != nil:
		list := w.Shutdown.shares()
		if len(list) == 0 {
			break
		}
		priority := priorityOf(w.Pod)
		share, before := shareOf(list, priority)
		override = new(share.ShutdownGracePeriodSeconds)
		w.step("request.shutdown", fmt.Sprintf("the share of priority %d is that of pods from %d on", priority, share.Priority), *override)
		w.out.Notes = append(w.out.Notes, fmt.Sprintf("its turn comes when the pods of lower shares are gone, %d seconds after the node's shutdown began at most; the timeline counts from its turn", before))
	}
	if override == nil {
		w.out.Notes = append(w.out.Notes, "the node's share is not known, or graceful node shutdown is off, as it is by default: then nothing waits for the pod, and its containers are killed with the node")
	} else if spec := w.spec(); spec <= *override {
		*override = spec
		w.step("pod.spec.terminationGracePeriodSeconds", "the pod's own period, where it is not longer than the share", spec)
	}
	return override, &kill{string(CauseShutdown), "Terminated", "Pod was terminated in response to imminent node shutdown.", ""}
}

// priorityOf is a pod's priority, 0 where it has none.
func priorityOf(p *corev1.Pod) int32 {
	if p.Spec.Priority == nil {
		return 0
	}
	return *p.Spec.Priority
}
