package suggest_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"berth/internal/engine"
	"berth/internal/engine/explain/suggest"
	"berth/internal/engine/rules"
	"berth/test/enginetest"
)

// pinned is a pod whose volume can be used in zone b only, in a cluster whose zone a is
// short of cpu and whose zone b is short of cpu and memory.
func pinned() (*corev1.Pod, []any) {
	pv := &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: "pv-3"}, Spec: corev1.PersistentVolumeSpec{
		NodeAffinity: &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
			MatchExpressions: []corev1.NodeSelectorRequirement{{Key: corev1.LabelTopologyZone, Operator: corev1.NodeSelectorOpIn, Values: []string{"b"}}},
		}}}},
	}}
	claim := &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "data-pg-3", Annotations: map[string]string{"pv.kubernetes.io/bind-completed": "yes"}},
		Spec:       corev1.PersistentVolumeClaimSpec{VolumeName: "pv-3"}, Status: corev1.PersistentVolumeClaimStatus{Phase: corev1.ClaimBound},
	}
	pod := enginetest.Pod("pg-3", enginetest.Requests("cpu", "6", "memory", "16Gi"))
	pod.Spec.Volumes = []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "data-pg-3"}}}}
	return pod, []any{
		pv, claim,
		enginetest.Node("db-a-1", enginetest.Zone("a"), enginetest.Allocatable("cpu", "8", "memory", "32Gi")),
		enginetest.Node("db-b-1", enginetest.Zone("b"), enginetest.Allocatable("cpu", "8", "memory", "32Gi")),
		enginetest.Pod("pg-0", enginetest.On("db-a-1"), enginetest.Requests("cpu", "6", "memory", "4Gi")),
		enginetest.Pod("pg-1", enginetest.On("db-b-1"), enginetest.Requests("cpu", "6", "memory", "24Gi")),
		&storagev1.CSINode{ObjectMeta: metav1.ObjectMeta{Name: "db-b-1"}, Spec: storagev1.CSINodeSpec{Drivers: []storagev1.CSINodeDriver{{Name: "ebs.csi.aws.com", NodeID: "i-1"}}}},
	}
}

// TestTheVolumeBehindTheCPUIsTold: cpu is short on the node in zone a, where the volume
// can never be used. Freeing cpu there would be in vain.
func TestTheVolumeBehindTheCPUIsTold(t *testing.T) {
	pod, objects := pinned()
	c := ready(t, &enginetest.Case{Objects: objects, Pod: pod, Spec: rules.DefaultSpec()})
	groups, _, _, ok := c.advise()
	if !ok {
		t.Fatal("it cannot be judged")
	}
	i := slices.IndexFunc(groups, func(g suggest.Group) bool { return slices.Contains(g.Sample, "db-a-1") })
	want := []suggest.AlsoFailing{{Rule: "VolumeBinding", Reason: engine.CauseVolumeElsewhere, Message: rules.ReasonVolumeAffinity, Nodes: 1}}
	if i < 0 || groups[i].Rule != "NodeResourcesFit" || cmp.Diff(want, groups[i].AlsoFailing) != "" {
		t.Errorf("groups %+v, want one of NodeResourcesFit with %+v", groups, want)
	}
}

// TestTwoResourcesAtOnce: no single change helps, two do, and so does one more node where
// the volume is.
func TestTwoResourcesAtOnce(t *testing.T) {
	pod, objects := pinned()
	want := []string{
		"pair: lower the cpu request of container main from 6 to 2 and the memory request of container main from 16Gi to 8Gi (changePod)",
		"node: add one more node like db-b-1 (askPlatform)",
		"pair: 4 more cpu and 8Gi more memory on node db-b-1 (askPlatform)",
	}
	if d := cmp.Diff(want, offered(t, pod, objects...)); d != "" {
		t.Error(d)
	}
	c := ready(t, &enginetest.Case{Objects: objects, Pod: pod, Spec: rules.DefaultSpec()})
	_, list, _, _ := c.advise()
	for _, g := range list {
		if g.Kind == "node" && (g.Like != "db-b-1" || len(g.Edits) != 2 || g.Edits[1].Kind != "CSINode" || g.Nodes[0] != "db-b-1-new") {
			t.Errorf("one more node: %+v", g)
		}
	}
}

// TestATolerationByWhichItEvicts: the nodes with devices are full of pods that may be
// evicted, and tainted.
func TestATolerationByWhichItEvicts(t *testing.T) {
	low, high := int32(0), int32(100)
	busy := enginetest.Pod("train-1", enginetest.On("gpu-1"), enginetest.Requests("example.com/gpu", "1"))
	busy.Spec.Priority = &low
	pod := enginetest.Pod("train-2", enginetest.Requests("example.com/gpu", "1"))
	pod.Spec.Priority = &high
	gpu := enginetest.Node("gpu-1", enginetest.Allocatable("cpu", "8", "example.com/gpu", "1"), enginetest.Taint("dedicated", "gpu", corev1.TaintEffectNoSchedule))
	c := ready(t, &enginetest.Case{Objects: []any{gpu, busy}, Pod: pod, Spec: rules.DefaultSpec()})
	_, list, _, _ := c.advise()
	i := slices.IndexFunc(list, func(g suggest.Suggestion) bool { return g.Kind == "toleration" })
	if i < 0 || list[i].Outcome != "Preempting" || list[i].Change != "tolerate the taint dedicated=gpu:NoSchedule" {
		t.Errorf("suggested %+v", list)
	}
	bare := enginetest.Node("bare-1", enginetest.Allocatable("cpu", "8", "example.com/gpu", "0"))
	c = ready(t, &enginetest.Case{Objects: []any{gpu, busy, bare}, Pod: pod, Spec: rules.DefaultSpec()})
	_, list, _, _ = c.advise()
	for _, kind := range []string{"toleration", "capacity"} { // only the platform team gives bare-1 a device
		if !slices.ContainsFunc(list, func(g suggest.Suggestion) bool { return g.Kind == kind }) {
			t.Errorf("no %s among %+v", kind, list)
		}
	}
}

// TestOneUnitInARange: 2 beside 100m reads as millicores.
func TestOneUnitInARange(t *testing.T) {
	for _, c := range []struct {
		of   string
		list []int64
		want string
	}{
		{"cpu", []int64{100, 2000, 1100}, "100m 2000m 1100m"},
		{"cpu", []int64{3000, 2000}, "3 2"},
		{"memory", []int64{1 << 30, 1536 << 20}, "1024Mi 1536Mi"},
		{"memory", []int64{1 << 30, 2 << 30}, "1Gi 2Gi"},
		{"example.com/gpu", []int64{1, 4}, "1 4"},
	} {
		got := ""
		for _, s := range suggest.Amounts(c.of, c.list...) {
			got += " " + s
		}
		if got != " "+c.want {
			t.Errorf("%s %v: %q, want %q", c.of, c.list, got[1:], c.want)
		}
	}
}
