package podlife

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// StatusPatch is a strategic merge patch of a pod's status, in the form in which
// clients send it. The generation that was observed is not in it: snapshots do
// not keep what it is.
type StatusPatch struct {
	Metadata *PatchMetadata `json:"metadata,omitempty"`
	Status   PatchStatus    `json:"status"`
} // @name StatusPatch

// PatchMetadata is a patch's precondition.
type PatchMetadata struct {
	UID string `json:"uid"`
} // @name StatusPatchMetadata

// PatchStatus is what changes; conditions are merged by their type.
type PatchStatus struct {
	Order      []ConditionType  `json:"$setElementOrder/conditions,omitempty"`
	Conditions []PatchCondition `json:"conditions,omitempty"`
	Phase      string           `json:"phase"`
} // @name StatusPatchStatus

// ConditionType names a condition.
type ConditionType struct {
	Type string `json:"type"`
} // @name StatusPatchConditionType

// PatchCondition is what changes of a condition; of one that was there already
// only that.
type PatchCondition struct {
	LastTransitionTime *metav1.Time `json:"lastTransitionTime,omitempty" swaggertype:"string" format:"date-time"`
	Message            string       `json:"message,omitempty"`
	Reason             string       `json:"reason,omitempty"`
	Status             string       `json:"status,omitempty"`
	Type               string       `json:"type"`
} // @name StatusPatchCondition

// DisruptionTarget of a pod whose node is gone (gc_controller.go gcOrphaned).
const (
	reasonByPodGC  = "DeletionByPodGC"
	messageByPodGC = "PodGC: node no longer exists"
)

// failedPatch makes a pod Failed; of an orphan it names the reason, too, in the place of
// whatever DisruptionTarget there was (gc_controller.go
// markFailedAndDeletePodWithCondition, pkg/api/v1/pod UpdatePodCondition).
func failedPatch(p *corev1.Pod, orphan bool, now time.Time) *StatusPatch {
	out := &StatusPatch{Status: PatchStatus{Phase: string(corev1.PodFailed)}}
	if p.UID != "" {
		out.Metadata = &PatchMetadata{string(p.UID)}
	}
	if !orphan {
		return out
	}
	c := PatchCondition{Type: string(corev1.DisruptionTarget)}
	var old *corev1.PodCondition
	for i := range p.Status.Conditions {
		have := &p.Status.Conditions[i]
		out.Status.Order = append(out.Status.Order, ConditionType{string(have.Type)})
		if have.Type == corev1.DisruptionTarget && old == nil {
			old = have
		}
	}
	if old == nil {
		if len(p.Status.Conditions) > 0 { // the first of all needs no order
			out.Status.Order = append(out.Status.Order, ConditionType{c.Type})
		}
		old = &corev1.PodCondition{}
	}
	if old.Reason != reasonByPodGC {
		c.Reason = reasonByPodGC
	}
	if old.Message != messageByPodGC {
		c.Message = messageByPodGC
	}
	if old.Status != corev1.ConditionTrue {
		c.Status = string(corev1.ConditionTrue)
		c.LastTransitionTime = &metav1.Time{Time: now.UTC().Truncate(time.Second)}
	}
	if c == (PatchCondition{Type: c.Type}) {
		out.Status.Order = nil
		return out
	}
	out.Status.Conditions = []PatchCondition{c}
	return out
}
