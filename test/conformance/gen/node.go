package gen

import (
	"fmt"

	v1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func (m *maker) makeNodes() {
	if m.on["nodeless"] {
		return
	}
	n := m.between(2, min(8, m.opts.MaxNodes))
	if m.on["manyNodes"] {
		n = m.between(2, m.opts.MaxNodes)
	}
	for i := range n {
		node := m.node(fmt.Sprintf("n%02d", i+1))
		m.nodes = append(m.nodes, node)
		m.objs = append(m.objs, node)
	}
}

func (m *maker) node(name string) *v1.Node {
	zone := m.IntN(3)
	labels := map[string]string{v1.LabelHostname: name, v1.LabelTopologyRegion: fmt.Sprintf("r%d", zone/2), v1.LabelTopologyZone: fmt.Sprintf("z%d", zone)}
	if m.on["keys"] {
		for _, k := range []string{v1.LabelHostname, v1.LabelTopologyRegion, v1.LabelTopologyZone} {
			if m.chance(20) {
				delete(labels, k)
			}
		}
	}
	if m.chance(60) {
		labels["rack"] = fmt.Sprintf("k%d", m.IntN(4))
	}
	if m.chance(70) {
		labels["disk"] = pick(m, "ssd", "hdd")
	}
	if m.chance(60) {
		labels["gen"] = pick(m, "1", "2", "5", "10", "x", "007")
	}
	node := &v1.Node{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Node"}, ObjectMeta: m.meta("", name, labels)}
	capacity := v1.ResourceList{
		v1.ResourceCPU:    *resource.NewMilliQuantity(int64(pick(m, 1000, 2000, 2000, 4000, 3920)), resource.DecimalSI),
		v1.ResourceMemory: *resource.NewQuantity(int64(pick(m, 2, 4, 4, 8))<<30, resource.BinarySI),
		v1.ResourcePods:   *resource.NewQuantity(int64(pick(m, 110, 110, 20, 4)), resource.DecimalSI),
	}
	if m.chance(90) {
		capacity[v1.ResourceEphemeralStorage] = resource.MustParse(pick(m, "10Gi", "10Gi", "1Gi"))
	}
	if m.on["scalar"] {
		if m.chance(60) {
			capacity[v1.ResourceName(pick(m, scalars...))] = *resource.NewQuantity(int64(m.IntN(5)), resource.DecimalSI)
		}
		if m.chance(40) {
			capacity["hugepages-2Mi"] = *resource.NewQuantity(int64(m.between(0, 4))<<21, resource.BinarySI)
		}
	}
	if m.on["oddNodes"] {
		switch m.IntN(6) {
		case 0:
			capacity[v1.ResourcePods] = resource.MustParse("0")
		case 1:
			delete(capacity, v1.ResourcePods)
		case 2:
			capacity[v1.ResourceCPU] = resource.MustParse("0")
		case 3:
			delete(capacity, v1.ResourceMemory)
		}
	}
	if m.chance(70) {
		node.Status.Allocatable = capacity
	}
	if m.chance(50) || node.Status.Allocatable == nil {
		node.Status.Capacity = capacity
	}
	if m.on["taints"] {
		m.taint(node)
	}
	if m.on["images"] {
		m.imagesOn(node)
	}
	if m.on["declared"] {
		var declared []string
		for _, f := range []string{"RestartAllContainersOnContainerExits", "UserNamespacesHostNetworkSupport"} {
			if m.chance(60) {
				declared = append(declared, f)
			}
		}
		if declared != nil {
			m.status(node, "declaredFeatures", declared)
		}
	}
	return node
}

func (m *maker) taint(node *v1.Node) {
	seen := map[string]bool{}
	for range m.IntN(3) {
		t := v1.Taint{Key: pick(m, "dedicated", "spot", "broken"), Effect: pick(m, v1.TaintEffectNoSchedule, v1.TaintEffectPreferNoSchedule, v1.TaintEffectPreferNoSchedule, v1.TaintEffectNoExecute)}
		if m.chance(60) {
			t.Value = pick(m, "a", "b")
		}
		if id := t.Key + string(t.Effect); !seen[id] {
			seen[id] = true
			node.Spec.Taints = append(node.Spec.Taints, t)
		}
	}
	if m.chance(12) {
		node.Spec.Unschedulable = true
	}
}

var images = []string{"registry.example.com/app:v1", "registry.example.com/db:v2", "registry.example.com/side:latest", "tool"}

func (m *maker) imagesOn(node *v1.Node) {
	for i, name := range images {
		if m.chance(50) {
			continue
		}
		names := []string{name}
		if name == "tool" {
			names = []string{"tool:latest"}
		}
		if m.chance(20) {
			names = append(names, fmt.Sprintf("registry.example.com/x@sha256:%064d", i))
		}
		size := int64(pick(m, 5, 30, 120, 400, 900, 3000)) << 20
		node.Status.Images = append(node.Status.Images, v1.ContainerImage{Names: names, SizeBytes: size})
	}
}

// makeNamespaces leaves some without an object: their labels are then unknown.
func (m *maker) makeNamespaces() {
	for _, name := range []string{"default", "team", "ops"} {
		if m.chance(20) {
			continue
		}
		labels := map[string]string{"kubernetes.io/metadata.name": name}
		if m.chance(70) {
			labels["env"] = pick(m, "prod", "dev")
		}
		m.objs = append(m.objs, &v1.Namespace{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Namespace"}, ObjectMeta: m.meta("", name, labels)})
	}
}

func (m *maker) makeClasses() {
	if !m.on["priorities"] {
		return
	}
	never := v1.PreemptNever
	for i, name := range []string{"low", "high", "calm"} {
		c := &schedulingv1.PriorityClass{TypeMeta: metav1.TypeMeta{APIVersion: "scheduling.k8s.io/v1", Kind: "PriorityClass"}, ObjectMeta: m.meta("", name, nil), Value: []int32{-10, 1000, 500}[i]}
		if name == "calm" {
			c.PreemptionPolicy = &never
		}
		m.objs = append(m.objs, c)
	}
}
