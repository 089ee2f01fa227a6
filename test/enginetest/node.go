package enginetest

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// NodeOption changes a node that is being built.
type NodeOption func(*corev1.Node)

// Node builds a node with its hostname label and room for 110 pods, 4 CPUs and
// 16 GiB; options change that.
func Node(name string, opts ...NodeOption) *corev1.Node {
	n := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID("node-" + name), Labels: map[string]string{corev1.LabelHostname: name}},
		Status:     corev1.NodeStatus{Allocatable: resources("cpu", "4", "memory", "16Gi", "pods", "110", "ephemeral-storage", "100Gi")},
	}
	for _, o := range opts {
		o(n)
	}
	return n
}

// NodeLabels adds labels, given as key, value, key, value.
func NodeLabels(kv ...string) NodeOption {
	return func(n *corev1.Node) {
		for i := 0; i < len(kv); i += 2 {
			n.Labels[kv[i]] = kv[i+1]
		}
	}
}

// Zone adds the zone label.
func Zone(z string) NodeOption { return NodeLabels(corev1.LabelTopologyZone, z) }

// Taint adds a taint.
func Taint(key, value string, effect corev1.TaintEffect) NodeOption {
	return func(n *corev1.Node) {
		n.Spec.Taints = append(n.Spec.Taints, corev1.Taint{Key: key, Value: value, Effect: effect})
	}
}

// Cordoned sets spec.unschedulable.
func Cordoned() NodeOption { return func(n *corev1.Node) { n.Spec.Unschedulable = true } }

// Allocatable sets amounts, given as resource, amount, resource, amount.
func Allocatable(kv ...string) NodeOption {
	return func(n *corev1.Node) {
		for name, q := range resources(kv...) {
			n.Status.Allocatable[name] = q
		}
	}
}

// HoldsImage adds an image of a size under its names.
func HoldsImage(bytes int64, names ...string) NodeOption {
	return func(n *corev1.Node) {
		n.Status.Images = append(n.Status.Images, corev1.ContainerImage{Names: names, SizeBytes: bytes})
	}
}

// Declares adds declared features.
func Declares(features ...string) NodeOption {
	return func(n *corev1.Node) { n.Status.DeclaredFeatures = append(n.Status.DeclaredFeatures, features...) }
}

// resources reads amounts that are known to be well formed.
func resources(kv ...string) corev1.ResourceList {
	l := corev1.ResourceList{}
	for i := 0; i < len(kv); i += 2 {
		l[corev1.ResourceName(kv[i])] = resource.MustParse(kv[i+1])
	}
	return l
}
