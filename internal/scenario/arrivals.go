package scenario

import (
	"context"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"berth/internal/kube/object"
	"berth/internal/memory"
	"berth/internal/steps"
)

// Pending returns the waiting pods of the fork's base that are for its profiles, in the order of
// kube-scheduler's queue: by priority, then by creation. A queue in which pods have failed before
// has another order, which no snapshot holds.
func (f *Fork) Pending(ctx context.Context) ([]Arrival, error) {
	q := f.Queue()
	out := make([]Arrival, 0, len(q.Active)+len(q.Gated))
	if err := memory.Take(ctx, podBytes*int64(cap(out))); err != nil {
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

// Replicas are equal pods, named after the first one with numbers from 0.
type Replicas struct{ pod *corev1.Pod }

// ReplicasOf returns the replicas of a pod.
func ReplicasOf(pod *corev1.Pod) Replicas { return Replicas{pod} }

// Pod returns a replica. They share all but name, UID and age.
func (r Replicas) Pod(i int) *corev1.Pod {
	p := *r.pod
	p.Name = r.pod.Name + "-" + strconv.Itoa(i)
	p.UID = object.DerivedUID(object.Key{Kind: "Pod", Namespace: p.Namespace, Name: p.Name})
	p.CreationTimestamp = metav1.Time{}
	p.Spec.NodeName, p.Status = "", corev1.PodStatus{}
	return &p
}

// equals are pods of one shape, and the first of them.
type equals struct {
	pod  *corev1.Pod
	pods int
}

// byShape puts equal pods together, in the order in which the first of each comes.
func byShape(ctx context.Context, n int, pod func(i int) *corev1.Pod) (list []*equals, err error) {
	known, count := map[string]*equals{}, steps.Of(ctx)
	for i := range n {
		if err := count.Take(1); err != nil {
			return nil, err
		}
		p := pod(i)
		shape := shapeOf(p)
		e := known[shape]
		if e == nil {
			if err := memory.Take(ctx, podBytes+int64(len(shape))); err != nil {
				return nil, err
			}
			e = &equals{pod: p}
			known[shape], list = e, append(list, e)
		}
		e.pods++
	}
	return list, nil
}

// shapeOf returns what of a pod decisions read. Name, UID and age are no part of it, with one
// exception: the claims of ephemeral volumes bear the pod's name
// (component-helpers/storage/ephemeral VolumeClaimName).
func shapeOf(pod *corev1.Pod) string {
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
