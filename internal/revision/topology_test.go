package revision

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// TestBindCopiesTopology holds a bind to the labels that an apiserver copies
// from the node, also after a restart.
func TestBindCopiesTopology(t *testing.T) {
	dir := t.TempDir()
	h := open(t, dir, Options{})
	upload(t, h, node(t, "n1", 4), pod(t, "held", ""))
	for _, name := range []string{"held", "fresh"} {
		_, _, err := h.Update(t.Context(), "prod", 0, func(*View) (*Step, error) {
			return &Step{Bind: &Bind{Pod: pod(t, name, "").Value.(*corev1.Pod), Node: "n1"}}, nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	check := func(v *View) {
		t.Helper()
		for _, name := range []string{"held", "fresh"} {
			p, err := v.Pod("d", name)
			if err != nil {
				t.Fatal(err)
			}
			if p.Spec.NodeName != "n1" || p.Labels["topology.kubernetes.io/zone"] != "z2" || p.Labels["app"] != name {
				t.Errorf("%s is on %q with labels %v", name, p.Spec.NodeName, p.Labels)
			}
		}
	}
	v, err := h.View(t.Context(), "prod", 0)
	if err != nil {
		t.Fatal(err)
	}
	check(v)
	h.end()
	again, err := open(t, dir, Options{}).View(t.Context(), "prod", 0)
	if err != nil {
		t.Fatal(err)
	}
	check(again)
}
