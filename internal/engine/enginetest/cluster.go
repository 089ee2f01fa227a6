package enginetest

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	resourcev1 "k8s.io/api/resource/v1"
	storagev1 "k8s.io/api/storage/v1"

	"berth/internal/engine"
	"berth/internal/engine/rules"
)

// Case is one question: a cluster, the pod that wants a node, and how it is
// judged.
type Case struct {
	Objects []any
	Pod     *corev1.Pod
	Spec    rules.Spec
	Options engine.Options
}

// State compiles objects, one after the other.
func State(objects ...any) (*engine.State, error) {
	e := engine.NewState().Edit()
	for _, o := range objects {
		if err := e.Put(o); err != nil {
			return nil, err
		}
	}
	return e.Done(), nil
}

// Decide answers the case with the engine, every node written out.
func (c *Case) Decide() (*engine.Decision, error) {
	s, err := State(c.Objects...)
	if err != nil {
		return nil, err
	}
	return c.DecideOn(s)
}

// DecideOn answers the case's question on a given state.
func (c *Case) DecideOn(s *engine.State) (*engine.Decision, error) {
	p, err := rules.Build(c.Spec)
	if err != nil {
		return nil, err
	}
	r, err := engine.Decide(s, c.Pod, p, c.Options)
	if err != nil {
		return nil, err
	}
	defer r.Release()
	return r.Decision(engine.ExplainFull), nil
}

// Key names an object of a case.
func Key(obj any) (kind, namespace, name string) {
	switch o := obj.(type) {
	case *corev1.Node:
		return "Node", "", o.Name
	case *corev1.Pod:
		return "Pod", o.Namespace, o.Name
	case *corev1.Namespace:
		return "Namespace", "", o.Name
	case *corev1.Service:
		return "Service", o.Namespace, o.Name
	case *corev1.ReplicationController:
		return "ReplicationController", o.Namespace, o.Name
	case *appsv1.ReplicaSet:
		return "ReplicaSet", o.Namespace, o.Name
	case *appsv1.StatefulSet:
		return "StatefulSet", o.Namespace, o.Name
	case *policyv1.PodDisruptionBudget:
		return "PodDisruptionBudget", o.Namespace, o.Name
	case *corev1.PersistentVolumeClaim:
		return "PersistentVolumeClaim", o.Namespace, o.Name
	case *corev1.PersistentVolume:
		return "PersistentVolume", "", o.Name
	case *storagev1.StorageClass:
		return "StorageClass", "", o.Name
	case *storagev1.CSINode:
		return "CSINode", "", o.Name
	case *storagev1.CSIDriver:
		return "CSIDriver", "", o.Name
	case *storagev1.CSIStorageCapacity:
		return "CSIStorageCapacity", o.Namespace, o.Name
	case *storagev1.VolumeAttachment:
		return "VolumeAttachment", "", o.Name
	case *resourcev1.ResourceClaim:
		return "ResourceClaim", o.Namespace, o.Name
	case *resourcev1.ResourceSlice:
		return "ResourceSlice", "", o.Name
	case *resourcev1.DeviceClass:
		return "DeviceClass", "", o.Name
	default:
		return fmt.Sprintf("%T", obj), "", ""
	}
}
