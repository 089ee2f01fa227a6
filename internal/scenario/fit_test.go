package scenario_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"berth/internal/decision"
	"berth/internal/engine"
	"berth/internal/engine/explain"
	"berth/internal/engine/rules"
	"berth/internal/kube/object"
	"berth/internal/scenario"
	"berth/internal/world"
	"berth/test/enginetest"
)

// TestFitEqualsBindingUntilUnschedulable is the second equality: as many replicas fit, on the same
// nodes, as plain decisions bind one after the other.
func TestFitEqualsBindingUntilUnschedulable(t *testing.T) {
	n := uint64(400)
	if testing.Short() {
		n = 100
	}
	counted, spread := 0, 0
	for seed := range n {
		c := enginetest.Generate(seed)
		pod := c.Pod.DeepCopy()
		pod.Name, pod.Spec.NodeName, pod.Spec.SchedulingGates, pod.Status = "asked", "", nil, corev1.PodStatus{}
		pod.Spec.Volumes = slices.DeleteFunc(pod.Spec.Volumes, func(v corev1.Volume) bool { return v.Ephemeral != nil }) // fit makes their claims
		v, profiles := viewOf(t, c.Objects...), profileOf(t, c.Spec)
		got, err := (&scenario.FitQuestion{By: "node", Sensitivity: new(bool), Placements: true}).Count(t.Context(), v, world.Options{Profiles: profiles, Now: noon}, pod, 60)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		want, st := 0, v.State
		nodes := map[string]int{}
		for i := 0; want < 60; i++ {
			p := scenario.ReplicasOf(pod).Pod(i)
			asked, _, err := decision.ResolvePriority(st, p, nil)
			if err != nil {
				break
			}
			r, err := engine.Decide(st, asked, profiles[0], engine.Options{Now: noon, NoPreemption: true})
			if err != nil || r.Outcome != engine.Scheduled {
				if err == nil && got.LimitedBy.Message != explain.Message(r) {
					t.Errorf("seed %d: limited by %q, alone %q", seed, got.LimitedBy.Message, explain.Message(r))
				}
				break
			}
			effects, err := r.Effects()
			if err != nil {
				break
			}
			node := r.Nodes().Node(r.Row)
			e := st.Edit()
			for _, x := range effects.Claims {
				x.UID = object.DerivedUID(object.Key{Kind: "ResourceClaim", Namespace: x.Namespace, Name: x.Name})
				_ = e.Put(x)
			}
			for _, x := range effects.Volumes {
				_ = e.Put(x)
			}
			for _, x := range effects.VolumeClaims {
				_ = e.Put(x)
			}
			bound := object.WithTopology(asked, node.Labels)
			if err := e.Bind(bound, node.Name); err != nil {
				t.Fatal(err)
			}
			nodes[node.Labels[corev1.LabelHostname]]++
			st = e.Done()
			want++
			r.Release()
		}
		if got.Count != want {
			t.Errorf("seed %d: %d fit, alone %d", seed, got.Count, want)
		}
		for _, d := range got.Domains {
			if d.Count != nodes[d.Domain] {
				t.Errorf("seed %d: %d on %q, alone %d", seed, d.Count, d.Domain, nodes[d.Domain])
			}
		}
		if counted += want; want > 0 && len(pod.Spec.TopologySpreadConstraints) > 0 {
			spread++
		}
	}
	if counted < int(n)*3 || spread < int(n)/20 {
		t.Errorf("%d replicas in %d clusters, %d of them spread: this shows little", counted, n, spread)
	}
}

