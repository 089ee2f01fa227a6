package postgres

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"berth/internal/store"
	"berth/test/pgtest"
)

// noErrors fails a test whose PostgreSQL logged an error. The test's own first connection may have
// come before the server took any; its process says so when the server itself is ready already.
func noErrors(t *testing.T, s *pgtest.Server) {
	t.Helper()
	_, log, _ := strings.Cut(s.Log(), "ready to accept connections")
	for _, line := range strings.Split(log, "\n") {
		if strings.Contains(line, "the database system is starting up") {
			continue
		}
		if strings.Contains(line, "ERROR:") || strings.Contains(line, "FATAL:") || strings.Contains(line, "WARNING:") {
			t.Errorf("PostgreSQL's log has: %s", line)
		}
	}
}

// TestLostRaceIsNoError: a store that remembers an end of a chain which another one has moved finds
// that out without an error in PostgreSQL's log, and writes all of its batch behind the other's.
func TestLostRaceIsNoError(t *testing.T) {
	pg := pgtest.Private(t, pgtest.Options{})
	migratedIn(t, pg.URL())
	stores := []*Store{openAt(t, pg.URL(), Options{}), openAt(t, pg.URL(), Options{})}
	n := 0
	write := func(s *Store, clusters ...string) {
		t.Helper()
		var list []*store.Entry
		for _, c := range clusters {
			n++
			list = append(list, &store.Entry{Fresh: true, Decision: sampleDecision(c, fmt.Sprintf("d%03d", n), time.Now())})
		}
		if err := s.Append(t.Context(), list); err != nil {
			t.Fatal(err)
		}
		for _, e := range list {
			if e.Err != nil {
				t.Fatal(e.Err)
			}
		}
	}
	for range 5 {
		for _, clusters := range [][]string{{"a"}, {"a", "b"}} {
			for range 3 {
				write(stores[0], clusters...) // which then believes to be alone
			}
			write(stores[1], clusters[len(clusters)-1]) // so that of two clusters one is as remembered
			write(stores[0], clusters...)
		}
	}
	books, err := stores[1].Books(t.Context(), "", true)
	if err != nil {
		t.Fatal(err)
	}
	total := int64(0)
	for _, b := range books {
		total += b.Decisions
		if b.Seq != b.Decisions || b.StoredDecisions != b.Decisions || b.Last.Number != b.Number {
			t.Errorf("books of %s: %+v", b.Cluster, b)
		}
	}
	if total != int64(n) {
		t.Errorf("%d decisions are stored, %d were written", total, n)
	}
	noErrors(t, pg)
}

// TestWritersLeaveNoErrors: two stores with many writers each, and their jobs and logs.
func TestWritersLeaveNoErrors(t *testing.T) {
	pg := pgtest.Private(t, pgtest.Options{})
	migratedIn(t, pg.URL())
	stores := []*Store{openAt(t, pg.URL(), Options{}), openAt(t, pg.URL(), Options{})}
	until := time.Now().Add(2 * time.Second)
	var wg sync.WaitGroup
	for w := range 12 {
		wg.Go(func() {
			s := stores[w%2]
			for i := 0; time.Now().Before(until); i++ {
				list := []*store.Entry{
					{Fresh: true, Decision: sampleDecision("a", fmt.Sprintf("w%d-%d", w, i), time.Now())},
					{Fresh: true, Decision: sampleDecision(fmt.Sprintf("c%d", i%3), fmt.Sprintf("x%d-%d", w, i), time.Now())},
				}[:1+i%2]
				if i%3 == 0 { // a revision, which the others try to write too
					head, err := s.Newest(t.Context(), "a")
					r := &store.Revision{Cluster: "a", Number: 1, Token: fmt.Sprintf("t%d-%d", w, i), CreatedAt: time.Now(), Digest: "d", Cause: "change", Change: []byte{1}}
					if err == nil {
						r.Number, r.ParentToken = head.Number+1, head.Token
					}
					list = append(list, &store.Entry{Revision: r})
				}
				if err := s.Append(t.Context(), list); err != nil {
					t.Errorf("Append: %v", err)
					return
				}
				if err := s.PutDenials(t.Context(), []store.Denial{{Minute: until, Reason: "r", Count: 1, FirstAt: until, LastAt: until}}); err != nil {
					t.Errorf("PutDenials: %v", err)
				}
			}
		})
	}
	wg.Wait()
	if _, err := stores[0].Retain(t.Context(), time.Now()); err != nil {
		t.Error(err)
	}
	noErrors(t, pg)
}
