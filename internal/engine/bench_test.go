package engine_test

import (
	"fmt"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"berth/internal/engine"
	"berth/internal/engine/digest"
	"berth/internal/engine/enginetest"
	"berth/internal/engine/enginetest/naive"
	"berth/internal/engine/explain"
	"berth/internal/engine/incremental"
	"berth/internal/engine/rules"
	"berth/internal/engine/state"
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

// question is one benchmark's pod and profile.
type question struct {
	name string
	pod  *corev1.Pod
	spec rules.Spec
}

// noDefaults is the default profile without default spreading.
func noDefaults() rules.Spec {
	s := rules.DefaultSpec()
	s.Args.PodTopologySpread = rules.SpreadArgs{}
	return s
}

// questions ask about pods that fit on 95 % of the nodes or more, which is the
// worst case: every rule judges every node, and all are scored.
func questions() []question {
	zone, host := corev1.LabelTopologyZone, corev1.LabelHostname
	app := enginetest.Match("app", "app-000")
	affinity := []enginetest.PodOption{
		enginetest.Tolerate("dedicated", corev1.TolerationOpEqual, "batch", corev1.TaintEffectNoSchedule),
		enginetest.RequireNodes(corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{
			enginetest.Expr(corev1.LabelArchStable, corev1.NodeSelectorOpIn, "amd64", "arm64"),
			enginetest.Expr("node.example.com/pool", corev1.NodeSelectorOpNotIn, "pool-99"),
		}}),
		enginetest.PreferNodes(50, corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{
			enginetest.Expr("disktype", corev1.NodeSelectorOpIn, "ssd"),
		}}),
	}
	hard := []enginetest.PodOption{
		enginetest.Spread(zone, 50, corev1.DoNotSchedule, app),
		enginetest.Spread(host, 5, corev1.DoNotSchedule, app),
	}
	soft := []enginetest.PodOption{
		enginetest.Spread(zone, 1, corev1.ScheduleAnyway, app),
		enginetest.Spread(host, 1, corev1.ScheduleAnyway, app),
	}
	inter := []enginetest.PodOption{
		enginetest.Near(enginetest.PodTerm(zone, app)),
		enginetest.Away(enginetest.PodTerm(host, enginetest.Match("app", "app-020"))),
		enginetest.PreferNear(-100, enginetest.PodTerm(host, app)),
		enginetest.PreferNear(10, enginetest.PodTerm(zone, enginetest.Match("app", "app-040"))),
	}
	// The tainted nodes are let in, so that hard constraints do not shrink the set.
	in := enginetest.Tolerate("dedicated", corev1.TolerationOpExists, "", "")
	pod := func(app int, opts ...enginetest.PodOption) *corev1.Pod {
		return enginetest.LargePod(app, "asked", append([]enginetest.PodOption{in}, opts...)...)
	}
	return []question{
		{"plain", pod(0), enginetest.Only("NodeUnschedulable", "NodeName", "TaintToleration", "NodeAffinity", "NodePorts", "NodeResourcesFit", "NodeResourcesBalancedAllocation", "ImageLocality")},
		{"taints+affinity", enginetest.LargePod(0, "asked", affinity...), noDefaults()},
		{"spreadHard", pod(0, hard...), rules.DefaultSpec()},
		{"spreadSoft", pod(0, soft...), rules.DefaultSpec()},
		{"defaultSpread", pod(0), rules.DefaultSpec()},
		{"interpod", pod(0, inter...), noDefaults()},
		{"interpodOwnAway", pod(7), noDefaults()},
		{"allRules", pod(0, slices.Concat(affinity, hard, soft, inter)...), rules.DefaultSpec()},
	}
}

// profile builds a question's profile and checks that the answer is what the
// benchmark claims to measure.
func (q *question) profile(b *testing.B, s *state.State) *engine.Profile {
	b.Helper()
	p, err := rules.Build(q.spec)
	if err != nil {
		b.Fatal(err)
	}
	r, err := engine.Decide(s, q.pod, p, engine.Options{})
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
	for _, q := range questions() {
		b.Run(q.name, func(b *testing.B) {
			_, s := large()
			p := q.profile(b, s)
			b.ReportAllocs()
			for b.Loop() {
				r, err := engine.Decide(s, q.pod, p, engine.Options{})
				if err != nil {
					b.Fatal(err)
				}
				r.Release()
			}
		})
	}
}

// BenchmarkDecideAgain decides the questions of BenchmarkDecide as a running service does: pods
// of one kind come one after the other, and between two of them a pod was bound.
func BenchmarkDecideAgain(b *testing.B) {
	_, s := large()
	chain := []*state.State{s}
	for i := range 100 {
		e := chain[i].Edit()
		if err := e.Bind(enginetest.LargePod(i%500, fmt.Sprintf("bound-%d", i)), s.Nodes().Node(i*7%5000).Name); err != nil {
			b.Fatal(err)
		}
		chain = append(chain, e.Done())
	}
	for _, q := range questions() {
		b.Run(q.name, func(b *testing.B) {
			p, d, i := q.profile(b, s), incremental.NewDecider(0), 0
			b.ReportAllocs()
			for b.Loop() {
				i++
				at := i % (2 * len(chain)) // forth and back
				if at >= len(chain) {
					at = 2*len(chain) - 1 - at
				}
				r, err := d.Decide(chain[at], q.pod, p, engine.Options{})
				if err != nil {
					b.Fatal(err)
				}
				r.Release()
			}
			if c := d.Counters(); c.Plain > 0 || c.Whole > 1 {
				b.Fatalf("%+v", c)
			}
		})
	}
}

// BenchmarkDigest and BenchmarkExplain measure what is done with a decision.
func BenchmarkDigest(b *testing.B) {
	benchmarkResult(b, func(r *engine.Result) { r.Digest = ""; digest.Of(r) })
}

func BenchmarkExplain(b *testing.B) {
	benchmarkResult(b, func(r *engine.Result) { explain.Decision(r, engine.ExplainFailures) })
}

func BenchmarkExplainFull(b *testing.B) {
	benchmarkResult(b, func(r *engine.Result) { explain.Decision(r, engine.ExplainFull) })
}

func benchmarkResult(b *testing.B, f func(*engine.Result)) {
	b.Helper()
	_, s := large()
	q := questions()[len(questions())-1]
	p := q.profile(b, s)
	r, err := engine.Decide(s, q.pod, p, engine.Options{})
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

// BenchmarkNaive has the naive twin answer the questions of BenchmarkDecide.
func BenchmarkNaive(b *testing.B) {
	for _, q := range questions() {
		b.Run(q.name, func(b *testing.B) {
			objects, s := large()
			c := naive.NewCluster(objects)
			q.profile(b, s)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := naive.Decide(c, q.pod, q.spec, engine.Options{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
