package termination

import (
	"context"
	"fmt"
	"slices"
	"sort"
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
	// Reason is that of Phase where the kubelet kills a pod of its own accord.
	Phase, Zero, Reason string
	Judged              bool
	// Refused reports whether the kubelet does not evict the pod.
	Refused bool
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
		if !evicts(pod) {
			return Ending{Refused: true}, nil
		}
		override := int64(1)
		if q.Cause == "evict-soft" {
			override = min(int64(q.EvictionMaxPodGracePeriod), *pod.Spec.TerminationGracePeriodSeconds)
		}
		e.Effective = effective(pod, &override)
		e.Period, e.Eviction = e.Effective, max(override+override/2, 10)
	case "kubelet-preempt":
		e.Effective = effective(pod, nil)
		own := *pod.Spec.TerminationGracePeriodSeconds
		e.Period, e.Eviction = e.Effective, max(own+own/2, 10)
	case "shutdown":
		e.Effective = effective(pod, share(q, pod))
		e.Period = e.Effective
	case "liveness", "startup":
		reason := map[string]string{"liveness": "LivenessProbe", "startup": "StartupProbe"}[q.Cause]
		c := container(pod, q.Container)
		e.Period = probePeriod(context.Background(), pod, c, c.Name, kubecontainer.ContainerID{}, reason)
		return e, e.afterProbe(q, pod)
	}
	return e, e.afterKill(q, pod)
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
