package world

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	storagev1 "k8s.io/api/storage/v1"

	"berth/internal/kube/object"
	"berth/internal/store"
)

// Node returns a node as it is now, not to be written; an error that wraps store.ErrNotFound where
// there is none of that name.
func (f *Fork) Node(name string) (*corev1.Node, error) {
	n, changed := f.nodes[name]
	if changed && n != nil {
		return n, nil
	}
	if f.of != nil && f.of.nodes[name] != nil && !changed {
		return f.of.nodes[name], nil
	}
	js, ok := f.base.Object(object.Key{Kind: "Node", Name: name})
	if changed || !ok {
		return nil, fmt.Errorf("node %s: %w", name, store.ErrNotFound)
	}
	return decodeNode(name, js)
}

func decodeNode(name string, js []byte) (*corev1.Node, error) {
	o, err := object.FromCanonical("Node", js)
	if err != nil {
		return nil, fmt.Errorf("node %s: %w", name, err)
	}
	return o.Value.(*corev1.Node), nil
}

// setNode puts a node, or deletes it where after is nil.
func (f *Fork) setNode(name string, after *corev1.Node, gains bool) error {
	before, err := f.Node(name)
	if err != nil {
		return err
	}
	store := func(n *corev1.Node) error {
		f.nodes[name] = n
		if n == nil {
			f.walk.Changes().Delete("Node", "", name)
			return nil
		}
		return f.walk.Changes().Put(n)
	}
	if f.marked {
		f.undo = append(f.undo, func() error { return store(before) })
	}
	f.changes++
	if key := (object.Key{Kind: "Node", Name: name}); after == nil {
		f.hear(key, before, nil)
	} else {
		f.hearNode(key, before, after, gains)
	}
	if err := store(after); err != nil {
		return fmt.Errorf("node %s: %w", name, err)
	}
	if f.onNode != nil {
		f.onNode(before, after)
	}
	return nil
}

// addNode puts a node that is not there yet, and what belongs to it.
func (f *Fork) addNode(n *corev1.Node, with ...any) error {
	f.changes++
	f.hear(object.Key{Kind: "Node", Name: n.Name}, nil, n)
	f.nodes[n.Name] = n
	if err := f.walk.Changes().Put(n); err != nil {
		return fmt.Errorf("node %s: %w", n.Name, err)
	}
	for _, o := range with {
		var k object.Key
		switch o := o.(type) {
		case *storagev1.CSINode:
			k = object.Key{Kind: "CSINode", Name: o.Name}
		case *resourcev1.ResourceSlice:
			k = object.Key{Kind: "ResourceSlice", Name: o.Name}
		}
		f.touch(k)
		f.hear(k, nil, o)
		if err := f.walk.Changes().Put(o); err != nil {
			return fmt.Errorf("node %s: %w", n.Name, err)
		}
	}
	if f.onNode != nil {
		f.onNode(nil, n)
	}
	return nil
}

// RemoveNode deletes a node. Its pods stay until they are deleted.
func (f *Fork) RemoveNode(name string) error { return f.setNode(name, nil, false) }

// Cordon makes a node unschedulable, as kubectl does with the node and the taint that the node
// lifecycle controller adds (pkg/controller/nodelifecycle doNoScheduleTaintingPass).
func (f *Fork) Cordon(name string) error {
	return f.Taint(name, corev1.Taint{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule}, func(n *corev1.Node) {
		n.Spec.Unschedulable = true
	})
}

// Uncordon makes a node schedulable again.
func (f *Fork) Uncordon(name string) error {
	return f.changeNode(name, func(n *corev1.Node) {
		n.Spec.Unschedulable = false
		n.Spec.Taints = slices.DeleteFunc(n.Spec.Taints, func(t corev1.Taint) bool { return t.Key == corev1.TaintNodeUnschedulable })
	})
}

// untaint takes a taint off a node.
func (f *Fork) untaint(name string, taint corev1.Taint) error {
	return f.changeNode(name, func(n *corev1.Node) {
		n.Spec.Taints = slices.DeleteFunc(n.Spec.Taints, func(t corev1.Taint) bool { return t.MatchTaint(&taint) })
	})
}

// changeNode changes a node.
func (f *Fork) changeNode(name string, change func(*corev1.Node)) error {
	n, err := f.Node(name)
	if err != nil {
		return err
	}
	n = n.DeepCopy()
	change(n)
	return f.setNode(name, n, false)
}

// Taint adds a taint to a node, in place of the one of its key and effect, and changes what else.
func (f *Fork) Taint(name string, taint corev1.Taint, change func(*corev1.Node)) error {
	n, err := f.Node(name)
	if err != nil {
		return err
	}
	n = n.DeepCopy()
	i := slices.IndexFunc(n.Spec.Taints, func(t corev1.Taint) bool { return t.MatchTaint(&taint) })
	switch {
	case i < 0:
		n.Spec.Taints = append(n.Spec.Taints, taint)
	case n.Spec.Taints[i].Value != taint.Value:
		n.Spec.Taints[i] = taint
	}
	if change != nil {
		change(n)
	}
	return f.setNode(name, n, i < 0) // another value may be one that pods tolerate
}
