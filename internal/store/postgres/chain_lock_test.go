package postgres

import (
	"context"
	"errors"
	"testing"
	"time"

	"berth/internal/store"
)

// TestOthersWaitForALockedChain: while one replica has a cluster's chain locked, another's
// revisions wait, its decisions and its other clusters do not.
func TestOthersWaitForALockedChain(t *testing.T) {
	url := freshURL(t)
	a, b := openAt(t, url, Options{}), openAt(t, url, Options{})
	end, err := a.LockChain(t.Context(), "prod")
	if err != nil {
		t.Fatal(err)
	}
	first := nextRevision(0)
	defer end()
	done := make(chan *store.Entry, 1)
	go func() {
		e := &store.Entry{Revision: first}
		if err := b.Append(context.Background(), []*store.Entry{e}); err != nil {
			t.Errorf("Append: %v", err)
		}
		done <- e
	}()
	// The database reports that it waits; no time has to pass for that.
	const waiting = `SELECT count(*) FROM pg_locks l JOIN pg_database d ON d.oid = l.database
WHERE d.datname = current_database() AND l.locktype = 'advisory' AND NOT l.granted`
	for n, round := 0, 0; n == 0; round++ {
		select {
		case e := <-done:
			t.Fatalf("a revision went past another replica's lock: %v", e.Err)
		default:
		}
		if err := a.pool.QueryRow(t.Context(), waiting).Scan(&n); err != nil {
			t.Fatal(err)
		}
		if round > 5000 {
			t.Fatal("no append waits")
		}
	}
	c := openAt(t, url, Options{})
	appendOne(t, c, "decision")
	own := nextRevision(0)
	own.Token = "own"
	mine := &store.Entry{Revision: own}
	if err := errors.Join(a.Append(t.Context(), []*store.Entry{mine}), mine.Err); err != nil {
		t.Fatalf("the holder's own append: %v", err)
	}
	end()
	if e := <-done; !errors.Is(e.Err, store.ErrConflict) {
		t.Errorf("who waited was told %v", e.Err)
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
	e := &store.Entry{Revision: nextRevision(0)}
	if err := errors.Join(b.Append(t.Context(), []*store.Entry{e}), e.Err); err != nil {
		t.Fatal(err)
	}
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
