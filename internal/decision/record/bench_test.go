package record_test

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"berth/internal/decision"
	"berth/internal/engine"
	"berth/internal/revision"
	"berth/internal/store"
	"berth/test/logtest"
)

// size is what a record takes in the store, as far as its bytes go.
func size(d *store.Decision) (all, input int) {
	all = len(d.Input)
	for _, s := range []string{d.ID, d.Cluster, d.Verb, d.Namespace, d.Pod, d.PodUID, d.Profile, d.ProfileDigest, d.Engine, d.Semantics, d.SnapshotDigest, d.PodDigest, d.Outcome, d.Node, d.NominatedNode, d.Message, d.AnswerDigest} {
		all += len(s)
	}
	for _, f := range d.Failures {
		all += len(f.Plugin) + len(f.Code) + len(f.Reason) + 4
	}
	for _, s := range d.Scores {
		all += len(s.Node) + 4*len(s.Plugins) + 12
	}
	return all + 60, len(d.Input)
}

// BenchmarkRecord makes the record of a decision over 5,000 nodes: its
// allocations are what auditing adds to the engine's.
func BenchmarkRecord(b *testing.B) {
	h := logtest.Open(b, b.TempDir())
	v, names := logtest.Thousands(b, h)
	half := make([]string, 0, 2500)
	for i := 0; i < len(names); i += 2 {
		half = append(half, names[i])
	}
	wide := logtest.Pod(b, "w", "") // fits no node, and some if they were empty
	wide.Spec.Containers[0].Resources.Requests[corev1.ResourceCPU] = resource.MustParse("11")
	for _, c := range []struct {
		name string
		q    decision.Question
	}{
		{"all", decision.Question{Pod: logtest.Pod(b, "w", "")}},
		{"names", decision.Question{Pod: logtest.Pod(b, "w", ""), NodeNames: names}},
		{"unplaced", decision.Question{Pod: wide}},
		{"half", decision.Question{Pod: logtest.Pod(b, "w", ""), NodeNames: half}},
	} {
		b.Run(c.name, func(b *testing.B) {
			q, err := c.q.Normalize(time.Now)
			if err != nil {
				b.Fatal(err)
			}
			p, err := h.Scheduler().Prepare(b.Context(), v, q)
			if err != nil {
				b.Fatal(err)
			}
			o, err := p.Decide(b.Context(), p.Engine())
			if err != nil {
				b.Fatal(err)
			}
			defer o.Release()
			var d *store.Decision
			b.ReportAllocs()
			for b.Loop() {
				if d, err = h.Evaluated(o); err != nil {
					b.Fatal(err)
				}
			}
			all, input := size(d)
			b.ReportMetric(float64(all), "record-B")
			b.ReportMetric(float64(input), "input-B")
		})
	}
}

// BenchmarkEvaluate is an extender's question with its durable record, by 64
// callers at a time.
func BenchmarkEvaluate(b *testing.B) {
	h := logtest.Open(b, b.TempDir())
	_, names := logtest.Thousands(b, h)
	p := logtest.Pod(b, "w", "")
	b.ReportAllocs()
	b.SetParallelism(32)
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if _, err := logtest.Record(b.Context(), h, decision.Question{Verb: decision.VerbFilter, Pod: p, NodeNames: names}, func(*revision.View, *engine.Result) error { return nil }); err != nil {
				b.Error(err)
				return
			}
		}
	})
}
