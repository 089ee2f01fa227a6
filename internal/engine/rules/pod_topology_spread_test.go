package rules_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"berth/internal/engine"
	"berth/internal/engine/rules"
	et "berth/test/enginetest"
)

const (
	zoneKey  = corev1.LabelTopologyZone
	hostKey  = corev1.LabelHostname
	hardly   = corev1.DoNotSchedule
	softly   = corev1.ScheduleAnyway
	honor    = corev1.NodeInclusionPolicyHonor
	ignore   = corev1.NodeInclusionPolicyIgnore
	noSpread = rules.ReasonSpread
	noLabel  = rules.ReasonSpreadNoLabel + "!"
)

// foo puts n pods with foo=bar on a node.
func foo(node string, n int, opts ...et.PodOption) []any {
	var out []any
	for i := range n {
		out = append(out, et.Pod(fmt.Sprintf("%s-%d", node, i), append([]et.PodOption{et.On(node), et.Labels("foo", "bar")}, opts...)...))
	}
	return out
}

func join(lists ...[]any) []any {
	var out []any
	for _, l := range lists {
		out = append(out, l...)
	}
	return out
}

func barPod(opts ...et.PodOption) *corev1.Pod {
	return et.Pod("p", append([]et.PodOption{et.Labels("foo", "bar")}, opts...)...)
}

func TestPodTopologySpreadFilter(t *testing.T) {
	bar := et.Match("foo", "bar")
	// Two zones of two nodes, as in the documentation.
	nodes := list(et.Node("node1", et.Zone("A")), et.Node("node2", et.Zone("A")), et.Node("node3", et.Zone("B")), et.Node("node4", et.Zone("B")))
	three := join(nodes, foo("node1", 1), foo("node2", 1), foo("node3", 1))
	tainted := list(et.Node("a", et.Zone("A")), et.Node("b", et.Zone("B"), et.Taint("k", "", corev1.TaintEffectNoSchedule)))
	zones221 := join(list(et.Node("a", et.Zone("A")), et.Node("b", et.Zone("B")), et.Node("c", et.Zone("C"))), foo("a", 2), foo("b", 2), foo("c", 1))
	others := join(nodes, foo("node1", 2, et.In("other")), foo("node2", 2, et.Terminating()))
	check(t, "PodTopologySpread", []ruleCase{
		{name: "2/1 over two zones with maxSkew 1 leaves the emptier zone", objects: three, pod: barPod(et.Spread(zoneKey, 1, hardly, bar)), want: map[string]string{"node1": noSpread, "node2": noSpread, "node3": "ok", "node4": "ok"}},
		{name: "zones 2/2/1 leave the third", objects: zones221, pod: barPod(et.Spread(zoneKey, 1, hardly, bar)), want: map[string]string{"a": noSpread, "b": noSpread, "c": "ok"}},
		{name: "a larger maxSkew lets all in", objects: zones221, pod: barPod(et.Spread(zoneKey, 2, hardly, bar)), want: map[string]string{"a": "ok", "b": "ok", "c": "ok"}},
		{name: "zone and host together leave one node", objects: three, pod: barPod(et.Spread(zoneKey, 1, hardly, bar), et.Spread(hostKey, 1, hardly, bar)), want: map[string]string{"node1": noSpread, "node2": noSpread, "node3": noSpread, "node4": "ok"}},
		{
			name:    "constraints that conflict leave none",
			objects: join(nodes[:3], foo("node1", 2), foo("node2", 1), foo("node3", 2)), pod: barPod(et.Spread(zoneKey, 1, hardly, bar), et.Spread(hostKey, 1, hardly, bar)),
			want:    map[string]string{"node1": noSpread, "node2": noSpread, "node3": noSpread},
			message: "0/3 nodes are available: 3 node(s) didn't match pod topology spread constraints.",
		},
		{name: "a pod that does not match its own selector adds nothing", objects: three, pod: et.Pod("p", et.Spread(zoneKey, 1, hardly, bar)), want: map[string]string{"node1": "ok", "node2": "ok", "node3": "ok", "node4": "ok"}},
		{name: "other namespaces and terminating pods do not count", objects: others, pod: barPod(et.Spread(zoneKey, 1, hardly, bar)), want: map[string]string{"node1": "ok", "node2": "ok", "node3": "ok", "node4": "ok"}},
		{name: "a node without the key is out for good, and out of the counts", objects: join(nodes, list(et.Node("none")), foo("none", 5)), pod: barPod(et.Spread(zoneKey, 1, hardly, bar)), want: map[string]string{"node1": "ok", "node2": "ok", "node3": "ok", "node4": "ok", "none": noLabel}},
		{name: "fewer domains than minDomains make the minimum 0", objects: join(nodes, foo("node1", 1), foo("node3", 1)), pod: barPod(et.Spread(zoneKey, 1, hardly, bar, et.MinDomains(3))), want: map[string]string{"node1": noSpread, "node2": noSpread, "node3": noSpread, "node4": noSpread}},
		{name: "as many are enough", objects: join(nodes, foo("node1", 1), foo("node3", 1)), pod: barPod(et.Spread(zoneKey, 1, hardly, bar, et.MinDomains(2))), want: map[string]string{"node1": "ok", "node2": "ok", "node3": "ok", "node4": "ok"}},
		{name: "nodeTaintsPolicy Ignore counts an empty zone that the pod cannot enter", objects: join(tainted, foo("a", 1)), pod: barPod(et.Spread(zoneKey, 1, hardly, bar)), want: map[string]string{"a": noSpread, "b": rules.ReasonTaint + "!"}},
		{name: "nodeTaintsPolicy Honor does not", objects: join(tainted, foo("a", 1)), pod: barPod(et.Spread(zoneKey, 1, hardly, bar, et.Policies(honor, honor))), want: map[string]string{"a": "ok", "b": rules.ReasonTaint + "!"}},
		{name: "nodeAffinityPolicy Honor leaves out what the selector excludes", objects: join(nodes, foo("node1", 1)), pod: barPod(et.Selects(zoneKey, "A"), et.Spread(zoneKey, 1, hardly, bar)), want: map[string]string{"node1": "ok", "node2": "ok", "node3": rules.ReasonAffinity + "!", "node4": rules.ReasonAffinity + "!"}},
		{name: "nodeAffinityPolicy Ignore counts it", objects: join(nodes, foo("node1", 1)), pod: barPod(et.Selects(zoneKey, "A"), et.Spread(zoneKey, 1, hardly, bar, et.Policies(ignore, ignore))), want: map[string]string{"node1": noSpread, "node2": noSpread, "node3": rules.ReasonAffinity + "!", "node4": rules.ReasonAffinity + "!"}},
		{name: "an empty selector counts nobody, but the pod itself", objects: three, pod: barPod(et.Spread(zoneKey, 1, hardly, et.Match())), want: map[string]string{"node1": "ok", "node2": "ok", "node3": "ok", "node4": "ok"}},
		{name: "an empty selector does count nominated pods", objects: join(nodes[:3:3], list(et.Pod("next", et.NominatedTo("node3")))), pod: barPod(et.Spread(zoneKey, 1, hardly, et.Match())), want: map[string]string{"node1": "ok", "node2": "ok", "node3": noSpread}},
		{
			name: "matchLabelKeys narrows to the pod's own revision", objects: join(nodes, foo("node1", 2, et.Labels("rev", "old"))),
			pod: barPod(et.Labels("rev", "new"), et.Spread(zoneKey, 1, hardly, bar, func(c *corev1.TopologySpreadConstraint) { c.MatchLabelKeys = []string{"rev", "absent"} })), want: map[string]string{"node1": "ok", "node2": "ok", "node3": "ok", "node4": "ok"},
		},
	})
}

