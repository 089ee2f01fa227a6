package engine_test

import (
	"fmt"
	"runtime"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"berth/internal/engine"
	"berth/internal/engine/explain"
	"berth/internal/engine/explain/digest"
	"berth/internal/engine/recall"
	"berth/internal/engine/rules"
	"berth/internal/engine/state"
	"berth/test/enginetest"
)

// large is the cluster of the benchmarks, made once.
var large = sync.OnceValues(func() ([]any, *state.State) {
	objects := enginetest.Large(enginetest.FullSize)
	s, err := enginetest.State(objects...)
	if err != nil {
		panic(err)
	}
	return objects, s
})

// profileOf builds a question's profile and checks that the answer is what the
// benchmark claims to measure.
func profileOf(b *testing.B, q *enginetest.Question, s *state.State) *engine.Profile {
	b.Helper()
	p, err := rules.Build(q.Spec)
	if err != nil {
		b.Fatal(err)
	}
	r, err := engine.Decide(s, q.Pod, p, engine.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer r.Release()
	if r.Outcome != engine.Scheduled || r.Feasible.Count() < s.Nodes().Count()*94/100 {
		b.Fatalf("%s: %d of %d nodes are feasible: %s", r.Outcome, r.Feasible.Count(), s.Nodes().Count(), explain.Message(r))
	}
	return p
}

func BenchmarkDecide(b *testing.B) {
	for _, q := range enginetest.Questions() {
		b.Run(q.Name, func(b *testing.B) {
			_, s := large()
			first(b, &q, s)
		})
	}
}

// first decides a question as that about the first pod of its kind.
func first(b *testing.B, q *enginetest.Question, s *state.State) {
	b.Helper()
	p := profileOf(b, q, s)
	b.ReportAllocs()
	for b.Loop() {
		r, err := engine.Decide(s, q.Pod, p, engine.Options{})
		if err != nil {
			b.Fatal(err)
		}
		r.Release()
	}
}

// BenchmarkDecideMixed is the first question of BenchmarkDecide about nodes of which hardly two
// offer the same memory, as kubelets report it.
func BenchmarkDecideMixed(b *testing.B) {
	var objects []any
	for i, o := range enginetest.Large(enginetest.FullSize) {
		if n, ok := o.(*corev1.Node); ok {
			memory := n.Status.Allocatable[corev1.ResourceMemory]
			memory.Sub(*resource.NewQuantity(int64(i%977)<<10, resource.BinarySI))
			n.Status.Allocatable[corev1.ResourceMemory] = memory
		}
		objects = append(objects, o)
	}
	s, err := enginetest.State(objects...)
	if err != nil {
		b.Fatal(err)
	}
	first(b, &enginetest.Questions()[0], s)
}

// BenchmarkDecideAgain decides the questions of BenchmarkDecide as a running service does: pods
// of one kind come one after the other, and between two of them a pod was bound.
func BenchmarkDecideAgain(b *testing.B) {
	for _, q := range enginetest.Questions() {
		b.Run(q.Name, func(b *testing.B) {
			b.ReportAllocs()
			decideAgain(b, &q, func(*engine.Result) {})
		})
	}
}

// binds is the state of the benchmarks, and those after each of 100 binds.
var binds = sync.OnceValues(func() (chain []*state.State, err error) {
	_, s := large()
	chain = []*state.State{s}
	for i := range 100 {
		e := chain[i].Edit()
		if err := e.Bind(enginetest.LargePod(i%500, fmt.Sprintf("bound-%d", i)), s.Nodes().Node(i*7%5000).Name); err != nil {
			return nil, err
		}
		chain = append(chain, e.Done())
	}
	return chain, nil
})

// decideAgain decides a question on one of the states after the other, forth and back.
func decideAgain(b *testing.B, q *enginetest.Question, then func(*engine.Result)) {
	b.Helper()
	chain, err := binds()
	if err != nil {
		b.Fatal(err)
	}
	p, d, i := profileOf(b, q, chain[0]), recall.NewDecider(0), 0
	for b.Loop() {
		i++
		at := i % (2 * len(chain))
		if at >= len(chain) {
			at = 2*len(chain) - 1 - at
		}
		r, err := d.Decide(chain[at], q.Pod, p, engine.Options{})
		if err != nil {
			b.Fatal(err)
		}
		then(r)
		r.Release()
	}
	if c := d.Counters(); c.Plain > 0 || c.Whole > 1 {
		b.Fatalf("%+v", c)
	}
}

// BenchmarkDigest measures the digest of a kind's first decision, and of one after a bind: of the
// latter its time alone, without the decision.
func BenchmarkDigest(b *testing.B) {
	b.Run("first", func(b *testing.B) {
		benchmarkResult(b, func(r *engine.Result) { r.Digest = ""; digest.Of(r) })
	})
	b.Run("again", func(b *testing.B) {
		q, spent := enginetest.Questions()[len(enginetest.Questions())-1], time.Duration(0)
		decideAgain(b, &q, func(r *engine.Result) {
			began := time.Now()
			digest.Of(r)
			spent += time.Since(began)
		})
		b.ReportMetric(float64(spent.Nanoseconds())/float64(b.N), "ns/op")
	})
}

// BenchmarkExplain measures how a decision is written.
func BenchmarkExplain(b *testing.B) {
	benchmarkResult(b, func(r *engine.Result) { explain.Decision(r, engine.ExplainFailures) })
}

func BenchmarkExplainFull(b *testing.B) {
	benchmarkResult(b, func(r *engine.Result) { explain.Decision(r, engine.ExplainFull) })
}

func benchmarkResult(b *testing.B, f func(*engine.Result)) {
	b.Helper()
	_, s := large()
	q := enginetest.Questions()[len(enginetest.Questions())-1]
	p := profileOf(b, &q, s)
	r, err := engine.Decide(s, q.Pod, p, engine.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer r.Release()
	b.ReportAllocs()
	for b.Loop() {
		f(r)
	}
}

// BenchmarkBind measures a bind as a new revision: a pod that the state does not
// have yet is put on a node, and older states stay as they are.
func BenchmarkBind(b *testing.B) {
	_, base := large()
	first := base.PodCount()
	pods := make([]*corev1.Pod, 2000)
	for i := range pods {
		pods[i] = enginetest.LargePod(i%500, fmt.Sprintf("bound-%d", i))
	}
	s, i := base, 0
	b.ReportAllocs()
	for b.Loop() {
		if i == len(pods) {
			s, i = base, 0
		}
		e := s.Edit()
		if err := e.Bind(pods[i], base.Nodes().Node(i*7%5000).Name); err != nil {
			b.Fatal(err)
		}
		s = e.Done()
		i++
	}
	if base.PodCount() != first || s.PodCount() != first+i {
		b.Fatalf("%d pods in the first state and %d in the last, want %d and %d", base.PodCount(), s.PodCount(), first, first+i)
	}
}

// BenchmarkBuild measures compiling the cluster, and what it keeps.
func BenchmarkBuild(b *testing.B) {
	objects, _ := large()
	b.ReportAllocs()
	heap := func() float64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return float64(m.HeapAlloc)
	}
	before := heap()
	var s *state.State
	var err error
	start, n := time.Now(), 0
	for b.Loop() {
		if s, err = enginetest.State(objects...); err != nil {
			b.Fatal(err)
		}
		n++
	}
	b.ReportMetric(float64(time.Since(start).Nanoseconds())/float64(n)/float64(len(objects)), "ns/object")
	b.ReportMetric((heap()-before)/(1<<20), "MiB-kept")
	runtime.KeepAlive(s)
}
