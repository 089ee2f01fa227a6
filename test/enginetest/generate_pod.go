package enginetest

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// pod is what existing and incoming pods have in common: where and who they
// are, and what they ask for.
func (g *generator) pod(name string) *corev1.Pod {
	p := Pod(name, In(g.of("default", "default", "default", "dev", "prod", "ghost")), Priority(int32(g.r.IntN(3)*10)))
	p.UID = types.UID("uid-" + name)
	g.some(p.Labels, "app", "a", "b", "c")
	g.some(p.Labels, "tier", "front", "back")
	g.some(p.Labels, "rev", "1", "2")
	if g.in(20) {
		p.Spec.Priority = nil
	}
	if g.in(12) {
		p.Labels = nil
	}
	if g.in(2) {
		kind := g.of("apps/v1 ReplicaSet", "apps/v1 StatefulSet", "v1 ReplicationController", "batch/v1 Job", "apps/v1beta1 ReplicaSet")
		var api, k string
		if _, err := fmt.Sscan(kind, &api, &k); err == nil {
			Owner(api, k, g.of("owner", "owner", "missing"))(p)
		}
		if g.in(6) {
			p.OwnerReferences[0].Controller = nil
		}
	}
	g.requests(p)
	if g.in(6) {
		for range 1 + g.r.IntN(2) {
			HostPort(g.of("", "", "0.0.0.0", "10.0.0.1", "10.0.0.2"), corev1.Protocol(g.of("TCP", "TCP", "UDP")), int32(8080+g.r.IntN(2)))(p)
		}
	}
	return p
}

// amounts draws a few requests.
func (g *generator) amounts() []string {
	var kv []string
	add := func(every int, name string, amounts ...string) {
		if g.in(every) {
			kv = append(kv, name, g.of(amounts...))
		}
	}
	add(2, "cpu", "0", "100m", "250m", "500m", "1")
	add(2, "memory", "0", "64Mi", "200Mi", "512Mi")
	add(8, "ephemeral-storage", "100Mi", "900Mi")
	add(8, "example.com/gpu", "0", "1", "2")
	add(12, "hugepages-2Mi", "2Mi", "4Mi")
	add(12, "example.com/nic", "1", "2")
	return kv
}

// requests adds to the pod containers of all kinds, and sometimes a resize in progress.
func (g *generator) requests(p *corev1.Pod) {
	Requests(g.amounts()...)(p)
	p.Spec.Containers[0].Image = g.of("main:1", "docker.io/library/web", "registry:5000/app", "unknown")
	if g.in(4) {
		p.Spec.Containers = append(p.Spec.Containers, corev1.Container{Name: "second", Image: g.of("main:1", "main:1@sha256:1"), Resources: corev1.ResourceRequirements{Requests: resources(g.amounts()...)}})
	}
	for g.in(5) {
		if g.in(2) {
			Sidecar(g.amounts()...)(p)
		} else {
			InitContainer(g.amounts()...)(p)
		}
		if g.in(4) {
			c := &p.Spec.InitContainers[len(p.Spec.InitContainers)-1]
			c.Ports = []corev1.ContainerPort{{ContainerPort: 8080, HostPort: 8080, Protocol: corev1.ProtocolTCP}}
		}
	}
	if g.in(10) {
		Overhead("cpu", "50m", "memory", "32Mi")(p)
	}
	if g.in(10) {
		kv := []string{"cpu", g.of("300m", "1")}
		if g.in(2) {
			kv = append(kv, "memory", g.of("100Mi", "700Mi"))
		}
		PodLevel(kv...)(p)
	}
	if g.in(10) {
		p.Spec.Volumes = []corev1.Volume{{Name: "image", VolumeSource: corev1.VolumeSource{Image: &corev1.ImageVolumeSource{Reference: g.of("main:1", "registry:5000/app")}}}}
	}
	if g.in(10) {
		p.Status.ContainerStatuses = []corev1.ContainerStatus{{
			Name: "main", AllocatedResources: resources(g.amounts()...),
			Resources: &corev1.ResourceRequirements{Requests: resources(g.amounts()...)},
		}}
		if g.in(2) {
			p.Status.Conditions = append(p.Status.Conditions, corev1.PodCondition{Type: corev1.PodResizePending, Status: corev1.ConditionTrue, Reason: g.of(corev1.PodReasonInfeasible, corev1.PodReasonDeferred)})
		}
		if p.Spec.Resources != nil && g.in(2) {
			p.Status.Resources = &corev1.ResourceRequirements{Requests: resources("cpu", g.of("200m", "2"))}
			p.Status.AllocatedResources = resources("cpu", g.of("200m", "1"))
		}
	}
}

// existing is a pod of the cluster: mostly on a node.
func (g *generator) existing(name string) *corev1.Pod {
	p := g.pod(name)
	if g.in(4) {
		g.interPod(p, 2)
	}
	if g.in(10) {
		Terminating()(p)
	}
	switch n := g.r.IntN(20); {
	case n < 15:
		On(g.aNode())(p)
	case n < 16:
		On(g.aNode())(p)
		p.Status.Phase = corev1.PodPhase(g.of("Succeeded", "Failed"))
	case n < 19:
		NominatedTo(g.aNode())(p)
		if g.in(6) {
			Gate("example.com/wait")(p)
		}
		if g.in(6) {
			p.Spec.SchedulerName = "another"
		}
		if g.in(3) {
			g.spread(p)
		}
	}
	return p
}

// incoming is the pod in question: it uses a few of the features at a time.
func (g *generator) incoming() *corev1.Pod {
	p := g.pod("incoming")
	if g.in(2) {
		g.tolerations(p)
	}
	if g.in(2) {
		g.nodeAffinity(p)
	}
	if g.in(2) {
		g.interPod(p, 1)
	}
	if g.in(2) {
		g.spread(p)
	}
	if g.in(12) {
		NominatedTo(g.aNode())(p)
	}
	if g.in(25) {
		p.Spec.NodeName = g.aNode()
	}
	if g.in(30) {
		Gate("example.com/wait")(p)
	}
	if g.in(15) {
		action := corev1.ContainerRestartRuleActionRestartAllContainers
		p.Spec.Containers[0].RestartPolicyRules = []corev1.ContainerRestartRule{{Action: action, ExitCodes: &corev1.ContainerRestartRuleOnExitCodes{Operator: corev1.ContainerRestartRuleOnExitCodesOpIn, Values: []int32{1}}}}
	}
	if g.in(15) {
		no := false
		p.Spec.HostNetwork, p.Spec.HostUsers = true, &no
	}
	return p
}

func (g *generator) tolerations(p *corev1.Pod) {
	for range 1 + g.r.IntN(4) {
		key, op := g.of("dedicated", "flaky", "spot", "", corev1.TaintNodeUnschedulable), corev1.TolerationOperator(g.of("Exists", "Equal", "", "Gt"))
		if key == "" {
			op = corev1.TolerationOpExists
		}
		value := g.of("", "gpu", "infra")
		if op == corev1.TolerationOpExists {
			value = ""
		}
		if op == "Gt" {
			value = "5"
		}
		Tolerate(key, op, value, corev1.TaintEffect(g.of("", "", "NoSchedule", "NoExecute", "PreferNoSchedule")))(p)
	}
}
