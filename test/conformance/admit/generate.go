package admit

import (
	"fmt"
	"math/rand/v2"

	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// Classes are those that both sides know, the built-in ones beside them.
func Classes(withDefault bool) []*schedulingv1.PriorityClass {
	never, lower := corev1.PreemptNever, corev1.PreemptLowerPriority
	list := []*schedulingv1.PriorityClass{
		{ObjectMeta: metav1.ObjectMeta{Name: "high"}, Value: 1000, PreemptionPolicy: &lower},
		{ObjectMeta: metav1.ObjectMeta{Name: "science"}, Value: 500, PreemptionPolicy: &never},
	}
	if withDefault {
		list = append(list, &schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: "usual"}, Value: 7, GlobalDefault: true, PreemptionPolicy: &lower})
	}
	return list
}

// Nodes are those that both sides know.
func Nodes() []*corev1.Node {
	node := func(name string, labels map[string]string) *corev1.Node {
		return &corev1.Node{TypeMeta: metav1.TypeMeta{Kind: "Node", APIVersion: "v1"}, ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}}
	}
	return []*corev1.Node{
		node("n1", map[string]string{corev1.LabelTopologyZone: "z1", corev1.LabelTopologyRegion: "r1", corev1.LabelHostname: "n1"}),
		node("n2", map[string]string{corev1.LabelTopologyRegion: "", "zone": "a"}),
		node("n3", nil),
	}
}

// Generator makes pods, a good part of them wrong in one place or two.
type Generator struct{ *rand.Rand }

// NewGenerator makes the same pods for the same seed.
func NewGenerator(seed uint64) *Generator { return &Generator{rand.New(rand.NewPCG(seed, 7))} }

func pick[T any](g *Generator, list ...T) T { return list[g.IntN(len(list))] }

func (g *Generator) chance(percent int) bool { return g.IntN(100) < percent }

// Of the words, some are wrong in most places.
func (g *Generator) name() string {
	return pick(g, "a", "b", "web", "db-1", "a", "b", "web", "", "Big", "-x", "a.b", "a_b", "x/y/z")
}

func (g *Generator) key() string {
	return pick(g, "app", "zone", "example.com/a", "kubernetes.io/hostname", corev1.LabelTopologyZone, "app", "zone", "tier", "", "bad key", "-x", "a/b/c")
}

func (g *Generator) value() string { return pick(g, "a", "b", "1", "x-y", "", "a", "b", "not ok", "-") }

func (g *Generator) labels() map[string]string {
	out := map[string]string{}
	for range g.IntN(3) {
		out[pick(g, "app", "zone", "tier", corev1.LabelTopologyZone)] = pick(g, "a", "b", "1")
	}
	return out
}

func (g *Generator) selector() *metav1.LabelSelector {
	if g.chance(20) {
		return nil
	}
	s := &metav1.LabelSelector{}
	if g.chance(70) {
		s.MatchLabels = g.labels()
	}
	for range g.IntN(2) {
		s.MatchExpressions = append(s.MatchExpressions, metav1.LabelSelectorRequirement{
			Key: g.key(), Operator: pick(g, metav1.LabelSelectorOpIn, metav1.LabelSelectorOpExists, metav1.LabelSelectorOpNotIn, "Odd"), Values: pick(g, nil, []string{"a"}, []string{g.value(), "b"}),
		})
	}
	return s
}

func (g *Generator) requirement() corev1.NodeSelectorRequirement {
	return corev1.NodeSelectorRequirement{
		Key: g.key(), Operator: pick(g, corev1.NodeSelectorOpIn, corev1.NodeSelectorOpNotIn, corev1.NodeSelectorOpExists, corev1.NodeSelectorOpGt, "Odd"),
		Values: pick(g, nil, []string{"a"}, []string{"a"}, []string{g.value(), "b"}),
	}
}

func (g *Generator) term() corev1.NodeSelectorTerm {
	var t corev1.NodeSelectorTerm
	for range g.IntN(3) {
		t.MatchExpressions = append(t.MatchExpressions, g.requirement())
	}
	if g.chance(15) {
		r := corev1.NodeSelectorRequirement{Key: pick(g, "metadata.name", "metadata.name", "spec.x"), Operator: pick(g, corev1.NodeSelectorOpIn, corev1.NodeSelectorOpExists), Values: pick(g, []string{"n1"}, []string{"N1"}, []string{"a", "b"}, nil)}
		t.MatchFields = append(t.MatchFields, r)
	}
	return t
}

func (g *Generator) nodeAffinity() *corev1.NodeAffinity {
	a := &corev1.NodeAffinity{}
	if g.chance(80) {
		a.RequiredDuringSchedulingIgnoredDuringExecution = &corev1.NodeSelector{}
		for range g.IntN(3) {
			s := a.RequiredDuringSchedulingIgnoredDuringExecution
			s.NodeSelectorTerms = append(s.NodeSelectorTerms, g.term())
		}
	}
	if g.chance(30) {
		a.PreferredDuringSchedulingIgnoredDuringExecution = []corev1.PreferredSchedulingTerm{{Weight: pick(g, int32(1), 100, 0, 101), Preference: g.term()}}
	}
	return a
}

func (g *Generator) podTerm() corev1.PodAffinityTerm {
	t := corev1.PodAffinityTerm{LabelSelector: g.selector(), TopologyKey: g.key()}
	if g.chance(20) {
		t.NamespaceSelector = g.selector()
	}
	if g.chance(20) {
		t.Namespaces = []string{pick(g, "d", "Not_OK")}
	}
	if g.chance(30) {
		t.MatchLabelKeys = []string{g.key()}
	}
	if g.chance(20) {
		t.MismatchLabelKeys = []string{g.key()}
	}
	return t
}

