package object

import (
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// Workload and PodGroup as v1.36 has them (scheduling.k8s.io/v1alpha2), which the types of v1.37 do
// not have. Only what differs is written out.

type oldWorkload struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              oldWorkloadSpec `json:"spec"`
}

type oldWorkloadSpec struct {
	ControllerRef     *schedulingv1beta1.TypedLocalObjectReference `json:"controllerRef,omitempty"`
	PodGroupTemplates []oldPodGroupTemplate                        `json:"podGroupTemplates"`
}

type oldPodGroupTemplate struct {
	Name                  string                                           `json:"name"`
	SchedulingPolicy      schedulingv1beta1.PodGroupSchedulingPolicy       `json:"schedulingPolicy"`
	SchedulingConstraints *schedulingv1beta1.PodGroupSchedulingConstraints `json:"schedulingConstraints"`
	ResourceClaims        []schedulingv1beta1.PodGroupResourceClaim        `json:"resourceClaims,omitempty"`
	DisruptionMode        *string                                          `json:"disruptionMode,omitempty"`
	PriorityClassName     string                                           `json:"priorityClassName,omitempty"`
	Priority              *int32                                           `json:"priority,omitempty"`
}

type oldPodGroup struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              oldPodGroupSpec                  `json:"spec"`
	Status            schedulingv1beta1.PodGroupStatus `json:"status,omitempty"`
}

type oldPodGroupSpec struct {
	PodGroupTemplateRef   *oldTemplateReference                            `json:"podGroupTemplateRef"`
	SchedulingPolicy      schedulingv1beta1.PodGroupSchedulingPolicy       `json:"schedulingPolicy"`
	SchedulingConstraints *schedulingv1beta1.PodGroupSchedulingConstraints `json:"schedulingConstraints,omitempty"`
	ResourceClaims        []schedulingv1beta1.PodGroupResourceClaim        `json:"resourceClaims,omitempty"`
	DisruptionMode        *string                                          `json:"disruptionMode,omitempty"`
	PriorityClassName     string                                           `json:"priorityClassName,omitempty"`
	Priority              *int32                                           `json:"priority,omitempty"`
}

type oldTemplateReference struct {
	Workload *oldWorkloadTemplate `json:"workload"`
}

type oldWorkloadTemplate struct {
	WorkloadName         string `json:"workloadName"`
	PodGroupTemplateName string `json:"podGroupTemplateName"`
}

// DeepCopyObject copies the metadata alone: nothing changes a spec that was read.
func (w *oldWorkload) DeepCopyObject() runtime.Object {
	c := *w
	w.ObjectMeta.DeepCopyInto(&c.ObjectMeta)
	return &c
}

// DeepCopyObject is that of oldWorkload.
func (g *oldPodGroup) DeepCopyObject() runtime.Object {
	c := *g
	g.ObjectMeta.DeepCopyInto(&c.ObjectMeta)
	return &c
}

// PodGroupKind is the kind of groups of pods. Decisions are about a pod alone, and only say how
// many of its group are there.
const PodGroupKind = "PodGroup"

// GroupOf returns a PodGroup's metadata, and how many of its pods are scheduled together; 0 where
// it does not say. ok is false for an object of another kind.
func GroupOf(obj any) (meta *metav1.ObjectMeta, minCount int32, ok bool) {
	var policy *schedulingv1beta1.PodGroupSchedulingPolicy
	switch o := obj.(type) {
	case *schedulingv1beta1.PodGroup:
		meta, policy = &o.ObjectMeta, &o.Spec.SchedulingPolicy
	case *oldPodGroup:
		meta, policy = &o.ObjectMeta, &o.Spec.SchedulingPolicy
	default:
		return nil, 0, false
	}
	if policy.Gang != nil {
		minCount = policy.Gang.MinCount
	}
	return meta, minCount, true
}
