package podlife

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"berth/internal/kube/object/apiserver"
	"berth/internal/kube/object/stored"
)

// Signal is what a node runs out of.
type Signal string

// The signals of a ranking. Inodes are a disk signal of their own.
const (
	SignalMemory Signal = "memory"
	SignalDisk   Signal = "disk"
	SignalInodes Signal = "inodes"
	SignalPIDs   Signal = "pids"
)

// Signals are all that there are.
var Signals = []Signal{SignalMemory, SignalDisk, SignalInodes, SignalPIDs}

// Usage keys: what a signal is measured by.
const (
	usageMemory = corev1.ResourceMemory // the working set
	usageDisk   = corev1.ResourceEphemeralStorage
	usageInodes = corev1.ResourceName("inodes")
	usagePIDs   = corev1.ResourceName("pids")
)

// UsageKeys are all keys that a usage may have. No signal is measured by cpu, which
// metrics-server reports beside memory.
var UsageKeys = []string{string(corev1.ResourceCPU), string(usageMemory), string(usageDisk), string(usageInodes), string(usagePIDs)}

// Consumer is a pod with what it uses. Usage without the signal's key means that
// the kubelet has no statistics of it.
type Consumer struct {
	Pod   *corev1.Pod
	Usage corev1.ResourceList
}

// Ranked is a pod's place in the order of eviction.
type Ranked struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	// ExceedsRequests is always false for pids, which pods cannot request.
	ExceedsRequests bool  `json:"exceedsRequests"`
	Priority        int32 `json:"priority"`
	// UsageAboveRequests is usage less requests, below zero for a pod within them;
	// for pids the number of processes. Absent without statistics.
	UsageAboveRequests *resource.Quantity `json:"usageAboveRequests,omitempty" swaggertype:"string" example:"200Mi"`
	Usage              *resource.Quantity `json:"usage,omitempty" swaggertype:"string" example:"1Gi"`
	Requests           *resource.Quantity `json:"requests,omitempty" swaggertype:"string" example:"824Mi"`
	// NoStats reports whether the kubelet knows nothing of what the pod uses.
	NoStats bool `json:"noStats,omitempty"`
	// Why is the reason that the pod comes after the one before it; the first has none.
	Why string `json:"why,omitempty"`
} // @name EvictionRank

// Protected is a pod that the kubelet does not evict.
type Protected struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	Why       string `json:"why"`
} // @name ProtectedPod

// UsageKey is the key of Usage that a signal is measured by.
func (s Signal) UsageKey() corev1.ResourceName {
	switch s {
	case SignalDisk:
		return usageDisk
	case SignalInodes:
		return usageInodes
	case SignalPIDs:
		return usagePIDs
	}
	return usageMemory
}

// place is a pod among those that are ranked.
type place struct {
	Ranked
	exceeds bool
	above   resource.Quantity
}

// evictedBefore compares two pods as a kubelet orders them. The text is why the second comes later.
func evictedBefore(signal Signal, a, b *place) (int, string) {
	if signal != SignalPIDs {
		if n := trueFirst(a.NoStats, b.NoStats); n != 0 {
			return n, "the pod before it has no statistics"
		}
		if n := trueFirst(a.exceeds, b.exceeds); n != 0 {
			return n, "the pod before it uses more than it requests"
		}
	}
	if n := cmp.Compare(a.Priority, b.Priority); n != 0 {
		return n, "its priority is higher"
	}
	if n := trueFirst(a.NoStats, b.NoStats); n != 0 {
		return n, "the pod before it has no statistics"
	}
	if n := b.above.Cmp(a.above); n != 0 {
		if signal == SignalPIDs {
			return n, "it has fewer processes"
		}
		return n, "it uses less above its requests"
	}
	return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name)), "equal; by namespace and name"
}

