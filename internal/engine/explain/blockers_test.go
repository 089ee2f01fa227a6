package explain_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"berth/internal/engine"
	"berth/internal/engine/explain"
	"berth/internal/engine/rules"
	et "berth/test/enginetest"
)

// blockersOf returns the objects in the way of a pod, each in short.
func blockersOf(t *testing.T, pod *corev1.Pod, objects ...any) (out []string) {
	t.Helper()
	p, err := rules.Build(et.NoDefaults())
	if err != nil {
		t.Fatal(err)
	}
	r, err := engine.Decide(et.Fresh(t, objects...), pod, p, engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Release()
	list, more := explain.Blockers(r, explain.ManyNodes)
	for _, b := range list {
		out = append(out, b.Rule+" "+b.Name+" "+b.Owner)
	}
	if more > 0 {
		out = append(out, fmt.Sprint(more, " more"))
	}
	return out
}

// TestBlockersOfADecision: the node that lacks least comes first, a node on which evictions do not
// help last, and none is named where the pod is placed.
func TestBlockersOfADecision(t *testing.T) {
	big := et.Allocatable("cpu", "4", "pods", "10")
	pods := []any{
		et.Node("a", big), et.Node("b", big), et.Node("c", big), et.Node("d", big, et.Taint("x", "y", corev1.TaintEffectNoSchedule)),
		et.Pod("half", et.On("a"), et.Requests("cpu", "3"), et.Owner("batch/v1", "Job", "j")), et.Pod("most", et.On("b"), et.Requests("cpu", "2500m")),
		et.Pod("all", et.On("c"), et.Requests("cpu", "4")), et.Pod("out", et.On("d")),
	}
	got := blockersOf(t, et.Pod("p", et.Requests("cpu", "2")), pods...)
	want := []string{"NodeResourcesFit most ", "NodeResourcesFit half Job/j", "NodeResourcesFit all "}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := blockersOf(t, et.Pod("p", et.Requests("cpu", "1")), pods...); got != nil {
		t.Errorf("of a pod that fits: %v", got)
	}
	if got := blockersOf(t, et.Pod("p", et.Gate("g")), pods...); got != nil {
		t.Errorf("of a pod that is gated: %v", got)
	}
	volume := blockersOf(t, et.Pod("p", et.Mounts("data")), et.Node("n"), et.BoundClaim("data", "pv"), et.Volume("pv", "", "1Gi", et.ReachableFrom(corev1.LabelHostname, "gone")))
	if diff := cmp.Diff([]string{"VolumeBinding data ", "VolumeBinding pv ", "VolumeBinding gone "}, volume); diff != "" {
		t.Errorf("of a volume on a node that is not there (-want +got):\n%s", diff)
	}
}
