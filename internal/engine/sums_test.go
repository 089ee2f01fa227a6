package engine_test

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"berth/internal/engine"
	"berth/internal/engine/rules"
	"berth/internal/semantics"
	"berth/test/enginetest"
)

// TestVerdictsAddUp: every candidate has a verdict with its reasons or its scores, and what a
// decision sums up is their sum. Each outcome, and each rule as a filter and as a score, comes up
// in the cases, which would show nothing of it otherwise.
func TestVerdictsAddUp(t *testing.T) {
	t.Parallel()
	from, to := enginetest.Seeds(t, 1600)
	seen := map[string]int{}
	for seed := from; seed < to; seed++ {
		d, err := enginetest.Mixed(seed).Decide()
		if err != nil {
			seen["error"]++
			continue
		}
		seen[string(d.Outcome)]++
		if d.Outcome != engine.Gated && len(d.Nodes)+d.NodesOmitted != d.Counts.Nodes {
			t.Errorf("seed %d: %d verdicts and %d left out of %d nodes", seed, len(d.Nodes), d.NodesOmitted, d.Counts.Nodes)
		}
		for _, f := range d.Failures {
			seen[f.Plugin]++
		}
		for _, n := range d.Nodes {
			for _, s := range n.Scores {
				seen["score "+s.Plugin]++
			}
		}
		checkFailures(t, seed, d)
		checkScores(t, seed, d)
	}
	// Their scores depend on a feature gate that is off, and on drivers that the cases lack.
	scoresNothing := []string{"VolumeBinding", "DynamicResources"}
	wanted := []string{"error", "Scheduled", "Unschedulable", "Gated", "Preempting"}
	for _, d := range rules.Describe(semantics.Default()) {
		if slices.Contains(d.Phases, "Filter") {
			wanted = append(wanted, d.Plugin)
		}
		if slices.Contains(d.Phases, "Score") && !slices.Contains(scoresNothing, d.Plugin) {
			wanted = append(wanted, "score "+d.Plugin)
		}
	}
	for _, want := range wanted {
		if to-from >= 1000 && seen[want] < 3 {
			t.Errorf("%s came up %d times in %d cases", want, seen[want], to-from)
		}
	}
}

// TestCandidatesAreJudgedAsAmongAll asks about every other node: no other is named, and a pod that
// is nominated to none is judged on each as when all nodes are asked about.
func TestCandidatesAreJudgedAsAmongAll(t *testing.T) {
	t.Parallel()
	from, to := enginetest.Seeds(t, 600)
	nominated := 0
	for seed := from; seed < to; seed++ {
		c := enginetest.Generate(seed)
		c.Options = engine.Options{NoPreemption: true}
		all, err := c.Decide()
		if err != nil {
			continue
		}
		asked := map[string]bool{}
		whole := map[string]engine.NodeVerdict{}
		for _, n := range all.Nodes {
			whole[n.Name] = n
		}
		for i, o := range c.Objects {
			if n, ok := o.(*corev1.Node); ok && i%2 == 0 && n.Name != c.Pod.Status.NominatedNodeName {
				asked[n.Name] = true
				c.Options.Candidates = append(c.Options.Candidates, n.Name)
			}
		}
		few, err := c.Decide()
		if err != nil || c.Options.Candidates == nil {
			continue
		}
		if few.Counts.Nodes != len(asked) || few.Node != "" && !asked[few.Node] {
			t.Errorf("seed %d: %s of %d nodes, asked about %v", seed, few.Node, few.Counts.Nodes, c.Options.Candidates)
		}
		if c.Pod.Status.NominatedNodeName != "" {
			nominated++
		}
		for _, n := range few.Nodes {
			w := whole[n.Name]
			if !asked[n.Name] || c.Pod.Status.NominatedNodeName == "" && (n.Feasible != w.Feasible || n.Plugin != w.Plugin || !slices.Equal(n.Reasons, w.Reasons)) {
				t.Errorf("seed %d: %+v, among all nodes %+v", seed, n, w)
			}
		}
	}
	if to-from >= 600 && nominated < 20 {
		t.Errorf("only %d pods were nominated", nominated)
	}
}

func checkFailures(t *testing.T, seed uint64, d *engine.Decision) {
	t.Helper()
	counted := map[engine.FailureCount]int{}
	feasible := 0
	for _, n := range d.Nodes {
		if n.Feasible {
			feasible++
		} else if n.Plugin == "" || n.Code == "" || len(n.Reasons) == 0 {
			t.Errorf("seed %d: %s fails without a word: %+v", seed, n.Name, n)
		}
		for _, reason := range n.Reasons {
			counted[engine.FailureCount{Plugin: n.Plugin, Code: n.Code, Reason: reason}]++
		}
	}
	if feasible != d.Counts.Feasible {
		t.Errorf("seed %d: %d nodes are feasible, and %d are counted", seed, feasible, d.Counts.Feasible)
	}
	for _, f := range d.Failures {
		n := f.Nodes
		f.Nodes = 0
		if counted[f] != n {
			t.Errorf("seed %d: %+v on %d nodes, %d have it", seed, f, n, counted[f])
		}
		delete(counted, f)
	}
	if len(counted) > 0 {
		t.Errorf("seed %d: left out are %v", seed, counted)
	}
}

func checkScores(t *testing.T, seed uint64, d *engine.Decision) {
	t.Helper()
	var totals []int64
	var best []string
	for _, n := range d.Nodes {
		var total int64
		for _, s := range n.Scores {
			total += s.Weighted
			if s.Normalized < 0 || s.Normalized > engine.MaxScore || s.Weighted != s.Normalized*s.Weight {
				t.Errorf("seed %d: %s: %+v", seed, n.Name, s)
			}
		}
		if n.Score == nil {
			continue
		}
		if *n.Score != total {
			t.Errorf("seed %d: %s has %d, its scores are %+v", seed, n.Name, *n.Score, n.Scores)
		}
		if len(totals) == 0 || total > slices.Max(totals) {
			best = nil
		}
		if totals = append(totals, total); total == slices.Max(totals) {
			best = append(best, n.Name)
		}
	}
	if totals == nil {
		return
	}
	slices.Sort(totals)
	var margin *int64
	if rest := totals[:len(totals)-len(best)]; len(rest) > 0 {
		m := totals[len(totals)-1] - rest[len(rest)-1]
		margin = &m
	}
	if !slices.Equal(best, d.Best) || !slices.Contains(best, d.Node) {
		t.Errorf("seed %d: %s of %v, best are %v", seed, d.Node, d.Best, best)
	}
	if (margin == nil) != (d.Margin == nil) || margin != nil && *margin != *d.Margin {
		t.Errorf("seed %d: a margin of %v among %v", seed, d.Margin, totals)
	}
}
