package rules_test

import (
	"testing"

	"berth/internal/engine/rules"
	et "berth/test/enginetest"
)

func TestNodeName(t *testing.T) {
	nodes := list(et.Node("a"), et.Node("b"))
	check(t, "NodeName", []ruleCase{
		{name: "spec.nodeName leaves one node", objects: nodes, pod: et.Pod("p", et.On("a")), want: map[string]string{"a": "ok", "b": rules.ReasonNodeName + "!"}},
		{
			name: "a name that nobody has leaves none", objects: nodes, pod: et.Pod("p", et.On("c")),
			want:    map[string]string{"a": rules.ReasonNodeName + "!", "b": rules.ReasonNodeName + "!"},
			message: "0/2 nodes are available: 2 node(s) didn't match the requested node name.",
		},
	})
}
