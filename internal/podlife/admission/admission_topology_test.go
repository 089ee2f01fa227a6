package admission

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// TestTopologyBeforeLabelKeys: matchLabelKeys take the node's value, since
// admission comes before the strategy, and a pod without a node takes nothing.
func TestTopologyBeforeLabelKeys(t *testing.T) {
	const zone = "topology.kubernetes.io/zone"
	topology := func(p *corev1.Pod) *corev1.Pod {
		q := *p
		q.Labels = map[string]string{zone: "z1"}
		return &q
	}
	const spread = `"topologySpreadConstraints":[{"maxSkew":1,"topologyKey":"x","whenUnsatisfiable":"DoNotSchedule","labelSelector":{},"matchLabelKeys":["` + zone + `"]}],`
	for _, c := range []struct {
		spec string
		want int
	}{{`"nodeName":"n1",`, 1}, {"", 0}} {
		p := pod(t, c.spec+spread)
		p.ResourceVersion = ""
		v := Create(p, Admission{Topology: topology}, now)
		want(t, "create", v)
		e := v.Pod.Spec.TopologySpreadConstraints[0].LabelSelector.MatchExpressions
		if len(e) != c.want || len(e) != len(v.Pod.Labels) || len(e) == 1 && e[0].Values[0] != "z1" {
			t.Errorf("%s: labels %v, expressions %+v", c.spec, v.Pod.Labels, e)
		}
	}
}
