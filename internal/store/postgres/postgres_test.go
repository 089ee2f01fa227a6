package postgres

import (
	"os"
	"sync"
	"testing"

	"berth/internal/store"
	"berth/test/pgtest"
	"berth/test/storetest"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	killedChild()
	goleak.VerifyTestMain(pgtest.Around(m))
}

func TestStore(t *testing.T) {
	storetest.Run(t, func(t *testing.T) store.Store { return openAt(t, freshURL(t), Options{}) })
}

// freshURL returns an empty schema with our tables: a copy of one that was migrated once, where the
// server is the tests' own.
func freshURL(tb testing.TB) string {
	tb.Helper()
	if os.Getenv(pgtest.EnvURL) != "" {
		return migratedURL(tb)
	}
	migrated.Do(func() { template = migratedIn(tb, pgtest.Database(tb, "")) })
	if template == "" {
		tb.Fatal("the template was not made")
	}
	return pgtest.Database(tb, template)
}

// template is the address of the database that freshURL copies.
var (
	migrated sync.Once
	template string
)

// migratedIn brings the schema at url up to date.
func migratedIn(tb testing.TB, url string) string {
	tb.Helper()
	if err := MigrateUp(tb.Context(), url, MigrateOptions{}); err != nil {
		tb.Fatalf("MigrateUp: %v", err)
	}
	return url
}

// migratedURL returns an empty schema that was migrated itself.
func migratedURL(tb testing.TB) string {
	tb.Helper()
	return migratedIn(tb, pgtest.URL(tb))
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
