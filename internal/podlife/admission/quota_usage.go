package admission

import (
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"berth/internal/kube/object/stored"
)

// podCount is the quota of pods in any phase.
const podCount = corev1.ResourceName("count/pods")

// ofPods are the resources that quotas count of pods, beside huge pages and extended resources
// (pkg/quota/v1/evaluator/core pods.go, podResources).
var ofPods = map[corev1.ResourceName]bool{
	podCount: true, corev1.ResourcePods: true,
	corev1.ResourceCPU: true, corev1.ResourceRequestsCPU: true, corev1.ResourceLimitsCPU: true,
	corev1.ResourceMemory: true, corev1.ResourceRequestsMemory: true, corev1.ResourceLimitsMemory: true,
	corev1.ResourceEphemeralStorage: true, corev1.ResourceRequestsEphemeralStorage: true,
	corev1.ResourceLimitsEphemeralStorage: true,
}

// demanded are the resources that each container has to name where a quota limits them
// (validationSet there).
var demanded = map[corev1.ResourceName]bool{
	corev1.ResourceCPU: true, corev1.ResourceRequestsCPU: true, corev1.ResourceLimitsCPU: true,
	corev1.ResourceMemory: true, corev1.ResourceRequestsMemory: true, corev1.ResourceLimitsMemory: true,
}

// matching returns the resources of a quota that are of pods (MatchingResources there).
func matching(hard corev1.ResourceList) (names []corev1.ResourceName) {
	for name := range hard {
		requests, is := strings.CutPrefix(string(name), corev1.DefaultResourceRequestsPrefix)
		extended := is && (!stored.IsNative(name) || strings.HasPrefix(requests, resourcev1.ResourceDeviceClassPrefix))
		huge := strings.HasPrefix(string(name), corev1.ResourceHugePagesPrefix) ||
			strings.HasPrefix(string(name), corev1.ResourceRequestsHugePagesPrefix)
		if ofPods[name] || huge || extended {
			names = append(names, name)
		}
	}
	return names
}

// quotaUsage is what a pod uses of quotas at a time (PodUsageFunc there): of one that has ended, or
// that should be gone, its object alone counts. Limits are those of the spec: what a kubelet has
// not yet lowered does not count.
func quotaUsage(p *corev1.Pod, now time.Time) corev1.ResourceList {
	one := *resource.NewQuantity(1, resource.DecimalSI)
	if !charged(p, now) {
		return corev1.ResourceList{podCount: one}
	}
	requests := stored.Sum{Counting: stored.Counting{Status: true, ByPod: true}}.Of(p)
	limits := stored.ContainerLimits(p)
	if of := p.Spec.Resources; of != nil && stored.HasPodResources(p) {
		for name, q := range of.Limits {
			if stored.OfPods(name) {
				limits[name] = q.DeepCopy()
			}
		}
	}
	for name, q := range p.Spec.Overhead {
		if limit, there := limits[name]; there && !limit.IsZero() {
			limit.Add(q)
			limits[name] = limit
		}
	}
	uses := amountsUsed(requests, limits)
	uses[podCount], uses[corev1.ResourcePods] = one, one
	return uses
}

// amountsUsed are requests and limits by the names that quotas have for them
// (podComputeUsageHelper there).
func amountsUsed(requests, limits corev1.ResourceList) corev1.ResourceList {
	out := corev1.ResourceList{}
	for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceEphemeralStorage} {
		if q, there := requests[name]; there {
			out[name], out[corev1.DefaultResourceRequestsPrefix+name] = q, q
		}
		if q, there := limits[name]; there {
			out["limits."+name] = q
		}
	}
	for name, q := range requests {
		switch text := string(name); {
		case strings.HasPrefix(text, corev1.ResourceHugePagesPrefix):
			out[name], out[corev1.DefaultResourceRequestsPrefix+name] = q, q
		case stored.IsExtended(name), strings.HasPrefix(text, resourcev1.ResourceDeviceClassPrefix):
			out[corev1.DefaultResourceRequestsPrefix+name] = q
		}
	}
	return out
}

