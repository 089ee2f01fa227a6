package engine_test

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"berth/internal/engine"
	"berth/internal/engine/enginetest"
	"berth/internal/engine/rules"
)

// walk is a recorded sequence: a pod each, and the state that it was asked on.
type walk struct {
	pods    []*corev1.Pod
	states  []*engine.State
	profile *engine.Profile
}

// openb binds the pods of an openb-shaped trace one after the other and keeps
// every state.
func openb(b *testing.B, shapes int, mixed bool) *walk {
	b.Helper()
	p, err := rules.Build(rules.DefaultSpec())
	if err != nil {
		b.Fatal(err)
	}
	s, err := enginetest.State(enginetest.OpenbCluster(mixed)...)
	if err != nil {
		b.Fatal(err)
	}
	w := &walk{pods: enginetest.OpenbPods(8000, shapes, mixed), profile: p}
	bound := 0
	for _, pod := range w.pods {
		w.states = append(w.states, s)
		r, err := engine.Decide(s, pod, p, engine.Options{})
		if err != nil {
			b.Fatal(err)
		}
		if r.Outcome == engine.Scheduled {
			bound++
			e := s.Edit()
			if err := e.Bind(pod, r.Node()); err != nil {
				b.Fatal(err)
			}
			s = e.Done()
		}
		r.Release()
	}
	if bound < len(w.pods)/2 {
		b.Fatalf("only %d of %d pods found a node", bound, len(w.pods))
	}
	return w
}

// each calls f for one step of the walk after the other, from the start again at
// its end.
func (w *walk) each(b *testing.B, f func(s *engine.State, pod *corev1.Pod)) {
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		f(w.states[i], w.pods[i])
		if i++; i == len(w.pods) {
			i = 0
		}
	}
}

// BenchmarkSequence decides a recorded sequence: every step a decision and its
// digest, as a batch replay needs.
func BenchmarkSequence(b *testing.B) {
	for _, shapes := range []int{30, 300} {
		for _, mixed := range []bool{false, true} {
			w := openb(b, shapes, mixed)
			name := fmt.Sprintf("shapes=%d/mixed=%t/", shapes, mixed)
			b.Run(name+"remembering", func(b *testing.B) {
				d := engine.NewDecider(0)
				w.each(b, func(s *engine.State, pod *corev1.Pod) {
					r, err := d.Decide(s, pod, w.profile, engine.Options{})
					if err != nil {
						b.Fatal(err)
					}
					r.Digest()
					r.Release()
				})
				c := d.Counters()
				n := float64(b.N)
				b.ReportMetric(float64(c.Kept)/n, "kept/op")
				b.ReportMetric(float64(c.Rows)/n, "rows/op")
				b.ReportMetric(float64(c.Plain)/n, "plain/op")
			})
			b.Run(name+"plain", func(b *testing.B) {
				w.each(b, func(s *engine.State, pod *corev1.Pod) {
					r, err := engine.Decide(s, pod, w.profile, engine.Options{})
					if err != nil {
						b.Fatal(err)
					}
					r.Digest()
					r.Release()
				})
			})
			b.Run(name+"plainWithoutDigest", func(b *testing.B) {
				w.each(b, func(s *engine.State, pod *corev1.Pod) {
					r, err := engine.Decide(s, pod, w.profile, engine.Options{})
					if err != nil {
						b.Fatal(err)
					}
					r.Release()
				})
			})
		}
	}
}
