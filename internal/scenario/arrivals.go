package scenario

import (
	"context"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"berth/internal/kube/object"
	"berth/internal/memory"
	"berth/internal/steps"
	"berth/internal/world"
)

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
		shape := world.ShapeOf(p)
		e := known[shape]
		if e == nil {
			if err := memory.Take(ctx, world.PodBytes+int64(len(shape))); err != nil {
				return nil, err
			}
			e = &equals{pod: p}
			known[shape], list = e, append(list, e)
		}
		e.pods++
	}
	return list, nil
}
