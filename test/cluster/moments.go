package main

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// moment is a kind of event that makes room for a pod that waits.
type moment struct {
	name, what   string
	before, room func(*scene) error
	change       func(*scene, *corev1.Pod) // of the pod that waits; may be nil
}

var moments = []moment{
	{"added", "its node was added", (*scene).nothing, func(s *scene) error { return s.node(nil) }, nil},
	{"deleted", "the pod in its place was deleted", (*scene).taken, (*scene).dropBlocker, nil},
	{"ended", "the pod in its place ended", (*scene).taken, (*scene).endBlocker, nil},
	{"uncordoned", "its node was uncordoned", func(s *scene) error {
		return s.node(func(n *corev1.Node) { n.Spec.Unschedulable = true })
	}, func(s *scene) error { return s.patchNode(`{"spec":{"unschedulable":null}}`) }, nil},
	{"label", "its node got the label", func(s *scene) error {
		return s.node(func(n *corev1.Node) { delete(n.Labels, "moment") })
	}, func(s *scene) error {
		return s.patchNode(fmt.Sprintf(`{"metadata":{"labels":{"moment":%q}}}`, s.name))
	}, nil},
	{"taint", "the taint of its node was taken away", func(s *scene) error {
		return s.node(func(n *corev1.Node) {
			n.Spec.Taints = []corev1.Taint{{Key: "dedicated", Value: "db", Effect: corev1.TaintEffectNoSchedule}}
		})
	}, func(s *scene) error { return s.patchNode(`{"spec":{"taints":null}}`) }, nil},
	{"claim", "its claim was bound", (*scene).unboundClaim, (*scene).bindClaim, func(s *scene, p *corev1.Pod) {
		p.Spec.Volumes = []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: s.name}}}}
	}},
}

// scene is one moment: a node, a pod that waits for it, and what stands between,
// all of one name.
type scene struct {
	*env
	ctx  context.Context
	name string
	uid  types.UID // of the pod that waits
}

func (s *scene) nothing() error { return nil }

func (s *scene) node(change func(*corev1.Node)) error {
	n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: s.name, Labels: map[string]string{corev1.LabelHostname: s.name, "moment": s.name}}}
	n.Status.Allocatable = list("2", "8Gi")
	n.Status.Allocatable[corev1.ResourcePods] = resource.MustParse("110")
	n.Status.Capacity = n.Status.Allocatable
	n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
	if change != nil {
		change(n)
	}
	_, err := s.client.CoreV1().Nodes().Create(s.ctx, n, metav1.CreateOptions{})
	return err
}

func (s *scene) patchNode(patch string) error {
	_, err := s.client.CoreV1().Nodes().Patch(s.ctx, s.name, types.StrategicMergePatchType, []byte(patch), metav1.PatchOptions{})
	return err
}

func (s *scene) pod(name string, change func(*corev1.Pod)) (*corev1.Pod, error) {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: s.namespace}}
	p.Spec.Containers = []corev1.Container{{Name: "c", Image: "registry.invalid/woken", Resources: corev1.ResourceRequirements{Requests: list("2", "1Gi")}}}
	change(p)
	return s.client.CoreV1().Pods(s.namespace).Create(s.ctx, p, metav1.CreateOptions{})
}

func (s *scene) waitingPod(change func(*scene, *corev1.Pod)) error {
	p, err := s.pod(s.name, func(p *corev1.Pod) {
		p.Spec.NodeSelector = map[string]string{"moment": s.name}
		if change != nil {
			change(s, p)
		}
	})
	if err == nil {
		s.uid = p.UID
	}
	return err
}

// life is of the pod that waits.
func (s *scene) life() life {
	for _, l := range s.kubelets.of(s.namespace) {
		if l.uid == s.uid {
			return l
		}
	}
	return life{}
}

func (s *scene) bound() time.Time { return s.life().bound }

