package termination

import (
	"context"
	"fmt"
	"slices"
	"sort"
	"sync"
	"time"
	"unsafe"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	"k8s.io/kubernetes/pkg/apis/core"
	_ "k8s.io/kubernetes/pkg/apis/core/install" // its types in the scheme
	"k8s.io/kubernetes/pkg/kubelet"
	kubeletconfig "k8s.io/kubernetes/pkg/kubelet/apis/config"
	kubecontainer "k8s.io/kubernetes/pkg/kubelet/container"
	registrypod "k8s.io/kubernetes/pkg/registry/core/pod"

	"berth/test/conformance/lifecycle"
)

// Ending is what one side says of a question.
type Ending struct {
	Period    int64
	Deletion  string           // the deletion timestamp, for delete and preempt
	Timeouts  map[string]int64 // by container
	Eviction  int64            // the kubelet's wait, 0 for none
	Effective int64            // the kubelet's period of the whole pod, 0 for probes
	// Phase is the one that the pod ends in if what is stopped ends with 137, Zero
	// the one if it ends with 0; "" while the pod goes on, and unless Judged.
	Phase, Zero string
	Judged      bool
}

// Oracle is Kubernetes' side, but for the stop timeouts: Kill measures those.
func Oracle(q Question) (e Ending, err error) {
	pod, err := served(q.Pod)
	if err != nil {
		return e, err
	}
	switch q.Cause {
	case "delete", "preempt":
		if err := deleteByAPI(&e, q, pod); err != nil {
			return e, err
		}
		pod.DeletionGracePeriodSeconds = &e.Period
		e.Effective = effective(pod, nil)
	case "evict-soft", "evict-hard":
		override := int64(1)
		if q.Cause == "evict-soft" {
			override = min(int64(q.EvictionMaxPodGracePeriod), *pod.Spec.TerminationGracePeriodSeconds)
		}
		e.Effective = effective(pod, &override)
		e.Period, e.Eviction = e.Effective, max(override+override/2, 10)
	case "shutdown":
		e.Effective = effective(pod, share(q, pod))
		e.Period = e.Effective
	case "liveness", "startup":
		reason := map[string]string{"liveness": "LivenessProbe", "startup": "StartupProbe"}[q.Cause]
		c := container(pod, q.Container)
		e.Period = probePeriod(context.Background(), pod, c, c.Name, kubecontainer.ContainerID{}, reason)
		err = e.afterProbe(q, pod)
	}
	return e, err
}

// phases answers for pods' phases; it is made once, and for one goroutine.
var phases = sync.OnceValues(lifecycle.NewOracle)

// afterProbe asks the kubelet's code for the phase after a probe failed.
func (e *Ending) afterProbe(q Question, pod *corev1.Pod) error {
	o, err := phases()
	if err != nil {
		return err
	}
	pod = pod.DeepCopy()
	runs := map[string]bool{q.Container: true}
	for _, name := range Running(q) {
		runs[name] = true
	}
	told := func(list []corev1.Container, statuses []corev1.ContainerStatus) []corev1.ContainerStatus {
		if len(statuses) == 0 {
			statuses = make([]corev1.ContainerStatus, len(list))
		}
		for i := range list {
			s := &statuses[i]
			switch s.Name = list[i].Name; {
			case runs[s.Name]:
				s.State, s.Started = corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}, new(true)
			case s.State == (corev1.ContainerState{}):
				s.State.Terminated = &corev1.ContainerStateTerminated{} // what of a pod is not said is over
			}
		}
		return statuses
	}
	pod.Status.ContainerStatuses = told(pod.Spec.Containers, pod.Status.ContainerStatuses)
	pod.Status.InitContainerStatuses = told(pod.Spec.InitContainers, pod.Status.InitContainerStatuses)
	startup := q.Cause == "startup"
	mains := slices.ContainsFunc(pod.Spec.Containers, func(c corev1.Container) bool { return runs[c.Name] })
	if startup && !mains && pod.DeletionTimestamp == nil {
		return nil // a sidecar that never started, behind main containers that ended: the kubelet tells them from none that began by what it garbage-collected
	}
	if contradicts(pod) {
		return nil
	}
	e.Judged = true
	e.Phase, e.Zero = string(o.AfterProbe(pod, q.Container, startup, 137)), string(o.AfterProbe(pod, q.Container, startup, 0))
	return nil
}

