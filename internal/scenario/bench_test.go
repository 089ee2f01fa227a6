package scenario_test

import (
	"fmt"
	"sync"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"berth/internal/engine"
	"berth/internal/engine/rules"
	"berth/internal/revision"
	"berth/internal/scenario"
	"berth/internal/world"
	"berth/test/enginetest"
)

// fullSize is the cluster that the project measures itself on.
var fullSize = sync.OnceValue(func() *revision.View {
	return viewOf(new(testing.B), enginetest.Large(enginetest.FullSize)...)
})

// cpuTime is the processor time of the process so far: on a busy machine the clock says little.
func cpuTime(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// arrivalsOf are pods of so many apps. Those of the apps of Large have owners, so that default
// spreading counts their pods at every step; others have none.
func arrivalsOf(n, apps int, owned bool) []world.Arrival {
	out := make([]world.Arrival, n)
	for i := range out {
		out[i].Pod = enginetest.LargePod(i*i%apps, fmt.Sprintf("asked-%d", i), func(p *corev1.Pod) {
			if p.Spec.Priority = new(int32); !owned {
				p.Labels["app"], p.OwnerReferences = "other-"+p.Labels["app"], nil
			}
		})
	}
	return out
}

// BenchmarkSteps runs arrivals of mixed shapes on 5,000 nodes with 150,000 pods, and beside it
// plain decisions, each on a copy of the state. A step is an attempt with its bind.
func BenchmarkSteps(b *testing.B) {
	for _, c := range []struct {
		apps  int
		owned bool
	}{{30, false}, {30, true}, {500, true}} {
		arrivals := arrivalsOf(10_000, c.apps, c.owned)
		b.Run(fmt.Sprintf("shapes=%d/owned=%t/scenario", c.apps, c.owned), func(b *testing.B) {
			v, profiles := fullSize(), profileOf(b, rules.DefaultSpec())
			steps, began := 0, cpuTime(b)
			for b.Loop() {
				got, err := world.NewFork(v, world.Options{Profiles: profiles, Now: noon}).Run(b.Context(), arrivals, world.Limits{}, nil)
				if err != nil {
					b.Fatal(err)
				}
				steps += got.Attempts
			}
			b.ReportMetric(float64(steps)/(cpuTime(b)-began).Seconds(), "steps/cpu-s")
		})
		b.Run(fmt.Sprintf("shapes=%d/owned=%t/plain", c.apps, c.owned), func(b *testing.B) {
			st, profiles := fullSize().State, profileOf(b, rules.DefaultSpec())
			steps, began := 0, cpuTime(b)
			for b.Loop() {
				for _, a := range arrivals[:1000] {
					r, err := engine.Decide(st, a.Pod, profiles[0], engine.Options{Now: noon})
					if err != nil || r.Outcome != engine.Scheduled {
						b.Fatal(err)
					}
					node := r.Node()
					r.Release()
					e := st.Edit()
					if err := e.Bind(a.Pod, node); err != nil {
						b.Fatal(err)
					}
					st = e.Done()
					steps++
				}
				st = fullSize().State
			}
			b.ReportMetric(float64(steps)/(cpuTime(b)-began).Seconds(), "steps/cpu-s")
		})
	}
}

// BenchmarkFit counts 10,000 replicas that spread over zones.
func BenchmarkFit(b *testing.B) {
	v, profiles := fullSize(), profileOf(b, rules.DefaultSpec())
	pod := enginetest.Pod("asked", enginetest.Labels("app", "asked"), enginetest.Requests("cpu", "100m", "memory", "128Mi"),
		enginetest.Spread(corev1.LabelTopologyZone, 1, corev1.DoNotSchedule, enginetest.Match("app", "asked")), enginetest.Priority(0))
	began := cpuTime(b)
	for b.Loop() {
		got, err := (&scenario.FitQuestion{Sensitivity: new(bool)}).Count(b.Context(), v, world.Options{Profiles: profiles, Now: noon}, pod, 10_000)
		if err != nil || got.Count != 10_000 {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64((cpuTime(b)-began).Milliseconds())/float64(b.N), "cpu-ms/op")
}

// BenchmarkCapacity measures 5,000 nodes with 150,000 pods.
func BenchmarkCapacity(b *testing.B) {
	v := fullSize()
	began := cpuTime(b)
	for b.Loop() {
		if _, err := scenario.MeasureCapacity(b.Context(), v, ""); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64((cpuTime(b)-began).Milliseconds())/float64(b.N), "cpu-ms/op")
}
