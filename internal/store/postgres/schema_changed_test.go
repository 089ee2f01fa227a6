package postgres

import (
	"errors"
	"strconv"
	"testing"
	"time"

	"berth/internal/store"
	"berth/migrations"
)

// TestSchemaChangesBeneath: while the schema is not this program's, calls are refused as they are
// while the database is away, which a spool bridges; afterwards all goes on.
func TestSchemaChangesBeneath(t *testing.T) {
	url := freshURL(t)
	s := openAt(t, url, Options{})
	appendOne(t, s, "d1")
	for _, version := range []int{newest(t) - 1, migrations.Oldest, 0} {
		if err := MigrateTo(t.Context(), url, version, MigrateOptions{}); err != nil {
			t.Fatal(err)
		}
		if err := s.Ping(t.Context()); !errors.Is(err, store.ErrUnavailable) || !errors.Is(err, ErrChanged) {
			t.Errorf("schema %d: Ping: %v", version, err)
		}
		e := &store.Entry{Decision: sampleDecision("prod", "beneath", time.Now())}
		if err := s.Append(t.Context(), []*store.Entry{e}); version == 0 && !errors.Is(errors.Join(err, e.Err), store.ErrUnavailable) {
			t.Errorf("schema %d: Append: %v, %v", version, err, e.Err)
		}
		if _, err := s.Decision(t.Context(), "d1"); version == 0 && !errors.Is(err, store.ErrUnavailable) {
			t.Errorf("schema %d: Decision: %v", version, err)
		}
		if err := MigrateUp(t.Context(), url, MigrateOptions{}); err != nil {
			t.Fatal(err)
		}
		if err := s.Ping(t.Context()); err != nil {
			t.Errorf("after schema %d: Ping: %v", version, err)
		}
		appendOne(t, s, "after-"+strconv.Itoa(version))
	}
}
