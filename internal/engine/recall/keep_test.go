package recall_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"berth/internal/engine"
	"berth/internal/engine/explain"
	"berth/internal/engine/explain/digest"
	"berth/internal/engine/recall"
	"berth/internal/engine/rules"
	"berth/internal/engine/state"
	"berth/test/enginetest"
)

// shared is what answers share, as text: digests of both forms and explanations, in a random order.
func shared(t *testing.T, decide enginetest.DecideFunc, s *state.State, pod *corev1.Pod, p *engine.Profile, o engine.Options, form digest.Form) string {
	t.Helper()
	r, err := decide(s, pod, p, o)
	if err != nil {
		return "error: " + err.Error()
	}
	defer r.Release()
	raw, err := json.Marshal([]any{form.Of(r), explain.Decision(r, engine.ExplainNone), explain.Decision(r, engine.ExplainFailures)})
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// TestDeciderGivesResultsAgain asks more than once on each state of a random sequence, about pods
// of few kinds, and compares with Decide. Some wait for nodes, and some questions are about the
// same pod.
func TestDeciderGivesResultsAgain(t *testing.T) {
	t.Parallel()
	from, to := enginetest.Seeds(t, 100)
	var again int
	for seed := from; seed < to; seed++ {
		c := enginetest.Generate(seed)
		p, err := rules.Build(c.Spec)
		if err != nil {
			t.Fatal(err)
		}
		r := rand.New(rand.NewPCG(seed, 7))
		for i := range c.Objects {
			c.Objects[i] = calmed(c.Objects[i], seed%4 > 0)
		}
		w := &wander{t: t, r: r, calm: true, other: []any{enginetest.Pod("filler")}}
		pods := []*corev1.Pod{calmed(c.Pod, true).(*corev1.Pod), enginetest.Pod("small", enginetest.Requests("cpu", "1m"))}
		d, s := recall.NewDecider(0), enginetest.Fresh(t, c.Objects...)
		for step := range 12 {
			for range 12 {
				pod, o := *pods[r.IntN(len(pods))], c.Options
				pod.Name = fmt.Sprintf("asked-%d", r.IntN(2))
				pod.UID = types.UID(pod.Name)
				if r.IntN(4) == 0 {
					o = options(r, s)
				}
				o.NoPreemption = r.IntN(2) == 0
				form := digest.Form2 + digest.Form(r.IntN(8)/7)
				want := shared(t, engine.Decide, s, &pod, p, o, form)
				if diff := cmp.Diff(want, shared(t, d.Decide, s, &pod, p, o, form)); diff != "" {
					t.Fatalf("seed %d, step %d (-Decide +Decider):\n%s", seed, step, diff)
				}
				want = enginetest.Everything(t, engine.Decide, s, &pod, p, o)
				if diff := cmp.Diff(want, enginetest.Everything(t, d.Decide, s, &pod, p, o)); diff != "" {
					t.Fatalf("seed %d, step %d (-Decide +Decider):\n%s", seed, step, diff)
				}
			}
			s = changed(t, s.Edit(), w.steps(s, pods)).Done()
		}
		again += d.Counters().Again
	}
	t.Logf("%d results were given again", again)
	if to-from >= 100 && again < 2000 {
		t.Errorf("only %d results were given again", again)
	}
}

// TestDeciderKeepsNoOldState counts what is kept: a result from the third question without a change
// on, until there is one.
func TestDeciderKeepsNoOldState(t *testing.T) {
	t.Parallel()
	f := newFollows(t, 0)
	s := enginetest.Fresh(t, enginetest.Node("a"), enginetest.Node("b"))
	pod := enginetest.Pod("web", enginetest.Requests("cpu", "1"))
	for round := range 3 {
		f.ask(s, pod)
		bytes := f.d.Bytes()
		f.ask(s, pod)
		held := f.d.Bytes() - bytes
		f.ask(s, pod)
		if c := f.d.Counters(); held <= 0 || c.Again != round+1 {
			t.Errorf("round %d: %d bytes for a result, %+v", round, held, c)
		}
		s = f.bind(s, enginetest.Pod(fmt.Sprint("bound-", round), enginetest.Requests("cpu", "1m")), "a")
		f.ask(s, enginetest.Pod("other", enginetest.Requests("cpu", "2")))
		if now := f.d.Bytes(); round > 0 && now > bytes {
			t.Errorf("round %d: %d bytes, and %d with the result of a state that is gone", round, bytes, now)
		}
	}
}

// TestDeciderKeepsNoResultOfManyVolumes: volumes with nothing but a name are not in the key of a
// kind, so that the pod of a result would be held without being counted.
func TestDeciderKeepsNoResultOfManyVolumes(t *testing.T) {
	t.Parallel()
	s := enginetest.Fresh(t, enginetest.Node("a"), enginetest.Node("b"))
	for _, many := range []bool{false, true} {
		f := newFollows(t, 0)
		pod := enginetest.Pod("web", enginetest.Requests("cpu", "1"))
		for i := range 200 {
			pod.Spec.Volumes = append(pod.Spec.Volumes, corev1.Volume{Name: fmt.Sprint("v", i)})
		}
		if many {
			pod.Status.Conditions = make([]corev1.PodCondition, 100)
			for i := range pod.Status.Conditions {
				pod.Status.Conditions[i].Type = corev1.PodScheduled
			}
		}
		for range 4 {
			f.ask(s, pod)
		}
		if got := f.d.Counters().Again; (got == 0) != many {
			t.Errorf("many volumes and conditions: %t, given again %d times", many, got)
		}
	}
}
