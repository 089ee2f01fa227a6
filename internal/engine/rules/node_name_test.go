package rules_test

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"berth/internal/engine/rules"
	"berth/internal/semantics"
	et "berth/test/enginetest"
)

func TestNodeName(t *testing.T) {
	nodes := list(et.Node("a"), et.Node("b"))
	narrows := func(r *semantics.Release) { r.NodePreFilters = true }
	left := func(plugins string) string { return "node(s) didn't satisfy plugin(s) [" + plugins + "]!" }
	named := func(node string) corev1.NodeSelectorTerm {
		return et.FieldTerm(et.Expr("metadata.name", corev1.NodeSelectorOpIn, node))
	}
	elsewhere := et.Pod("p", et.On("a"), et.RequireNodes(named("b")))
	either := et.Pod("p", et.On("a"), et.RequireNodes(named("a"), named("b")))
	check(t, "NodeName", []ruleCase{
		{name: "spec.nodeName leaves one node", objects: nodes, pod: et.Pod("p", et.On("a")), want: map[string]string{"a": "ok", "b": rules.ReasonNodeName + "!"}},
		{
			name: "a name that nobody has leaves none", objects: nodes, pod: et.Pod("p", et.On("c")),
			want:    map[string]string{"a": rules.ReasonNodeName + "!", "b": rules.ReasonNodeName + "!"},
			message: "0/2 nodes are available: 2 node(s) didn't match the requested node name.",
		},
		{
			name: "its PreFilter leaves the others out", objects: nodes, pod: et.Pod("p", et.On("a")), under: narrows,
			want: map[string]string{"a": "ok", "b": left("NodeName")},
		},
		{
			name: "and all, where nobody has the name", objects: nodes, pod: et.Pod("p", et.On("c")), under: narrows,
			want:    map[string]string{"a": left("NodeName"), "b": left("NodeName")},
			message: "0/2 nodes are available: 2 node(s) didn't satisfy plugin(s) [NodeName].",
		},
		{
			name: "two plugins that leave the same node are both named", objects: nodes, pod: either, under: narrows,
			want: map[string]string{"a": "ok", "b": left("NodeAffinity NodeName")},
		},
		{
			name: "two that leave none in common reject all", objects: nodes, pod: elsewhere, under: narrows,
			message: "0/2 nodes are available: node(s) didn't satisfy plugin(s) [NodeAffinity NodeName] simultaneously.",
		},
		{
			name: "pods without a name go anywhere", objects: nodes, pod: et.Pod("p"), under: narrows,
			want: map[string]string{"a": "ok", "b": "ok"},
		},
	})
}

// TestNodeNameBeforeOthers: a cordoned node of another name is refused by the plugin that the
// release has first. Where NodeName's PreFilter is on, such a node comes to neither.
func TestNodeNameBeforeOthers(t *testing.T) {
	swapped := func(r *semantics.Release) {
		r.Plugins = slices.Clone(r.Plugins)
		i := slices.Index(r.Plugins, "NodeUnschedulable")
		r.Plugins[i], r.Plugins[i+1] = r.Plugins[i+1], r.Plugins[i]
	}
	check(t, "NodeName", []ruleCase{
		{
			name: "NodeUnschedulable first", objects: list(et.Node("b", et.Cordoned())), pod: et.Pod("p", et.On("a")),
			want: map[string]string{"b": rules.ReasonUnschedulable + "!"},
		},
		{
			name: "NodeName first", objects: list(et.Node("b", et.Cordoned())), pod: et.Pod("p", et.On("a")), under: swapped,
			want: map[string]string{"b": rules.ReasonNodeName + "!"},
		},
	})
}
