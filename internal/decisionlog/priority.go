package decisionlog

import (
	"net/http"

	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"

	"berth/internal/engine/state"
)

// Classes gives the priority classes that are stored beside the snapshots;
// *classes.Book is one. It answers from memory.
type Classes interface {
	// Class gives a class of a cluster by its name, the default one for the name
	// ""; nil without one. It is not to be written.
	Class(cluster, name string) *schedulingv1.PriorityClass
}

// storedClass is what a record keeps of a stored class that a decision rests
// on. A snapshot's classes are fixed by its revision; stored ones change and go.
type storedClass struct {
	Name     string                   `json:"name"`
	Value    int32                    `json:"value"`
	Policy   *corev1.PreemptionPolicy `json:"policy,omitempty"`
	Fallback bool                     `json:"default,omitempty"` // it stood in for no class
}

// classSource says where classes beside the snapshot's are looked up.
type classSource func(name string) *schedulingv1.PriorityClass

// today looks classes up as they are stored now.
func (l *Log) today(cluster string) classSource {
	if l.o.Classes == nil {
		return nil
	}
	return func(name string) *schedulingv1.PriorityClass { return l.o.Classes.Class(cluster, name) }
}

// recorded looks up nothing but the class that a record keeps.
func (in *input) recorded() classSource {
	return func(name string) *schedulingv1.PriorityClass {
		c := in.Class
		if c == nil || c.Fallback != (name == "") || !c.Fallback && c.Name != name {
			return nil
		}
		return &schedulingv1.PriorityClass{Value: c.Value, PreemptionPolicy: c.Policy}
	}
}

// resolvePriority gives the pod its priority, and where it has none of its own
// its preemption policy, as admission would. used is the class of extra that
// gave it; nil where none did. The pod is not written.
func resolvePriority(st *state.State, pod *corev1.Pod, extra classSource) (_ *corev1.Pod, used *storedClass, err error) {
	if pod.Spec.Priority != nil {
		return pod, nil, nil
	}
	admitted, ok := st.ResolvePriority(pod, func(name string) *schedulingv1.PriorityClass {
		if extra == nil {
			return nil
		}
		c := extra(name)
		if c != nil {
			used = &storedClass{Name: c.Name, Value: c.Value, Policy: c.PreemptionPolicy, Fallback: name == ""}
			if used.Name == "" {
				used.Name = name
			}
		}
		return c
	})
	if !ok {
		return nil, nil, bad(http.StatusUnprocessableEntity, "pod.spec.priorityClassName", "no PriorityClass with name %s was found", pod.Spec.PriorityClassName)
	}
	out := *pod
	out.Spec.Priority = &admitted.Priority
	if out.Spec.PreemptionPolicy == nil {
		out.Spec.PreemptionPolicy = admitted.Policy
	}
	return &out, used, nil
}
