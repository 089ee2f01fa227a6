package explain_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"berth/internal/engine"
	"berth/internal/engine/explain"
	"berth/internal/engine/rules"
	"berth/internal/engine/state"
	"berth/internal/semantics"
	"berth/test/enginetest"
)

// alone decides with each filter of a profile as if no other were enabled, one node at a time. It
// returns the failures and the errors on the node, in the profile's order of filters.
func alone(t *testing.T, c *enginetest.Case, s *state.State, node string) (failing []engine.RuleFailure, broken []string) {
	t.Helper()
	pod := c.Pod.DeepCopy()
	pod.Status.NominatedNodeName = node // its own verdict, whatever nodes PreFilter leaves
	for _, name := range c.Spec.Filter {
		spec := c.Spec
		spec.PreEnqueue, spec.PostFilter, spec.Score, spec.Filter = nil, nil, nil, []string{name}
		spec.PreFilter = slices.DeleteFunc(slices.Clone(spec.PreFilter), func(n string) bool { return n != name })
		p, err := rules.Build(spec)
		if err != nil {
			t.Fatal(err)
		}
		o := c.Options
		o.Candidates = []string{node}
		r, err := engine.Decide(s, pod, p, o)
		if err != nil {
			broken = append(broken, name)
			continue
		}
		if n := explain.Decision(r, engine.ExplainFull).Nodes[0]; !n.Feasible {
			failing = append(failing, engine.RuleFailure{Plugin: n.Plugin, Code: n.Code, Reasons: n.Reasons})
		}
		r.Release()
	}
	return failing, broken
}

// unname takes out the objects that a decision names: one that places the pod names them only where
// every rule runs.
func unname(d *engine.Decision) {
	for i := range d.Nodes {
		if d.Nodes[i].Stage == engine.StagePreFilter { // its details are for what they name
			d.Nodes[i].Details = nil
		}
		for k := range d.Nodes[i].Details {
			det := &d.Nodes[i].Details[k]
			det.Blockers, det.BlockersOmitted = nil, 0
		}
	}
}

// TestEveryRejectingRuleIsNamed compares, for each rejected node, the filters that reject it with
// what a decision says under a profile of that filter alone. The first filter, its code and reasons
// are those of a decision that was explained in full, and so is the digest.
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
		for i := range got.Nodes {
			n := &got.Nodes[i]
			if n.Feasible {
				continue
			}
			want, broken := alone(t, c, s, n.Name)
			want = slices.DeleteFunc(want, func(f engine.RuleFailure) bool { return f.Plugin == n.Plugin })
			broken = slices.DeleteFunc(broken, func(name string) bool { return name == n.Plugin })
			for k := range n.AlsoFailing {
				seen[n.AlsoFailing[k].Plugin]++
				if len(n.AlsoFailing[k].Details) > 0 {
					seen["details of "+n.AlsoFailing[k].Plugin]++
				}
				n.AlsoFailing[k].Details = nil
			}
			if d := cmp.Diff(want, n.AlsoFailing); len(want)+len(n.AlsoFailing) > 0 && d != "" {
				t.Fatalf("seed %d, %s (first %s): -alone +explained:\n%s", seed, n.Name, n.Plugin, d)
			}
			errors += len(n.NotJudged)
			if len(n.NotJudged) != len(broken) {
				t.Fatalf("seed %d, %s: not judged: %v, alone %v", seed, n.Name, n.NotJudged, broken)
			}
			n.AlsoFailing, n.NotJudged = nil, nil
		}
		unname(full)
		unname(got)
		if d := cmp.Diff(full, got); d != "" {
			t.Fatalf("seed %d: explained with all rules, a decision is another: %s", seed, d)
		}
	}
	for _, d := range rules.Describe(semantics.Default()) {
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
