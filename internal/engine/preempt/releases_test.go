package preempt_test

import (
	"fmt"
	"testing"

	policyv1 "k8s.io/api/policy/v1"

	"berth/internal/engine"
	"berth/internal/engine/rules"
	"berth/internal/semantics"
	et "berth/test/enginetest"
)

// askedUnder is the answer of the default release with a change.
func askedUnder(t *testing.T, change func(*semantics.Release), o engine.Options, objects ...any) *engine.Decision {
	t.Helper()
	r := *semantics.Default()
	change(&r)
	o.Now = et.Now
	c := et.Case{Objects: objects, Pod: et.Pod("p", et.Priority(100), cores("2")), Spec: rules.DefaultSpec(), Options: o, Under: &r}
	d, err := c.Decide()
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestAPreemptorIsToldWhere: the message of a pod that evicts others ends with where and how many,
// or with nothing. What other plugins would add is left out in either case.
func TestAPreemptorIsToldWhere(t *testing.T) {
	const full = "0/1 nodes are available: 1 Insufficient cpu."
	objects := []any{sized("n", "2"), et.Pod("x", et.On("n"), cores("1")), et.Pod("y", et.On("n"), cores("1"))}
	for tells, message := range map[bool]string{
		false: full, true: full + " preemption: found a potential placement for pod on node n, preempting 2 victims",
	} {
		d := askedUnder(t, func(r *semantics.Release) { r.TellsPlacement = tells }, engine.Options{}, objects...)
		want(t, d, "n: x y")
		if d.Message != message {
			t.Errorf("tells %v: %q, want %q", tells, d.Message, message)
		}
	}
	d := askedUnder(t, func(r *semantics.Release) { r.TellsPlacement = true }, engine.Options{}, sized("n", "1"), et.Pod("x", et.On("n"), cores("1")))
	want(t, d, "Unschedulable: "+full+" no new claims to deallocate, preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling.")
}

// TestBudgetsBehindAViolatedOne: they are taken from as well, or not. Then their order matters,
// which is by name.
func TestBudgetsBehindAViolatedOne(t *testing.T) {
	tier := func(name string) *policyv1.PodDisruptionBudget {
		b := guard(name, "", 1)
		b.Spec.Selector = et.Match("tier", "t")
		return b
	}
	pods := []any{
		sized("n", "2"), et.Pod("x", et.On("n"), et.Labels("app", "a", "tier", "t"), cores("1")), et.Pod("y", et.On("n"), et.Labels("tier", "t"), cores("1")),
	}
	entry := func(name string, before, after int32) engine.Budget {
		return engine.Budget{Name: name, AllowedBefore: before, AllowedAfter: after, Violated: after < 0 && before != after}
	}
	for _, c := range []struct {
		name    string
		first   bool
		budgets []any
		x, y    []engine.Budget
	}{
		{"all", false, []any{guard("a", "a", 0), tier("b")}, []engine.Budget{entry("a", 0, -1), entry("b", 1, 0)}, []engine.Budget{entry("b", 0, -1)}},
		{"none", true, []any{guard("a", "a", 0), tier("b")}, []engine.Budget{entry("a", 0, -1), entry("b", 1, 1)}, []engine.Budget{entry("b", 1, 0)}},
		{"none, but it stands before", true, []any{guard("b", "a", 0), tier("a")}, []engine.Budget{entry("a", 1, 0), entry("b", 0, -1)}, []engine.Budget{entry("a", 0, -1)}},
	} {
		t.Run(c.name, func(t *testing.T) {
			under := func(r *semantics.Release) { r.FirstViolatedOnly = c.first }
			d := askedUnder(t, under, engine.Options{}, append(c.budgets, pods...)...)
			want(t, d, "n: x y")
			violations := 1
			if c.y[0].Violated {
				violations = 2
			}
			if got := d.Preemption.NumPDBViolations; got != violations {
				t.Errorf("%d violations, want %d", got, violations)
			}
			for i, b := range [][]engine.Budget{c.x, c.y} {
				if got := d.Preemption.Victims[i]; fmt.Sprint(got.Budgets) != fmt.Sprint(b) {
					t.Errorf("%s takes %+v, want %+v", got.Name, got.Budgets, b)
				}
			}
			// Pods that only the caller knows of take from them alike.
			known := engine.NodeVictims{Node: "n", Victims: []engine.NamedVictim{
				{UID: "u", Namespace: "default", Name: "x", Labels: map[string]string{"app": "a", "tier": "t"}},
				{UID: "v", Namespace: "default", Name: "y", Labels: map[string]string{"tier": "t"}},
			}}
			d = askedUnder(t, under, engine.Options{Victims: []engine.NodeVictims{known}}, append(c.budgets, sized("n", "2"))...)
			if got := d.Preemption.Candidates; len(got) != 1 || got[0].NumPDBViolations != violations {
				t.Errorf("named: %+v, want %d violations", got, violations)
			}
		})
	}
}
