package state

import (
	"cmp"
	"hash/fnv"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"berth/internal/podlife"
)

// nodeSpec is a node before it gets a row.
type nodeSpec struct {
	node     *Node
	capacity Capacity
}

func compileNode(ids scalarIDs, in *corev1.Node) nodeSpec {
	n := &Node{
		Name: in.Name, Labels: in.Labels, Taints: in.Spec.Taints,
		Unschedulable: in.Spec.Unschedulable, Features: in.Status.DeclaredFeatures,
		Unannounced: podlife.Unannounced(in), Health: podlife.HealthOf(in),
	}
	h := fnv.New64a()
	h.Write([]byte(in.Name))
	n.hash = h.Sum64()
	for _, im := range in.Status.Images {
		n.Images = append(n.Images, Image{Names: im.Names, Bytes: im.SizeBytes})
	}
	out := nodeSpec{node: n}
	for name, q := range in.Status.Allocatable {
		switch name {
		case corev1.ResourceCPU:
			out.capacity.CPU = q.MilliValue()
		case corev1.ResourceMemory:
			out.capacity.Memory = q.Value()
		case corev1.ResourceEphemeralStorage:
			out.capacity.Ephemeral = q.Value()
		case corev1.ResourcePods:
			out.capacity.Pods = q.Value()
		default:
			if IsScalar(name) {
				n.scalars = append(n.scalars, Scalar{ids.scalar(string(name)), q.Value()})
			}
		}
	}
	slices.SortFunc(n.scalars, func(a, b Scalar) int { return cmp.Compare(a.ID, b.ID) })
	return out
}
