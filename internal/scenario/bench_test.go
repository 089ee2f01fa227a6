package scenario_test

import (
	"fmt"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"berth/internal/cluster"
	"berth/internal/engine"
	"berth/internal/engine/enginetest"
	"berth/internal/engine/rules"
	"berth/internal/scenario"
)

// fullSize is the cluster that the project measures itself on.
var fullSize = sync.OnceValue(func() *cluster.View {
	return viewOf(new(testing.B), enginetest.Large(enginetest.FullSize)...)
})

// BenchmarkSteps runs arrivals of mixed shapes on 5,000 nodes with 150,000 pods. A step is an
// attempt with its bind.
func BenchmarkSteps(b *testing.B) {
	for _, apps := range []int{30, 500} {
		b.Run(fmt.Sprintf("shapes=%d", apps), func(b *testing.B) {
			v := fullSize()
			arrivals := make([]scenario.Arrival, 20_000)
			for i := range arrivals {
				arrivals[i].Pod = enginetest.LargePod(i*i%apps, fmt.Sprintf("asked-%d", i), func(p *corev1.Pod) { p.Spec.Priority = new(int32) })
			}
			profiles := profileOf(b, rules.DefaultSpec())
			steps := 0
			b.ResetTimer()
			for b.Loop() {
				got, err := scenario.NewFork(v, scenario.Options{Profiles: profiles, Now: noon}).Run(b.Context(), arrivals, scenario.Limits{}, nil)
				if err != nil {
					b.Fatal(err)
				}
				steps += got.Attempts
				b.ReportMetric(float64(got.Placed), "placed")
			}
			b.ReportMetric(float64(steps)/b.Elapsed().Seconds(), "steps/s")
		})
	}
}

// BenchmarkFit counts replicas that spread over zones.
func BenchmarkSpreadReplicas(b *testing.B) {
	v := fullSize()
	pod := enginetest.Pod("asked", enginetest.Labels("app", "asked"), enginetest.Requests("cpu", "100m", "memory", "128Mi"),
		enginetest.Spread(corev1.LabelTopologyZone, 1, corev1.DoNotSchedule, enginetest.Match("app", "asked")))
	pod.Spec.Priority = new(int32)
	profiles := profileOf(b, rules.DefaultSpec())
	for b.Loop() {
		f := scenario.NewFork(v, scenario.Options{Profiles: profiles, Now: noon})
		r := scenario.ReplicasOf(pod)
		for i := range 10_000 {
			at, err := f.Attempt(b.Context(), r.Pod(i))
			if err != nil || at.Outcome != engine.Scheduled {
				b.Fatal(i, err, at)
			}
		}
	}
}