// unschedulable reports whether kube-scheduler has told the pod that it fits
// nowhere, in the words that autoscalers look for.
func (s *scene) unschedulable() bool {
	last := s.life().last
	if last == nil {
		return false
	}
	for _, c := range last.Status.Conditions {
		if c.Type == corev1.PodScheduled {
			return c.Status == corev1.ConditionFalse && c.Reason == corev1.PodReasonUnschedulable
		}
	}
	return false
}

func (s *scene) blocker() string { return s.name + "-blocker" }

// taken makes a node and a pod that has all of it.
func (s *scene) taken() error {
	if err := s.node(nil); err != nil {
		return err
	}
	_, err := s.pod(s.blocker(), func(p *corev1.Pod) { p.Spec.NodeName = s.name })
	return err
}

var atOnce = metav1.DeleteOptions{GracePeriodSeconds: new(int64)}

func (s *scene) dropBlocker() error {
	return s.client.CoreV1().Pods(s.namespace).Delete(s.ctx, s.blocker(), atOnce)
}

func (s *scene) endBlocker() error {
	_, err := s.client.CoreV1().Pods(s.namespace).Patch(s.ctx, s.blocker(), types.StrategicMergePatchType, []byte(`{"status":{"phase":"Succeeded"}}`), metav1.PatchOptions{}, "status")
	return err
}

func (s *scene) unboundClaim() error {
	if err := s.node(nil); err != nil {
		return err
	}
	none := ""
	c := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: s.name, Namespace: s.namespace}}
	c.Spec.AccessModes, c.Spec.StorageClassName = []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}, &none
	c.Spec.Resources.Requests = corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}
	_, err := s.client.CoreV1().PersistentVolumeClaims(s.namespace).Create(s.ctx, c, metav1.CreateOptions{})
	return err
}

// bindClaim does what the controller of volumes does: the claim is bound last.
func (s *scene) bindClaim() error {
	v := &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: s.name}}
	v.Spec.AccessModes, v.Spec.Capacity = []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}, corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}
	v.Spec.PersistentVolumeReclaimPolicy = corev1.PersistentVolumeReclaimRetain
	v.Spec.HostPath = &corev1.HostPathVolumeSource{Path: "/woken"}
	v.Spec.ClaimRef = &corev1.ObjectReference{Kind: "PersistentVolumeClaim", Namespace: s.namespace, Name: s.name}
	if _, err := s.client.CoreV1().PersistentVolumes().Create(s.ctx, v, metav1.CreateOptions{}); err != nil {
		return err
	}
	patch := fmt.Sprintf(`{"metadata":{"annotations":{"pv.kubernetes.io/bind-completed":"yes"}},"spec":{"volumeName":%q}}`, s.name)
	_, err := s.client.CoreV1().PersistentVolumeClaims(s.namespace).Patch(s.ctx, s.name, types.StrategicMergePatchType, []byte(patch), metav1.PatchOptions{})
	return err
}

// tidy deletes everything. No controller runs that would remove finalizers.
func (s *scene) tidy() {
	core := s.client.CoreV1()
	none := []byte(`{"metadata":{"finalizers":null}}`)
	// What is not there need not go.
	_ = core.Pods(s.namespace).Delete(s.ctx, s.name, atOnce)
	_ = core.Pods(s.namespace).Delete(s.ctx, s.blocker(), atOnce)
	_ = core.PersistentVolumeClaims(s.namespace).Delete(s.ctx, s.name, atOnce)
	_, _ = core.PersistentVolumeClaims(s.namespace).Patch(s.ctx, s.name, types.MergePatchType, none, metav1.PatchOptions{})
	_ = core.PersistentVolumes().Delete(s.ctx, s.name, atOnce)
	_, _ = core.PersistentVolumes().Patch(s.ctx, s.name, types.MergePatchType, none, metav1.PatchOptions{})
	_ = core.Nodes().Delete(s.ctx, s.name, atOnce)
}
