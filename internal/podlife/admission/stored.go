package admission

import (
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"berth/internal/kube/object/stored"
	"berth/internal/podlife"
)

// CreateStored admits a pod of which only the fields that decisions read are there: the plugins
// LimitRanger, Priority, DefaultTolerationSeconds, RuntimeClass and ResourceQuota, and the
// condition of a gated pod. It differs from Create in what a ledger takes: a status, and a priority
// or an overhead of a pod that names no class. The argument is not written.
func CreateStored(in *corev1.Pod, a Admission, now time.Time) Verdict {
	p := in.DeepCopy()
	a.now = now
	x, _, refused := a.defaultLimits(p)
	if refused != nil {
		return refused.verdict(p)
	}
	x.ownOverhead = p.Spec.RuntimeClassName == nil
	if p.Spec.Priority == nil || p.Spec.PriorityClassName != "" {
		if err := admitPriority(p, a.Classes); err != nil {
			return Verdict{Errors: field.ErrorList{err}}
		}
	}
	if a.TolerationSeconds {
		podlife.AddTolerationSeconds(&p.Spec)
	}
	if refused := a.useRuntimeClass(p, &x); refused != nil {
		return refused.verdict(p)
	}
	p.Status.Conditions = CreatedConditions(p, now)
	if refused := a.validate(p, x); refused != nil {
		return refused.verdict(p)
	}
	return Verdict{Pod: p}
}

// UpdateStored judges a pod that is to replace a stored one of its name. Only the
// fields that decisions read are there of either, so that only what changes can be
// judged. Neither argument is written.
func UpdateStored(in, before *corev1.Pod, a Admission) Verdict {
	p, old := in.DeepCopy(), before.DeepCopy()
	keepPriority(p, old)
	if a.TolerationSeconds {
		podlife.AddTolerationSeconds(&p.Spec)
	}
	p.ResourceVersion = "0" // validation wants one, and a ledger keeps none
	if errs := append(stored.ValidateKeptUpdate(p, old), podlife.StateTransitions(p, old)...); len(errs) > 0 {
		return Verdict{Errors: errs}
	}
	p.ResourceVersion = ""
	if terminating(p) != terminating(old) { // it comes into the scope of other quotas
		if refused := a.checkQuotas(p, old); refused != nil {
			return refused.verdict(p)
		}
	}
	return Verdict{Pod: p}
}

// KeepAdmitted adds to a manifest that comes once more what admission set in the stored pod, where
// the manifest has none of it: priority, overhead and the default tolerations of lost nodes, what a
// RuntimeClass and LimitRanges set as they are now, and the ephemeral containers, which a
// subresource adds.
func KeepAdmitted(p, stored *corev1.Pod, a Admission) {
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
	var ofClass nodev1.Scheduling
	if class, _ := a.runtimeClass(p); class != nil && class.Scheduling != nil {
		ofClass = *class.Scheduling
	}
	for _, t := range stored.Spec.Tolerations {
		lost := t.Key == corev1.TaintNodeNotReady || t.Key == corev1.TaintNodeUnreachable
		same := func(of corev1.Toleration) bool { return apiequality.Semantic.DeepEqual(of, t) }
		switch {
		case slices.ContainsFunc(p.Spec.Tolerations, same):
		case lost && t.Effect == corev1.TaintEffectNoExecute && !podlife.HasNoExecute(p.Spec.Tolerations, t.Key), slices.ContainsFunc(ofClass.Tolerations, same):
			p.Spec.Tolerations = append(slices.Clip(p.Spec.Tolerations), t)
		}
	}
	for key := range ofClass.NodeSelector {
		value, kept := stored.Spec.NodeSelector[key]
		if _, there := p.Spec.NodeSelector[key]; kept && !there {
			p.Spec.NodeSelector = maps.Clone(p.Spec.NodeSelector)
			if p.Spec.NodeSelector == nil {
				p.Spec.NodeSelector = map[string]string{}
			}
			p.Spec.NodeSelector[key] = value
		}
	}
	a.keepLimits(p, stored)
}

// keepLimits takes over the amounts that a LimitRange would set in a pod from the stored one.
func (a *Admission) keepLimits(p, stored *corev1.Pod) {
	would := p.DeepCopy()
	if _, set, refused := a.defaultLimits(would); refused != nil || len(set) == 0 {
		return
	}
	for _, x := range [][3][]corev1.Container{
		{p.Spec.InitContainers, would.Spec.InitContainers, stored.Spec.InitContainers}, {p.Spec.Containers, would.Spec.Containers, stored.Spec.Containers},
	} {
		if len(x[0]) != len(x[2]) { // which an update refuses
			continue
		}
		for i := range x[0] {
			r, full, has := &x[0][i].Resources, x[1][i].Resources, x[2][i].Resources
			r.Requests = keptAmounts(r.Requests, full.Requests, has.Requests)
			r.Limits = keptAmounts(r.Limits, full.Limits, has.Limits)
		}
	}
}

// keptAmounts returns a list with those of the stored amounts that it lacks and would have.
func keptAmounts(list, would, has corev1.ResourceList) corev1.ResourceList {
	out := maps.Clone(list)
	for name := range would {
		if q, kept := has[name]; kept {
			if _, there := list[name]; !there {
				if out == nil {
					out = corev1.ResourceList{}
				}
				out[name] = q
			}
		}
	}
	return out
}

// CreatedConditions returns the conditions that a pod is created with: those that it
// comes with, or that it is gated (strategy.go applySchedulingGatedCondition).
func CreatedConditions(p *corev1.Pod, now time.Time) []corev1.PodCondition {
	if len(p.Spec.SchedulingGates) == 0 {
		return p.Status.Conditions
	}
	return []corev1.PodCondition{stored.GatedCondition(metav1.NewTime(now.UTC().Truncate(time.Second)))}
}
