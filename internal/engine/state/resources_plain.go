package state

import (
	"sort"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// plainRequest is the request of a pod without sidecars, overhead, pod-level resources and resizes:
// the sum over its containers. It saves three walks over maps of quantities for nearly every pod.
// ok is false where the pod is not of that kind, or where an amount has a fraction, which rounding
// one by one would count more than once.
func plainRequest(ids scalarIDs, pod *corev1.Pod) (r Request, nonZeroCPU, nonZeroMem int64, ok bool) {
	spec := &pod.Spec
	if len(spec.InitContainers) > 0 || spec.Overhead != nil || spec.Resources != nil {
		return r, 0, 0, false
	}
	for i := range pod.Status.ContainerStatuses {
		if pod.Status.ContainerStatuses[i].Resources != nil {
			return r, 0, 0, false
		}
	}
	for i := range spec.Containers {
		cpu, memory := int64(defaultMilliCPU), int64(defaultMemory)
		for name, q := range spec.Containers[i].Resources.Requests {
			if name == corev1.ResourceCPU {
				cpu = q.MilliValue()
				if q.Cmp(*resource.NewMilliQuantity(cpu, resource.DecimalSI)) != 0 {
					return r, 0, 0, false
				}
				r.CPU += cpu
				continue
			}
			n := q.Value()
			if q.CmpInt64(n) != 0 {
				return r, 0, 0, false
			}
			switch {
			case name == corev1.ResourceMemory:
				memory = n
				r.Memory += n
			case name == corev1.ResourceEphemeralStorage:
				r.Ephemeral += n
			case name != corev1.ResourcePods:
				// Only scalars are interned, and recognising them costs more than a lookup.
				id, known := ids.lookupScalar(string(name))
				if !known && IsScalar(name) {
					id, known = ids.scalar(string(name)), true
				}
				if known {
					r.addScalar(id, n)
				}
			}
		}
		nonZeroCPU += cpu
		nonZeroMem += memory
	}
	return r, nonZeroCPU, nonZeroMem, true
}

// addScalar adds to an amount, keeping the list in order of ids.
func (r *Request) addScalar(id int32, n int64) {
	i := sort.Search(len(r.Scalars), func(i int) bool { return r.Scalars[i].ID >= id })
	if i < len(r.Scalars) && r.Scalars[i].ID == id {
		r.Scalars[i].N += n
		return
	}
	r.Scalars = append(r.Scalars, Scalar{})
	copy(r.Scalars[i+1:], r.Scalars[i:])
	r.Scalars[i] = Scalar{id, n}
}

// Of returns the amount of a resource by name: millicores for cpu, else the resource's own unit.
func (r *Request) Of(ids interface{ ScalarID(string) (int32, bool) }, name corev1.ResourceName) int64 {
	switch name {
	case corev1.ResourceCPU:
		return r.CPU
	case corev1.ResourceMemory:
		return r.Memory
	case corev1.ResourceEphemeralStorage:
		return r.Ephemeral
	}
	if id, ok := ids.ScalarID(string(name)); ok {
		for _, s := range r.Scalars {
			if s.ID == id {
				return s.N
			}
		}
	}
	return 0
}
