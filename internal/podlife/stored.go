package podlife

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"berth/internal/kube/object/stored"
)

// NotTaken returns why no API server has stored such a pod, so that it has no life and no end; nil
// where nothing forbids it.
func NotTaken(p *corev1.Pod, at *field.Path) *field.Error {
	switch {
	case p.APIVersion != "" && p.APIVersion != "v1":
		return field.NotSupported(at.Child("apiVersion"), p.APIVersion, []string{"v1"})
	case len(p.Spec.Containers) == 0:
		return field.Required(at.Child("spec", "containers"), "a pod has one container at least")
	}
	return nil
}

// Admission is what a cluster's admission plugins work with.
type Admission struct {
	Classes Classes
	// TolerationSeconds turns the plugin DefaultTolerationSeconds on.
	TolerationSeconds bool
}

// CreateStored admits a pod of which only the fields that decisions read are there:
// the plugins Priority and DefaultTolerationSeconds, and the condition of a gated
// pod. It differs from Create in what a ledger takes: a status,
// and a priority of a pod that names no class. The argument is not written.
func CreateStored(in *corev1.Pod, a Admission, now time.Time) Verdict {
	p := in.DeepCopy()
	if p.Spec.Priority == nil || p.Spec.PriorityClassName != "" {
		if err := admitPriority(p, a.Classes); err != nil {
			return Verdict{Errors: field.ErrorList{err}}
		}
	}
	if a.TolerationSeconds {
		AddTolerationSeconds(&p.Spec)
	}
	p.Status.Conditions = CreatedConditions(p, now)
	return Verdict{Pod: p}
}

// UpdateStored judges a pod that is to replace a stored one of its name. Only the
// fields that decisions read are there of either, so that only what changes can be
// judged. Neither argument is written.
func UpdateStored(in, before *corev1.Pod, a Admission) Verdict {
	p, old := in.DeepCopy(), before.DeepCopy()
	keepPriority(p, old)
	if a.TolerationSeconds {
		AddTolerationSeconds(&p.Spec)
	}
	p.ResourceVersion = "0" // validation wants one, and a ledger keeps none
	if errs := append(stored.ValidateKeptUpdate(p, old), stateTransitions(p, old)...); len(errs) > 0 {
		return Verdict{Errors: errs}
	}
	p.ResourceVersion = ""
	return Verdict{Pod: p}
}

// KeepAdmitted adds to a manifest that comes once more what admission set in the stored pod, where
// the manifest has none of it: priority, overhead and the default tolerations of lost nodes, and
// the ephemeral containers, which a subresource adds.
func KeepAdmitted(p, stored *corev1.Pod) {
	if p.Spec.PriorityClassName == "" && p.Spec.Priority == nil {
		p.Spec.PriorityClassName = stored.Spec.PriorityClassName
	}
	keepPriority(p, stored)
	if p.Spec.Overhead == nil {
		p.Spec.Overhead = stored.Spec.Overhead
	}
	if p.Spec.EphemeralContainers == nil {
		p.Spec.EphemeralContainers = stored.Spec.EphemeralContainers
	}
	for _, t := range stored.Spec.Tolerations {
		lost := t.Key == corev1.TaintNodeNotReady || t.Key == corev1.TaintNodeUnreachable
		if lost && t.Effect == corev1.TaintEffectNoExecute && !hasNoExecute(p.Spec.Tolerations, t.Key) {
			p.Spec.Tolerations = append(slices.Clip(p.Spec.Tolerations), t)
		}
	}
}

// CreatedConditions returns the conditions that a pod is created with: those that it
// comes with, or that it is gated (strategy.go applySchedulingGatedCondition).
func CreatedConditions(p *corev1.Pod, now time.Time) []corev1.PodCondition {
	if len(p.Spec.SchedulingGates) == 0 {
		return p.Status.Conditions
	}
	return []corev1.PodCondition{stored.GatedCondition(metav1.NewTime(now.UTC().Truncate(time.Second)))}
}
