package scenario_test

import (
	"encoding/json"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"berth/internal/decision/admit"
	"berth/internal/engine"
	"berth/internal/engine/rules"
	"berth/internal/kube/object"
	"berth/internal/scenario"
	"berth/internal/world"
	"berth/test/enginetest"
)

func editor() *scenario.Editor {
	return &scenario.Editor{MaxNodes: 10, Read: func(_ string, raw json.RawMessage) (object.Object, error) {
		return object.Decode(raw, object.Limits{})
	}}
}

func TestEdits(t *testing.T) {
	daemon := enginetest.Pod("agent-x7", enginetest.Requests("cpu", "1"), enginetest.Owner("apps/v1", "DaemonSet", "agent"), enginetest.On("a"))
	v := viewOf(
		t, enginetest.Node("a", enginetest.Zone("z1"), enginetest.Cordoned(), enginetest.Allocatable("cpu", "4"), enginetest.Taint(corev1.TaintNodeNotReady, "", corev1.TaintEffectNoSchedule), enginetest.Taint("team", "x", corev1.TaintEffectNoExecute)),
		enginetest.Node("b", enginetest.Zone("z2")), enginetest.Pod("web", enginetest.On("b")), daemon,
		&storagev1.CSINode{ObjectMeta: metav1.ObjectMeta{Name: "b"}}, &storagev1.CSINode{ObjectMeta: metav1.ObjectMeta{Name: "a"}, Spec: storagev1.CSINodeSpec{Drivers: []storagev1.CSINodeDriver{{Name: "csi", NodeID: "a"}}}},
	)
	out, err := editor().Apply(t.Context(), v, "edits", &scenario.Edits{
		RemoveNodes: &scenario.NodeSelection{Selector: corev1.LabelTopologyZone + "=z2"},
		Patch:       []admit.Patch{{Kind: "Node", Name: "a", Type: "merge", Patch: json.RawMessage(`{"metadata":{"labels":{"pool":"p"}}}`)}},
		AddNodes: []scenario.AddNodes{
			{Like: "a", Count: new(2)},
			{Template: json.RawMessage(`{"metadata":{"name":"t","labels":{"pool":"p"}},"status":{"allocatable":{"cpu":"2","pods":"10"}}}`)},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	st := out.View.State
	if n := st.Nodes().Count(); n != 4 || st.Pod("default", "web") != nil || st.CSINode("b") != nil || len(out.Gone) != 1 || out.Gone[0].Name != "web" {
		t.Errorf("%d nodes, gone %v", n, out.Gone)
	}
	if v.State.Nodes().Count() != 2 || v.State.Pod("default", "web") == nil {
		t.Error("the base has changed")
	}
	n := st.Nodes().Node(st.Nodes().Row("a-copy-2"))
	if n.Labels[corev1.LabelHostname] != "a-copy-2" || n.Labels["pool"] != "p" || n.Unschedulable || len(n.Taints) != 1 || n.Taints[0].Key != "team" {
		t.Errorf("%+v", n)
	}
	if c := st.CSINode("a-copy-1"); c == nil || c.Spec.Drivers[0].NodeID != "a-copy-1" {
		t.Errorf("%+v", c)
	}
	if items, _, err := out.View.List(t.Context(), "Node", object.Key{}, 0); err != nil || len(items) != 4 {
		t.Errorf("%d nodes are listed: %v", len(items), err)
	}
	// The daemon pods go to their own new nodes, whose taints the first one does not tolerate.
	f := world.NewFork(out.View, world.Options{Profiles: profileOf(t, rules.DefaultSpec()), Now: noon})
	if len(out.Daemons) != 2 {
		t.Fatalf("%d daemon pods", len(out.Daemons))
	}
	out.Daemons[1].Pod.Spec.Tolerations = []corev1.Toleration{{Key: "team", Operator: corev1.TolerationOpExists}}
	got, err := f.Run(t.Context(), out.Daemons, world.Limits{}, func(at *world.Attempt) error {
		if at.Outcome == engine.Scheduled && at.Node != "a-copy-2" {
			t.Errorf("%s on %s", at.Pod.Name, at.Node)
		}
		return nil
	})
	if err != nil || got.Placed != 1 || len(got.Waiting) != 1 {
		t.Errorf("%+v: %v", got, err)
	}
}

// TestCopyOfCopied adds further copies of a node, beside those that there are.
func TestCopyOfCopied(t *testing.T) {
	v := viewOf(t, enginetest.Node("a"), enginetest.Node("a-copy-2"))
	out, err := editor().Apply(t.Context(), v, "edits", &scenario.Edits{AddNodes: []scenario.AddNodes{{Like: "a"}, {Like: "a", Count: new(2)}}})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a-copy-1", "a-copy-2", "a-copy-3", "a-copy-4"} {
		if out.View.State.Nodes().Row(name) < 0 {
			t.Errorf("no node %s", name)
		}
	}
}

func TestBadEdits(t *testing.T) {
	v := viewOf(t, enginetest.Node("a"), enginetest.Node("t"))
	for want, e := range map[string]scenario.Edits{
		`edits.removeNodes.names[0]: prod@1 has no node "c"`:                   {RemoveNodes: &scenario.NodeSelection{Names: []string{"c"}}},
		`edits.removeNodes.selector: "x=y" matches no node of prod@1`:          {RemoveNodes: &scenario.NodeSelection{Selector: "x=y"}},
		`edits.removeNodes.selector: it must not hold a NUL`:                   {RemoveNodes: &scenario.NodeSelection{Selector: "x=y\x00,z"}},
		`edits.removeNodes.selector: no label selector such as pool=batch`:     {RemoveNodes: &scenario.NodeSelection{Selector: "x in"}},
		`edits.removeNodes: want either names or a selector`:                   {RemoveNodes: &scenario.NodeSelection{}},
		`edits.addNodes[0].like: prod@1 has no node "c"`:                       {AddNodes: []scenario.AddNodes{{Like: "c"}}},
		`edits.addNodes[0].count: want 1 to 10 nodes in all`:                   {AddNodes: []scenario.AddNodes{{Like: "a", Count: new(int)}}},
		`edits.addNodes[0]: want like, a template or resources`:                {AddNodes: []scenario.AddNodes{{}}},
		`edits.addNodes[1]: want like, a template or resources`:                {AddNodes: []scenario.AddNodes{{Like: "a"}, {Template: json.RawMessage(`null`)}}},
		`edits.addNodes[1].count: want 1 to 10 nodes in all`:                   {AddNodes: []scenario.AddNodes{{Like: "a", Count: new(5)}, {Like: "a", Count: new(6)}}},
		`edits.addNodes[0].template.kind: want Node, not Namespace`:            {AddNodes: []scenario.AddNodes{{Template: json.RawMessage(`{"kind":"Namespace","apiVersion":"v1","metadata":{"name":"t"}}`)}}},
		`edits.delete[0]: Pod default/x is not in prod@1`:                      {Delete: []admit.Deletion{{Kind: "Pod", Name: "x"}}},
		`edits.patch[0].type: "odd" is none of merge, json and strategic`:      {Patch: []admit.Patch{{Kind: "Node", Name: "a", Type: "odd", Patch: json.RawMessage(`{}`)}}},
		`status.allocatable.cpu: Invalid value: "-1": must be greater than or`: {AddNodes: []scenario.AddNodes{{Template: json.RawMessage(`{"metadata":{"name":"u"},"status":{"allocatable":{"cpu":"-1"}}}`)}}},
	} {
		_, err := editor().Apply(t.Context(), v, "edits", &e)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}