// charged reports whether a pod counts as one that runs or will (QuotaV1Pod there).
func charged(p *corev1.Pod, now time.Time) bool {
	if p.Status.Phase == corev1.PodFailed || p.Status.Phase == corev1.PodSucceeded {
		return false
	}
	if p.DeletionTimestamp == nil || p.DeletionGracePeriodSeconds == nil {
		return true
	}
	grace := time.Duration(*p.DeletionGracePeriodSeconds) * time.Second
	return !now.After(p.DeletionTimestamp.Add(grace))
}

// inScope reports whether a quota is about a pod (podMatchesScopeFunc there).
func inScope(q *corev1.ResourceQuota, p *corev1.Pod) bool {
	return inScopes(q, func(s corev1.ScopedResourceSelectorRequirement) bool { return matchesScope(s, p) })
}

// inScopes reports whether all scopes of a quota match.
func inScopes(q *corev1.ResourceQuota, matches func(corev1.ScopedResourceSelectorRequirement) bool) bool {
	for _, scope := range q.Spec.Scopes {
		if !matches(corev1.ScopedResourceSelectorRequirement{ScopeName: scope, Operator: corev1.ScopeSelectorOpExists}) {
			return false
		}
	}
	if q.Spec.ScopeSelector == nil {
		return true
	}
	for _, s := range q.Spec.ScopeSelector.MatchExpressions {
		if !matches(s) {
			return false
		}
	}
	return true
}

// terminating reports whether a pod is to end by itself (IsTerminating there).
func terminating(p *corev1.Pod) bool {
	return p.Spec.ActiveDeadlineSeconds != nil && *p.Spec.ActiveDeadlineSeconds >= 0
}

func matchesScope(s corev1.ScopedResourceSelectorRequirement, p *corev1.Pod) bool {
	switch s.ScopeName {
	case corev1.ResourceQuotaScopeTerminating:
		return terminating(p)
	case corev1.ResourceQuotaScopeNotTerminating:
		return !terminating(p)
	case corev1.ResourceQuotaScopeBestEffort:
		return qosClass(p) == corev1.PodQOSBestEffort
	case corev1.ResourceQuotaScopeNotBestEffort:
		return qosClass(p) != corev1.PodQOSBestEffort
	case corev1.ResourceQuotaScopeCrossNamespacePodAffinity:
		return crossesNamespaces(p)
	case corev1.ResourceQuotaScopePriorityClass:
		return selectsName(s, p.Spec.PriorityClassName)
	}
	return false
}

// selectsName reports whether a scope selects by the name of a class, empty for none
// (ScopedResourceSelectorRequirementsAsSelector of pkg/apis/core/v1/helper).
func selectsName(s corev1.ScopedResourceSelectorRequirement, name string) bool {
	switch s.Operator {
	case corev1.ScopeSelectorOpExists:
		return name != ""
	case corev1.ScopeSelectorOpDoesNotExist:
		return name == ""
	case corev1.ScopeSelectorOpIn:
		return name != "" && slices.Contains(s.Values, name)
	case corev1.ScopeSelectorOpNotIn:
		return name == "" || !slices.Contains(s.Values, name)
	}
	return false
}

// crossesNamespaces reports whether a term of a pod names namespaces (usesCrossNamespacePodAffinity
// there).
func crossesNamespaces(p *corev1.Pod) bool {
	if p.Spec.Affinity == nil {
		return false
	}
	crosses := func(t corev1.PodAffinityTerm) bool { return len(t.Namespaces) > 0 || t.NamespaceSelector != nil }
	weighted := func(t corev1.WeightedPodAffinityTerm) bool { return crosses(t.PodAffinityTerm) }
	if a := p.Spec.Affinity.PodAffinity; a != nil && (slices.ContainsFunc(a.RequiredDuringSchedulingIgnoredDuringExecution, crosses) ||
		slices.ContainsFunc(a.PreferredDuringSchedulingIgnoredDuringExecution, weighted)) {
		return true
	}
	a := p.Spec.Affinity.PodAntiAffinity
	return a != nil && (slices.ContainsFunc(a.RequiredDuringSchedulingIgnoredDuringExecution, crosses) ||
		slices.ContainsFunc(a.PreferredDuringSchedulingIgnoredDuringExecution, weighted))
}
