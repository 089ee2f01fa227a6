package postgres

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"berth/internal/store"
)

func partitionNames(t *testing.T, s *Store) []string {
	t.Helper()
	all, err := partitions(t.Context(), s.pool)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for name, attached := range all {
		if !attached {
			name += " detached"
		}
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func rowsOf(t *testing.T, s *Store, table string) (n int) {
	t.Helper()
	if err := s.pool.QueryRow(t.Context(), `SELECT count(*) FROM `+table).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

func TestPartitionsAreMadeAhead(t *testing.T) {
	s := openAt(t, freshURL(t), Options{})
	now := firstOf(time.Now())
	want := []string{partitionName(now), partitionName(now.AddDate(0, 1, 0)), partitionName(now.AddDate(0, 2, 0))}
	if got := partitionNames(t, s); !slices.Equal(got, want) {
		t.Errorf("partitions %v, want %v", got, want)
	}
	appendOne(t, s, "now")
	if n := rowsOf(t, s, partitionName(now)); n != 1 {
		t.Errorf("this month's partition has %d rows", n)
	}
}

// TestLatePartition: rows of a month without a partition go to the default one,
// and move when their partition is made.
func TestLatePartition(t *testing.T) {
	s := openAt(t, freshURL(t), Options{})
	future := firstOf(time.Now()).AddDate(0, 5, 0)
	var es []*store.Entry
	for i, at := range []time.Time{future.Add(-time.Microsecond), future, future.AddDate(0, 1, 0).Add(-time.Microsecond), future.AddDate(0, 1, 0)} {
		es = append(es, &store.Entry{Decision: sampleDecision("prod", fmt.Sprint(i), at)})
	}
	if err := s.Append(t.Context(), es); err != nil {
		t.Fatal(err)
	}
	if n := rowsOf(t, s, "decisions_default"); n != 4 {
		t.Fatalf("the default partition has %d rows", n)
	}
	if err := s.partitionsAhead(t.Context(), future); err != nil {
		t.Fatal(err)
	}
	if n := rowsOf(t, s, partitionName(future)); n != 2 {
		t.Errorf("the late partition has %d rows, want 2", n)
	}
	if n := rowsOf(t, s, "decisions_default"); n != 1 {
		t.Errorf("the default partition keeps %d rows, want the one before", n)
	}
	if n := rowsOf(t, s, "decisions"); n != 4 {
		t.Errorf("%d rows in all", n)
	}
	if err := s.Append(t.Context(), es); err != nil {
		t.Fatal(err)
	}
	if n := rowsOf(t, s, "decisions"); n != 4 {
		t.Errorf("%d rows after a retry", n)
	}
}

func TestRetainDropsWholePartitions(t *testing.T) {
	s := openAt(t, freshURL(t), Options{})
	now := firstOf(time.Now())
	if err := s.partitionsAhead(t.Context(), now.AddDate(0, -4, 0)); err != nil { // -4, -3, -2
		t.Fatal(err)
	}
	if err := s.makePartition(t.Context(), now.AddDate(0, -1, 0)); err != nil {
		t.Fatal(err)
	}
	var es []*store.Entry
	for month := -6; month <= 0; month++ { // -6 and -5 have the default partition only
		for i := range 20 {
			at := now.AddDate(0, month, i)
			es = append(es, &store.Entry{Decision: sampleDecision([]string{"a", "b"}[i%2], fmt.Sprintf("%d/%d", month, i), at)})
		}
	}
	if err := s.Append(t.Context(), es); err != nil {
		t.Fatal(err)
	}
	// A Retain that was killed amid dropping -4 has left it beside the log.
	if _, err := s.pool.Exec(t.Context(), `ALTER TABLE decisions DETACH PARTITION `+partitionName(now.AddDate(0, -4, 0))); err != nil {
		t.Fatal(err)
	}
	n, err := s.Retain(t.Context(), now.AddDate(0, -2, 10)) // amid -2
	if err != nil || n != 4*20+10 {
		t.Fatalf("Retain = %d, %v, want 90", n, err)
	}
	want := []string{}
	for month := -2; month <= 2; month++ {
		want = append(want, partitionName(now.AddDate(0, month, 0)))
	}
	slices.Sort(want)
	if got := partitionNames(t, s); !slices.Equal(got, want) {
		t.Errorf("partitions %v, want %v", got, want)
	}
	var books, rows int
	if err := s.pool.QueryRow(t.Context(), `SELECT (SELECT sum(decisions) FROM clusters), count(*) FROM decisions`).Scan(&books, &rows); err != nil {
		t.Fatal(err)
	}
	if rows != 50 || books != 50 {
		t.Errorf("%d rows, %d in the books, want 50", rows, books)
	}
}

// TestOneReplicaRetains: while one does it, the others leave it alone.
func TestOneReplicaRetains(t *testing.T) {
	url := freshURL(t)
	a, b := openAt(t, url, Options{}), openAt(t, url, Options{})
	appendOne(t, a, "old")
	conn, err := a.pool.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Exec(t.Context(), `SELECT pg_advisory_lock(`+keeperLock+`, 1)`); err != nil {
		t.Fatal(err)
	}
	n, err := b.Retain(t.Context(), time.Now().Add(time.Hour))
	if err != nil || n != 0 {
		t.Errorf("Retain beside another = %d, %v", n, err)
	}
	unlock(conn)
	conn.Release()
	n, err = b.Retain(t.Context(), time.Now().Add(time.Hour))
	if err != nil || n != 1 {
		t.Errorf("Retain alone = %d, %v", n, err)
	}
}

// TestRetainBesideWriters: neither stops the other for good, and the books hold.
func TestRetainBesideWriters(t *testing.T) {
	s := openAt(t, freshURL(t), Options{})
	old := firstOf(time.Now()).AddDate(0, -1, 0)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() {
		for i := 0; ; i++ {
			var es []*store.Entry
			for j := range 40 {
				es = append(es, &store.Entry{Decision: sampleDecision("prod", fmt.Sprint(i, "-", j), old.Add(time.Duration(j)*time.Hour))})
			}
			if err := s.Append(context.Background(), es); err != nil || ctx.Err() != nil {
				done <- err
				return
			}
		}
	}()
	var deleted int64
	for range 10 {
		time.Sleep(20 * time.Millisecond)
		if err := s.makePartition(t.Context(), old); err != nil {
			t.Errorf("makePartition: %v", err)
		}
		n, err := s.Retain(t.Context(), old.AddDate(0, 1, 0))
		if err != nil {
			t.Errorf("Retain: %v", err)
		}
		deleted += n
	}
	cancel()
	if err := <-done; err != nil {
		t.Errorf("Append: %v", err)
	}
	var books int64
	if err := s.pool.QueryRow(t.Context(), `SELECT decisions FROM clusters`).Scan(&books); err != nil {
		t.Fatal(err)
	}
	if rows := int64(rowsOf(t, s, "decisions")); rows != books || deleted == 0 {
		t.Errorf("%d rows, %d in the books, %d deleted", rows, books, deleted)
	}
}
