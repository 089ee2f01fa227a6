package gen

import (
	"fmt"
	"math"
	"strings"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

var podMutators = []mutator{
	{"hostPorts", (*odd).hostPorts},
	{"priorities", (*odd).priorities},
	{"systemClasses", (*odd).systemClasses},
	{"nominated", (*odd).nominated},
	{"terminating", (*odd).terminating},
	{"taints", (*odd).oddTaints},
	{"images", (*odd).oddImages},
}

// hostPorts draws several ports a container, for all protocols, on addresses that are written in
// several ways, and on all of them: which of these meet is a matter of their texts.
func (o *odd) hostPorts() {
	o.pods(70, func(p *v1.Pod) {
		p.Spec.HostNetwork = o.chance(15) && p.Spec.HostUsers == nil
		seen := map[string]bool{}
		for _, c := range containersOf(p) {
			c.Ports = nil
			for range o.IntN(4) {
				port := int32(pick(o.maker, 80, 443, 65535, 1))
				cp := v1.ContainerPort{ContainerPort: port, Protocol: pick(o.maker, v1.ProtocolSCTP, v1.ProtocolTCP, v1.ProtocolUDP, "")}
				if o.chance(75) || p.Spec.HostNetwork {
					cp.HostPort = port
					if o.chance(20) && !p.Spec.HostNetwork {
						cp.HostPort = int32(pick(o.maker, 80, 443))
					}
					cp.HostIP = pick(o.maker, "", "0.0.0.0", "::", "::1", "127.0.0.1", "10.0.0.1", "fd00::1", "0:0:0:0:0:0:0:0")
				}
				protocol := cp.Protocol
				if protocol == "" {
					protocol = v1.ProtocolTCP
				}
				if id := fmt.Sprint(cp.HostPort, cp.HostIP, protocol); !seen[id] {
					seen[id] = true
					c.Ports = append(c.Ports, cp)
				}
			}
		}
		for i := range p.Spec.InitContainers {
			if c := &p.Spec.InitContainers[i]; c.RestartPolicy == nil && o.chance(20) {
				c.RestartPolicy = new(v1.ContainerRestartPolicyAlways)
			}
		}
	})
}

// priorities draws the ends of 32 bits and those of system classes without their class: preemption
// subtracts priorities and adds them up.
func (o *odd) priorities() {
	o.pods(80, func(p *v1.Pod) {
		p.Spec.PriorityClassName = ""
		p.Spec.Priority = new(pick(o.maker, int32(math.MinInt32), -2000000000, -1, 0, 0, 1, 1000000000, 2000000000, 2000001000, math.MaxInt32))
		if o.chance(20) {
			p.Spec.PreemptionPolicy = new(pick(o.maker, v1.PreemptNever, v1.PreemptLowerPriority))
		}
	})
	if o.chance(50) {
		o.incoming.Spec.Priority = new(int32(pick(o.maker, math.MaxInt32, 1000, 0)))
	}
}

// systemClasses names the two classes that each cluster has, without an object of theirs.
func (o *odd) systemClasses() {
	o.pods(30, func(p *v1.Pod) {
		p.Spec.Priority = nil
		p.Spec.PriorityClassName = pick(o.maker, "system-node-critical", "system-cluster-critical", "")
	})
}

// nominated makes half of the pods wait for a node: at the incoming pod's priority, just above or
// just below it, without one, for a node that is not there, or while they are being deleted. Those
// that are not below are counted on their nodes.
func (o *odd) nominated() {
	priority := int32(pick(o.maker, -5, 0, 100))
	o.incoming.Spec.Priority, o.incoming.Spec.PriorityClassName = &priority, ""
	for _, p := range o.existing {
		if !o.chance(50) {
			continue
		}
		p.Spec.NodeName, p.Status.StartTime = "", nil
		p.Status.Phase = pick(o.maker, v1.PodPending, v1.PodPending, "")
		p.Status.NominatedNodeName = o.nodeName(10)
		p.Spec.Priority, p.Spec.PriorityClassName = new(priority+int32(pick(o.maker, -1, 0, 0, 1))), ""
		if o.chance(10) {
			p.Spec.Priority = nil
		}
		if o.chance(15) {
			p.DeletionTimestamp, p.DeletionGracePeriodSeconds = new(metav1.NewTime(epoch)), new(int64(30))
		}
	}
	if o.chance(30) {
		o.incoming.Status.NominatedNodeName = o.nodeName(0)
	}
}

// terminating mixes phases with deletion: pods that are done and have a node, run without a start,
// have no phase, or are deleted without a grace period. Which of these count differs by plugin.
func (o *odd) terminating() {
	for _, p := range o.existing {
		if o.chance(30) {
			p.DeletionTimestamp, p.DeletionGracePeriodSeconds = new(metav1.NewTime(epoch)), new(int64(0))
		}
		if o.chance(30) {
			p.Status.Phase = pick(o.maker, v1.PodPending, v1.PodRunning, v1.PodSucceeded, v1.PodFailed, v1.PodUnknown, "")
		}
	}
}

// oddTaints draws several taints of one key, with values that are numbers or empty, those of the
// node lifecycle controller, and tolerations that repeat, have no key, no effect or no time left.
// The first taint that is not tolerated is named, and those that are preferred are counted.
func (o *odd) oddTaints() {
	for _, n := range o.nodes {
		n.Spec.Taints = nil
		seen := map[string]bool{}
		for range o.IntN(6) {
			t := v1.Taint{
				Key: pick(o.maker, "a", "b", v1.TaintNodeNotReady, v1.TaintNodeUnreachable, v1.TaintNodeUnschedulable,
					"node.cloudprovider.kubernetes.io/uninitialized"),
				Value:  pick(o.maker, "", "1", "5", "x"),
				Effect: pick(o.maker, v1.TaintEffectNoSchedule, v1.TaintEffectPreferNoSchedule, v1.TaintEffectNoExecute),
			}
			if id := t.Key + string(t.Effect); !seen[id] {
				seen[id] = true
				n.Spec.Taints = append(n.Spec.Taints, t)
			}
		}
		n.Spec.Unschedulable = o.chance(20)
	}
	o.incoming.Spec.Tolerations = nil
	for range o.IntN(8) {
		t := v1.Toleration{
			Key:      pick(o.maker, "a", "b", "", v1.TaintNodeNotReady, v1.TaintNodeUnschedulable),
			Operator: pick(o.maker, v1.TolerationOpExists, v1.TolerationOpEqual, ""),
			Value:    pick(o.maker, "", "1", "x"),
			Effect:   pick(o.maker, v1.TaintEffectNoSchedule, v1.TaintEffectPreferNoSchedule, v1.TaintEffectNoExecute, ""),
		}
		if t.Key == "" {
			t.Operator = v1.TolerationOpExists
			if o.chance(70) {
				t.Effect = v1.TaintEffectPreferNoSchedule
			}
		}
		if t.Operator == v1.TolerationOpExists {
			t.Value = ""
		}
		if t.Effect == v1.TaintEffectNoExecute && o.chance(60) {
			t.TolerationSeconds = new(int64(pick(o.maker, 0, -1, 300)))
		}
		o.incoming.Spec.Tolerations = append(o.incoming.Spec.Tolerations, t)
		if o.chance(15) {
			o.incoming.Spec.Tolerations = append(o.incoming.Spec.Tolerations, t)
		}
	}
}

// oddImages names one image in all the ways there are, with and without registry, tag and digest,
// twice on one node and in several sizes: upstream adds a tag to some and compares texts. Sizes
// stand on both sides of the thresholds of ImageLocality, and beyond what it multiplies.
func (o *odd) oddImages() {
	digest := "sha256:" + strings.Repeat("a", 64)
	names := []string{
		"a", "a:latest", "a:v1", "localhost:5000/a", "localhost:5000/a:latest", "docker.io/library/a", "docker.io/library/a:latest",
		"r.io/x@" + digest, "r.io/x:v1@" + digest, "r.io/x:v1", "R.io/X", "[::1]:5000/a",
	}
	for _, n := range o.nodes {
		n.Status.Images = nil
		for range o.IntN(6) {
			image := v1.ContainerImage{SizeBytes: int64(pick(o.maker, 0, 1, 23<<20-1, 23<<20, 23<<20+1, 999<<20, 1000<<20, 1001<<20, 1<<40, 1<<62))}
			for range o.between(1, 3) {
				image.Names = append(image.Names, pick(o.maker, names...))
			}
			n.Status.Images = append(n.Status.Images, image)
		}
	}
	for _, c := range containersOf(o.incoming) {
		c.Image = pick(o.maker, names...)
	}
}
