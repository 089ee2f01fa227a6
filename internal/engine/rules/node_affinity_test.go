package rules_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"berth/internal/engine"
	"berth/internal/engine/rules"
	et "berth/test/enginetest"
)

const (
	opIn     = corev1.NodeSelectorOpIn
	opNotIn  = corev1.NodeSelectorOpNotIn
	opExists = corev1.NodeSelectorOpExists
	opAbsent = corev1.NodeSelectorOpDoesNotExist
	opGt     = corev1.NodeSelectorOpGt
	opLt     = corev1.NodeSelectorOpLt
)

func exprs(list ...corev1.NodeSelectorRequirement) corev1.NodeSelectorTerm {
	return corev1.NodeSelectorTerm{MatchExpressions: list}
}

func TestNodeAffinity(t *testing.T) {
	no := rules.ReasonAffinity + "!"
	cores := list(et.Node("four", et.NodeLabels("cores", "4")), et.Node("ten", et.NodeLabels("cores", "10")), et.Node("many", et.NodeLabels("cores", "many")), et.Node("unknown"))
	named := func(names ...string) corev1.NodeSelectorTerm {
		return et.FieldTerm(et.Expr("metadata.name", opIn, names...))
	}
	abc := list(et.Node("a"), et.Node("b"), et.Node("c"))
	left := "node(s) didn't satisfy plugin(s) [NodeAffinity]!"
	enforced := rules.DefaultSpec()
	enforced.Args.NodeAffinity.AddedAffinity = &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{
		NodeSelectorTerms: []corev1.NodeSelectorTerm{exprs(et.Expr("cores", opExists))},
	}}
	check(t, "NodeAffinity", []ruleCase{
		{name: "nodeSelector compares whole values", objects: cores, pod: et.Pod("p", et.Selects("cores", "4")), want: map[string]string{"four": "ok", "ten": no, "many": no, "unknown": no}},
		{name: "Gt compares integers, not strings; other values match nothing", objects: cores, pod: et.Pod("p", et.RequireNodes(exprs(et.Expr("cores", opGt, "5")))), want: map[string]string{"four": no, "ten": "ok", "many": no, "unknown": no}},
		{name: "Lt is strict", objects: cores, pod: et.Pod("p", et.RequireNodes(exprs(et.Expr("cores", opLt, "10")))), want: map[string]string{"four": "ok", "ten": no, "many": no, "unknown": no}},
		{name: "NotIn and DoesNotExist match nodes without the label", objects: cores, pod: et.Pod("p", et.RequireNodes(exprs(et.Expr("cores", opNotIn, "4", "10")), exprs(et.Expr("cores", opAbsent)))), want: map[string]string{"four": no, "ten": no, "many": "ok", "unknown": "ok"}},
		{name: "terms are alternatives, expressions must all hold", objects: cores, pod: et.Pod("p", et.RequireNodes(exprs(et.Expr("cores", opExists), et.Expr("cores", opGt, "5")), exprs(et.Expr("cores", opIn, "many")))), want: map[string]string{"four": no, "ten": "ok", "many": "ok", "unknown": no}},
		{name: "an empty term selects nobody", objects: cores, pod: et.Pod("p", et.RequireNodes(exprs())), want: map[string]string{"four": no, "ten": no, "many": no, "unknown": no}},
		{name: "a required term that does not parse is as if it were not there", objects: cores, pod: et.Pod("p", et.RequireNodes(exprs(et.Expr("cores", opGt, "x")), exprs(et.Expr("cores", opIn, "4")))), want: map[string]string{"four": "ok", "ten": no, "many": no, "unknown": no}},
		{
			name: "metadata.name In in every term narrows before all filters", objects: append(abc, et.Node("d", et.Cordoned())), pod: et.Pod("p", et.RequireNodes(named("a"),
				named("b"))),
			want: map[string]string{"a": "ok", "b": "ok", "c": left, "d": left},
		},
		{
			name: "one term without a name: no narrowing", objects: append(abc, et.Node("d", et.Cordoned())), pod: et.Pod("p", et.RequireNodes(named("a"), exprs(et.Expr("x", opExists)))),
			want: map[string]string{"a": "ok", "b": no, "c": no, "d": rules.ReasonUnschedulable + "!"},
		},
		{
			name: "names that contradict each other within all terms reject the pod", objects: abc,
			pod:     et.Pod("p", et.RequireNodes(et.FieldTerm(et.Expr("metadata.name", opIn, "a"), et.Expr("metadata.name", opIn, "b")))),
			want:    map[string]string{"a": "pod affinity terms conflict!", "b": "pod affinity terms conflict!", "c": "pod affinity terms conflict!"},
			message: "0/3 nodes are available: pod affinity terms conflict.",
		},
		{
			name: "names that no node bears leave none", objects: abc, pod: et.Pod("p", et.RequireNodes(named("gone"))),
			want: map[string]string{"a": left, "b": left, "c": left}, message: "0/3 nodes are available: 3 node(s) didn't satisfy plugin(s) [NodeAffinity].",
		},
		{
			name: "a nominated node that is narrowed out keeps its own failure, and its plugin leaks into the text", objects: append(abc, et.Node("d", et.Cordoned())),
			pod: et.Pod("p", et.RequireNodes(named("gone")), et.NominatedTo("d")),
			want: map[string]string{
				"a": "node(s) didn't satisfy plugin(s) [NodeAffinity NodeUnschedulable]!", "b": "node(s) didn't satisfy plugin(s) [NodeAffinity NodeUnschedulable]!",
				"c": "node(s) didn't satisfy plugin(s) [NodeAffinity NodeUnschedulable]!", "d": rules.ReasonUnschedulable + "!",
			},
		},
		{name: "the profile's added affinity has words of its own", objects: cores, spec: &enforced, pod: et.Pod("p", et.Selects("cores", "4")), want: map[string]string{"four": "ok", "ten": no, "many": no, "unknown": rules.ReasonEnforcedAffinity + "!"}},
		{
			name: "preferences add up their weights and are scaled to the best", objects: cores,
			pod:    et.Pod("p", et.PreferNodes(30, exprs(et.Expr("cores", opExists))), et.PreferNodes(15, exprs(et.Expr("cores", opGt, "5"))), et.PreferNodes(99, exprs())),
			scores: map[string]string{"four": "30/66", "ten": "45/100", "many": "30/66", "unknown": "0/0"},
		},
		{name: "preferences that nobody meets give 0, not 100", objects: cores, pod: et.Pod("p", et.PreferNodes(30, exprs(et.Expr("x", opExists)))), scores: map[string]string{"four": "0/0", "ten": "0/0", "many": "0/0", "unknown": "0/0"}},
	})
}

