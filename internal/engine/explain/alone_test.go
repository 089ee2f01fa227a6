package explain_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"berth/internal/engine"
	"berth/internal/engine/explain"
	"berth/internal/engine/rules"
	"berth/test/enginetest"
	"berth/test/enginetest/naive"
)

// TestEveryRejectingRuleIsNamed compares, for each rejected node, the filters that
// reject it with what each filter of the naive twin returns when it is the only one.
// The first filter, its code and reasons are those of a decision that was explained
// in full, and so is the digest.
func TestEveryRejectingRuleIsNamed(t *testing.T) {
	t.Parallel()
	from, to := enginetest.Seeds(t, 1200)
	seen, errors := map[string]int{}, 0
	for seed := from; seed < to; seed++ {
		c := enginetest.Mixed(seed)
		s, err := enginetest.State(c.Objects...)
		if err != nil {
			t.Fatal(err)
		}
		p, err := rules.Build(c.Spec)
		if err != nil {
			t.Fatal(err)
		}
		r, err := engine.Decide(s, c.Pod, p, c.Options)
		if err != nil {
			continue
		}
		full := explain.Decision(r, engine.ExplainFull)
		got := explain.Decision(r, engine.ExplainAll)
		again := explain.Decision(r, engine.ExplainFull)
		r.Release()
		if d := cmp.Diff(full, again); d != "" {
			t.Fatalf("seed %d: explaining a decision changed it: %s", seed, d)
		}
		failing, broken := naive.Alone(naive.NewCluster(c.Objects), c.Pod, c.Spec)
		for i := range got.Nodes {
			n := &got.Nodes[i]
			if n.Feasible {
				continue
			}
			want := slices.DeleteFunc(slices.Clone(failing[n.Name]), func(f engine.RuleFailure) bool { return f.Plugin == n.Plugin })
			for k := range n.AlsoFailing {
				seen[n.AlsoFailing[k].Plugin]++
				if len(n.AlsoFailing[k].Details) > 0 {
					seen["details of "+n.AlsoFailing[k].Plugin]++
				}
				n.AlsoFailing[k].Details = nil
			}
			if d := cmp.Diff(want, n.AlsoFailing); len(want)+len(n.AlsoFailing) > 0 && d != "" {
				t.Fatalf("seed %d, %s (first %s): engine (+) and naive twin (-) disagree:\n%s", seed, n.Name, n.Plugin, d)
			}
			errors += len(n.NotJudged)
			if len(n.NotJudged) != len(slices.DeleteFunc(slices.Clone(broken[n.Name]), func(b engine.NotEvaluated) bool { return b.Plugin == n.Plugin })) {
				t.Fatalf("seed %d, %s: not judged: %v, the naive twin has %v", seed, n.Name, n.NotJudged, broken[n.Name])
			}
			n.AlsoFailing, n.NotJudged = nil, nil
		}
		if d := cmp.Diff(full, got); d != "" {
			t.Fatalf("seed %d: explained with all rules, a decision is another: %s", seed, d)
		}
	}
	for _, d := range rules.Describe() {
		p := d.Plugin
		if !slices.Contains(d.Phases, "Filter") {
			continue
		}
		if to-from >= 1000 && (seen[p] < 3 || seen["details of "+p] == 0) {
			t.Errorf("%s rejects beside another rule %d times, with details %d times", p, seen[p], seen["details of "+p])
		}
	}
	t.Logf("%d errors, %v", errors, seen)
}
