package state

import (
	"maps"
	"math"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// The largest amounts that a scheduler's arithmetic holds: millicores of cpu, units of all else.
// Upstream overflows beyond them (apimachinery Quantity.MilliValue, Value), so that a pod may count
// as negative.
var (
	mostCPU  = *resource.NewMilliQuantity(math.MaxInt64, resource.DecimalSI)
	mostUnit = *resource.NewQuantity(math.MaxInt64, resource.DecimalSI)
)

func tooLarge(name corev1.ResourceName, q *resource.Quantity) bool {
	if name == corev1.ResourceCPU {
		return q.Cmp(mostCPU) > 0
	}
	return q.Cmp(mostUnit) > 0
}

// plenty is an amount so small that even the sum of a pod's containers fits.
var plenty = *resource.NewQuantity(1<<40, resource.DecimalSI)

// modest reports whether each amount of a pod is small, as in nearly all pods: AmountErrors has
// nothing to name then.
func modest(pod *corev1.Pod) bool {
	large := func(amounts corev1.ResourceList) bool {
		for _, q := range amounts {
			if q.Cmp(plenty) > 0 {
				return true
			}
		}
		return false
	}
	for _, list := range [][]corev1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
		for i := range list {
			if large(list[i].Resources.Requests) {
				return false
			}
		}
	}
	return !large(pod.Spec.Overhead) && (pod.Spec.Resources == nil || !large(pod.Spec.Resources.Requests))
}

// AmountErrors names the amounts of a pod or a node that do not fit 64 bits in their unit: each by
// itself, and the sum of a pod's containers. A ledger must refuse them, since no apiserver does it.
// Decisions overflow as kube-scheduler does.
func AmountErrors(o any) (errs field.ErrorList) {
	list := func(at *field.Path, amounts corev1.ResourceList) {
		for _, name := range slices.Sorted(maps.Keys(amounts)) {
			if q := amounts[name]; tooLarge(name, &q) {
				errs = append(errs, field.Invalid(at.Key(string(name)), q.String(), "must fit 64 bits, as millicores of cpu or as units of anything else"))
			}
		}
	}
	switch o := o.(type) {
	case *corev1.Node:
		list(field.NewPath("status", "allocatable"), o.Status.Allocatable)
		list(field.NewPath("status", "capacity"), o.Status.Capacity)
	case *corev1.Pod:
		if modest(o) {
			return nil
		}
		spec := field.NewPath("spec")
		sum := corev1.ResourceList{}
		add := func(amounts corev1.ResourceList) {
			for name, q := range amounts {
				have := sum[name]
				have.Add(q)
				sum[name] = have
			}
		}
		for i := range o.Spec.InitContainers {
			list(spec.Child("initContainers").Index(i).Child("resources", "requests"), o.Spec.InitContainers[i].Resources.Requests)
			if restarts(&o.Spec.InitContainers[i]) {
				add(o.Spec.InitContainers[i].Resources.Requests)
			}
		}
		for i := range o.Spec.Containers {
			list(spec.Child("containers").Index(i).Child("resources", "requests"), o.Spec.Containers[i].Resources.Requests)
			add(o.Spec.Containers[i].Resources.Requests)
		}
		if r := o.Spec.Resources; r != nil {
			list(spec.Child("resources", "requests"), r.Requests)
		}
		list(spec.Child("overhead"), o.Spec.Overhead)
		add(o.Spec.Overhead)
		if len(errs) > 0 {
			return errs
		}
		for _, name := range slices.Sorted(maps.Keys(sum)) {
			if q := sum[name]; tooLarge(name, &q) {
				errs = append(errs, field.Invalid(spec.Child("containers"), q.String(), "the sum of all requests of "+string(name)+" must fit 64 bits, as millicores of cpu or as units of anything else"))
			}
		}
	}
	return errs
}
