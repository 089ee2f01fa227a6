package preempt

import (
	"math"
	"slices"

	"k8s.io/apimachinery/pkg/labels"

	"berth/internal/engine"
	"berth/internal/engine/state"
)

// allowances count what evictions take from the budgets, on one node at a time.
type allowances struct {
	list    []state.DisruptionBudget
	shape   [][]int32
	sole    []int32 // by class, see state.Budgets
	allowed []int32 // what the budgets allow, next to each other, and last what no budget limits
	left    []int32
	touched []int32
	ways    Ways
}

func newAllowances(s *state.State, ways Ways) *allowances {
	list, shape, sole := s.Budgets()
	a := &allowances{list: list, shape: shape, sole: sole, allowed: make([]int32, len(list)+1), ways: ways}
	for i := range list {
		a.allowed[i] = list[i].Allowed
	}
	a.allowed[len(list)] = math.MaxInt32
	a.left = slices.Clone(a.allowed)
	return a
}

// reset restores the budgets for the next node.
func (a *allowances) reset() {
	for _, i := range a.touched {
		a.left[i] = a.allowed[i]
	}
	a.touched = a.touched[:0]
}

// spend takes one eviction from a budget and returns 1 where none was left, else 0.
func (a *allowances) spend(i int32) (violates uint64) {
	a.left[i]--
	a.touched = append(a.touched, i)
	return uint64(uint32(a.left[i]) >> 31)
}

// take counts a pod against its budgets and returns 1 where the eviction violates one, else 0. A
// pod that a budget lists as disrupted already takes nothing more from it. With
// Ways.FirstViolatedOnly the order of the budgets matters, which upstream leaves to chance: here it
// is by name.
func (a *allowances) take(under []int32, p *state.Pod) (violates uint64) {
	for _, i := range under {
		if _, done := a.list[i].Disrupted[p.Name]; done {
			continue
		}
		if violates |= a.spend(i); violates != 0 && a.ways.FirstViolatedOnly {
			break
		}
	}
	return violates
}

// entries takes a pod's eviction from its budgets, as take does, and returns what it took.
func (a *allowances) entries(shape int32, name string) []engine.Budget {
	if len(a.list) == 0 {
		return nil
	}
	var out []engine.Budget
	spent := false // on the one that forbids it, where no other counts then
	for _, i := range a.shape[shape] {
		b := &a.list[i]
		before := a.left[i]
		e := engine.Budget{Name: b.Name, AllowedBefore: before, AllowedAfter: before}
		if _, e.Disrupted = b.Disrupted[name]; !e.Disrupted && !spent {
			e.AllowedAfter, e.Violated = before-1, a.spend(i) != 0
			spent = e.Violated && a.ways.FirstViolatedOnly
		}
		out = append(out, e)
	}
	return out
}

// takeForeign is take for a pod that the state does not know.
func (a *allowances) takeForeign(n *engine.NamedVictim) (violates bool) {
	if len(n.Labels) == 0 {
		return false
	}
	for i := range a.list {
		b := &a.list[i]
		if b.Namespace != n.Namespace || !b.Selector.Matches(labels.Set(n.Labels)) {
			continue
		}
		if _, done := b.Disrupted[n.Name]; done {
			continue
		}
		violates = a.spend(int32(i)) != 0 || violates
		if violates && a.ways.FirstViolatedOnly {
			break
		}
	}
	return violates
}
