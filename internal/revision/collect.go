package revision

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"

	"berth/internal/engine/state"
	"berth/internal/kube/object"
	"berth/internal/steps"
)

// Classes returns a priority class by its name, the default one for the name "";
// nil without one.
type Classes func(name string) *schedulingv1.PriorityClass

// collect reads an upload into a view that is not part of a chain yet.
func collect(ctx context.Context, read object.Reader) (*View, error) {
	return collectPods(ctx, read, func(*corev1.Pod) bool { return true }, nil)
}

// collectResolved is collect that writes a priority into pods without one.
func collectResolved(ctx context.Context, read object.Reader, stored Classes) (*View, error) {
	return collectPods(ctx, read, func(p *corev1.Pod) bool { return p.Spec.Priority != nil }, stored)
}

// bareSteps is what resolving the priority of a pod takes, in steps of a Counter.
const bareSteps = 500

// collectPods resolves the priority of pods that are not ready. They are compiled
// last, since classes may come after them.
func collectPods(ctx context.Context, read object.Reader, ready func(*corev1.Pod) bool, stored Classes) (*View, error) {
	d, e := new(inventory).draft(), state.NewState().Edit().Within(ctx)
	var bare []object.Key
	count := steps.Of(ctx)
	ignored, err := read(func(o object.Object) error {
		if err := count.Take(len(o.JSON)); err != nil {
			return err
		}
		if d.put(newEntry(o.Key, o.JSON)) != nil {
			return &InvalidError{Field: "items", Detail: nameOf(o.Key) + " is there twice"}
		}
		if p, ok := o.Value.(*corev1.Pod); ok && !ready(p) {
			bare = append(bare, o.Key)
			return nil
		}
		return putUploaded(e, o)
	})
	if err != nil {
		return nil, err
	}
	v := &View{Cause: causeUpload}
	if v.State, err = e.Finish(); err != nil {
		return nil, err
	}
	if len(bare) > 0 {
		e = v.State.Edit().Within(ctx)
		for _, k := range bare {
			if err := count.Take(bareSteps); err != nil {
				return nil, err
			}
			pod, err := decodePod(d.inv.get(k))
			if err != nil {
				return nil, err
			}
			o, err := object.Of(ResolvePriority(v.State, pod, stored))
			if err != nil {
				return nil, err
			}
			d.put(newEntry(k, o.JSON))
			if err := putUploaded(e, o); err != nil {
				return nil, err
			}
		}
		if v.State, err = e.Finish(); err != nil {
			return nil, err
		}
	}
	if v.inv, err = d.done(count); err != nil {
		return nil, err
	}
	v.Digest = v.inv.digest()
	if v.Summary, err = recount(count, v.inv, v.State, Summary{Ignored: ignored}); err != nil {
		return nil, err
	}
	return v, nil
}

func putUploaded(e *state.Edit, o object.Object) error {
	if err := e.Put(o.Value); err != nil {
		return &InvalidError{Field: "items", Detail: err.Error()}
	}
	return nil
}

// ResolvePriority returns the pod with the priority and the preemption policy of
// its class, or of the default class, written into it, as admission does on create
// (plugin/pkg/admission/priority admission.go admitPod). It returns the argument
// itself where the pod has a priority or its class is unknown; the argument is
// not written.
func ResolvePriority(st *state.State, pod *corev1.Pod, stored Classes) *corev1.Pod {
	if pod.Spec.Priority != nil {
		return pod
	}
	a, known := st.ResolvePriority(pod, stored)
	if !known {
		return pod
	}
	p := *pod
	p.Spec.Priority = &a.Priority
	if p.Spec.PreemptionPolicy == nil {
		if p.Spec.PreemptionPolicy = a.Policy; a.Policy == nil {
			p.Spec.PreemptionPolicy = new(corev1.PreemptLowerPriority)
		}
	}
	return &p
}
