package engine_test

import (
	"math/rand/v2"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"berth/internal/engine"
	"berth/internal/engine/explain/digest"
	"berth/internal/engine/recall"
	"berth/internal/engine/rules"
	"berth/internal/engine/state"
	"berth/test/enginetest"
)

// singleCall is one call on a state.
type singleCall struct {
	pod  *corev1.Pod
	opts engine.Options
}

func (q *singleCall) answer(s *state.State, p *engine.Profile, decide func(*state.State, *corev1.Pod, *engine.Profile, engine.Options) (*engine.Result, error)) string {
	r, err := decide(s, q.pod, p, q.opts)
	if err != nil {
		return "error: " + err.Error()
	}
	defer r.Release()
	return digest.Of(r)
}

// TestVerdictsDoNotDependOnHistory puts random questions, look-alikes among them, to one state
// in random orders, as filter, as score, with preemption and through a Decider, and compares each
// answer with that of a state that was never asked. BERTH_CASES sets how many sequences.
func TestVerdictsDoNotDependOnHistory(t *testing.T) {
	const perState = 10 // sequences on one state
	from, to := enginetest.Seeds(t, 2000)
	n := 0
	for seed := from; seed < to; seed += perState {
		r := rand.New(rand.NewPCG(seed, 0x68697374))
		c := enginetest.Generate(seed)
		p, err := rules.Build(c.Spec)
		if err != nil {
			continue
		}
		var list []singleCall
		for i := range uint64(6) {
			other := enginetest.Generate(seed*8 + i)
			if r.IntN(2) == 0 {
				enginetest.Lookalikes(seed*8+i, other)
			}
			q := singleCall{other.Pod, c.Options}
			switch r.IntN(4) {
			case 0:
				q.opts.NoScores = true
			case 1:
				q.opts.ScoreAlways = true
			case 2:
				q.opts.NoPreemption = true
			}
			list = append(list, q)
		}
		list = append(list, singleCall{c.Pod, c.Options})
		want := make([]string, len(list))
		for i := range list {
			fresh, err := enginetest.State(c.Objects...)
			if err != nil {
				t.Fatal(err)
			}
			want[i] = list[i].answer(fresh, p, engine.Decide)
		}
		shared, err := enginetest.State(c.Objects...)
		if err != nil {
			t.Fatal(err)
		}
		d := recall.NewDecider(0)
		for range perState {
			for _, i := range r.Perm(len(list)) {
				how, decide := "Decide", engine.Decide
				if r.IntN(2) == 0 {
					how, decide = "a Decider", d.Decide
				}
				if got := list[i].answer(shared, p, decide); got != want[i] {
					t.Fatalf("seed %d, question %d by %s: %s, and %s on a fresh state", seed, i, how, got, want[i])
				}
				n++
			}
		}
	}
	t.Logf("%d sequences, %d questions", to-from, n)
}
