package incremental_test

import (
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"

	"berth/internal/engine"
	"berth/internal/engine/digest"
	"berth/internal/engine/incremental"
	"berth/internal/engine/rules"
	"berth/test/enginetest"
)

// BenchmarkCrowd asks about equal pods from many goroutines at once, as many connections of a
// platform do, and reports the share of decisions that no memo made.
func BenchmarkCrowd(b *testing.B) {
	s := enginetest.Fresh(b, enginetest.Large(enginetest.Size{Nodes: 1500, Pods: 6000, Apps: 50})...)
	q := enginetest.Questions()[0]
	p, err := rules.Build(q.Spec)
	if err != nil {
		b.Fatal(err)
	}
	for _, callers := range []int{1, 32} {
		b.Run(fmt.Sprint(callers), func(b *testing.B) {
			d := incremental.NewDecider(0)
			var failed atomic.Bool
			b.SetParallelism(callers)
			b.ReportAllocs()
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					r, err := d.Decide(s, q.Pod, p, engine.Options{})
					if err != nil {
						failed.Store(true)
						return
					}
					digest.Of(r)
					r.BestRows(3)
					r.Release()
					runtime.Gosched() // as one that waits for the network
				}
			})
			if failed.Load() {
				b.Fatal("a decision failed")
			}
			b.ReportMetric(float64(d.Counters().Plain)/float64(b.N), "plain/op")
		})
	}
}
