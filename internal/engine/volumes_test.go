package engine_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"berth/internal/engine"
	"berth/internal/engine/explain/digest"
	"berth/internal/engine/recall"
	"berth/internal/engine/rules"
	"berth/internal/engine/state"
	"berth/test/enginetest"
)

// TestVolumesComeAndGo asks again after each change to volumes and nodes: what
// was derived from the state before must not show, and states of before stay as
// they were.
func TestVolumesComeAndGo(t *testing.T) {
	p, err := rules.Build(rules.DefaultSpec())
	if err != nil {
		t.Fatal(err)
	}
	pod := enginetest.Pod("p", enginetest.Mounts("c"))
	volume := func(node, size string) *corev1.PersistentVolume {
		return enginetest.Volume("v", "local", size, enginetest.ReachableFrom(corev1.LabelHostname, node))
	}
	s := enginetest.Fresh(t, enginetest.Node("n1"), enginetest.Node("n2"), enginetest.Class("local", "kubernetes.io/no-provisioner"), enginetest.Claim("c", "local", "2Gi"))
	d := recall.NewDecider(0)
	type answered struct {
		s    *state.State
		want string
	}
	var before []answered
	ask := func(s *state.State) string {
		t.Helper()
		plain, err := engine.Decide(s, pod, p, engine.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer plain.Release()
		kept, err := d.Decide(s, pod, p, engine.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer kept.Release()
		if digest.Of(plain) != digest.Of(kept) {
			t.Errorf("a Decider says %q, Decide %q", kept.Node(), plain.Node())
		}
		return plain.Node()
	}
	for _, step := range []struct {
		put    any
		remove bool
		want   string
	}{
		{nil, false, ""},
		{volume("n1", "2Gi"), false, "n1"},
		{volume("n2", "2Gi"), false, "n2"},
		{volume("n2", "1Gi"), false, ""},
		{volume("n3", "3Gi"), false, ""},
		{enginetest.Node("n3"), false, "n3"},
		{enginetest.Claim("c", "local", "4Gi"), false, ""},
		{enginetest.Claim("c", "local", "3Gi"), false, "n3"},
		{volume("n3", "3Gi"), true, ""},
	} {
		e := s.Edit()
		switch {
		case step.remove:
			e.Delete("PersistentVolume", "", "v")
		case step.put != nil:
			if err := e.Put(step.put); err != nil {
				t.Fatal(err)
			}
		}
		s = e.Done()
		if got := ask(s); got != step.want {
			t.Errorf("after step %d: on %q, want %q", len(before), got, step.want)
		}
		before = append(before, answered{s, step.want})
	}
	for i, b := range before {
		if got := ask(b.s); got != b.want {
			t.Errorf("state %d says %q now, it said %q", i, got, b.want)
		}
	}
}
