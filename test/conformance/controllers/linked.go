package controllers

import (
	"context"
	_ "unsafe" // for go:linkname

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apiserver/pkg/registry/rest"
	policyclient "k8s.io/client-go/kubernetes/typed/policy/v1"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/controller"
	"k8s.io/kubernetes/pkg/controller/disruption"
	"k8s.io/kubernetes/pkg/controller/replicaset"
	podstorage "k8s.io/kubernetes/pkg/registry/core/pod/storage"
)

// What Kubernetes does not export is reached by the names that the linker knows it by.

//go:linkname relatedPods k8s.io/kubernetes/pkg/controller/replicaset.(*ReplicaSetController).getIndirectlyRelatedPods
func relatedPods(c *replicaset.ReplicaSetController, log klog.Logger, rs *appsv1.ReplicaSet) ([]*corev1.Pod, error)

//go:linkname rankedPods k8s.io/kubernetes/pkg/controller/replicaset.getPodsRankedByRelatedPodsOnSameNode
func rankedPods(pods, related []*corev1.Pod) controller.ActivePodsWithRanks

//go:linkname syncBudget k8s.io/kubernetes/pkg/controller/disruption.(*DisruptionController).sync
func syncBudget(c *disruption.DisruptionController, ctx context.Context, key string) error

//go:linkname newEvictions k8s.io/kubernetes/pkg/registry/core/pod/storage.newEvictionStorage
func newEvictions(store rest.StandardStorage, client policyclient.PodDisruptionBudgetsGetter) *podstorage.EvictionREST
