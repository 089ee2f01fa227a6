package engine_test

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"sort"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"berth/internal/engine"
	"berth/internal/engine/enginetest"
	"berth/internal/engine/enginetest/naive"
	"berth/internal/engine/rules"
)

// seeds returns how many random cases a test goes through: n, or what
// BERTH_CASES says. BERTH_SEED sets the first one.
func seeds(t testing.TB, n uint64) (from, to uint64) {
	t.Helper()
	read := func(name string, value uint64) uint64 {
		s := os.Getenv(name)
		if s == "" {
			return value
		}
		v, err := strconv.ParseUint(s, 10, 64)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		return v
	}
	from = read("BERTH_SEED", 1)
	return from, from + read("BERTH_CASES", n)
}

// answer is a decision without what the naive twin leaves out: details, the
// ledger, the digest, and the pick among equals.
func answer(d *engine.Decision) *engine.Decision {
	out := *d
	out.Digest, out.Spread, out.NotEvaluated = "", nil, nil
	if len(out.Best) > 1 {
		out.Node, out.Devices = "", nil
		if slices.Contains(out.Best, d.Node) {
			out.Node = "one of the best"
		}
	}
	out.Preemption, out.NominatedNode = searched(d), ""
	if d.Outcome == engine.Preempting {
		out.Best = nil
	}
	out.Nodes = slices.Clone(d.Nodes)
	for i := range out.Nodes {
		out.Nodes[i].Details = nil
		if len(out.Nodes[i].Scores) == 0 {
			out.Nodes[i].Scores = nil
		}
	}
	out.Failures = slices.Clone(d.Failures)
	sort.Slice(out.Failures, func(i, j int) bool {
		a, b := out.Failures[i], out.Failures[j]
		return a.Plugin+a.Code+a.Reason < b.Plugin+b.Code+b.Reason
	})
	return &out
}

// searched is a search for victims without its explanations: every candidate by
// name, with its victims in order.
func searched(d *engine.Decision) *engine.Preemption {
	p := d.Preemption
	if p == nil {
		return nil
	}
	out := &engine.Preemption{Eligible: p.Eligible, Reason: p.Reason}
	for _, c := range p.Candidates {
		short := engine.PreemptionCandidate{Node: c.Node, NumPDBViolations: c.NumPDBViolations}
		for _, v := range c.Victims {
			short.Victims = append(short.Victims, engine.Victim{Namespace: v.Namespace, Name: v.Name, UID: v.UID, Priority: v.Priority, ViolatesPDB: v.ViolatesPDB})
		}
		out.Candidates = append(out.Candidates, short)
	}
	sort.Slice(out.Candidates, func(i, j int) bool { return out.Candidates[i].Node < out.Candidates[j].Node })
	return out
}

// disagreement asks both; empty means that they agree.
func disagreement(c *enginetest.Case) (diff string, d *engine.Decision) {
	got, gotErr := c.Decide()
	want, wantErr := naive.Decide(naive.NewCluster(c.Objects), c.Pod, c.Spec, c.Options)
	if gotErr != nil || wantErr != nil {
		if gotErr == nil || wantErr == nil {
			return cmp.Diff(errText(wantErr), errText(gotErr)), nil
		}
		return "", nil
	}
	if got.Outcome == engine.Scheduled {
		want.Volumes = naive.Volumes(naive.NewCluster(c.Objects), c.Pod, c.Spec, got.Node)
	}
	if len(want.Best) > 0 && want.Outcome == engine.Scheduled {
		want.Node = want.Best[0]
	}
	if got.Outcome == engine.Preempting && want.Outcome == engine.Preempting && !slices.Contains(want.Best, got.NominatedNode) {
		return fmt.Sprintf("%s is nominated, and upstream chooses from %v", got.NominatedNode, want.Best), got
	}
	return cmp.Diff(answer(want), answer(got)), got
}

func errText(err error) string {
	if err == nil {
		return "no error"
	}
	return err.Error()
}

// minimised takes objects out of a case for as long as both still disagree.
func minimised(c *enginetest.Case) *enginetest.Case {
	small := *c
	for again := true; again; {
		again = false
		for i := len(small.Objects) - 1; i >= 0; i-- {
			fewer := small
			fewer.Objects = slices.Delete(slices.Clone(small.Objects), i, i+1)
			if diff, _ := disagreement(&fewer); diff != "" {
				small, again = fewer, true
			}
		}
	}
	return &small
}

func text(t *testing.T, c *enginetest.Case) string {
	t.Helper()
	var b strings.Builder
	for _, v := range append(append([]any{}, c.Objects...), "pod", c.Pod, "args", c.Spec.Args, "options", c.Options) {
		raw, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		b.Write(raw)
		b.WriteByte('\n')
	}
	return b.String()
}

// TestEngineAgreesWithItsNaiveTwin compares outcome, verdicts, reasons, every
// score and the best nodes over random clusters.
func TestEngineAgreesWithItsNaiveTwin(t *testing.T) {
	t.Parallel()
	from, to := seeds(t, 4000)
	wrong := 0
	seen := map[string]int{}
	for seed := from; seed < to && wrong < 3; seed++ {
		c := enginetest.Generate(seed)
		if seed%8 == 0 {
			c = enginetest.Crowded(seed)
		}
		diff, d := disagreement(c)
		if diff != "" {
			wrong++
			small := minimised(c)
			diff, _ = disagreement(small)
			t.Errorf("seed %d: engine (+) and naive twin (-) disagree:\n%s\nminimised case:\n%s", seed, diff, text(t, small))
			continue
		}
		if d == nil {
			seen["error"]++
			continue
		}
		seen[string(d.Outcome)]++
		for _, f := range d.Failures {
			seen[f.Plugin]++
		}
		for _, n := range d.Nodes {
			for _, s := range n.Scores {
				seen["score "+s.Plugin]++
			}
		}
	}
	// A corpus that never meets a rule would prove nothing about it.
	// Their scores depend on a feature gate that is off, and on drivers that the corpus lacks.
	scoresNothing := []string{"VolumeBinding", "DynamicResources"}
	wanted := []string{"error", "Scheduled", "Unschedulable", "Gated", "Preempting"}
	for _, d := range rules.Describe() {
		if slices.Contains(d.Phases, "Filter") {
			wanted = append(wanted, d.Plugin)
		}
		if slices.Contains(d.Phases, "Score") && !slices.Contains(scoresNothing, d.Plugin) {
			wanted = append(wanted, "score "+d.Plugin)
		}
	}
	for _, want := range wanted {
		if to-from >= 1000 && wrong == 0 && seen[want] < 3 {
			t.Errorf("%s came up %d times in %d cases", want, seen[want], to-from)
		}
	}
	t.Logf("%d cases: %v", to-from, seen)
}
