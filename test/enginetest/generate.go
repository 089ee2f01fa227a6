package enginetest

import (
	"fmt"
	"math/rand/v2"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"berth/internal/engine/rules"
)

// Generate makes a random case from a seed; a seed always makes the same case. Words are drawn from
// small vocabularies, so that objects match: most taints are tolerated by some pod, most selectors
// match some object, most nodes are nearly full. One case in twenty has more than 64 nodes. In
// every other case the nodes have capacity left and no taints, so that later rules judge more of
// them.
func Generate(seed uint64) *Case {
	c, nodes := generate(seed)
	devices(seed, nodes, c)
	return c
}

// generate is Generate without devices.
func generate(seed uint64) (*Case, []string) {
	g := &generator{r: rand.New(rand.NewPCG(seed, 0x6265727468))}
	g.gentle = g.in(2)
	nodes, pods := 1+g.r.IntN(12), g.r.IntN(36)
	if g.in(20) {
		nodes, pods = 60+g.r.IntN(80), 60+g.r.IntN(200)
	}
	c := &Case{}
	for i := range nodes {
		n := g.node(fmt.Sprintf("n%02d", i))
		g.nodes = append(g.nodes, n.Name)
		c.Objects = append(c.Objects, n)
	}
	c.Objects = append(c.Objects, g.surroundings()...)
	for i := range pods {
		c.Objects = append(c.Objects, g.existing(fmt.Sprintf("p%03d", i)))
	}
	c.Pod = g.incoming()
	if c.Pod.Spec.NodeName == "" && g.in(6) {
		c.Objects = append(c.Objects, c.Pod) // as pending pods are in a snapshot
	}
	c.Spec = g.spec()
	crowd(seed, c)
	mounts(seed, c)
	stores(seed, c)
	lookalikes(seed, c)
	if g.in(8) {
		c.Options.ScoreAlways = true
	}
	if g.in(10) {
		c.Options.Candidates = []string{"no-such-node"}
		for _, n := range g.nodes {
			if g.in(2) {
				c.Options.Candidates = append(c.Options.Candidates, n)
			}
		}
	}
	return c, g.nodes
}

// generator draws from seeded vocabularies.
type generator struct {
	r      *rand.Rand
	nodes  []string
	gentle bool
}

// in is true once in n times.
func (g *generator) in(n int) bool { return g.r.IntN(n) == 0 }

// of picks one of the words.
func (g *generator) of(words ...string) string { return words[g.r.IntN(len(words))] }

// some adds key and one of the values to m, mostly.
func (g *generator) some(m map[string]string, key string, values ...string) {
	if !g.in(4) {
		m[key] = g.of(values...)
	}
}

// aNode names a node, now and then one that does not exist.
func (g *generator) aNode() string {
	if len(g.nodes) == 0 || g.in(15) {
		return "gone"
	}
	return g.of(g.nodes...)
}

func (g *generator) node(name string) *corev1.Node {
	n := Node(name, Allocatable(
		"cpu", g.of("1", "2", "2500m", "4", "8"), "memory", g.of("512Mi", "1Gi", "2Gi", "4Gi", "16Gi"),
		"pods", g.of("3", "8", "20", "110"), "ephemeral-storage", g.of("1Gi", "20Gi"),
	))
	g.some(n.Labels, corev1.LabelTopologyZone, "z1", "z2", "z3", "z1", "z2", "")
	g.some(n.Labels, corev1.LabelTopologyRegion, "r1", "r2")
	g.some(n.Labels, "disk", "ssd", "hdd")
	g.some(n.Labels, "cores", "2", "8", "16", "-3", "010", "many", "")
	g.some(n.Labels, "rack", "a", "b", "c", "d")
	if g.in(15) {
		delete(n.Labels, corev1.LabelHostname)
	} else if g.in(20) {
		n.Labels[corev1.LabelHostname] = "shared"
	}
	if g.in(40) {
		n.Labels = nil
	}
	if g.gentle {
		Allocatable("cpu", g.of("16", "32"), "memory", "64Gi", "pods", "110", "example.com/gpu", "8", "hugepages-2Mi", "1Gi", "example.com/nic", "8")(n)
		if g.in(3) {
			Taint("flaky", "", corev1.TaintEffectPreferNoSchedule)(n)
		}
		g.extras(n)
		return n
	}
	for range 1 + g.r.IntN(3) {
		if g.in(3) {
			n.Spec.Taints = append(n.Spec.Taints, corev1.Taint{
				Key: g.of("dedicated", "flaky", "spot"), Value: g.of("", "gpu", "infra"),
				Effect: corev1.TaintEffect(g.of("NoSchedule", "NoExecute", "PreferNoSchedule", "PreferNoSchedule")),
			})
		}
	}
	if g.in(10) {
		n.Spec.Unschedulable = true
		if g.in(2) {
			n.Spec.Taints = append(n.Spec.Taints, corev1.Taint{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule})
		}
	}
	for _, o := range []struct {
		name    string
		amounts []string
	}{
		{"example.com/gpu", []string{"0", "1", "4"}},
		{"hugepages-2Mi", []string{"0", "4Mi", "64Mi"}},
		{"example.com/nic", []string{"2", "3"}},
		{"cpu", []string{"0"}},
		{"memory", []string{"0"}},
		{"pods", []string{"0", "1"}},
	} {
		every := 2
		if len(o.name) < 8 {
			every = 30
		}
		if g.in(every) {
			Allocatable(o.name, g.of(o.amounts...))(n)
		}
	}
	g.extras(n)
	return n
}

