package engine_test

import (
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"berth/internal/engine"
	"berth/internal/engine/explain"
	"berth/internal/engine/preempt"
	"berth/internal/engine/rules"
	"berth/internal/engine/state"
	"berth/test/enginetest"
)

// written is a case's complete answer on a state, digest included.
func written(t *testing.T, c *enginetest.Case, s *state.State) string {
	t.Helper()
	d, err := c.DecideOn(s)
	if err != nil {
		return "error: " + err.Error()
	}
	raw, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func shuffled(r *rand.Rand, list []any) []any {
	out := slices.Clone(list)
	r.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	return out
}

func TestOrderOfInputChangesNothing(t *testing.T) {
	t.Parallel()
	from, to := enginetest.Seeds(t, 800)
	for seed := from; seed < to; seed++ {
		c := enginetest.Generate(seed)
		r := rand.New(rand.NewPCG(seed, 1))
		want := written(t, c, enginetest.Fresh(t, c.Objects...))
		if diff := cmp.Diff(want, written(t, c, enginetest.Fresh(t, shuffled(r, c.Objects)...))); diff != "" {
			t.Fatalf("seed %d (-in order +shuffled):\n%s", seed, diff)
		}
	}
}

// TestHistoryChangesNothing comes to the same objects by a long way round:
// another cluster first, of which some objects are deleted and the rest
// replaced, one edit at a time. Pods come before their nodes, nodes go with
// their pods on them, and are relabelled. All states on the way stay as they
// were.
func TestHistoryChangesNothing(t *testing.T) {
	t.Parallel()
	from, to := enginetest.Seeds(t, 200)
	for seed := from; seed < to; seed++ {
		c := enginetest.Generate(seed)
		r := rand.New(rand.NewPCG(seed, 2))
		s := state.NewState()
		var states []*state.State
		var answers []string
		step := func(change func(*state.Edit) error) {
			if r.IntN(12) == 0 {
				states, answers = append(states, s), append(answers, written(t, c, s))
			}
			e := s.Edit()
			if err := change(e); err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			s = e.Done()
		}
		wanted := map[[3]string]bool{}
		key := func(o any) [3]string { k, ns, n := enginetest.Key(o); return [3]string{k, ns, n} }
		for _, o := range c.Objects {
			wanted[key(o)] = true
		}
		other := shuffled(r, enginetest.Generate(seed+1_000_000).Objects)
		for _, o := range other {
			step(func(e *state.Edit) error { return e.Put(o) })
		}
		for _, o := range shuffled(r, other) {
			if k := key(o); !wanted[k] || r.IntN(3) == 0 {
				step(func(e *state.Edit) error { e.Delete(k[0], k[1], k[2]); return nil })
			}
		}
		for _, o := range shuffled(r, c.Objects) {
			p, isPod := o.(*corev1.Pod)
			if isPod && p.Spec.NodeName != "" && p.Status.Phase == corev1.PodRunning && r.IntN(2) == 0 {
				waiting := p.DeepCopy()
				waiting.Spec.NodeName, waiting.Status.NominatedNodeName = "", "n00"
				step(func(e *state.Edit) error { return e.Put(waiting) })
				step(func(e *state.Edit) error { return e.Bind(waiting, p.Spec.NodeName) })
				continue
			}
			step(func(e *state.Edit) error { return e.Put(o) })
		}
		// Some nodes leave and come back.
		for _, o := range c.Objects {
			if n, ok := o.(*corev1.Node); ok && r.IntN(4) == 0 {
				step(func(e *state.Edit) error { e.Delete("Node", "", n.Name); return nil })
				step(func(e *state.Edit) error { return e.Put(n) })
			}
		}
		if diff := cmp.Diff(written(t, c, enginetest.Fresh(t, c.Objects...)), written(t, c, s)); diff != "" {
			t.Fatalf("seed %d (-fresh +by edits):\n%s", seed, diff)
		}
		for i := range states {
			if diff := cmp.Diff(answers[i], written(t, c, states[i])); diff != "" {
				t.Fatalf("seed %d: a later edit changed state %d (-before +after):\n%s", seed, i, diff)
			}
		}
	}
}

// TestSeedsDrawTheSame: a seed that a test names draws the same cluster when it is run again.
func TestSeedsDrawTheSame(t *testing.T) {
	for seed := range uint64(40) {
		if diff := cmp.Diff(enginetest.Generate(seed).Objects, enginetest.Generate(seed).Objects); diff != "" {
			t.Fatalf("seed %d (-first +second):\n%s", seed, diff)
		}
	}
}

// TestFailedNodesDoNotTouchScores leaves the failed nodes out of the question:
// the others' scores are the same.
func TestFailedNodesDoNotTouchScores(t *testing.T) {
	t.Parallel()
	from, to := enginetest.Seeds(t, 800)
	compared := 0
	for seed := from; seed < to; seed++ {
		c := enginetest.Generate(seed)
		c.Options.ScoreAlways = true
		all, err := c.Decide()
		if err != nil || all.Outcome != engine.Scheduled || all.Counts.Feasible == all.Counts.Nodes || all.NodesOmitted > 0 {
			continue
		}
		var want []engine.NodeVerdict
		c.Options.Candidates = []string{}
		for _, n := range all.Nodes {
			if n.Feasible {
				want = append(want, n)
				c.Options.Candidates = append(c.Options.Candidates, n.Name)
			}
		}
		fewer, err := c.Decide()
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		compared++
		if diff := cmp.Diff(want, fewer.Nodes); diff != "" {
			t.Fatalf("seed %d (-all nodes asked +feasible ones only):\n%s", seed, diff)
		}
	}
	if compared < 100 && to-from >= 800 {
		t.Errorf("only %d cases had both feasible and failed nodes", compared)
	}
}

// TestDigestTellsAnswersApart takes one object out at a time: the digest changes
// when, and only when, a verdict, a score or the choice does.
func TestDigestTellsAnswersApart(t *testing.T) {
	t.Parallel()
	from, to := enginetest.Seeds(t, 120)
	differing := 0
	for seed := from; seed < to; seed++ {
		c := enginetest.Generate(seed)
		full, err := c.Decide()
		if err != nil || len(c.Objects) > 64 {
			continue
		}
		for i := range c.Objects {
			less := *c
			less.Objects = slices.Delete(slices.Clone(c.Objects), i, i+1)
			d, err := less.Decide()
			if err != nil {
				continue
			}
			diff := cmp.Diff(digested(full), digested(d))
			if diff != "" {
				differing++
			}
			// The digest is over all nodes of the state, also those not asked about.
			_, isNode := c.Objects[i].(*corev1.Node)
			if isNode && c.Options.Candidates != nil && diff == "" {
				continue
			}
			if (diff == "") != (full.Digest == d.Digest) {
				t.Fatalf("seed %d without object %d: digests %s and %s, answers differ by:\n%s", seed, i, full.Digest, d.Digest, diff)
			}
		}
	}
	if differing < 100 && to-from >= 120 {
		t.Errorf("only %d answers differed", differing)
	}
}

// digested is what the digest holds of a decision: no details, and of a search for victims who goes
// where, what it leaves and what it tried.
func digested(d *engine.Decision) *engine.Decision {
	out := *d
	out.Digest, out.Spread, out.NotEvaluated = "", nil, nil
	out.Nodes = slices.Clone(d.Nodes)
	for i := range out.Nodes {
		out.Nodes[i].Details = nil
	}
	out.Failures = slices.Clone(d.Failures)
	slices.SortFunc(out.Failures, func(a, b engine.FailureCount) int {
		return strings.Compare(a.Plugin+a.Code+a.Reason, b.Plugin+b.Code+b.Reason)
	})
	p := d.Preemption
	if p == nil {
		return &out
	}
	out.Preemption = &engine.Preemption{Eligible: p.Eligible, Reason: p.Reason, ClearedNominations: p.ClearedNominations}
	for _, v := range p.Victims {
		v.Because, v.Terminating = nil, false
		out.Preemption.Victims = append(out.Preemption.Victims, v)
	}
	for _, c := range p.Candidates {
		out.Preemption.Candidates = append(out.Preemption.Candidates, engine.PreemptionCandidate{Node: c.Node, NumPDBViolations: c.NumPDBViolations, Victims: short(c.Victims)})
	}
	slices.SortFunc(out.Preemption.Candidates, func(a, b engine.PreemptionCandidate) int { return strings.Compare(a.Node, b.Node) })
	for _, v := range p.Reprieved {
		out.Preemption.Reprieved = append(out.Preemption.Reprieved, engine.Reprieved{UID: v.UID})
	}
	for _, n := range p.NotCandidates {
		if n.Tried {
			out.Preemption.NotCandidates = append(out.Preemption.NotCandidates, engine.NotCandidate{Tried: n.Reason == preempt.ReasonNoVictims, Names: n.Names})
		}
	}
	return &out
}

func short(victims []engine.Victim) (out []engine.Victim) {
	for _, v := range victims {
		out = append(out, engine.Victim{Namespace: v.Namespace, Name: v.Name, UID: v.UID, Priority: v.Priority, ViolatesPDB: v.ViolatesPDB})
	}
	return out
}

// TestDecisionsAtOnceDoNotMeet runs decisions of many sizes at the same time,
// some on the same state while edits of it go on. Scratch memory that two shared
// would show in the answers, and under -race.
func TestDecisionsAtOnceDoNotMeet(t *testing.T) {
	t.Parallel()
	type question struct {
		c *enginetest.Case
		s *state.State
		p *engine.Profile
		w string
	}
	var list []question
	for seed := uint64(1); seed <= 60; seed++ {
		c := enginetest.Generate(seed)
		s := enginetest.Fresh(t, c.Objects...)
		p, err := rules.Build(c.Spec)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, question{c, s, p, written(t, c, s)})
	}
	var wg sync.WaitGroup
	for worker := range 8 {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(uint64(worker), 3))
			for range 150 {
				a, b := list[r.IntN(len(list))], list[r.IntN(len(list))]
				// Two results at a time, the second released first.
				ra, errA := engine.Decide(a.s, a.c.Pod, a.p, a.c.Options)
				rb, errB := engine.Decide(b.s, b.c.Pod, b.p, b.c.Options)
				e := a.s.Edit()
				if err := e.Bind(enginetest.Pod("late"), "n00"); err != nil {
					t.Error(err)
				}
				e.Done()
				for _, one := range []struct {
					q   question
					r   *engine.Result
					err error
				}{{b, rb, errB}, {a, ra, errA}} {
					got := ""
					if one.err != nil {
						got = "error: " + one.err.Error()
					} else {
						raw, err := json.Marshal(explain.Decision(one.r, engine.ExplainFull))
						if err != nil {
							t.Error(err)
						}
						got = string(raw)
						one.r.Release()
					}
					if got != one.q.w {
						t.Errorf("an answer changed (-alone +at once):\n%s", cmp.Diff(one.q.w, got))
					}
				}
			}
		})
	}
	wg.Wait()
}
