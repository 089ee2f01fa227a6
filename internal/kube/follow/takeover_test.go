package follow_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"berth/internal/kube/follow"
	"berth/internal/revision"
	"berth/internal/store"
)

// TestTakeover: a server that was ready stays so while it takes over from one
// that went silent, though the apiserver is away: the state is old, and it says
// for how long.
func TestTakeover(t *testing.T) {
	w, _, stop := newFollowed(t, "first", follow.Options{})
	stop()
	const before = time.Hour // what the one that went silent had missed already
	silent := func(synced bool, lease time.Duration) {
		t.Helper()
		if _, err := w.st.Lead(t.Context(), store.Lead{Cluster: "prod", Owner: "silent", Stale: before, Synced: synced}, lease); err != nil {
			t.Fatal(err)
		}
	}
	silent(false, time.Hour)
	silent(true, time.Hour)
	w.s.Down(true)
	second, _ := w.follow("second", follow.Options{})
	w.until("it hears of the other", func() bool { return second.Ready(t.Context()) == nil })
	silent(true, time.Millisecond)
	w.until("it takes over", func() bool { return second.Status().Leading })
	if s := second.Status(); s.Synced || second.Ready(t.Context()) != nil || s.Stale < before {
		t.Errorf("after it took over: ready %v, %+v", second.Ready(t.Context()), s)
	}
	w.s.Down(false)
	w.until("it has read the cluster", func() bool { s := second.Status(); return s.Synced && s.Stale < before })
	if err := second.Ready(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestNobodyFollowsYet: before anything was heard, everything may be missed.
func TestNobodyFollowsYet(t *testing.T) {
	now := time.Unix(1000, 0)
	f := follow.New(follow.Options{Cluster: "prod", Clock: func() time.Time { return now }})
	now = now.Add(3 * time.Second)
	if f.Stale() != 3*time.Second || f.Ready(t.Context()) == nil {
		t.Errorf("stale for %s, ready %v", f.Stale(), f.Ready(t.Context()))
	}
}

// slow holds up writes while it is told to.
type slow struct {
	*revision.Manager
	gate  chan struct{} // a token for each write
	begun atomic.Int64  // writes
}

func (s *slow) Update(ctx context.Context, name string, parent int64, f func(v *revision.View) (*revision.Step, error)) (*revision.View, *revision.Step, error) {
	s.begun.Add(1)
	select {
	case <-s.gate:
	case <-ctx.Done():
		return nil, nil, ctx.Err()
	}
	return s.Manager.Update(ctx, name, parent, f)
}

// TestStaleWhileWriting: what is on its way to the store is as unseen as what was
// never heard. All that comes meanwhile is one revision.
func TestStaleWhileWriting(t *testing.T) {
	w := newWorld(t)
	w.s.Put(t, "nodes", node("n1"))
	held := &slow{Manager: w.m, gate: make(chan struct{})}
	f, _ := w.follow("me", follow.Options{Clusters: held, Lease: time.Hour})
	pass := func() {
		t.Helper()
		select {
		case held.gate <- struct{}{}:
		case <-time.After(2 * time.Minute):
			t.Fatal("nothing is written")
		}
	}
	pass()
	w.until("the first state", func() bool { return f.Status().Synced })
	w.until("freshness", func() bool { return f.Stale() == 0 })
	begun := held.begun.Load()
	w.s.Put(t, "pods", pod("a"))
	w.until("the pod on its way", func() bool { return held.begun.Load() > begun })
	w.until("staleness, as the store hangs", func() bool { return f.Stale() > 100*time.Millisecond })
	const burst = 2000
	for i := range burst {
		w.s.Put(t, "pods", pod(fmt.Sprint("p", i)))
	}
	w.until("the burst", func() bool { return f.Status().Events >= burst+2 })
	pass()
	pass()
	w.until("all of it", func() bool { return w.has("Pod", "shop", "a") && w.has("Pod", "shop", fmt.Sprint("p", burst-1)) })
	w.until("freshness again", func() bool { return f.Stale() == 0 })
	if v := w.newest(); v.Revision != 3 || v.State.PodCount() != burst+1 {
		t.Errorf("%d pods at %s, want a burst in one revision after the first two", v.State.PodCount(), v.ID())
	}
}

// TestNoEmptyWrites: what is heard between a wake-up and the write that follows is in that write,
// and does not cause another one of nothing.
func TestNoEmptyWrites(t *testing.T) {
	w := newWorld(t)
	const window = 100 * time.Millisecond
	counted := &slow{Manager: w.m, gate: make(chan struct{})}
	close(counted.gate)
	w.follow("me", follow.Options{Clusters: counted, Window: window})
	for i := range 5 {
		w.s.Put(t, "pods", pod(fmt.Sprint("a", i)))
		w.s.Put(t, "pods", pod(fmt.Sprint("b", i)))
		w.until("both", func() bool {
			return w.has("Pod", "shop", fmt.Sprint("a", i)) && w.has("Pod", "shop", fmt.Sprint("b", i))
		})
	}
	time.Sleep(2 * window)
	if writes, revisions := counted.begun.Load(), w.newest().Revision; writes != revisions {
		t.Errorf("%d writes made %d revisions", writes, revisions)
	}
}

// TestDeletedRevisions: the revisions of a followed cluster were deleted. It is read anew.
func TestDeletedRevisions(t *testing.T) {
	w, _, _ := newFollowed(t, "me", follow.Options{})
	if err := w.m.DeleteCluster(t.Context(), "prod"); err != nil {
		t.Fatal(err)
	}
	w.s.Put(t, "pods", pod("b"))
	w.until("all of the cluster", func() bool { return w.has("Pod", "shop", "a") && w.has("Pod", "shop", "b") && w.has("Node", "", "n1") })
}

// TestStreamedLists: a list that comes over the watch is believed when it is
// whole, and until then what it will say is missed.
func TestStreamedLists(t *testing.T) {
	w := newWorld(t)
	hold, held := make(chan struct{}), make(chan struct{}, 1)
	on := make(chan bool, 1)
	on <- false
	w.s.Stream(func(resource string) {
		holding := <-on
		on <- holding
		if holding && resource == "pods" {
			select {
			case held <- struct{}{}:
			default:
			}
			<-hold
		}
	})
	w.s.Put(t, "nodes", node("n1"))
	w.s.Put(t, "pods", pod("a"))
	f, _ := w.follow("me", follow.Options{})
	w.until("the first state", func() bool { return w.has("Pod", "shop", "a") && f.Status().Synced })
	<-on
	on <- true
	release := sync.OnceFunc(func() { close(hold) })
	defer release()
	w.s.Down(true)
	w.s.Delete("pods", "shop", "a")
	w.s.Put(t, "pods", pod("b"))
	w.s.Forget()
	w.s.Down(false)
	<-held
	w.until("staleness while the list comes", func() bool { return f.Stale() > 500*time.Millisecond })
	if w.has("Pod", "shop", "b") || !w.has("Pod", "shop", "a") {
		t.Error("half a list was believed")
	}
	<-on
	on <- false
	release()
	w.until("the list", func() bool { return w.has("Pod", "shop", "b") && !w.has("Pod", "shop", "a") })
	w.until("freshness", func() bool { return f.Stale() < 500*time.Millisecond })
}

// moody is a store of leases, and of revisions, that is away at times.
type moody struct {
	store.Leads
	*revision.Manager
	away    atomic.Bool // leases
	refuses atomic.Int64
}

func (m *moody) Lead(ctx context.Context, claim store.Lead, lease time.Duration) (store.Lead, error) {
	if m.away.Load() {
		return store.Lead{}, errors.New("away")
	}
	return m.Leads.Lead(ctx, claim, lease)
}

func (m *moody) Update(ctx context.Context, name string, parent int64, f func(v *revision.View) (*revision.Step, error)) (*revision.View, *revision.Step, error) {
	if m.refuses.Add(-1) >= 0 {
		return nil, nil, errors.New("refused")
	}
	return m.Manager.Update(ctx, name, parent, f)
}

// TestWrittenLater: what was heard while nothing could be written is written when
// something can, though nothing more is heard, and be it that nothing is there.
func TestWrittenLater(t *testing.T) {
	w := newWorld(t)
	m := &moody{Leads: w.st, Manager: w.m}
	m.refuses.Store(2)
	f, _ := w.follow("me", follow.Options{Clusters: m, Leads: m, Lease: 400 * time.Millisecond})
	w.until("an empty cluster", func() bool { return f.Status().Synced })
	m.away.Store(true)
	pods := 0
	w.until("the lease to run out", func() bool {
		w.s.Put(t, "pods", pod(fmt.Sprint("p", pods)))
		pods++
		return strings.Contains(f.Status().Problem, "the lease on following the cluster could not be renewed")
	})
	w.until("the last of them", func() bool { return f.Status().Events >= int64(pods) })
	m.away.Store(false)
	w.until("all that was heard", func() bool { return w.newest().State.PodCount() == pods && f.Stale() == 0 })
}
