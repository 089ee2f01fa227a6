package engine_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"berth/internal/engine"
	"berth/internal/engine/enginetest"
	"berth/internal/engine/rules"
)

// laborious is a pod whose node affinity holds terms×expressions requirements that all nodes meet.
func laborious(terms, expressions int) *corev1.Pod {
	var list []corev1.NodeSelectorTerm
	for i := range terms {
		var t corev1.NodeSelectorTerm
		for k := range expressions {
			t.MatchExpressions = append(t.MatchExpressions, enginetest.Expr(corev1.LabelHostname, corev1.NodeSelectorOpNotIn, fmt.Sprintf("x%d-%d", i, k)))
		}
		list = append(list, t)
	}
	return enginetest.Pod("laborious", enginetest.RequireNodes(list...))
}

func wide(tb testing.TB, nodes int) (*engine.State, *engine.Profile) {
	tb.Helper()
	var objs []any
	for i := range nodes {
		objs = append(objs, enginetest.Node(fmt.Sprintf("n%05d", i)))
	}
	s, err := enginetest.State(objs...)
	if err != nil {
		tb.Fatal(err)
	}
	p, err := rules.Build(rules.DefaultSpec())
	if err != nil {
		tb.Fatal(err)
	}
	return s, p
}

func TestDecisionsEndWithTheirContext(t *testing.T) {
	s, p := wide(t, 5000)
	pod := laborious(64, 64) // seconds of work
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan time.Duration, 1)
	var ended time.Time
	go func() {
		time.Sleep(50 * time.Millisecond)
		ended = time.Now()
		cancel()
	}()
	go func() {
		r, err := engine.Decide(s, pod, p, engine.Options{Context: ctx})
		if r != nil || !errors.Is(err, engine.ErrStopped) || !errors.Is(err, context.Canceled) {
			t.Errorf("%v, %v", r, err)
		}
		done <- time.Since(ended)
	}()
	select {
	case <-done:
	case <-time.After(time.Minute):
		t.Fatal("the decision goes on")
	}
	// Nothing of it is left behind: the same question is answered afterwards.
	small := laborious(1, 1)
	r, err := engine.Decide(s, small, p, engine.Options{Context: context.Background()})
	if err != nil || r.Outcome != engine.Scheduled {
		t.Fatalf("%v", err)
	}
	r.Decision(engine.ExplainFull)
	r.Release()
}

func TestWorkIsBounded(t *testing.T) {
	s, p := wide(t, 500)
	pod := laborious(40, 40) // 800,000 steps
	for range 2 {            // what memos hold makes no difference
		_, err := engine.Decide(s, pod, p, engine.Options{MaxSteps: 400_000})
		var over *engine.WorkError
		if !errors.As(err, &over) || over.Max != 400_000 {
			t.Errorf("%v", err)
		}
		r, err := engine.Decide(s, pod, p, engine.Options{MaxSteps: 4_000_000})
		if err != nil {
			t.Fatal(err)
		}
		r.Release()
	}
}

// An answer can be explained after its caller's context has ended.
func TestExplanationsAreNotStopped(t *testing.T) {
	for seed := range uint64(300) {
		c := enginetest.Generate(seed)
		s, err := enginetest.State(c.Objects...)
		if err != nil {
			t.Fatal(err)
		}
		p, err := rules.Build(c.Spec)
		if err != nil {
			continue
		}
		ctx, cancel := context.WithCancel(context.Background())
		c.Options.Context = ctx
		r, err := engine.Decide(s, c.Pod, p, c.Options)
		cancel()
		if err != nil {
			continue
		}
		r.Decision(engine.ExplainFull)
		r.Release()
	}
}
