package postgres

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"berth/internal/store"
	"berth/test/pgtest"
)

// chainOf returns a revision of a cluster behind another one.
func chainOf(cluster string, parent *store.Revision) *store.Entry {
	r := nextRevision(0)
	if r.Cluster = cluster; parent != nil {
		r.Number, r.ParentToken = parent.Number+1, parent.Token
	}
	r.Token = fmt.Sprint("t", r.Number)
	return &store.Entry{Revision: r, Fresh: true}
}

func appendWell(t *testing.T, s *Store, list ...*store.Entry) {
	t.Helper()
	if err := s.Append(t.Context(), list); err != nil {
		t.Fatal(err)
	}
	for _, e := range list {
		if e.Err != nil {
			t.Fatal(e.Err)
		}
	}
}

// TestLockedChainRefusesOthers: while one replica has a cluster's chain locked, another's revisions
// are refused, whether it reads what it stands on or remembers it; decisions and other clusters in
// the same batch are written.
func TestLockedChainRefusesOthers(t *testing.T) {
	for _, remembered := range []bool{false, true} {
		url := freshURL(t)
		a, b := openAt(t, url, Options{}), openAt(t, url, Options{})
		prod, other := chainOf("prod", nil), chainOf("other", nil)
		appendWell(t, b, prod, other)
		for range 3 {
			if remembered {
				prod, other = chainOf("prod", prod.Revision), chainOf("other", other.Revision)
				appendWell(t, b, prod, other)
			}
		}
		end, err := a.LockChain(t.Context(), "prod")
		if err != nil {
			t.Fatal(err)
		}
		defer end()
		late, beside := chainOf("prod", prod.Revision), chainOf("other", other.Revision)
		d := &store.Entry{Fresh: true, Decision: sampleDecision("prod", "d1", time.Now())}
		if err := b.Append(t.Context(), []*store.Entry{late, beside, d}); err != nil {
			t.Fatal(err)
		}
		if !errors.Is(late.Err, store.ErrConflict) || beside.Err != nil || d.Err != nil {
			t.Errorf("remembered %v: %v on the locked chain, %v on another, %v for a decision", remembered, late.Err, beside.Err, d.Err)
		}
		appendWell(t, b, prod) // what is stored already stays so
		appendWell(t, a, chainOf("prod", prod.Revision))
	}
}

// TestLockedChainsDoNotWaitForEachOther: two replicas, each of which has one chain locked and hands
// over a batch with revisions of both. Neither waits until PostgreSQL ends the other's lock.
func TestLockedChainsDoNotWaitForEachOther(t *testing.T) {
	pg := pgtest.Private(t, pgtest.Options{})
	migratedIn(t, pg.URL())
	names := []string{"a", "b"}
	var stores []*Store
	for _, name := range names {
		s := openAt(t, pg.URL(), Options{})
		end, err := s.LockChain(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		defer end()
		stores = append(stores, s)
	}
	for i, s := range stores {
		own, others := chainOf(names[i], nil), chainOf(names[1-i], nil)
		others.Revision.Token = "late" // else it would be the one that is stored
		if err := s.Append(t.Context(), []*store.Entry{own, others}); err != nil {
			t.Fatal(err)
		}
		if own.Err != nil || !errors.Is(others.Err, store.ErrConflict) {
			t.Errorf("%v for the own chain, %v for the other's", own.Err, others.Err)
		}
	}
	// Who goes away while a lock is waited for leaves no error behind.
	ctx, cancel := context.WithCancel(t.Context())
	gone := make(chan error)
	go func() {
		_, err := stores[0].LockChain(ctx, "b")
		gone <- err
	}()
	waitsForLock(t, stores[1])
	cancel()
	if err := <-gone; !errors.Is(err, context.Canceled) {
		t.Errorf("LockChain: %v", err)
	}
	time.Sleep(50 * time.Millisecond) // a cancelled statement would be in the log by then
	noErrors(t, pg)
}

// waitsForLock waits until some session waits for an advisory lock.
func waitsForLock(t *testing.T, s *Store) {
	t.Helper()
	const waiting = `SELECT count(*) FROM pg_locks l JOIN pg_database d ON d.oid = l.database
WHERE d.datname = current_database() AND l.locktype = 'advisory' AND NOT l.granted`
	for n, round := 0, 0; n == 0; round++ {
		if err := s.pool.QueryRow(t.Context(), waiting).Scan(&n); err != nil {
			t.Fatal(err)
		}
		if round > 5000 {
			t.Fatal("no one waits")
		}
	}
}

// TestFrozenHolderLosesItsLock: a process that hangs with a chain locked does not keep
// it from the others.
func TestFrozenHolderLosesItsLock(t *testing.T) {
	url := freshURL(t)
	a, b := openAt(t, url, Options{}), openAt(t, url, Options{})
	end, err := a.LockChain(t.Context(), "prod")
	if err != nil {
		t.Fatal(err)
	}
	defer end()
	own, err := b.LockChain(t.Context(), "prod")
	if err != nil {
		t.Fatal(err)
	}
	defer own()
	appendWell(t, b, chainOf("prod", nil))
}

// TestReconnectsOneByOne: a pool whose database came back makes its connections
// one after the other.
func TestReconnectsOneByOne(t *testing.T) {
	var b backoff
	b.failed()
	b.reset()
	last := time.Duration(-1)
	for i := range 5 {
		wait, err := b.reserve()
		if err != nil {
			t.Fatal(err)
		}
		if wait <= last || i > 0 && wait < last+leastPause/2 {
			t.Errorf("attempt %d after %v, the one before after %v", i, wait, last)
		}
		last = wait
	}
	var calm backoff
	for range 5 {
		if wait, err := calm.reserve(); wait > 0 || err != nil {
			t.Errorf("a pool that lost nothing waits %v, %v", wait, err)
		}
	}
}