// extras are images and declared features.
func (g *generator) extras(n *corev1.Node) {
	for _, image := range []string{"main:1", "docker.io/library/web:latest", "registry:5000/app:latest", "init:1"} {
		if g.in(3) {
			HoldsImage(int64(1+g.r.IntN(1200))<<20, image, image+"@sha256:1")(n)
		}
	}
	for _, f := range []string{"RestartAllContainersOnContainerExits", "UserNamespacesHostNetworkSupport"} {
		if g.in(2) {
			Declares(f)(n)
		}
	}
}

// surroundings are namespaces and what owns pods.
func (g *generator) surroundings() []any {
	var out []any
	for _, ns := range []string{"default", "dev", "prod"} {
		if g.in(5) {
			continue
		}
		o := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: ns, Labels: map[string]string{"kubernetes.io/metadata.name": ns}}}
		g.some(o.Labels, "team", "red", "blue")
		out = append(out, o)
	}
	for _, ns := range []string{"default", "dev"} {
		meta := func(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Namespace: ns, Name: name} }
		for i := range g.r.IntN(3) {
			sel := map[string]string{}
			g.some(sel, "app", "a", "b", "c")
			g.some(sel, "tier", "front", "back")
			if g.in(8) {
				sel = nil
			}
			out = append(out, &corev1.Service{ObjectMeta: meta(fmt.Sprintf("svc%d", i)), Spec: corev1.ServiceSpec{Selector: sel}})
		}
		if g.in(2) {
			out = append(out, &appsv1.ReplicaSet{ObjectMeta: meta("owner"), Spec: appsv1.ReplicaSetSpec{Selector: g.podSelector()}})
		}
		if g.in(2) {
			out = append(out, &appsv1.StatefulSet{ObjectMeta: meta("owner"), Spec: appsv1.StatefulSetSpec{Selector: g.podSelector()}})
		}
		if g.in(2) {
			out = append(out, &corev1.ReplicationController{ObjectMeta: meta("owner"), Spec: corev1.ReplicationControllerSpec{Selector: map[string]string{"app": g.of("a", "b")}}})
		}
	}
	return out
}

// spec is mostly upstream's default profile.
func (g *generator) spec() rules.Spec {
	s := rules.DefaultSpec()
	if !g.in(3) {
		return s
	}
	if g.in(3) {
		s.Args.PodTopologySpread = rules.SpreadArgs{Constraints: []corev1.TopologySpreadConstraint{
			{TopologyKey: corev1.LabelTopologyZone, MaxSkew: 1, WhenUnsatisfiable: corev1.DoNotSchedule},
			{TopologyKey: "rack", MaxSkew: 2, WhenUnsatisfiable: corev1.ScheduleAnyway},
		}}
	}
	if g.in(3) {
		s.Args.InterPodAffinity = rules.InterPodAffinityArgs{HardPodAffinityWeight: int32(g.r.IntN(2) * 40), IgnorePreferredTermsOfExistingPods: g.in(2)}
	}
	f := &s.Args.NodeResourcesFit
	switch g.r.IntN(4) {
	case 0:
		f.Strategy = rules.MostAllocated
		f.Resources = []rules.ResourceWeight{{Name: "cpu", Weight: 3}, {Name: "example.com/gpu", Weight: 5}, {Name: "ephemeral-storage", Weight: 1}}
	case 1:
		f.Strategy = rules.RequestedToCapacityRatio
		f.Resources = []rules.ResourceWeight{{Name: "memory", Weight: 2}, {Name: "example.com/gpu", Weight: 3}, {Name: "cpu", Weight: 1}}
		f.Shape = []rules.ShapePoint{{Utilization: 10, Score: 2}, {Utilization: 50, Score: 10}, {Utilization: 90, Score: 1}}
	case 2:
		f.Resources = []rules.ResourceWeight{{Name: "memory", Weight: 2}, {Name: "hugepages-2Mi", Weight: 1}, {Name: "cpu", Weight: 1}}
		s.Args.Balanced.Resources = []rules.ResourceWeight{{Name: "cpu", Weight: 1}, {Name: "example.com/gpu", Weight: 1}, {Name: "memory", Weight: 1}}
	}
	if g.in(4) {
		f.IgnoredResources, f.IgnoredResourceGroups = []string{"example.com/nic"}, []string{"other.example"}
	}
	if g.in(4) {
		s.Args.NodeAffinity.AddedAffinity = &corev1.NodeAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{
				{MatchExpressions: []corev1.NodeSelectorRequirement{Expr("disk", corev1.NodeSelectorOpExists)}},
			}},
			PreferredDuringSchedulingIgnoredDuringExecution: []corev1.PreferredSchedulingTerm{
				{Weight: 7, Preference: corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{Expr("cores", corev1.NodeSelectorOpGt, "4")}}},
			},
		}
	}
	for i := range s.Score {
		if slices.Contains([]string{"NodeAffinity", "NodeResourcesBalancedAllocation", "VolumeBinding"}, s.Score[i].Name) {
			s.Score[i].NoPreScore = g.in(4)
		}
	}
	return s
}
