package object

import (
	"maps"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestWithTopology(t *testing.T) {
	const zone, region = "topology.kubernetes.io/zone", "topology.kubernetes.io/region"
	for name, c := range map[string]struct{ pod, node, want map[string]string }{
		"node without a zone":      {map[string]string{"app": "web"}, map[string]string{"kubernetes.io/hostname": "n1"}, map[string]string{"app": "web"}},
		"pod without labels":       {nil, map[string]string{zone: "a", region: "r"}, map[string]string{zone: "a", region: "r"}},
		"the pod's own is lost":    {map[string]string{zone: "b", "app": "web"}, map[string]string{zone: "a"}, map[string]string{zone: "a", "app": "web"}},
		"an empty value is copied": {map[string]string{zone: "b"}, map[string]string{zone: ""}, map[string]string{zone: ""}},
		"other labels stay behind": {nil, map[string]string{zone: "a", "failure-domain.beta.kubernetes.io/zone": "a"}, map[string]string{zone: "a"}},
		"the same again":           {map[string]string{zone: "a"}, map[string]string{zone: "a"}, map[string]string{zone: "a"}},
	} {
		before := maps.Clone(c.pod)
		in := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Labels: c.pod}}
		got := WithTopology(in, c.node)
		if !maps.Equal(got.Labels, c.want) {
			t.Errorf("%s: labels are %v, not %v", name, got.Labels, c.want)
		}
		if !maps.Equal(in.Labels, before) {
			t.Errorf("%s: the argument was written: %v", name, in.Labels)
		}
		if same := maps.Equal(before, c.want); same != (got == in) {
			t.Errorf("%s: a copy was made: %t, a change: %t", name, got != in, !same)
		}
	}
}
