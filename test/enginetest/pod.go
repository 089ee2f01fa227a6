package enginetest

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Epoch is the time that all objects of this package are dated from.
var Epoch = time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)

// PodOption changes a pod that is being built.
type PodOption func(*corev1.Pod)

// Pod builds a pending pod of the default scheduler in namespace default, with one container
// without requests.
func Pod(name string, opts ...PodOption) *corev1.Pod {
	zero := int32(0)
	p := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "default", Name: name, UID: types.UID("pod-" + name),
			CreationTimestamp: metav1.NewTime(Epoch), Labels: map[string]string{},
		},
		Spec: corev1.PodSpec{
			SchedulerName: corev1.DefaultSchedulerName, Priority: &zero,
			Containers: []corev1.Container{{Name: "main", Image: "main:1"}},
		},
		Status: corev1.PodStatus{Phase: corev1.PodPending},
	}
	for _, o := range opts {
		o(p)
	}
	return p
}

// In puts the pod into a namespace.
func In(ns string) PodOption { return func(p *corev1.Pod) { p.Namespace = ns } }

// On binds the pod to a node.
func On(node string) PodOption {
	return func(p *corev1.Pod) { p.Spec.NodeName, p.Status.Phase = node, corev1.PodRunning }
}

// Labels adds labels, given as key, value, key, value.
func Labels(kv ...string) PodOption {
	return func(p *corev1.Pod) {
		for i := 0; i < len(kv); i += 2 {
			p.Labels[kv[i]] = kv[i+1]
		}
	}
}

// Requests sets the first container's requests.
func Requests(kv ...string) PodOption {
	return func(p *corev1.Pod) { p.Spec.Containers[0].Resources.Requests = resources(kv...) }
}

// Sidecar adds a restartable init container.
func Sidecar(kv ...string) PodOption {
	always := corev1.ContainerRestartPolicyAlways
	return func(p *corev1.Pod) {
		InitContainer(kv...)(p)
		p.Spec.InitContainers[len(p.Spec.InitContainers)-1].RestartPolicy = &always
	}
}

// InitContainer adds an init container.
func InitContainer(kv ...string) PodOption {
	return func(p *corev1.Pod) {
		p.Spec.InitContainers = append(p.Spec.InitContainers, corev1.Container{
			Name: "init-" + string(rune('a'+len(p.Spec.InitContainers))), Image: "init:1",
			Resources: corev1.ResourceRequirements{Requests: resources(kv...)},
		})
	}
}

// Overhead sets the overhead of the pod's runtime.
func Overhead(kv ...string) PodOption {
	return func(p *corev1.Pod) { p.Spec.Overhead = resources(kv...) }
}

// PodLevel sets requests of the pod as a whole.
func PodLevel(kv ...string) PodOption {
	return func(p *corev1.Pod) { p.Spec.Resources = &corev1.ResourceRequirements{Requests: resources(kv...)} }
}

// HostPort lets the first container claim a host port; ip "" stands for all.
func HostPort(ip string, protocol corev1.Protocol, port int32) PodOption {
	return func(p *corev1.Pod) {
		c := &p.Spec.Containers[0]
		c.Ports = append(c.Ports, corev1.ContainerPort{ContainerPort: port, HostPort: port, HostIP: ip, Protocol: protocol})
	}
}

// Tolerate adds a toleration.
func Tolerate(key string, op corev1.TolerationOperator, value string, effect corev1.TaintEffect) PodOption {
	return func(p *corev1.Pod) {
		p.Spec.Tolerations = append(p.Spec.Tolerations, corev1.Toleration{Key: key, Operator: op, Value: value, Effect: effect})
	}
}

// Selects sets the node selector, given as key, value, key, value.
func Selects(kv ...string) PodOption {
	return func(p *corev1.Pod) {
		p.Spec.NodeSelector = map[string]string{}
		for i := 0; i < len(kv); i += 2 {
			p.Spec.NodeSelector[kv[i]] = kv[i+1]
		}
	}
}

// Priority sets the pod's priority.
func Priority(n int32) PodOption { return func(p *corev1.Pod) { p.Spec.Priority = &n } }

// NominatedTo sets the node that an earlier preemption chose.
func NominatedTo(node string) PodOption {
	return func(p *corev1.Pod) { p.Status.NominatedNodeName = node }
}

// Gate adds a scheduling gate.
func Gate(name string) PodOption {
	return func(p *corev1.Pod) {
		p.Spec.SchedulingGates = append(p.Spec.SchedulingGates, corev1.PodSchedulingGate{Name: name})
	}
}

// Terminating sets the pod's deletion time.
func Terminating() PodOption {
	return func(p *corev1.Pod) {
		at := metav1.NewTime(Epoch.Add(time.Hour))
		p.DeletionTimestamp = &at
	}
}

// Phase sets the phase.
func Phase(ph corev1.PodPhase) PodOption { return func(p *corev1.Pod) { p.Status.Phase = ph } }

// Owner makes a controller own the pod.
func Owner(apiVersion, kind, name string) PodOption {
	yes := true
	return func(p *corev1.Pod) {
		p.OwnerReferences = []metav1.OwnerReference{{APIVersion: apiVersion, Kind: kind, Name: name, UID: types.UID(kind + "-" + name), Controller: &yes}}
	}
}
