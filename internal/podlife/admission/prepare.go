package admission

import (
	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"berth/internal/kube/object/apiserver"
	"berth/internal/kube/object/stored"
)

// prepareCreate makes of a posted pod the one that is validated and stored: no
// status but the first, gates noted, label keys merged into the selectors
// (pkg/registry/core/pod/strategy.go PrepareForCreate, BeforeCreate of
// apiserver/pkg/registry/rest/create.go).
func prepareCreate(p *corev1.Pod, now metav1.Time) {
	p.Generation, p.CreationTimestamp = 1, now
	p.DeletionTimestamp, p.DeletionGracePeriodSeconds = nil, nil
	apiserver.PrepareCreate(p)
	p.Status = corev1.PodStatus{Phase: corev1.PodPending, QOSClass: qosClass(p)}
	if len(p.Spec.SchedulingGates) > 0 {
		p.Status.Conditions = []corev1.PodCondition{stored.GatedCondition(now)}
	}
	stored.MergeLabelKeys(p, false)
}

// prepareUpdate takes over from the old pod what an update of the spec cannot
// change (strategy.go PrepareForUpdate).
func prepareUpdate(p, old *corev1.Pod) {
	p.Status, p.Generation = *old.Status.DeepCopy(), old.Generation
	if p.ResourceVersion == "" {
		p.ResourceVersion = old.ResourceVersion
	}
	apiserver.PrepareUpdate(p, old)
}

// countGeneration is apart from prepareUpdate since the priority is taken over
// in between (strategy.go updatePodGeneration).
func countGeneration(p, old *corev1.Pod) {
	if !apiequality.Semantic.DeepEqual(p.Spec, old.Spec) {
		p.Generation++
	}
}

// qosClass sorts a pod by its requests and limits of cpu and memory
// (pkg/apis/core/helper/qos ComputePodQOS).
func qosClass(p *corev1.Pod) corev1.PodQOSClass {
	requests, limits := corev1.ResourceList{}, corev1.ResourceList{}
	guaranteed := true
	sum := func(into, list corev1.ResourceList) (kinds int) {
		for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
			if q, ok := list[name]; ok && q.Sign() > 0 {
				q = q.DeepCopy()
				q.Add(into[name])
				into[name] = q
				kinds++
			}
		}
		return kinds
	}
	if r := p.Spec.Resources; r != nil && len(r.Requests)+len(r.Limits) > 0 {
		sum(requests, r.Requests)
		guaranteed = len(r.Limits) == 0 || sum(limits, r.Limits) == 2
	} else {
		for _, list := range [][]corev1.Container{p.Spec.Containers, p.Spec.InitContainers} {
			for i := range list {
				sum(requests, list[i].Resources.Requests)
				guaranteed = sum(limits, list[i].Resources.Limits) == 2 && guaranteed
			}
		}
	}
	if len(requests) == 0 && len(limits) == 0 {
		return corev1.PodQOSBestEffort
	}
	for name, q := range requests {
		if l, ok := limits[name]; !ok || l.Cmp(q) != 0 {
			guaranteed = false
		}
	}
	if guaranteed && len(requests) == len(limits) {
		return corev1.PodQOSGuaranteed
	}
	return corev1.PodQOSBurstable
}
