package world

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"berth/internal/memory"
)

// Pending returns the waiting pods of the fork's base that are for its profiles, in the order of
// kube-scheduler's queue: by priority, then by creation. A queue in which pods have failed before
// has another order, which no snapshot holds.
func (f *Fork) Pending(ctx context.Context) ([]Arrival, error) {
	if f.of != nil && f.changes == 0 {
		return slices.Clone(f.of.pending), nil
	}
	q := f.Queue()
	out := make([]Arrival, 0, len(q.Active)+len(q.Gated))
	if err := memory.Take(ctx, PodBytes*int64(cap(out))); err != nil {
		return nil, err
	}
	for _, p := range append(q.Active, q.Gated...) {
		pod, err := f.Pod(p.Namespace, p.Name)
		if err != nil {
			return nil, err
		}
		out = append(out, Arrival{Pod: pod})
	}
	return out, nil
}

// ShapeOf returns what of a pod decisions read. Name, UID and age are no part of it, with one
// exception: the claims of ephemeral volumes bear the pod's name
// (component-helpers/storage/ephemeral VolumeClaimName).
func ShapeOf(pod *corev1.Pod) string {
	p := *pod
	p.UID, p.ResourceVersion, p.CreationTimestamp, p.ManagedFields = "", "", metav1.Time{}, nil
	p.Status.Conditions, p.Status.StartTime = nil, nil
	named := false
	for i := range p.Spec.Volumes {
		named = named || p.Spec.Volumes[i].Ephemeral != nil
	}
	if !named {
		p.Name, p.GenerateName = "", ""
	}
	b, err := p.Marshal()
	if err != nil {
		return "pod " + pod.Namespace + "/" + pod.Name // like no other
	}
	return string(b)
}
