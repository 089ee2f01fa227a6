package decision

import (
	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"

	"berth/internal/engine/state"
	"berth/internal/revision"
)

// Classes are the priority classes that are stored beside the snapshots, in memory;
// *priorityclass.Registry implements it.
type Classes interface {
	// Class returns a class of a cluster by its name, the default one for the name ""; nil without
	// one. It is read-only.
	Class(cluster, name string) *schedulingv1.PriorityClass
}

// StoredClass is what a record keeps of a stored class that a decision rests on. A snapshot's
// classes are fixed by its revision; stored ones change and go.
type StoredClass struct {
	Name     string                   `json:"name"`
	Value    int32                    `json:"value"`
	Policy   *corev1.PreemptionPolicy `json:"policy,omitempty"`
	Fallback bool                     `json:"default,omitempty"` // the default class, for a pod that names none
}

// ClassSource looks a class up that the snapshot lacks.
type ClassSource func(name string) *schedulingv1.PriorityClass

// stored looks classes up as they are stored now.
func (s *Scheduler) stored(cluster string) ClassSource {
	return func(name string) *schedulingv1.PriorityClass { return s.Classes.Class(cluster, name) }
}

// Source looks up the class of a record and no other; nil has none.
func (c *StoredClass) Source(name string) *schedulingv1.PriorityClass {
	if c == nil || c.Fallback != (name == "") || !c.Fallback && c.Name != name {
		return nil
	}
	return &schedulingv1.PriorityClass{Value: c.Value, PreemptionPolicy: c.Policy}
}

// Priority returns the priority by which the queue sorts a pod: as it is stored where it waits in
// the view, or where the question has no pod; 0 where there is none at all.
func (s *Scheduler) Priority(v *revision.View, namespace, name string, pod *corev1.Pod) (int32, error) {
	if held := v.State.Pod(namespace, name); held != nil && (pod == nil || held.NodeName == "") {
		var err error
		if pod, err = v.Pod(namespace, name); err != nil {
			return 0, err
		}
	}
	if pod == nil {
		return 0, nil
	}
	p, _, err := ResolvePriority(v.State, pod, s.classes(&Question{Cluster: v.Cluster}))
	if err != nil {
		return 0, err
	}
	return *p.Spec.Priority, nil
}

// ResolvePriority returns the pod with its priority, and where it has none of its own with its
// preemption policy, as admission would set them (plugin/pkg/admission/priority/admission.go
// admitPod). used is the class of extra that gave it; nil where none did. The argument is not
// written.
func ResolvePriority(st *state.State, pod *corev1.Pod, extra ClassSource) (_ *corev1.Pod, used *StoredClass, err error) {
	if pod.Spec.Priority != nil {
		return pod, nil, nil
	}
	out := *pod
	if used, err = resolvePriority(st, &out, extra); err != nil {
		return nil, nil, err
	}
	return &out, used, nil
}

// resolvePriority is ResolvePriority for a pod that it writes.
func resolvePriority(st *state.State, pod *corev1.Pod, extra ClassSource) (used *StoredClass, err error) {
	admitted, ok := st.ResolvePriority(pod, func(name string) *schedulingv1.PriorityClass {
		if extra == nil {
			return nil
		}
		c := extra(name)
		if c != nil {
			used = &StoredClass{Name: c.Name, Value: c.Value, Policy: c.PreemptionPolicy, Fallback: name == ""}
			if used.Name == "" {
				used.Name = name
			}
		}
		return c
	})
	if !ok {
		return nil, Errorf(Invalid, "pod.spec.priorityClassName", "no PriorityClass with name %s was found", pod.Spec.PriorityClassName)
	}
	pod.Spec.Priority = &admitted.Priority
	if pod.Spec.PreemptionPolicy == nil {
		pod.Spec.PreemptionPolicy = admitted.Policy
	}
	return used, nil
}
