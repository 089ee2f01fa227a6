package rules_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"berth/internal/engine"
	"berth/internal/engine/rules"
	et "berth/test/enginetest"
)

func TestNodePorts(t *testing.T) {
	taken := func(ip string, pr corev1.Protocol) []any {
		return list(et.Node("n"), et.Pod("there", et.On("n"), et.HostPort(ip, pr, 8080)))
	}
	asks := func(ip string, pr corev1.Protocol) *corev1.Pod { return et.Pod("p", et.HostPort(ip, pr, 8080)) }
	no, ok := map[string]string{"n": rules.ReasonPorts}, map[string]string{"n": "ok"}
	sidecar := func(restarts bool) *corev1.Pod {
		p := et.Pod("p", et.InitContainer())
		if restarts {
			p = et.Pod("p", et.Sidecar())
		}
		p.Spec.InitContainers[0].Ports = []corev1.ContainerPort{{HostPort: 8080, ContainerPort: 8080, Protocol: corev1.ProtocolTCP}}
		return p
	}
	check(t, "NodePorts", []ruleCase{
		{name: "the same port on the same address is taken, and preemption may free it", objects: taken("10.0.0.1", "TCP"), pod: asks("10.0.0.1", "TCP"), want: no},
		{name: "another address is free", objects: taken("10.0.0.1", "TCP"), pod: asks("10.0.0.2", "TCP"), want: ok},
		{name: "another protocol is free", objects: taken("", "TCP"), pod: asks("", "UDP"), want: ok},
		{name: "no address means 0.0.0.0, which meets every address", objects: taken("10.0.0.1", "TCP"), pod: asks("", "TCP"), want: no},
		{name: "one that is there on 0.0.0.0 meets every address", objects: taken("0.0.0.0", "TCP"), pod: asks("10.0.0.1", "TCP"), want: no},
		{name: "a sidecar's port counts", objects: taken("", "TCP"), pod: sidecar(true), want: no},
		{name: "a plain init container's does not", objects: taken("", "TCP"), pod: sidecar(false), want: ok},
		{name: "a finished pod holds no port", objects: list(et.Node("n"), et.Pod("done", et.On("n"), et.HostPort("", "TCP", 8080), et.Phase(corev1.PodSucceeded))), pod: asks("", "TCP"), want: ok},
		{name: "a nominated pod of the same priority holds its port already", objects: list(et.Node("n"), et.Pod("next", et.NominatedTo("n"), et.HostPort("", "TCP", 8080))), pod: asks("", "TCP"), want: no},
		{name: "one of lower priority does not", objects: list(et.Node("n"), et.Pod("next", et.NominatedTo("n"), et.HostPort("", "TCP", 8080))), pod: et.Pod("p", et.Priority(1), et.HostPort("", "TCP", 8080)), want: ok},
	})
}

func TestNodePortsDetailsAreOrderedAndSingle(t *testing.T) {
	objects := list(et.Node("n"), et.Pod("b", et.On("n"), et.HostPort("10.0.0.2", "TCP", 8080)), et.Pod("a", et.On("n"), et.HostPort("10.0.0.1", "TCP", 8080)))
	d := decide(t, ruleCase{objects: objects, pod: et.Pod("p", et.HostPort("", "TCP", 8080), et.HostPort("10.0.0.1", "TCP", 8080))})
	want := []engine.Detail{{Kind: "port", Protocol: "TCP", HostIP: "10.0.0.1", Port: 8080}, {Kind: "port", Protocol: "TCP", HostIP: "10.0.0.2", Port: 8080}}
	if diff := cmp.Diff(want, details(t, d, "n")); diff != "" {
		t.Errorf("details (-want +got):\n%s", diff)
	}
}
