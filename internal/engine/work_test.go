package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"berth/internal/engine"
	"berth/internal/engine/explain"
	"berth/internal/engine/explain/digest"
	"berth/internal/engine/explain/suggest"
	"berth/internal/engine/rules"
	"berth/internal/engine/state"
	"berth/test/enginetest"
	"berth/test/stepstest"
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

func wide(tb testing.TB, nodes int) (*state.State, *engine.Profile) {
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

// endsWith runs f with contexts that end at one look after the other, from the first to the last,
// and holds it to ending there. It is to look at its context at least `least` times.
func endsWith(t *testing.T, least int, f func(ctx context.Context) error) {
	t.Helper()
	if err := f(t.Context()); err != nil { // memos make the next time shorter
		t.Fatal(err)
	}
	whole := stepstest.After(t.Context(), 0)
	if err := f(whole); err != nil {
		t.Fatal(err)
	}
	if whole.Looks() < least {
		t.Errorf("the context was looked at %d times, want %d", whole.Looks(), least)
	}
	for part := range 8 {
		at := 1 + (whole.Looks()-1)*part/7
		ctx := stepstest.After(t.Context(), at)
		if err := f(ctx); !errors.Is(err, engine.ErrStopped) || !errors.Is(err, context.Canceled) {
			t.Errorf("ended at look %d of %d: %v", at, whole.Looks(), err)
		}
		// What is called while the stack unwinds may look once more.
		if ctx.Looks() > at+4 {
			t.Errorf("ended at look %d, but looked at %d times", at, ctx.Looks())
		}
	}
}

func TestDecisionsEndWithTheirContext(t *testing.T) {
	s, p := wide(t, 5000)
	pod := laborious(16, 16)
	decide := func(ctx context.Context) (*engine.Result, error) {
		return engine.Decide(s, pod, p, engine.Options{Context: ctx})
	}
	// Each of the 256 requirements is a look of its own.
	endsWith(t, 256, func(ctx context.Context) error {
		r, err := decide(ctx)
		if err == nil {
			r.Release()
		} else if r != nil {
			t.Error("there is a result beside the error")
		}
		return err
	})
	// Nothing is left behind: the same question is answered afterwards.
	r, err := decide(t.Context())
	if err != nil || r.Outcome != engine.Scheduled {
		t.Fatal(err)
	}
	r.Release()
}

// What a decision comes to is written out for as long as its caller is there.
func TestExplanationsEndWithinAContext(t *testing.T) {
	s, p := wide(t, 5000)
	pod := laborious(16, 16)
	terms := pod.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms
	for i := range terms {
		terms[i].MatchExpressions = append(terms[i].MatchExpressions, enginetest.Expr("absent", corev1.NodeSelectorOpExists))
	}
	r, err := engine.Decide(s, pod, p, engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Release()
	q := suggest.Question{State: s, Pod: pod, Profile: p, Object: func(string, string, string) []byte { return nil }}
	for name, explain := range map[string]func(ctx context.Context){
		"full":        func(context.Context) { explain.Decision(r, engine.ExplainFull) },
		"all":         func(context.Context) { explain.Decision(r, engine.ExplainAll) },
		"groups":      func(context.Context) { suggest.Groups(r, suggest.DefaultSample) },
		"suggestions": func(ctx context.Context) { q.Options.Context = ctx; suggest.Suggest(q, r) },
	} {
		t.Run(name, func(t *testing.T) {
			endsWith(t, 50, func(ctx context.Context) error {
				return r.Within(ctx, func() { explain(ctx) })
			})
		})
	}
	want := digest.Of(r)
	explain.Decision(r, engine.ExplainFull)
	if digest.Of(r) != want {
		t.Error("the decision is another one")
	}
}

// The words about a term are bounded: they are written about every node.
func TestVerdictsAreBounded(t *testing.T) {
	s, p := wide(t, 3)
	pod := laborious(64, 64)
	for _, term := range pod.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms {
		term.MatchExpressions[63] = enginetest.Expr("absent", corev1.NodeSelectorOpExists)
	}
	pod.Spec.NodeSelector = map[string]string{}
	for i := range 1000 {
		pod.Spec.NodeSelector[fmt.Sprintf("key%d", i)] = "value"
	}
	r, err := engine.Decide(s, pod, p, engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Release()
	js, err := json.Marshal(explain.Verdict(r, 0))
	if err != nil {
		t.Fatal(err)
	}
	if len(js) > 16<<10 {
		t.Errorf("%d bytes about one node", len(js))
	}
	// 1,000 labels and the terms fail: what is left out is counted, and nothing is made of it.
	details := explain.Verdict(r, 0).Details
	if last := details[len(details)-1]; len(details) != 65 || last.Kind != "more" || last.Name != "937 more" {
		t.Errorf("%d details, the last %+v", len(details), last)
	}
	if n := testing.AllocsPerRun(5, func() { explain.Verdict(r, 1) }); n > 200 {
		t.Errorf("%v allocations for one node", n)
	}
	pod.Spec.NodeSelector = nil
	small, err := engine.Decide(s, pod, p, engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer small.Release()
	if text := explain.Verdict(small, 0).Details[0].Term; !strings.HasSuffix(text, " bytes more)") || len(text) > 1100 {
		t.Errorf("%d bytes: …%s", len(text), text[max(0, len(text)-100):])
	}
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
		explain.Decision(r, engine.ExplainFull)
		r.Release()
	}
}
