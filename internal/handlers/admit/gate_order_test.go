package admit

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"berth/internal/handlers/exchange"
)

func TestGate(t *testing.T) {
	ctx := context.Background()
	g := newGate("x", 2, 3, 10, time.Minute)
	var leaves []func()
	enter := func(key string) {
		t.Helper()
		at, err := g.enter(ctx, key, exchange.Caller{})
		if err != nil {
			t.Fatal(err)
		}
		leaves = append(leaves, at.end)
	}
	enter("a")
	enter("a")
	enter("b")
	order := make(chan string, 10)
	var group sync.WaitGroup
	for i, key := range []string{"a", "b", "a"} {
		group.Go(func() {
			at, err := g.enter(ctx, key, exchange.Caller{})
			if err != nil {
				t.Error(err)
				return
			}
			order <- fmt.Sprintf("%s%d", key, i)
			at.end()
		})
		waitUntil(t, func() bool { g.mu.Lock(); defer g.mu.Unlock(); return g.waiting == i+1 })
	}
	gone, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := g.enter(gone, "a", exchange.Caller{}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	leaves[2]() // b's slot: a is full still, so b's waiter goes first
	if first := <-order; first != "b1" {
		t.Errorf("%s went first", first)
	}
	leaves[0]()
	group.Wait()
	leaves[1]()
	if len(g.lanes)+len(g.flows) != 0 || g.running != 0 || g.waiting != 0 {
		t.Errorf("%v, %v, %d running, %d waiting are left", g.lanes, g.flows, g.running, g.waiting)
	}
}

// TestReleased: a call that only waits for its record lets the next one in, up to a bound.
func TestReleased(t *testing.T) {
	g := newGate("x", 1, 0, 1, time.Minute)
	var all []*place
	for range mostReleased + 1 {
		at, err := g.enter(context.Background(), "a", exchange.Caller{})
		if err != nil {
			t.Fatal(err)
		}
		at.Release()
		at.Release()
		all = append(all, at)
	}
	gone, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := g.enter(gone, "a", exchange.Caller{}); !errors.Is(err, context.Canceled) || g.running != 1 {
		t.Errorf("one call too many is let in: %v", err)
	}
	all[0].end()
	all[mostReleased].Release()
	for _, at := range all[1:] {
		at.end()
	}
	if len(g.lanes)+len(g.flows) != 0 || g.running != 0 || g.released != 0 {
		t.Errorf("%v, %v, %d running, %d released are left", g.lanes, g.flows, g.running, g.released)
	}
}

func TestGateUnderLoad(t *testing.T) {
	g := newGate("x", 2, 3, 50, 2*time.Millisecond)
	var mu sync.Mutex
	running, most := 0, 0
	var group sync.WaitGroup
	for i := range 200 {
		group.Go(func() {
			at, err := g.enter(context.Background(), fmt.Sprint(i%4), exchange.Caller{})
			if err != nil {
				return
			}
			mu.Lock()
			running++
			most = max(most, running)
			mu.Unlock()
			time.Sleep(100 * time.Microsecond)
			mu.Lock()
			running--
			mu.Unlock()
			at.end()
		})
	}
	group.Wait()
	if most > 3 || most == 0 || len(g.lanes)+len(g.flows) != 0 {
		t.Errorf("%d at once, %v, %v left", most, g.lanes, g.flows)
	}
}

func waitUntil(t *testing.T, ok func() bool) {
	t.Helper()
	for began := time.Now(); !ok(); time.Sleep(time.Millisecond) {
		if time.Since(began) > 30*time.Second {
			t.Fatal("it did not come to that")
		}
	}
}