// RankForEviction orders pods as the kubelet would evict them, those that it
// does not evict apart (pkg/kubelet/eviction helpers.go rankMemoryPressure,
// rankDiskPressureFunc, rankPIDPressure; eviction_manager.go evictPod). Pods that
// are over are not looked at unless something in them still runs (pkg/kubelet
// kubelet_pods.go isPodInactive). Equals go by namespace and name.
func RankForEviction(signal Signal, pods []Consumer) (ranking []Ranked, protected []Protected, err *field.Error) {
	if !slices.Contains(Signals, signal) {
		return nil, nil, field.NotSupported(field.NewPath("signal"), signal, Signals)
	}
	ranking, protected = []Ranked{}, []Protected{}
	var list []place
	for _, c := range pods {
		p := c.Pod.DeepCopy()
		apiserver.SetPodDefaults(p)
		ns := cmp.Or(p.Namespace, corev1.NamespaceDefault)
		if terminal(p.Status.Phase) && !anyRuns(p) {
			protected = append(protected, Protected{ns, p.Name, "over: it has " + string(p.Status.Phase) + ", and nothing in it runs"})
			continue
		}
		if why := protection(p); why != "" {
			protected = append(protected, Protected{ns, p.Name, why})
			continue
		}
		at := place{Ranked: Ranked{Namespace: ns, Name: p.Name, Priority: priorityOf(p)}}
		own := requestOf(p, signal.UsageKey())
		// Of inodes, too, the request for ephemeral storage is taken off
		// (helpers.go disk).
		taken := own
		if signal == SignalInodes {
			taken = requestOf(p, usageDisk)
		}
		if signal != SignalPIDs {
			at.Requests = &taken
		}
		usage, known := c.Usage[signal.UsageKey()]
		if !known {
			at.NoStats = true
			list = append(list, at)
			continue
		}
		at.above = usage.DeepCopy()
		at.Usage = new(usage.DeepCopy())
		if signal != SignalPIDs {
			at.exceeds = usage.Cmp(own) > 0
			at.above.Sub(taken)
		}
		at.ExceedsRequests, at.UsageAboveRequests = at.exceeds, new(at.above.DeepCopy())
		list = append(list, at)
	}
	slices.SortStableFunc(list, func(a, b place) int { n, _ := evictedBefore(signal, &a, &b); return n })
	for i := range list {
		if i > 0 {
			_, list[i].Why = evictedBefore(signal, &list[i-1], &list[i])
		}
		ranking = append(ranking, list[i].Ranked)
	}
	return ranking, protected, nil
}

// anyRuns reports whether a container runs, as far as the statuses tell. The kubelet
// writes Succeeded or Failed after it has stopped them all, so a pod that is over
// is one that it still terminates only where they say so, deleted or not
// (pkg/kubelet/pod_workers.go UpdatePod, isPodStatusCacheTerminal).
func anyRuns(p *corev1.Pod) bool {
	for _, list := range [][]corev1.ContainerStatus{p.Status.ContainerStatuses, p.Status.InitContainerStatuses, p.Status.EphemeralContainerStatuses} {
		if slices.ContainsFunc(list, func(s corev1.ContainerStatus) bool { return s.State.Running != nil }) {
			return true
		}
	}
	return false
}

func trueFirst(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	}
	return 1
}

// requestOf is what a pod requests as the scheduler counts it, but with overhead
// only where the request is not zero
// (pkg/api/v1/resource GetResourceRequestQuantity).
func requestOf(p *corev1.Pod, name corev1.ResourceName) resource.Quantity {
	out := resource.Quantity{Format: resource.DecimalSI}
	if name == usageMemory || name == usageDisk {
		out.Format = resource.BinarySI
	}
	all := stored.ContainerRequests(p)
	if stored.HasPodResources(p) {
		all = p.Spec.Resources.Requests
	}
	if q, ok := all[name]; ok {
		out.Add(q)
	}
	if q, ok := p.Spec.Overhead[name]; ok && !out.IsZero() {
		out.Add(q)
	}
	return out
}

// The annotations by which the kubelet knows a pod's source
// (pkg/kubelet/types/pod_update.go).
const (
	annotationMirror = "kubernetes.io/config.mirror"
	annotationSource = "kubernetes.io/config.source"
)

// protection returns the reason why the kubelet does not evict a pod; "" if it does
// (pkg/kubelet/types/pod_update.go IsCriticalPod).
func protection(p *corev1.Pod) string {
	switch {
	case isStatic(p):
		return "static: it comes from " + p.Annotations[annotationSource]
	case isMirror(p):
		return "mirror of a static pod"
	case priorityOf(p) >= systemCritical:
		return "critical: its priority is 2000000000 or more"
	}
	return ""
}

func isMirror(p *corev1.Pod) bool {
	_, ok := p.Annotations[annotationMirror]
	return ok
}
