package suggest_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"berth/internal/engine"
	"berth/internal/engine/explain/suggest"
	"berth/internal/engine/rules"
	"berth/test/enginetest"
)

// BenchmarkAdvice groups the rejections of 5,000 nodes, and looks for what would
// make the pod fit: by one cause, and by as many as there are kinds of changes.
// Beside them is the decision that it follows.
func BenchmarkAdvice(b *testing.B) {
	c := ready(b, &enginetest.Case{Objects: enginetest.Large(enginetest.Size{Nodes: 5000, Pods: 50_000, Apps: 500}), Spec: rules.DefaultSpec()})
	for _, k := range []struct {
		name string
		pod  *corev1.Pod
	}{
		{"cpu", enginetest.LargePod(1, "x", enginetest.Requests("cpu", "40"))},
		{"many", enginetest.LargePod(7, "x", enginetest.Requests("cpu", "31", "memory", "127Gi", "example.com/gpu", "1"), enginetest.Selects("disktype", "nvme", "node.example.com/pool", "pool-07"),
			enginetest.Near(enginetest.PodTerm(corev1.LabelTopologyZone, enginetest.Match("app", "none"))), enginetest.HostPort("", corev1.ProtocolTCP, 80),
			enginetest.Spread(corev1.LabelTopologyZone, 1, corev1.DoNotSchedule, enginetest.Match("app", "app-007")))},
		{"taint", enginetest.LargePod(3, "x", enginetest.Selects("node.example.com/pool", "pool-07"), enginetest.Requests("cpu", "20"))},
	} {
		q := suggest.Question{State: c.state, Pod: k.pod, Profile: c.profile, Object: c.object}
		r, err := engine.Decide(q.State, q.Pod, q.Profile, q.Options)
		if err != nil {
			b.Fatal(err)
		}
		if r.Outcome == engine.Scheduled {
			b.Fatalf("%s fits", k.name)
		}
		b.Run(k.name+"/decide", func(b *testing.B) {
			for b.Loop() {
				r, err := engine.Decide(q.State, q.Pod, q.Profile, q.Options)
				if err != nil {
					b.Fatal(err)
				}
				r.Release()
			}
		})
		b.Run(k.name+"/groups", func(b *testing.B) {
			n := 0
			for b.Loop() {
				groups, _ := suggest.Groups(r, suggest.DefaultSample)
				n = len(groups)
			}
			b.ReportMetric(float64(n), "groups")
		})
		b.Run(k.name+"/suggest", func(b *testing.B) {
			n := 0
			for b.Loop() {
				n = len(suggest.Suggest(q, r))
			}
			b.ReportMetric(float64(n), "suggestions")
		})
		r.Release()
	}
}
