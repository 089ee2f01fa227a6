package preempt_test

import (
	"fmt"
	"testing"

	et "berth/test/enginetest"
)

// TestFewBudgetsOfAPodAreListed: an answer does not grow with victims times budgets.
func TestFewBudgetsOfAPodAreListed(t *testing.T) {
	objects := []any{sized("n", "2"), et.Pod("low", et.On("n"), et.Labels("app", "a"), cores("2")), et.Pod("kept", et.On("n"), et.Labels("app", "a"))}
	for i := range 20 {
		objects = append(objects, guard(fmt.Sprintf("b%02d", i), "a", 2))
	}
	d := asked(t, et.Pod("p", et.Priority(100), cores("2")), objects...)
	want(t, d, "n: low")
	if v := d.Preemption.Victims[0]; len(v.Budgets) != 16 || v.BudgetsOmitted != 4 {
		t.Errorf("the victim has %d budgets, %d left out", len(v.Budgets), v.BudgetsOmitted)
	}
	if r := d.Preemption.Reprieved[0]; len(r.Budgets) != 16 || r.BudgetsOmitted != 4 {
		t.Errorf("the pod that stays has %d budgets, %d left out", len(r.Budgets), r.BudgetsOmitted)
	}
}