// contradicts says that a main container ran before the init containers let it,
// which no kubelet writes: what follows from that nobody says.
func contradicts(pod *corev1.Pod) bool {
	ran := func(s corev1.ContainerStatus) bool {
		return s.State.Waiting == nil || s.LastTerminationState.Terminated != nil
	}
	if !slices.ContainsFunc(pod.Status.ContainerStatuses, ran) {
		return false
	}
	for i, s := range pod.Status.InitContainerStatuses {
		sidecar, end := pod.Spec.InitContainers[i].RestartPolicy != nil, s.State.Terminated
		if sidecar && !ran(s) || !sidecar && (end == nil || end.ExitCode != 0) {
			return true
		}
	}
	return false
}

// served is the pod as an API server hands it out: defaulted, and gone through
// the internal type, which makes 1 of a negative period.
func served(p *corev1.Pod) (*corev1.Pod, error) {
	p = p.DeepCopy()
	legacyscheme.Scheme.Default(p)
	in, out := &core.Pod{}, &corev1.Pod{}
	if err := legacyscheme.Scheme.Convert(p, in, nil); err != nil {
		return nil, err
	}
	return out, legacyscheme.Scheme.Convert(in, out, nil)
}

// deleteByAPI is the API server's part.
func deleteByAPI(e *Ending, q Question, pod *corev1.Pod) error {
	in := &core.Pod{}
	if err := legacyscheme.Scheme.Convert(pod, in, nil); err != nil {
		return err
	}
	options := &metav1.DeleteOptions{}
	if q.Cause == "delete" {
		options.GracePeriodSeconds = q.GracePeriodSeconds
		if q.Force {
			options.GracePeriodSeconds = new(int64)
		}
	}
	if options.GracePeriodSeconds != nil {
		n := *options.GracePeriodSeconds
		options.GracePeriodSeconds = &n
	}
	if in.DeletionTimestamp != nil && q.Cause == "preempt" {
		// The scheduler leaves a pod alone that is going.
		e.Deletion = in.DeletionTimestamp.UTC().Format(time.RFC3339)
		if e.Period = *pod.Spec.TerminationGracePeriodSeconds; in.DeletionGracePeriodSeconds != nil {
			e.Period = *in.DeletionGracePeriodSeconds
		}
		return nil
	}
	apiClock = func() metav1.Time { return metav1.NewTime(q.Now) }
	graceful, pending, err := rest.BeforeDelete(registrypod.Strategy, context.Background(), in, options)
	if err != nil {
		return fmt.Errorf("BeforeDelete: %w", err)
	}
	if graceful || pending {
		e.Period = *in.DeletionGracePeriodSeconds
	}
	e.Deletion = in.DeletionTimestamp.UTC().Format(time.RFC3339)
	return nil
}

// effective asks a kubelet that hears of the pod's end for the first time: its
// status of the pod is all zero.
func effective(pod *corev1.Pod, override *int64) int64 {
	var status [4096]byte
	period, _ := effectivePeriod(unsafe.Pointer(&status), pod, &kubelet.KillPodOptions{PodTerminationGracePeriodSecondsOverride: override})
	return period
}

// share is the override of a node's shutdown.
func share(q Question, pod *corev1.Pod) *int64 {
	var seconds int64
	switch {
	case q.GracePeriodSeconds != nil:
		seconds = *q.GracePeriodSeconds
	case q.Shutdown != nil:
		var shares []kubeletconfig.ShutdownGracePeriodByPodPriority
		for _, s := range q.Shutdown.Shares {
			shares = append(shares, kubeletconfig.ShutdownGracePeriodByPodPriority{Priority: s.Priority, ShutdownGracePeriodSeconds: s.Seconds})
		}
		if len(shares) == 0 {
			all, _ := time.ParseDuration(q.Shutdown.Period)
			critical, _ := time.ParseDuration(q.Shutdown.Critical)
			shares = migrateShares(int64(all), int64(critical))
		}
		total := int64(0)
		for _, s := range shares {
			total += s.ShutdownGracePeriodSeconds
		}
		if total == 0 {
			return nil // the manager is not started
		}
		sort.Slice(shares, func(i, j int) bool { return shares[i].Priority < shares[j].Priority })
		groups := groupByPriority(shares, []*corev1.Pod{pod})
		at := slices.IndexFunc(groups, func(g shutdownGroup) bool { return len(g.pods) > 0 })
		seconds = groups[at].ShutdownGracePeriodSeconds
	default:
		return nil
	}
	if own := *pod.Spec.TerminationGracePeriodSeconds; own <= seconds {
		seconds = own
	}
	return &seconds
}

func container(pod *corev1.Pod, name string) *corev1.Container {
	for _, list := range [][]corev1.Container{pod.Spec.Containers, pod.Spec.InitContainers} {
		for i := range list {
			if list[i].Name == name {
				return &list[i]
			}
		}
	}
	return nil
}