func TestPodTopologySpreadScore(t *testing.T) {
	bar := et.Match("foo", "bar")
	nodes := list(et.Node("a", et.Zone("A")), et.Node("b", et.Zone("B")), et.Node("lost"))
	owned := func(opts ...et.PodOption) *corev1.Pod {
		return barPod(append([]et.PodOption{et.Owner("apps/v1", "ReplicaSet", "web")}, opts...)...)
	}
	rs := &appsv1.ReplicaSet{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web"}, Spec: appsv1.ReplicaSetSpec{Selector: bar}}
	svc := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web"}, Spec: corev1.ServiceSpec{Selector: map[string]string{"foo": "bar"}}}
	hardDefault := rules.DefaultSpec()
	hardDefault.Args.PodTopologySpread = rules.SpreadArgs{Constraints: []corev1.TopologySpreadConstraint{{TopologyKey: zoneKey, MaxSkew: 1, WhenUnsatisfiable: hardly}}}
	check(t, "PodTopologySpread", []ruleCase{
		// ln(2+2)*3 = 4.16 in A, 0 in B; a node without the key is ignored.
		{name: "fewer matching pods score higher, nodes without the key 0", objects: join(nodes, foo("a", 3)), pod: barPod(et.Spread(zoneKey, 1, softly, bar)), scores: map[string]string{"a": "4/0", "b": "0/100", "lost": "0/0"}},
		{name: "nothing anywhere scores 100", objects: nodes, pod: barPod(et.Spread(zoneKey, 1, softly, bar)), scores: map[string]string{"a": "0/100", "b": "0/100", "lost": "0/0"}},
		{name: "maxSkew adds maxSkew-1 to all", objects: nodes, pod: barPod(et.Spread(zoneKey, 4, softly, bar)), scores: map[string]string{"a": "3/100", "b": "3/100", "lost": "0/0"}},
		// Hostname skew 3 adds 2, zone skew 5 adds 4; "" is a third domain:
		// a has 2 + 2*ln(5) = 5.2 for the host, 4 + 2*ln(5) = 7.2 for the zone.
		{name: "system defaults spread what a ReplicaSet owns, also over nodes without a zone", objects: join(nodes, foo("a", 2), list(rs)), pod: owned(), scores: map[string]string{"a": "12/16", "b": "6/66", "lost": "2/100"}},
		{name: "and what a Service selects", objects: join(nodes, foo("a", 2), list(svc)), pod: barPod(), scores: map[string]string{"a": "12/16", "b": "6/66", "lost": "2/100"}},
		{name: "not what neither does", objects: join(nodes, foo("a", 2)), pod: owned(), scores: map[string]string{}},
		{name: "nor a pod with constraints of its own, be they hard", objects: join(nodes[:2], foo("a", 2), list(rs)), pod: owned(et.Spread(zoneKey, 9, hardly, bar)), scores: map[string]string{}},
		{name: "default constraints of a profile may be hard", objects: join(nodes, foo("a", 1), list(rs)), spec: &hardDefault, pod: owned(), want: map[string]string{"a": noSpread, "b": "ok", "lost": noLabel}},
	})
}

func TestPodTopologySpreadLedger(t *testing.T) {
	objects := join(list(et.Node("a", et.Zone("A")), et.Node("b", et.Zone("B")), et.Node("c", et.Zone("C"), et.Taint("k", "", corev1.TaintEffectNoSchedule))), foo("a", 2), foo("b", 1))
	d := decide(t, ruleCase{objects: objects, pod: barPod(et.Spread(zoneKey, 1, hardly, et.Match("foo", "bar"), et.Policies(honor, honor)))})
	want := []engine.SpreadConstraint{{
		TopologyKey: zoneKey, WhenUnsatisfiable: "DoNotSchedule", MaxSkew: 1, LabelSelector: "foo=bar", Source: "pod", SelfMatch: true, GlobalMinimum: ptr(1),
		Domains: []engine.SpreadDomain{
			{Value: "A", Nodes: 1, Matching: 2, SkewIfPlaced: 2, SkewAfter: 2, Eligible: true, Pods: []engine.SpreadPod{{Name: "a-0", Node: "a"}, {Name: "a-1", Node: "a"}}},
			{Value: "B", Nodes: 1, Matching: 1, SkewIfPlaced: 1, Eligible: true, Pods: []engine.SpreadPod{{Name: "b-0", Node: "b"}}},
			{Value: "C", Nodes: 1, Matching: 0, SkewIfPlaced: 0, Eligible: false, Why: "all nodes of it have taints that the pod does not tolerate (nodeTaintsPolicy: Honor)"},
		},
	}}
	if diff := cmp.Diff(want, d.Spread); diff != "" {
		t.Errorf("table (-want +got):\n%s", diff)
	}
	wantDetail := []engine.Detail{{Kind: "topologySpread", TopologyKey: zoneKey, Domain: "A", Matching: ptr(int64(2)), Skew: ptr(int64(2)), MaxSkew: ptr(int64(1)), Term: "2 matching in the domain, 1 in the emptiest"}}
	if diff := cmp.Diff(wantDetail, details(t, d, "a")); diff != "" {
		t.Errorf("details (-want +got):\n%s", diff)
	}
}

// TestSpreadTableCountsAsTheScoreDoes shows the domains of soft constraints as they are scored:
// under the default constraints a node without a zone counts, under a pod's own it does not.
func TestSpreadTableCountsAsTheScoreDoes(t *testing.T) {
	nodes := list(et.Node("n1"), et.Node("n2"), et.Node("n3", et.Taint("k", "", corev1.TaintEffectNoSchedule)))
	service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "default"}, Spec: corev1.ServiceSpec{Selector: map[string]string{"foo": "bar"}}}
	for _, tt := range []struct {
		name string
		pod  *corev1.Pod
		want []string
	}{
		{"default", barPod(), []string{"n1 matching 0 eligible true", "n2 matching 1 eligible true", "n3 matching 0 eligible true"}},
		{
			"own, with a key that no node has",
			barPod(et.Spread(hostKey, 1, softly, et.Match("foo", "bar")), et.Spread(zoneKey, 1, softly, et.Match("foo", "bar"))),
			[]string{"n1 matching 0 eligible false", "n2 matching 0 eligible false", "n3 matching 0 eligible false"},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := decide(t, ruleCase{objects: join(nodes, foo("n2", 1), []any{service}), pod: tt.pod})
			var got []string
			for _, c := range d.Spread {
				if c.TopologyKey != hostKey {
					continue
				}
				for _, v := range c.Domains {
					got = append(got, fmt.Sprintf("%s matching %d eligible %v", v.Value, v.Matching, v.Eligible))
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}