// TestScoresWithoutPreScore: a rule that scores nothing is left out by its PreScore; where that is
// off, kube-scheduler asks it about every node, and it says 0.
func TestScoresWithoutPreScore(t *testing.T) {
	off := rules.DefaultSpec()
	off.Score = slices.Clone(off.Score)
	off.Score[slices.IndexFunc(off.Score, func(e rules.Enabled) bool { return e.Name == "NodeAffinity" })].NoPreScore = true
	nodes := list(et.Node("a"), et.Node("b"))
	check(t, "NodeAffinity", []ruleCase{
		{name: "on", objects: nodes, pod: et.Pod("p"), scores: map[string]string{}},
		{name: "off", objects: nodes, spec: &off, pod: et.Pod("p"), scores: map[string]string{"a": "0/0", "b": "0/0"}},
	})
}

func TestPreferredTermThatDoesNotParseFailsTheDecision(t *testing.T) {
	c := et.Case{Objects: list(et.Node("a"), et.Node("b")), Spec: rules.DefaultSpec(), Pod: et.Pod("p", et.PreferNodes(1, exprs(et.Expr("cores", opGt, "x"))))}
	if d, err := c.Decide(); err == nil {
		t.Errorf("got %+v, want an error", d)
	}
}

func TestNodeAffinityDetailsInWords(t *testing.T) {
	pod := et.Pod("p", et.Selects("disk", "ssd"), et.RequireNodes(exprs(et.Expr("cores", opGt, "5"), et.Expr("zone", opIn, "z1", "z2"))))
	d := decide(t, ruleCase{objects: list(et.Node("n", et.NodeLabels("disk", "hdd"))), pod: pod})
	want := []engine.Detail{
		{Kind: "nodeAffinity", Name: "nodeSelector", Key: "disk", Value: "hdd", Term: "disk=ssd"},
		{Kind: "nodeAffinity", Name: "requiredDuringSchedulingIgnoredDuringExecution", Term: "cores Gt 5 and zone In z1,z2"},
	}
	if diff := cmp.Diff(want, details(t, d, "n")); diff != "" {
		t.Errorf("details (-want +got):\n%s", diff)
	}
}
