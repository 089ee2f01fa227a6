package postgres

import (
	"testing"

	"berth/internal/store"
	"berth/internal/store/pgtest"
	"berth/internal/store/storetest"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(pgtest.Around(m)) }

func TestStore(t *testing.T) {
	storetest.Run(t, func(t *testing.T) store.Store { return openAt(t, freshURL(t), Options{}) })
}

// freshURL gives an empty schema with our tables.
func freshURL(tb testing.TB) string {
	tb.Helper()
	url := pgtest.URL(tb)
	if err := MigrateUp(tb.Context(), url); err != nil {
		tb.Fatalf("MigrateUp: %v", err)
	}
	return url
}

// openAt opens a store that the caller, or else the test's end, closes.
func openAt(tb testing.TB, url string, o Options) *Store {
	tb.Helper()
	s, err := Open(tb.Context(), url, o)
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