func (g *Generator) affinity() *corev1.Affinity {
	a := &corev1.Affinity{}
	if g.chance(60) {
		a.NodeAffinity = g.nodeAffinity()
	}
	if g.chance(30) {
		a.PodAffinity = &corev1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{g.podTerm()}}
	}
	if g.chance(30) {
		a.PodAntiAffinity = &corev1.PodAntiAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []corev1.WeightedPodAffinityTerm{{Weight: pick(g, int32(5), 0, 200), PodAffinityTerm: g.podTerm()}}}
	}
	return a
}

func (g *Generator) spread() corev1.TopologySpreadConstraint {
	c := corev1.TopologySpreadConstraint{
		MaxSkew: pick(g, int32(1), 2, 0, -1), TopologyKey: pick(g, "zone", "zone", "host", ""), LabelSelector: g.selector(),
		WhenUnsatisfiable: pick(g, corev1.DoNotSchedule, corev1.ScheduleAnyway, corev1.DoNotSchedule, "Odd", ""),
	}
	if g.chance(25) {
		n := pick(g, int32(2), 0, -3)
		c.MinDomains = &n
	}
	if g.chance(25) {
		p := pick(g, corev1.NodeInclusionPolicyHonor, corev1.NodeInclusionPolicyIgnore, "Odd")
		c.NodeAffinityPolicy = &p
	}
	if g.chance(25) {
		p := pick(g, corev1.NodeInclusionPolicyHonor, "Odd")
		c.NodeTaintsPolicy = &p
	}
	for range g.IntN(3) {
		c.MatchLabelKeys = append(c.MatchLabelKeys, g.key())
	}
	return c
}

func (g *Generator) toleration() corev1.Toleration {
	t := corev1.Toleration{
		Key: pick(g, g.key(), g.key(), corev1.TaintNodeNotReady, corev1.TaintNodeUnreachable), Operator: pick(g, corev1.TolerationOpEqual, corev1.TolerationOpExists, "", "Odd", "Lt"),
		Value: pick(g, "", "a", "not ok", "5"), Effect: pick(g, "", corev1.TaintEffectNoSchedule, corev1.TaintEffectNoExecute, "Odd"),
	}
	if g.chance(25) {
		n := int64(g.IntN(5))
		t.TolerationSeconds = &n
	}
	return t
}

func (g *Generator) gates() (out []corev1.PodSchedulingGate) {
	for range 1 + g.IntN(2) {
		out = append(out, corev1.PodSchedulingGate{Name: pick(g, "a", "example.com/b", "c", "bad gate", "")})
	}
	return out
}

func (g *Generator) resources() corev1.ResourceList {
	out := corev1.ResourceList{}
	for range g.IntN(3) {
		name := pick(g, corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceCPU, corev1.ResourceMemory, "hugepages-2Mi", "example.com/gpu", "ephemeral-storage", "pods", "odd", "kubernetes.io/x", "requests.example.com/x", "bad name")
		out[name] = resource.MustParse(pick(g, "1", "2", "500m", "1Gi", "4Mi", "3", "0", "-1", "0.0001"))
	}
	return out
}

func (g *Generator) port() corev1.ContainerPort {
	return corev1.ContainerPort{Name: pick(g, "", "", "http", "http", "Bad_", "a-very-long-port-name"), ContainerPort: pick(g, int32(80), 80, 8080, 0, 70000), HostPort: pick(g, int32(0), 0, 80, 8080, -1), Protocol: pick(g, "", corev1.ProtocolTCP, corev1.ProtocolUDP, "Odd"), HostIP: pick(g, "", "10.0.0.1")}
}

func (g *Generator) probe() *corev1.Probe {
	p := &corev1.Probe{PeriodSeconds: pick(g, int32(0), 5, -1), SuccessThreshold: pick(g, int32(0), 1, 2), FailureThreshold: pick(g, int32(0), 3, -3)}
	if g.chance(80) {
		p.HTTPGet = &corev1.HTTPGetAction{Port: pick(g, intstr.FromInt32(80), intstr.FromString("http"), intstr.FromInt32(0), intstr.FromString("Bad_")), Scheme: pick(g, "", corev1.URISchemeHTTPS, "Odd")}
	}
	if g.chance(20) {
		p.Exec = &corev1.ExecAction{Command: pick(g, nil, []string{"true"})}
	}
	if g.chance(20) {
		p.GRPC = &corev1.GRPCAction{Port: pick(g, int32(0), 9000)}
	}
	if g.chance(20) {
		n := pick(g, int64(5), 0, -1)
		p.TerminationGracePeriodSeconds = &n
	}
	return p
}

func (g *Generator) container(name string) corev1.Container {
	c := corev1.Container{Name: name, Image: pick(g, "img", "img:latest", "reg.example/a:1", "a@sha256:0123456789012345678901234567890123456789012345678901234567890123", "UPPER", "img")}
	if g.chance(50) {
		c.Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("100m"), corev1.ResourceMemory: resource.MustParse("64Mi")}
	}
	return c
}

// Pod makes a good pod.
func (g *Generator) Pod() *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p", Namespace: "d", UID: "u", ResourceVersion: "", Labels: map[string]string{"app": "a", "tier": "1"}}}
	for i := range 1 + g.IntN(2) {
		p.Spec.Containers = append(p.Spec.Containers, g.container(fmt.Sprint("c", i)))
	}
	return p
}
