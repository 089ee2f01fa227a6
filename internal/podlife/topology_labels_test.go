package podlife

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTopologyLabelsOnCreate(t *testing.T) {
	nodes := func(name string) map[string]string {
		return map[string]map[string]string{
			"n1": {"topology.kubernetes.io/zone": "z1", "topology.kubernetes.io/region": "r1", "kubernetes.io/hostname": "n1"},
			"n2": {"topology.kubernetes.io/zone": ""},
			"n3": {"disk": "ssd"},
		}[name]
	}
	for _, c := range []struct {
		name, node string
		has, want  map[string]string
	}{
		{"both", "n1", nil, map[string]string{"topology.kubernetes.io/zone": "z1", "topology.kubernetes.io/region": "r1"}},
		{"in place of its own", "n1", map[string]string{"topology.kubernetes.io/zone": "mine", "app": "a"}, map[string]string{"topology.kubernetes.io/zone": "z1", "topology.kubernetes.io/region": "r1", "app": "a"}},
		{"an empty value", "n2", nil, map[string]string{"topology.kubernetes.io/zone": ""}},
		{"a node without any", "n3", map[string]string{"app": "a"}, map[string]string{"app": "a"}},
		{"an unknown node", "n4", nil, nil},
		{"no node", "", map[string]string{"topology.kubernetes.io/zone": "mine"}, map[string]string{"topology.kubernetes.io/zone": "mine"}},
	} {
		p := pod(t, ``)
		p.ResourceVersion, p.Labels, p.Spec.NodeName = "", c.has, c.node
		v := Create(p, nil, nodes, now)
		want(t, c.name, v)
		if d := cmp.Diff(c.want, v.Pod.Labels); d != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, d)
		}
	}
}

// TestTopologyLabelsBeforeLabelKeys: matchLabelKeys take the node's value, since
// admission is before the strategy.
func TestTopologyLabelsBeforeLabelKeys(t *testing.T) {
	p := pod(t, `"nodeName":"n1","topologySpreadConstraints":[{"maxSkew":1,"topologyKey":"x","whenUnsatisfiable":"DoNotSchedule","labelSelector":{},"matchLabelKeys":["topology.kubernetes.io/zone"]}],`)
	p.ResourceVersion = ""
	v := Create(p, nil, func(string) map[string]string { return map[string]string{"topology.kubernetes.io/zone": "z1"} }, now)
	want(t, "create", v)
	if e := v.Pod.Spec.TopologySpreadConstraints[0].LabelSelector.MatchExpressions; len(e) != 1 || e[0].Values[0] != "z1" {
		t.Errorf("%+v", e)
	}
}
