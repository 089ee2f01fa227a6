package report

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	"berth/internal/engine/state"
	"berth/internal/kube/object"
	"berth/internal/memory"
	"berth/internal/podlife"
	"berth/internal/revision"
	"berth/internal/steps"
	"berth/internal/store"
)

// GarbageList are the pods that go, in order.
type GarbageList struct {
	// Snapshot is the revision that the answer is about.
	Snapshot string `json:"snapshot" example:"prod@1042"`
	// Pods go in this order: over, on nodes that are out of service, of vanished nodes,
	// unscheduled.
	Pods []podlife.Garbage `json:"pods"`
	// Applied is the revision without them; absent unless apply was asked for and there were any.
	Applied string `json:"applied,omitempty" example:"prod@1043"`
} // @name GarbageList

// Garbage is one pass of PodGC over a view.
func Garbage(ctx context.Context, v *revision.View, threshold int, now time.Time) (*GarbageList, error) {
	pods, nodes, err := suspects(ctx, v, threshold)
	if err != nil {
		return nil, err
	}
	gone, err := podlife.CollectGarbage(steps.Of(ctx), pods, nodes, threshold, now)
	if err != nil {
		return nil, err //nolint:wrapcheck // it is the context's own
	}
	return &GarbageList{Snapshot: v.ID(), Pods: gone}, nil
}

// decodeSteps is what decoding a pod or node takes, in steps of a Counter.
const decodeSteps = 200

// suspects decodes the pods that may be garbage, and the nodes that have a say. The pods that are
// over are left out where there are not too many of them, since most clusters have thousands.
func suspects(ctx context.Context, v *revision.View, threshold int) (pods []*corev1.Pod, nodes []*corev1.Node, err error) {
	over := 0
	v.State.EachPod(func(p *state.Pod) {
		if p.Terminal {
			over++
		}
	})
	tooMany := threshold > 0 && over > threshold
	known := map[string]bool{}
	var look []*state.Pod
	v.State.EachPod(func(p *state.Pod) {
		there, asked := known[p.NodeName]
		if !asked && p.NodeName != "" {
			_, there = v.Object(object.Key{Kind: "Node", Name: p.NodeName})
			known[p.NodeName] = there
		}
		if p.Terminating || p.Terminal && tooMany || p.NodeName != "" && !there {
			look = append(look, p)
		}
	})
	count := steps.Of(ctx)
	for _, p := range look {
		if err := count.Take(decodeSteps); err != nil {
			return nil, nil, err
		}
		raw, _ := v.Object(object.Key{Kind: "Pod", Namespace: p.Namespace, Name: p.Name})
		if err := memory.Take(ctx, object.Weight(raw)); err != nil {
			return nil, nil, err
		}
		pod, err := v.Pod(p.Namespace, p.Name)
		if errors.Is(err, store.ErrNotFound) {
			return nil, nil, fmt.Errorf("pod %s/%s is in the state of %s and not among its objects", p.Namespace, p.Name, v.ID()) // never "not found" for the caller
		}
		if err != nil {
			return nil, nil, err
		}
		pods = append(pods, pod)
	}
	for name, there := range known {
		if !there {
			continue
		}
		if err := count.Take(decodeSteps); err != nil {
			return nil, nil, err
		}
		raw, _ := v.Object(object.Key{Kind: "Node", Name: name})
		if err := memory.Take(ctx, object.Weight(raw)); err != nil {
			return nil, nil, err
		}
		o, err := object.FromCanonical("Node", raw)
		if err != nil {
			return nil, nil, fmt.Errorf("node %s in %s: %w", name, v.ID(), err)
		}
		node, ok := o.Value.(*corev1.Node)
		if !ok {
			return nil, nil, fmt.Errorf("node %s in %s: %T is no node", name, v.ID(), o.Value)
		}
		nodes = append(nodes, node)
	}
	return pods, nodes, nil
}
