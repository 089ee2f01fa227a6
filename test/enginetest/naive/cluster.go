package naive

import (
	"sort"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// node is a node with the pods that take room on it.
type node struct {
	*corev1.Node
	pods []*corev1.Pod
}

// Cluster is a cluster's objects, sorted out.
type Cluster struct {
	nodes        []*node // by name
	byName       map[string]*node
	nominated    []*corev1.Pod
	namespaces   map[string]labels.Set
	services     []*corev1.Service
	controllers  []*corev1.ReplicationController
	replicaSets  []*appsv1.ReplicaSet
	statefulSets []*appsv1.StatefulSet
	budgets      []*policyv1.PodDisruptionBudget
	storage

	resourceClaims []*resourcev1.ResourceClaim
	slices         []*resourcev1.ResourceSlice
	deviceClasses  []*resourcev1.DeviceClass
}

// NewCluster sorts objects out: terminal pods, and pods on nodes that are not
// there, take no room anywhere.
func NewCluster(objects []any) *Cluster {
	c := &Cluster{byName: map[string]*node{}, namespaces: map[string]labels.Set{}}
	for _, o := range objects {
		switch o := o.(type) {
		case *corev1.Node:
			n := &node{Node: o}
			c.nodes = append(c.nodes, n)
			c.byName[o.Name] = n
		case *corev1.Namespace:
			c.namespaces[o.Name] = o.Labels
		case *corev1.Service:
			c.services = append(c.services, o)
		case *corev1.ReplicationController:
			c.controllers = append(c.controllers, o)
		case *appsv1.ReplicaSet:
			c.replicaSets = append(c.replicaSets, o)
		case *appsv1.StatefulSet:
			c.statefulSets = append(c.statefulSets, o)
		case *policyv1.PodDisruptionBudget:
			c.budgets = append(c.budgets, o)
		case *resourcev1.ResourceClaim:
			c.resourceClaims = append(c.resourceClaims, o)
		case *resourcev1.ResourceSlice:
			c.slices = append(c.slices, o)
		case *resourcev1.DeviceClass:
			c.deviceClasses = append(c.deviceClasses, o)
		default:
			c.storage.add(o)
		}
	}
	sort.Slice(c.nodes, func(i, j int) bool { return c.nodes[i].Name < c.nodes[j].Name })
	for _, o := range objects {
		p, ok := o.(*corev1.Pod)
		if !ok || p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed {
			continue
		}
		switch {
		case p.Spec.NodeName != "":
			if n := c.byName[p.Spec.NodeName]; n != nil {
				n.pods = append(n.pods, p)
			}
		case p.Status.NominatedNodeName != "":
			c.nominated = append(c.nominated, p)
		}
	}
	return c
}

// label returns a node's label.
func (n *node) label(key string) (string, bool) {
	v, ok := n.Labels[key]
	return v, ok
}
