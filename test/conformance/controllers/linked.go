package controllers

import (
	_ "unsafe" // for go:linkname

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/controller"
	"k8s.io/kubernetes/pkg/controller/replicaset"
)

// What Kubernetes does not export is reached by the names that the linker knows it by.

//go:linkname relatedPods k8s.io/kubernetes/pkg/controller/replicaset.(*ReplicaSetController).getIndirectlyRelatedPods
func relatedPods(c *replicaset.ReplicaSetController, log klog.Logger, rs *appsv1.ReplicaSet) ([]*corev1.Pod, error)

//go:linkname rankedPods k8s.io/kubernetes/pkg/controller/replicaset.getPodsRankedByRelatedPodsOnSameNode
func rankedPods(pods, related []*corev1.Pod) controller.ActivePodsWithRanks
