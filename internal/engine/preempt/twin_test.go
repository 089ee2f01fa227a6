package preempt_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"berth/internal/engine"
	"berth/internal/engine/rules"
	et "berth/test/enginetest"
	"berth/test/enginetest/naive"
)

// TestManyPodsOnANode compares the search with its naive twin on nodes whose pods take several
// words of a set, under budgets of all kinds.
func TestManyPodsOnANode(t *testing.T) {
	t.Parallel()
	violations := 0
	for seed := range uint64(12) {
		r := rand.New(rand.NewPCG(seed, 17))
		c := et.Case{Spec: rules.DefaultSpec(), Options: engine.Options{Now: et.Now}, Pod: et.Pod("p", et.Priority(int32(5+r.IntN(40))), cores(fmt.Sprint(1+r.IntN(40))))}
		for i := range 3 {
			node, cpu := fmt.Sprint("n", i), 0
			for k := range 60 + r.IntN(80) {
				n := r.IntN(3)
				cpu += n
				p := et.Pod(fmt.Sprintf("%s-%d", node, k), et.On(node), et.Priority(int32(r.IntN(5)*10)), cores(fmt.Sprint(n)), et.Labels("app", fmt.Sprint(r.IntN(30)), "tier", fmt.Sprint(r.IntN(9))))
				c.Objects = append(c.Objects, p)
			}
			c.Objects = append(c.Objects, sized(node, fmt.Sprint(cpu), et.Allocatable("cpu", fmt.Sprint(cpu), "pods", "200")))
		}
		for app := range 20 {
			b := guard(fmt.Sprint("app-", app), fmt.Sprint(app), int32(r.IntN(4)-1))
			if r.IntN(5) == 0 {
				b.Spec.Selector = et.Match("tier", fmt.Sprint(r.IntN(9)))
			}
			if r.IntN(5) == 0 {
				b.Status.DisruptedPods = map[string]metav1.Time{"n0-3": {}, "n1-70": {}, fmt.Sprint("n2-", r.IntN(60)): {}}
			}
			c.Objects = append(c.Objects, b)
		}
		got, err := c.Decide()
		if err != nil {
			t.Fatal(err)
		}
		want, err := naive.Decide(naive.NewCluster(c.Objects), c.Pod, c.Spec, c.Options)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(naive.Comparable(want), naive.Comparable(got)); diff != "" || got.Outcome == engine.Preempting && !slices.Contains(want.Best, got.NominatedNode) {
			t.Errorf("seed %d: %s, %v in the twin\n%s", seed, got.NominatedNode, want.Best, diff)
		}
		if got.Preemption != nil {
			violations += got.Preemption.NumPDBViolations
		}
	}
	if violations < 10 {
		t.Errorf("only %d violations", violations)
	}
}
