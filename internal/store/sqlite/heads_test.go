package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"berth/internal/store"
)

// TestOutdatedHeads: what another program changed of a head between two appends counts for
// the second one, and so does what was undone.
func TestOutdatedHeads(t *testing.T) {
	dir := t.TempDir()
	s := openAt(t, dir)
	revision := func(number int64, token, parent string) *store.Entry {
		return &store.Entry{Revision: &store.Revision{
			Cluster: "prod", Number: number, Token: token, ParentToken: parent, CreatedAt: time.Unix(1, 0), Change: []byte{},
		}}
	}
	place := func(i int64) int64 {
		t.Helper()
		d := benchDecision(i)
		if err := s.Append(t.Context(), []*store.Entry{{Decision: d}}); err != nil {
			t.Fatal(err)
		}
		stored, err := s.Decision(t.Context(), d.ID)
		if err != nil {
			t.Fatal(err)
		}
		return stored.Seq
	}
	add := func(entries ...*store.Entry) error {
		t.Helper()
		if err := s.Append(t.Context(), entries); err != nil {
			t.Fatal(err)
		}
		return entries[len(entries)-1].Err
	}
	if err := add(revision(1, "t1", ""), revision(2, "t2", "t1")); err != nil {
		t.Fatal(err)
	}
	if got := place(1); got != 1 {
		t.Errorf("the first decision is at %d", got)
	}
	db, err := sql.Open("sqlite", dsn(filepath.Join(dir, FileName), Options{}.withDefaults(), writing))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	change := func(query string) {
		t.Helper()
		if _, err := db.ExecContext(t.Context(), query); err != nil {
			t.Fatal(err)
		}
	}
	change(`UPDATE clusters SET last_seq = 7`)
	if got := place(2); got != 8 {
		t.Errorf("after the seventh place comes %d", got)
	}
	change(`DELETE FROM revisions WHERE number = 2`)
	change(`UPDATE clusters SET newest = 1, token = 't1'`)
	if err := add(revision(2, "other", "t1")); err != nil {
		t.Errorf("a revision on the one that is the newest again: %v", err)
	}
	undone, cancel := context.WithCancel(t.Context())
	err = s.transact(undone, func(w *writer) error {
		w.heads["prod"] = w.heads["none"]
		cancel()
		return nil
	})
	if err == nil || len(s.writes.heads) != 0 {
		t.Errorf("%v; heads of what was undone: %v", err, s.writes.heads)
	}
	if got := place(3); got != 9 {
		t.Errorf("the last decision is at %d", got)
	}
}

// TestFewHeads: a writer remembers no more heads than it may.
func TestFewHeads(t *testing.T) {
	s := openAt(t, t.TempDir())
	for i := range maxHeads + 10 {
		s.writes.heads[fmt.Sprint(i)] = s.writes.heads[""]
	}
	if err := s.Append(t.Context(), []*store.Entry{{Decision: benchDecision(1)}}); err != nil || len(s.writes.heads) != 1 {
		t.Errorf("%v, %d heads", err, len(s.writes.heads))
	}
}
