package recall_test

import (
	"fmt"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"berth/internal/engine"
	"berth/internal/engine/explain/digest"
	"berth/internal/engine/recall"
	"berth/internal/engine/rules"
	"berth/internal/engine/state"
	"berth/test/enginetest"
)

// walk is a recorded sequence: a pod each, and the state that it was asked on.
type walk struct {
	pods    []*corev1.Pod
	states  []*state.State
	profile *engine.Profile
}

// record binds pods one after the other and keeps every state.
func record(b *testing.B, objects []any, pods []*corev1.Pod) *walk {
	b.Helper()
	p, err := rules.Build(rules.DefaultSpec())
	if err != nil {
		b.Fatal(err)
	}
	s, err := enginetest.State(objects...)
	if err != nil {
		b.Fatal(err)
	}
	w := &walk{pods: pods, profile: p}
	bound := 0
	for _, pod := range pods {
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
	if bound < len(pods)/2 {
		b.Fatalf("only %d of %d pods found a node", bound, len(pods))
	}
	return w
}

// each decides one step of the walk after the other, from the start again at its
// end.
func (w *walk) each(b *testing.B, decide enginetest.DecideFunc) {
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		r, err := decide(w.states[i], w.pods[i], w.profile, engine.Options{})
		if err != nil {
			b.Fatal(err)
		}
		digest.Of(r)
		r.Release()
		if i++; i == len(w.pods) {
			i = 0
		}
	}
}

// BenchmarkSequence decides recorded sequences: every step a decision and its digest, as a batch
// replay needs. The pods of the first four have no owner. Those of the last are owned by
// ReplicaSets, so that default spreading counts them at every step.
func BenchmarkSequence(b *testing.B) {
	for _, shapes := range []int{30, 300} {
		for _, mixed := range []bool{false, true} {
			benchmarkSequence(b, fmt.Sprintf("shapes=%d/mixed=%t", shapes, mixed), func(b *testing.B) *walk {
				return record(b, enginetest.OpenbCluster(mixed), enginetest.OpenbPods(8000, shapes, mixed))
			})
		}
	}
	benchmarkSequence(b, "owned", func(b *testing.B) *walk {
		size := enginetest.Size{Nodes: 1500, Pods: 15_000, Apps: 200}
		pods := make([]*corev1.Pod, 4000)
		for i := range pods {
			pods[i] = enginetest.LargePod(i*i%size.Apps, fmt.Sprintf("asked-%d", i))
		}
		return record(b, enginetest.Large(size), pods)
	})
}

func benchmarkSequence(b *testing.B, name string, make func(*testing.B) *walk) {
	w := sync.OnceValue(func() *walk { return make(b) })
	b.Run(name+"/remembering", func(b *testing.B) {
		d := recall.NewDecider(0)
		w().each(b, d.Decide)
		c, n := d.Counters(), float64(b.N)
		b.ReportMetric(float64(c.Kept)/n, "kept/op")
		b.ReportMetric(float64(c.Rows)/n, "rows/op")
		b.ReportMetric(float64(c.Plain)/n, "plain/op")
	})
	b.Run(name+"/plain", func(b *testing.B) { w().each(b, engine.Decide) })
}
