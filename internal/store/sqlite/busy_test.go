package sqlite

import (
	"errors"
	"strings"
	"testing"
	"time"

	"berth/internal/store"
)

// TestAnotherProgramLocksTheFile: while a program holds the file's write lock, each call is refused
// in a bounded time and none waits for those before it. The store is not ready, and names the file.
// All goes on when the lock is free, also without a write meanwhile.
func TestAnotherProgramLocksTheFile(t *testing.T) {
	dir := t.TempDir()
	s, err := Open(t.Context(), dir, Options{BusyTimeout: 200 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	write := func(id string) error {
		e := &store.Entry{Decision: sampleDecision("prod", id, time.Now())}
		e.Decision.Revision = 0
		return errors.Join(s.Append(t.Context(), []*store.Entry{e}), e.Err)
	}
	if err := write("d0"); err != nil {
		t.Fatal(err)
	}
	other, err := rawDB(t, dir).Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = other.Close() }()
	run := func(query string) {
		t.Helper()
		if _, err := other.ExecContext(t.Context(), query); err != nil {
			t.Fatal(err)
		}
	}
	run("BEGIN IMMEDIATE")
	start := time.Now()
	for range 20 {
		if err := write("d1"); !errors.Is(err, store.ErrUnavailable) || !errors.Is(err, ErrBusy) {
			t.Fatalf("Append: %v", err)
		}
	}
	// 20 waits of 200 ms are 4 s; one, and 20 tries of 10 ms, are 0.4 s.
	if took := time.Since(start); took > 2*time.Second {
		t.Errorf("20 refusals took %s", took)
	}
	if err := s.Ping(t.Context()); !errors.Is(err, ErrBusy) || !strings.Contains(err.Error(), FileName) {
		t.Errorf("Ping: %v", err)
	}
	if _, err := s.Decision(t.Context(), "d0"); err != nil {
		t.Errorf("a read: %v", err)
	}
	run("ROLLBACK")
	if err := s.Ping(t.Context()); err != nil {
		t.Errorf("Ping afterwards: %v", err)
	}
	if err := write("d1"); err != nil {
		t.Error(err)
	}
}
