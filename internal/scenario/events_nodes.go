package scenario

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"berth/internal/kube/object"
	"berth/internal/revision"
)

func (x *scheduling) addNodes(field string, a *AddNodes) (func() error, error) {
	added, daemons := len(x.scratch.Added), len(x.scratch.Daemons)
	next, err := x.s.Editor.Apply(x.ctx, x.scratch.View, field, &Edits{AddNodes: []AddNodes{*a}})
	if err != nil {
		return nil, err
	}
	x.scratch.View = next.View
	x.scratch.Added = append(x.scratch.Added, next.Added...)
	x.scratch.Daemons = append(x.scratch.Daemons, next.Daemons...)
	names, pods := x.scratch.Added[added:], x.scratch.Daemons[daemons:]
	var nodes []*corev1.Node
	var with [][]any
	for _, name := range names {
		node, belongs, err := nodeIn(next.View, name)
		if err != nil {
			return nil, err
		}
		nodes, with = append(nodes, node), append(with, belongs)
	}
	return func() error {
		for i, n := range nodes {
			if err := x.d.AddNode(n, with[i]...); err != nil {
				return err
			}
		}
		for _, a := range pods {
			if _, err := x.d.Arrive(a.Pod, 0); err != nil {
				return err
			}
		}
		return nil
	}, nil
}

// nodeIn returns a node of a view, with its CSINode and its ResourceSlices.
func nodeIn(v *revision.View, name string) (*corev1.Node, []any, error) {
	js, ok := v.Object(object.Key{Kind: "Node", Name: name})
	if !ok {
		return nil, nil, fmt.Errorf("%s has no node %s", v.ID(), name)
	}
	o, err := object.FromCanonical("Node", js)
	if err != nil {
		return nil, nil, err
	}
	var with []any
	if c := v.State.CSINode(name); c != nil {
		with = append(with, c)
	}
	for _, s := range v.State.ResourceSlices() {
		if s.Spec.NodeName != nil && *s.Spec.NodeName == name {
			with = append(with, s)
		}
	}
	return o.Value.(*corev1.Node), with, nil
}
