package engine_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"berth/internal/engine"
	"berth/internal/engine/rules"
	"berth/test/enginetest"
	"berth/test/enginetest/naive"
)

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
	return cmp.Diff(naive.Comparable(want), naive.Comparable(got)), got
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
	from, to := enginetest.Seeds(t, 4000)
	wrong := 0
	seen := map[string]int{}
	for seed := from; seed < to && wrong < 3; seed++ {
		c := enginetest.Mixed(seed)
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

// TestSeedsDrawTheSame: a seed that a test names draws the same cluster when it is run again.
func TestSeedsDrawTheSame(t *testing.T) {
	for seed := range uint64(40) {
		if diff := cmp.Diff(enginetest.Generate(seed).Objects, enginetest.Generate(seed).Objects); diff != "" {
			t.Fatalf("seed %d (-first +second):\n%s", seed, diff)
		}
	}
}

// TestScoresOfAmountsThatOverflow compares scores that overflow, as upstream's do, and fit no byte.
func TestScoresOfAmountsThatOverflow(t *testing.T) {
	for _, memory := range []string{"64Gi", "70Pi", "100Pi", "1Ei", "7Ei"} {
		c := &enginetest.Case{
			Objects: []any{
				enginetest.Node("n1", enginetest.Allocatable("cpu", "4", "memory", memory, "pods", "10")),
				enginetest.Node("n2", enginetest.Allocatable("cpu", "8", "memory", "16Gi", "pods", "10")),
			},
			Pod: enginetest.Pod("p", enginetest.Requests("cpu", "4", "memory", "1Gi")), Spec: rules.DefaultSpec(),
		}
		if diff, _ := disagreement(c); diff != "" {
			t.Errorf("%s: -twin +engine\n%s", memory, diff)
		}
	}
}

// TestBalanceOfUsesThatOverflow does the same for pods whose requests wrap around on a node, so
// that it has more left than it offers.
func TestBalanceOfUsesThatOverflow(t *testing.T) {
	for _, memory := range []string{"1", "1Ki", "1Gi", "1Ti", "64Pi", "1Ei", "3Ei"} {
		for _, asks := range []string{"0", "1Ki", "1Ei", "2Ei"} {
			c := &enginetest.Case{
				Objects: []any{
					enginetest.Node("n1", enginetest.Allocatable("cpu", "4", "memory", memory, "pods", "10")),
					enginetest.Node("n2", enginetest.Allocatable("cpu", "8", "memory", "4Ei", "pods", "10")),
					enginetest.Pod("held-1", enginetest.On("n1"), enginetest.Requests("memory", "7Ei")),
					enginetest.Pod("held-2", enginetest.On("n1"), enginetest.Requests("memory", "7Ei")),
				},
				Pod: enginetest.Pod("p", enginetest.Requests("cpu", "1", "memory", asks)), Spec: rules.DefaultSpec(),
			}
			if diff, _ := disagreement(c); diff != "" {
				t.Errorf("%s of %s: -twin +engine\n%s", asks, memory, diff)
			}
		}
	}
}
