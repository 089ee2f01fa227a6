package devices_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	resourcev1 "k8s.io/api/resource/v1"

	"berth/internal/engine/devices"
	et "berth/test/enginetest"
)

// ending is a context that ends when it is looked at for the nth time, so that a
// search can be stopped anywhere without a clock.
type ending struct {
	context.Context
	looks int
	done  chan struct{}
}

func endingAt(looks int) *ending {
	return &ending{context.Background(), looks, make(chan struct{})}
}

// Done is looked at by selectors while they run.
func (e *ending) Done() <-chan struct{} {
	_ = e.Err()
	return e.done
}

func (e *ending) Err() error {
	if e.looks--; e.looks >= 0 {
		return nil
	}
	if e.looks == -1 {
		close(e.done)
	}
	return context.DeadlineExceeded
}

// TestAStoppedSearchIsNoAnswer stops searches at every place where they look
// whether they should. What comes of it is the whole answer or none, and what it
// leaves behind changes no later answer.
func TestAStoppedSearchIsNoAnswer(t *testing.T) {
	t.Parallel()
	long := `[0,1,2,3,4,5,6,7,8,9].map(a, [0,1,2,3,4,5,6,7,8,9].map(b, [0,1,2,3,4,5,6,7,8,9].map(c, a + b + c))).size() == 10`
	objects, impossible := impossible()
	for _, c := range []struct {
		name    string
		objects []any
		claim   *resourcev1.ResourceClaim
		steps   int
	}{
		{"one that finds devices", node(et.Slice("s", "n", append(numbered(3, "blue"), numbered(2, "red")...)...)), et.DeviceClaim("c", et.Wants("r", "red", 2)), devices.Budget},
		{"one that asks much", node(et.Slice("s", "n", numbered(2, "red")...)), et.DeviceClaim("c", et.Wants("r", "any", 2, long)), devices.Budget},
		{"one that gives up", objects, impossible, 20_000},
	} {
		fresh := func() ([]devices.Given, error) {
			inv, set := at(t, c.objects...)
			left := c.steps
			return inv.Allocate(t.Context(), compiled, set, 0, []*resourcev1.ResourceClaim{c.claim}, &left)
		}
		want, wantErr := fresh()
		stopped := 0
		for looks := 0; ; looks++ {
			inv, set := at(t, c.objects...)
			left := c.steps
			got, err := inv.Allocate(endingAt(looks), compiled, set, 0, []*resourcev1.ResourceClaim{c.claim}, &left)
			whole := !errors.Is(err, devices.ErrStopped)
			if !whole && (got != nil || !errors.Is(err, context.DeadlineExceeded)) || whole && (!errors.Is(err, wantErr) || !cmp.Equal(got, want, plain)) {
				t.Fatalf("%s, stopped at look %d: %q, %v, want %q, %v", c.name, looks, text(got), err, text(want), wantErr)
			}
			left = c.steps
			if again, err := inv.Allocate(t.Context(), compiled, set, 0, []*resourcev1.ResourceClaim{c.claim}, &left); !errors.Is(err, wantErr) || !cmp.Equal(again, want, plain) {
				t.Fatalf("%s, after a stop at look %d: %q, %v, want %q, %v", c.name, looks, text(again), err, text(want), wantErr)
			}
			if whole {
				break
			}
			stopped++
		}
		if stopped < 3 {
			t.Errorf("%s: looked %d times whether it should stop", c.name, stopped)
		}
	}
}

// TestSortingIntoKindsStops: with many devices it takes long enough to be told.
func TestSortingIntoKindsStops(t *testing.T) {
	t.Parallel()
	inv, set := at(t, node(et.Slice("s", "n", numbered(5000, "red")...))...)
	for looks := range 6 {
		sort, err := inv.Kinds(endingAt(looks), compiled, set, []*resourcev1.ResourceClaim{et.DeviceClaim("c", et.FirstOf("r", et.Wants("all", "any", 0), et.Wants("one", "any", 1)))})
		if err != nil {
			t.Fatal(err)
		}
		_, _, err = sort()
		if stopped := errors.Is(err, devices.ErrStopped); stopped != (looks < 4) {
			t.Errorf("stopped at look %d: %v", looks, err)
		}
	}
}

// TestAnswersDoNotDependOnHistory asks one inventory about many pods, in any order.
func TestAnswersDoNotDependOnHistory(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20) {
		d := dice{Rand: rand.New(rand.NewPCG(seed, 3)), wild: true}
		objects := d.objects(8)
		used, set := at(t, objects...)
		for range 10 {
			claims := d.claims()
			inv, own := at(t, objects...)
			want, wantErr := allocate(inv, own, claims...)
			got, err := allocate(used, set, claims...)
			if !cmp.Equal(got, want, plain) || (err == nil) != (wantErr == nil) || err != nil && err.Error() != wantErr.Error() {
				t.Fatalf("seed %d: got %q, %v, want %q, %v", seed, text(got), err, text(want), wantErr)
			}
		}
	}
}

// plain leaves out where what was given lies in the inventory.
var plain = cmpopts.IgnoreUnexported(devices.GivenDevice{})
