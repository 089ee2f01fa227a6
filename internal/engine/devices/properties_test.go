package devices_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	resourcev1 "k8s.io/api/resource/v1"

	"berth/internal/engine/devices"
	"berth/internal/engine/state"
	"berth/internal/semantics"
	et "berth/test/enginetest"
)

// at compiles objects and returns the inventory and the one node.
func at(tb testing.TB, objects ...any) (*devices.Inventory, *state.NodeSet) {
	tb.Helper()
	s, err := et.State(objects...)
	if err != nil {
		tb.Fatal(err)
	}
	return devices.NewInventory(s, devices.Under(semantics.Default())), s.Nodes()
}

// compiled keeps the expressions of all tests.
var compiled = devices.NewExpressions(false)

// allocate is Allocate under the bounds of a decision.
func allocate(inv *devices.Inventory, set *state.NodeSet, claims ...*resourcev1.ResourceClaim) ([]devices.Given, error) {
	budget := devices.Budget
	return inv.Allocate(context.Background(), compiled, set, 0, claims, &budget)
}

// TestBruteForceFindsTheSame holds the search to its twin on small cases, as it is
// and where it leaves out what leads nowhere from the start.
func TestBruteForceFindsTheSame(t *testing.T) {
	t.Parallel()
	found := 0
	for seed := range uint64(600) {
		d := dice{Rand: rand.New(rand.NewPCG(seed, 1))}
		objects, claims := d.objects(6), d.claims()
		want := newTwin(objects).allocate(claims)
		if want != nil {
			found++
		}
		inv, set := at(t, objects...)
		got, err := allocate(inv, set, claims...)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if diff := cmp.Diff(want, got, plain); diff != "" {
			t.Fatalf("seed %d: (-twin +search)\n%s", seed, diff)
		}
		if got, _, err = inv.AllocateBy(t.Context(), compiled, set, claims, devices.MaxSteps, 0); err != nil {
			t.Fatalf("seed %d, hard from the start: %v", seed, err)
		}
		if diff := cmp.Diff(want, got, plain); diff != "" {
			t.Fatalf("seed %d, hard from the start: (-twin +search)\n%s", seed, diff)
		}
	}
	if found < 80 || found > 500 {
		t.Errorf("the twin found devices in %d cases of 600: these cases tell little", found)
	}
}

// TestNothingIsMissedByLeavingOut tries larger and wilder cases, with selectors
// that fail and values that have to differ: wherever in a search it begins to
// leave out what leads nowhere, its answer or its error stays that of the search
// that tries everything, and it takes no more steps.
func TestNothingIsMissedByLeavingOut(t *testing.T) {
	t.Parallel()
	count := map[string]int{}
	const bound = 20_000
	for seed := range uint64(1500) {
		d := dice{Rand: rand.New(rand.NewPCG(seed, 2)), wild: seed%2 == 0}
		objects, claims := d.objects(10), d.claims()
		if seed%3 == 0 {
			objects = namesakes(objects)
		}
		inv, set := at(t, objects...)
		want, most, wantErr := inv.AllocateBy(t.Context(), compiled, set, claims, bound, devices.Never)
		if errors.Is(wantErr, devices.ErrGaveUp) {
			count["gave up"]++
			continue
		}
		for _, after := range []int{0, d.IntN(most + 1)} {
			got, steps, err := inv.AllocateBy(t.Context(), compiled, set, claims, bound, after)
			if diff := cmp.Diff(want, got, plain); diff != "" || fmt.Sprint(err) != fmt.Sprint(wantErr) {
				t.Fatalf("seed %d, hard after %d steps: error %v, want %v (-all +some)\n%s", seed, after, err, wantErr, diff)
			}
			if steps > most {
				t.Fatalf("seed %d, hard after %d steps: %d steps, %d without leaving anything out", seed, after, steps, most)
			}
			if steps < most {
				count["shorter"]++
			}
		}
		switch {
		case wantErr != nil:
			count["failed"]++
		case want == nil:
			count["none"]++
		default:
			count["found"]++
		}
	}
	t.Logf("%v", count)
	for _, what := range []string{"shorter", "failed", "none", "found"} {
		if count[what] < 20 {
			t.Errorf("%s: %d cases: these cases tell little", what, count[what])
		}
	}
	if count["gave up"] > 150 {
		t.Errorf("%d cases of 1500 were given up", count["gave up"])
	}
}
