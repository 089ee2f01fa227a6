package sqlite

import (
	"os"
	"testing"

	"berth/internal/store"
	"berth/test/storetest"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	killedChild()
	if role := os.Getenv(childRole); role != "" {
		os.Exit(runChild(role))
	}
	goleak.VerifyTestMain(m)
}

func TestStore(t *testing.T) {
	storetest.Run(t, func(t *testing.T) store.Store { return openAt(t, t.TempDir()) })
}

// openAt opens a store that the caller, or else the test's end, closes.
func openAt(tb testing.TB, dir string) *Store {
	tb.Helper()
	s, err := Open(tb.Context(), dir, Options{})
	if err != nil {
		tb.Fatalf("Open: %v", err)
	}
	tb.Cleanup(func() {
		if err := s.Close(); err != nil {
			tb.Errorf("Close: %v", err)
		}
	})
	return s
}

// TestCloseLeavesNobodyWaiting: a call that looked whether the store is open before Close, and gets
// its turn after it, ends.
func TestCloseLeavesNobodyWaiting(t *testing.T) {
	s := openAt(t, t.TempDir())
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	select {
	case <-s.writes.turn:
	default:
		t.Fatal("the turn to write is gone with the writer")
	}
}
