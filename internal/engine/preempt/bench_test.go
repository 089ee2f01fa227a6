package preempt_test

import (
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"berth/internal/engine"
	"berth/internal/engine/explain"
	"berth/internal/engine/preempt"
	"berth/internal/engine/rules"
	"berth/internal/engine/state"
	"berth/test/enginetest"
)

// crowded is the crowded cluster, without budgets and with them.
var crowded = sync.OnceValue(func() (out struct{ plain, budgeted *state.State }) {
	objects, budgets := enginetest.LargeFull(enginetest.FullSize)
	var err error
	if out.plain, err = enginetest.State(objects...); err != nil {
		panic(err)
	}
	e := out.plain.Edit()
	for _, b := range budgets {
		if err := e.Put(b); err != nil {
			panic(err)
		}
	}
	out.budgeted = e.Done()
	return out
})

type preemptionCase struct {
	name  string
	pod   *corev1.Pod
	state *state.State
}

func preemptions() []preemptionCase {
	c := crowded()
	hard := enginetest.Urgent(enginetest.Spread(corev1.LabelTopologyZone, 1, corev1.DoNotSchedule, enginetest.Match("app", "app-000")),
		enginetest.Away(enginetest.PodTerm(corev1.LabelHostname, enginetest.Match("app", "app-021"))))
	return []preemptionCase{
		{"noBudgets", enginetest.Urgent(), c.plain},
		{"500budgets", enginetest.Urgent(), c.budgeted},
		{"500budgets+spread+antiAffinity", hard, c.budgeted},
	}
}

// BenchmarkPreempt looks for victims on 5,000 full nodes with 150,000 pods, all
// of them tried; the search for a node that fails before is part of it.
func BenchmarkPreempt(b *testing.B) {
	p, err := rules.Build(rules.DefaultSpec())
	if err != nil {
		b.Fatal(err)
	}
	for _, c := range preemptions() {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			tried := 0
			for b.Loop() {
				r, err := engine.Decide(c.state, c.pod, p, engine.Options{Now: enginetest.Now})
				if err != nil || r.Outcome != engine.Preempting {
					b.Fatal(r.Outcome, err)
				}
				tried = preempt.CandidateCount(r)
				r.Release()
			}
			b.ReportMetric(float64(tried), "candidates")
		})
	}
}

// BenchmarkPreemptWithout is the same decision without the search.
func BenchmarkPreemptWithout(b *testing.B) {
	p, err := rules.Build(rules.DefaultSpec())
	if err != nil {
		b.Fatal(err)
	}
	for _, c := range preemptions() {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				r, err := engine.Decide(c.state, c.pod, p, engine.Options{Now: enginetest.Now, NoPreemption: true})
				if err != nil {
					b.Fatal(err)
				}
				r.Release()
			}
		})
	}
}

// BenchmarkPreemptAnswer adds what an answer is made of: explanation and digest.
func BenchmarkPreemptAnswer(b *testing.B) {
	p, err := rules.Build(rules.DefaultSpec())
	if err != nil {
		b.Fatal(err)
	}
	c := preemptions()[1]
	r, err := engine.Decide(c.state, c.pod, p, engine.Options{Now: enginetest.Now})
	if err != nil {
		b.Fatal(err)
	}
	defer r.Release()
	var digest []byte
	b.ReportAllocs()
	for b.Loop() {
		explain.Decision(r, engine.ExplainFailures)
		digest = preempt.Of(r).AppendDigest(digest[:0])
	}
}

// otherLists returns the state with another list of pods for every row, none of which is ranked.
func otherLists(b *testing.B, s *state.State) *state.State {
	e := s.Edit()
	for _, row := range s.Nodes().Order() {
		if err := e.Put(enginetest.Pod("passing", enginetest.On(s.Nodes().Node(int(row)).Name))); err != nil {
			b.Fatal(err)
		}
		e.Delete("Pod", "default", "passing")
	}
	return e.Done()
}

// BenchmarkPreemptFirst is the first preemption on a snapshot, which ranks the
// pods of every node.
func BenchmarkPreemptFirst(b *testing.B) {
	p, err := rules.Build(rules.DefaultSpec())
	if err != nil {
		b.Fatal(err)
	}
	c := preemptions()[0]
	b.ReportAllocs()
	for b.Loop() {
		b.StopTimer()
		s := otherLists(b, c.state)
		b.StartTimer()
		r, err := engine.Decide(s, c.pod, p, engine.Options{Now: enginetest.Now})
		if err != nil || r.Outcome != engine.Preempting {
			b.Fatal(r.Outcome, err)
		}
		r.Release()
	}
}