func TestFit(t *testing.T) {
	v := viewOf(t, enginetest.Node("a", enginetest.Zone("z1"), enginetest.Allocatable("cpu", "4", "memory", "8Gi", "pods", "10")),
		enginetest.Node("b", enginetest.Zone("z2"), enginetest.Allocatable("cpu", "2", "memory", "8Gi", "pods", "10")),
		enginetest.Pod("waits", enginetest.Requests("cpu", "9")),
		enginetest.Pod("agent-x", enginetest.Requests("cpu", "1"), enginetest.Owner("apps/v1", "DaemonSet", "agent"), enginetest.On("a")))
	pod := enginetest.Pod("web", enginetest.Requests("cpu", "1000m", "memory", "1Gi"), enginetest.Gate("later"))
	ask := func(most int) *scenario.Fit {
		got, err := (&scenario.FitQuestion{By: "zone"}).Count(t.Context(), v, world.Options{Profiles: profileOf(t, rules.DefaultSpec()), Now: noon}, pod, most)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	got := ask(100)
	if got.Count != 5 || got.More || got.Nodes != 2 || got.Waiting != 1 || !slices.Equal(got.Domains, []scenario.FitDomain{{Domain: "z1", Nodes: 1, Count: 3}, {Domain: "z2", Nodes: 1, Count: 2}}) {
		t.Errorf("%+v", got)
	}
	if l := got.LimitedBy; l == nil || l.Message != "0/2 nodes are available: 2 Insufficient cpu." || len(l.Groups) != 1 || l.Groups[0].Reason != "InsufficientCPU" {
		t.Errorf("%+v", got.LimitedBy)
	}
	// The copy of a has 4 cpu less its daemon pod; with 900m there is room for 3 and 2.
	if want := []scenario.Sensitivity{{Change: "one more node like a", Count: 8, Gain: 3}, {Change: "10 % less cpu", Count: 5}, {Change: "10 % less memory", Count: 5}}; !slices.Equal(got.Sensitivity, want) {
		t.Errorf("%+v", got.Sensitivity)
	}
	if len(got.Notes) != 1 || !strings.Contains(got.Notes[0], "gates") || ask(100).Digest != got.Digest {
		t.Errorf("%q, digests %s and %s", got.Notes, got.Digest, ask(100).Digest)
	}
	// The copy of a is another one beside a copy that the edits made.
	edited, err := editor().Apply(t.Context(), v, "edits", &scenario.Edits{AddNodes: []scenario.AddNodes{{Like: "b"}}})
	if err != nil {
		t.Fatal(err)
	}
	on := enginetest.Pod("on", enginetest.Requests("cpu", "1"), enginetest.Selects(corev1.LabelTopologyZone, "z2"))
	more, err := (&scenario.FitQuestion{}).Count(t.Context(), edited.View, world.Options{Profiles: profileOf(t, rules.DefaultSpec()), Now: noon}, on, 100)
	if err != nil || more.Count != 4 || more.Sensitivity[0] != (scenario.Sensitivity{Change: "one more node like b", Count: 6, Gain: 2}) {
		t.Errorf("%+v: %v", more, err)
	}
	if got := ask(2); got.Count != 2 || !got.More || got.LimitedBy != nil || got.Sensitivity != nil {
		t.Errorf("%+v", got)
	}
}

// TestFitMakesClaims: each replica gets the claims of its ephemeral volumes, of the newest default
// class where they name none.
func TestFitMakesClaims(t *testing.T) {
	class := func(name string, late, isDefault bool, day int) *storagev1.StorageClass {
		mode := storagev1.VolumeBindingImmediate
		if late {
			mode = storagev1.VolumeBindingWaitForFirstConsumer
		}
		c := &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: name, CreationTimestamp: metav1.Date(2026, 1, day, 0, 0, 0, 0, time.UTC)}, Provisioner: "disk.example", VolumeBindingMode: &mode}
		if isDefault {
			c.Annotations = map[string]string{"storageclass.kubernetes.io/is-default-class": "true"}
		}
		return c
	}
	pod := enginetest.Pod("p", enginetest.Requests("cpu", "1"))
	pod.Spec.Volumes = []corev1.Volume{{Name: "d", VolumeSource: corev1.VolumeSource{Ephemeral: &corev1.EphemeralVolumeSource{VolumeClaimTemplate: &corev1.PersistentVolumeClaimTemplate{
		Spec: corev1.PersistentVolumeClaimSpec{AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}},
	}}}}}
	for _, c := range []struct {
		classes []any
		want    int
	}{
		{[]any{class("late", true, true, 1)}, 4},
		{[]any{class("late", true, false, 1)}, 0},
		{[]any{class("early", false, true, 1), class("late", true, true, 2)}, 4},
		{[]any{class("early", false, true, 2), class("late", true, true, 1)}, 0},
		{[]any{class("z", false, true, 1), class("a", true, true, 1)}, 4},
	} {
		v := viewOf(t, append(c.classes, enginetest.Node("n", enginetest.Allocatable("cpu", "4")))...)
		out, err := (&scenario.FitQuestion{}).Count(t.Context(), v, world.Options{Profiles: profileOf(t, rules.DefaultSpec()), Now: noon}, pod, 9)
		if err != nil {
			t.Fatal(err)
		}
		if out.Count != c.want {
			t.Errorf("%d classes: %d fit, want %d: %+v", len(c.classes), out.Count, c.want, out.LimitedBy)
		}
	}
}
