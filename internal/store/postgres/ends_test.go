package postgres

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"berth/internal/store"
)

// TestBatchesThatReadNothing: who is alone with a chain writes without reading it, and what others
// did to the chain meanwhile is found out all the same.
func TestBatchesThatReadNothing(t *testing.T) {
	url := freshURL(t)
	s, other := openAt(t, url, Options{}), openAt(t, url, Options{})
	rows := 0
	decide := func(s *Store, on int64, n int) []*store.Entry {
		t.Helper()
		var es []*store.Entry
		for range n {
			rows++
			d := sampleDecision("prod", fmt.Sprintf("%03d", rows), time.Now())
			d.Revision = on
			es = append(es, &store.Entry{Decision: d, Fresh: true})
		}
		if err := s.Append(t.Context(), es); err != nil {
			t.Fatal(err)
		}
		return es
	}
	alone := func(want bool) {
		t.Helper()
		if got := s.ends.of["prod"].alone; got != want {
			t.Fatalf("alone: %v, want %v", got, want)
		}
	}
	var tokens []*store.Entry
	for i := range 2 {
		e := &store.Entry{Revision: nextRevision(i)}
		e.Checkpoint = &store.Checkpoint{Cluster: "prod", Number: e.Revision.Number, Payload: []byte{1}}
		tokens = append(tokens, e)
		if err := errors.Join(s.Append(t.Context(), tokens[i:]), e.Err); err != nil {
			t.Fatal(err)
		}
	}
	alone(true)
	for _, n := range []int{1, 1, 2 * 4, 100} {
		again := decide(s, 2, n)
		alone(true)
		// A caller that was not told of the first time.
		if err := s.Append(t.Context(), again); err != nil {
			t.Fatal(err)
		}
		decide(s, 2, 1)
		decide(s, 2, 1)
		alone(true)
	}
	// A decision that another replica wrote, a revision that it made, and one that it deleted.
	decide(other, 2, 1)
	decide(s, 2, 1)
	alone(false)
	decide(s, 2, 1)
	alone(true)
	theirs := nextRevision(2)
	if err := other.Append(t.Context(), []*store.Entry{{Revision: theirs}}); err != nil {
		t.Fatal(err)
	}
	mine := nextRevision(2)
	mine.Token = "mine"
	late := &store.Entry{Revision: mine}
	if err := s.Append(t.Context(), []*store.Entry{late}); err != nil || !errors.Is(late.Err, store.ErrConflict) {
		t.Errorf("a revision on a parent that has a child: %v, %v", err, late.Err)
	}
	decide(s, 3, 1)
	decide(s, 2, 1)
	alone(true)
	if err := other.DeleteRevision(t.Context(), "prod", 1); err != nil {
		t.Fatal(err)
	}
	if gone := decide(s, 1, 1); !errors.Is(gone[0].Err, store.ErrNotFound) {
		t.Errorf("a decision on a deleted revision: %v", gone[0].Err)
	}
	rows--
	var stored, ids, places, books, broken int
	const query = `SELECT count(*), count(DISTINCT id), max(seq), (SELECT decisions FROM clusters),
(SELECT count(*) FROM seals a LEFT JOIN seals b ON b.number = a.number - 1 WHERE a.number > 1 AND a.previous IS DISTINCT FROM b.hash) FROM decisions`
	if err := other.pool.QueryRow(t.Context(), query).Scan(&stored, &ids, &places, &books, &broken); err != nil {
		t.Fatal(err)
	}
	if stored != rows || ids != rows || places != rows || books != rows || broken != 0 {
		t.Errorf("%d rows, %d ids, %d places, %d in the books, %d seals that do not follow, want %d", stored, ids, places, books, broken, rows)
	}
}

// TestEndOfADeletedChain: the end that one replica remembers is not taken for that of a chain that
// another has deleted since, even where its number is free again.
func TestEndOfADeletedChain(t *testing.T) {
	url := freshURL(t)
	s, other := openAt(t, url, Options{}), openAt(t, url, Options{})
	decide := func(s *Store, id string) {
		t.Helper()
		e := &store.Entry{Decision: sampleDecision("prod", id, time.Now()), Fresh: true}
		if err := errors.Join(s.Append(t.Context(), []*store.Entry{e}), e.Err); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 3 {
		decide(s, fmt.Sprint("before-", i))
	}
	for i := range 2 {
		if err := other.DeleteCluster(t.Context(), "prod"); err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			decide(other, "between")
		}
	}
	decide(s, "after")
	heads, err := other.SealHeads(t.Context(), "prod")
	if err != nil || len(heads) != 1 || heads[0].Number != 7 || heads[0].Seq != 5 {
		t.Errorf("the chain ends at %+v, %v; want the 7th seal and the 5th decision", heads, err)
	}
}

// TestContextEndsAWaitWithoutReading: a batch that reads nothing and waits for another's
// transaction is undone with its context.
func TestContextEndsAWaitWithoutReading(t *testing.T) {
	s := openAt(t, freshURL(t), Options{})
	fresh := func(id string) []*store.Entry {
		return []*store.Entry{{Decision: sampleDecision("prod", id, time.Now()), Fresh: true}}
	}
	for i := range 3 {
		if err := s.Append(t.Context(), fresh(fmt.Sprint("before-", i))); err != nil {
			t.Fatal(err)
		}
	}
	tx, err := s.pool.Begin(t.Context()) // its connection goes back with its end
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback(t.Context()) }()
	if _, err := tx.Exec(t.Context(), sqlLock, []string{"prod"}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := s.Append(ctx, fresh("late")); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Append: %v", err)
	}
	if err := tx.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := s.Append(t.Context(), fresh("after")); err != nil {
		t.Fatal(err)
	}
	var rows int
	if err := s.pool.QueryRow(t.Context(), `SELECT count(*) FROM decisions`).Scan(&rows); err != nil || rows != 4 {
		t.Errorf("%d rows, %v", rows, err)
	}
}
