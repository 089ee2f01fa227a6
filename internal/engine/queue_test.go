package engine_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"berth/internal/engine/state"
)

func waiting(name string, priority int32, created int64, change func(*corev1.Pod)) *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "d", Name: name}, Spec: corev1.PodSpec{SchedulerName: "default-scheduler", Priority: &priority}}
	if created > 0 {
		p.CreationTimestamp = metav1.Unix(created, 0)
	}
	if change != nil {
		change(p)
	}
	return p
}

func stateOf(t testing.TB, pods ...*corev1.Pod) *state.State {
	t.Helper()
	e := state.NewState().Edit()
	for _, p := range pods {
		if err := e.Put(p); err != nil {
			t.Fatal(err)
		}
	}
	return e.Done()
}

func runsDefault(name string) (ours, gates bool) {
	return name == "default-scheduler" || name == "ungated", name != "ungated"
}

func TestQueueOrder(t *testing.T) {
	gate := func(p *corev1.Pod) { p.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "g"}} }
	nominate := func(p *corev1.Pod) { p.Status.NominatedNodeName = "n1" }
	remove := func(p *corev1.Pod) { p.DeletionTimestamp = &metav1.Time{Time: time.Unix(9, 0)} }
	st := stateOf(t,
		waiting("young", 5, 300, nil), waiting("old", 5, 100, nil), waiting("b", 5, 200, nil), waiting("a", 5, 200, nil),
		waiting("timeless", 5, 0, nil), waiting("low", -1, 1, nil), waiting("high", 10, 900, nominate),
		waiting("bound", 99, 1, func(p *corev1.Pod) { p.Spec.NodeName = "n1" }),
		waiting("ended", 99, 1, func(p *corev1.Pod) { p.Status.Phase = corev1.PodFailed }),
		waiting("foreign", 99, 1, func(p *corev1.Pod) { p.Spec.SchedulerName = "other"; nominate(p) }),
		waiting("going", 99, 1, remove), waiting("going-nominated", 98, 1, func(p *corev1.Pod) { remove(p); nominate(p) }),
		waiting("gated", 1, 50, gate), waiting("gated-high", 7, 60, func(p *corev1.Pod) { gate(p); nominate(p) }),
		waiting("gated-going", 6, 1, func(p *corev1.Pod) { gate(p); remove(p) }),
		waiting("let-through", 4, 1, func(p *corev1.Pod) { p.Spec.SchedulerName = "ungated"; gate(p); nominate(p) }),
		waiting("classed", 0, 400, func(p *corev1.Pod) { p.Spec.Priority, p.Spec.PriorityClassName = nil, "stored" }),
	)
	stored := func(name string) *schedulingv1.PriorityClass {
		if name == "stored" {
			return &schedulingv1.PriorityClass{Value: 8}
		}
		return nil
	}
	q := st.Queue(runsDefault, stored)
	names := func(list []state.Queued) []string {
		out := []string{}
		for _, e := range list {
			out = append(out, fmt.Sprint(e.Name, " ", e.Priority))
		}
		return out
	}
	for what, c := range map[string]struct{ got, want []string }{
		"active":    {names(q.Active), []string{"high 10", "classed 8", "old 5", "a 5", "b 5", "young 5", "timeless 5", "let-through 4", "low -1"}},
		"gated":     {names(q.Gated), []string{"gated-high 7", "gated-going 6", "gated 1"}},
		"nominated": {names(q.Nominated), []string{"going-nominated 98", "high 10", "let-through 4"}},
	} {
		if d := cmp.Diff(c.want, c.got); d != "" {
			t.Errorf("%s (-want +got):\n%s", what, d)
		}
	}
	active, gated, nominated := st.Waiting(runsDefault)
	if got := []int{active, gated, nominated}; !slices.Equal(got, []int{len(q.Active), len(q.Gated), len(q.Nominated)}) {
		t.Errorf("counted %v", got)
	}
}

func BenchmarkWaiting(b *testing.B) {
	var pods []*corev1.Pod
	for i := range 150_000 {
		pods = append(pods, waiting(fmt.Sprint("p", i), int32(i%7), int64(i+1), nil))
	}
	st := stateOf(b, pods...)
	b.Run("count", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			st.Waiting(runsDefault)
		}
	})
	b.Run("sort", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			st.Queue(runsDefault, nil)
		}
	})
}
