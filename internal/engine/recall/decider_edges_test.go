package recall_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"berth/internal/engine"
	"berth/internal/engine/recall"
	"berth/internal/engine/rules"
	"berth/internal/engine/state"
	"berth/test/enginetest"
)

// follows asks a Decider and Decide about a sequence, and how often the first
// knew the kind of pod.
type follows struct {
	t *testing.T
	d *recall.Decider
	p *engine.Profile
}

func newFollows(t *testing.T, limit int) *follows {
	t.Helper()
	p, err := rules.Build(rules.DefaultSpec())
	if err != nil {
		t.Fatal(err)
	}
	return &follows{t, recall.NewDecider(limit), p}
}

func (f *follows) ask(s *state.State, pod *corev1.Pod) {
	f.t.Helper()
	want := enginetest.Everything(f.t, engine.Decide, s, pod, f.p, engine.Options{})
	if diff := cmp.Diff(want, enginetest.Everything(f.t, f.d.Decide, s, pod, f.p, engine.Options{})); diff != "" {
		f.t.Fatalf("%s (-Decide +Decider):\n%s", pod.Name, diff)
	}
}

func (f *follows) bind(s *state.State, pod *corev1.Pod, node string) *state.State {
	f.t.Helper()
	e := s.Edit()
	if err := e.Bind(pod, node); err != nil {
		f.t.Fatal(err)
	}
	return e.Done()
}

// TestDeciderJudgesChangedRowsOnly counts: a kind of pod is learned once, and
// after that only the rows that changed are judged.
func TestDeciderJudgesChangedRowsOnly(t *testing.T) {
	t.Parallel()
	f := newFollows(t, 0)
	s := enginetest.Fresh(t, enginetest.OpenbCluster(false)...)
	pods := enginetest.OpenbPods(400, 10, false)
	for i, pod := range pods {
		f.ask(s, pod)
		s = f.bind(s, pod, fmt.Sprintf("openb-node-%04d", i*37%enginetest.OpenbNodes))
	}
	c := f.d.Counters()
	if c.Plain != 0 || c.Whole > 10 || c.Kept != len(pods)-c.Whole || c.Rows > 10*len(pods) {
		t.Errorf("%d pods of 10 kinds, one bound after the other: %+v", len(pods), c)
	}
}

// TestDeciderForgetsALongTrail lets more rows change between two pods of a kind
// than the Decider remembers.
func TestDeciderForgetsALongTrail(t *testing.T) {
	t.Parallel()
	f := newFollows(t, 0)
	s := enginetest.Fresh(t, enginetest.Node("a"), enginetest.Node("b", enginetest.Allocatable("cpu", "64")))
	big, small := enginetest.Pod("big", enginetest.Requests("cpu", "3")), enginetest.Pod("small", enginetest.Requests("cpu", "1m"))
	f.ask(s, big)
	s = f.bind(s, enginetest.Pod("there", enginetest.Requests("cpu", "2")), "a")
	for i := range 3000 {
		next := f.bind(s, enginetest.Pod("passing", enginetest.Requests("cpu", fmt.Sprintf("%dm", 1+i%5))), "b")
		f.ask(next, small)
	}
	f.ask(s, big)
	f.ask(f.bind(s, small, "a"), big)
}

// TestDeciderTellsKindsApart asks about pods that differ in what looks like
// nothing, and in what decisions do read.
func TestDeciderTellsKindsApart(t *testing.T) {
	f := newFollows(t, 0)
	s := enginetest.Fresh(t, enginetest.Node("a"), enginetest.Node("b", enginetest.NodeLabels("disk", "ssd")))
	pod := func(change func(*corev1.Pod)) *corev1.Pod {
		p := enginetest.Pod("p", enginetest.Requests("cpu", "1"))
		change(p)
		return p
	}
	affinity := func(a corev1.NodeAffinity) func(*corev1.Pod) {
		return func(p *corev1.Pod) { p.Spec.Affinity = &corev1.Affinity{NodeAffinity: &a} }
	}
	kinds := []*corev1.Pod{
		pod(func(*corev1.Pod) {}),
		pod(affinity(corev1.NodeAffinity{})),
		// Scores 0 on every node, while the one before is not scored for affinity.
		pod(affinity(corev1.NodeAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []corev1.PreferredSchedulingTerm{}})),
		pod(enginetest.PreferNodes(1, corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{enginetest.Expr("disk", corev1.NodeSelectorOpExists)}})),
		pod(enginetest.Requests("cpu", "2")),
		pod(func(p *corev1.Pod) { p.Namespace = "other" }),
		pod(func(p *corev1.Pod) { p.Spec.NodeSelector = map[string]string{"disk": "ssd"} }),
		pod(func(p *corev1.Pod) { p.Spec.Priority = nil }),
	}
	for range 3 {
		for i, k := range kinds {
			p := *k
			p.Name = fmt.Sprintf("kind-%d", i)
			f.ask(s, &p)
		}
		s = f.bind(s, pod(func(p *corev1.Pod) { p.Name = fmt.Sprint(s.PodCount()) }), "a")
	}
	if c := f.d.Counters(); c.Whole != len(kinds) || c.Kept != 2*len(kinds) {
		t.Errorf("%d kinds, three times each: %+v", len(kinds), c)
	}
}

// TestDeciderStaysWithinItsLimit asks about more kinds than there is room for,
// round and round: kinds that can be kept, and kinds of which nothing can.
func TestDeciderStaysWithinItsLimit(t *testing.T) {
	const limit = 20 << 10
	s := enginetest.Fresh(t, enginetest.Node("a"), enginetest.Node("b"))
	nowhere := enginetest.RequireNodes(enginetest.FieldTerm(
		enginetest.Expr("metadata.name", corev1.NodeSelectorOpIn, "a"), enginetest.Expr("metadata.name", corev1.NodeSelectorOpIn, "b"),
	))
	for name, option := range map[string]enginetest.PodOption{"kept": func(*corev1.Pod) {}, "not kept": nowhere} {
		f := newFollows(t, limit)
		for i := range 200 {
			f.ask(s, enginetest.Pod("p", enginetest.Requests("cpu", fmt.Sprintf("%dm", 1+i%50)), option))
			if held := f.d.Bytes(); held > limit {
				t.Fatalf("%s: %d bytes are held, the limit is %d", name, held, limit)
			}
		}
		if c := f.d.Counters(); c.Dropped < 100 {
			t.Errorf("%s: hardly anything was dropped: %+v", name, c)
		}
	}
}

// TestFromSecond makes a memo for the second question about a kind of pod, not for the first.
func TestFromSecond(t *testing.T) {
	f := newFollows(t, 0)
	f.d.FromSecond()
	s, err := enginetest.State(enginetest.Node("a"), enginetest.Node("b"))
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []recall.Counters{{Plain: 1}, {Plain: 1, Whole: 1}, {Plain: 1, Whole: 1, Kept: 1}} {
		f.ask(s, enginetest.Pod(fmt.Sprint("asked-", i)))
		if got := f.d.Counters(); got != want {
			t.Fatalf("question %d: %+v, want %+v", i+1, got, want)
		}
	}
	f.ask(s, enginetest.Pod("other", enginetest.Labels("app", "other")))
	if got := f.d.Counters(); got.Plain != 2 {
		t.Fatalf("a pod of another kind: %+v", got)
	}
}
