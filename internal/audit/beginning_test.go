package audit_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"berth/internal/audit"
	"berth/internal/store"
	"berth/internal/store/postgres"
	"berth/internal/store/sqlite"
	"berth/migrations"
)

// migrate takes the schema of the closed store to a version, and opens the store again at the
// newest.
func (f *fixture) migrate(versions ...int) {
	f.t.Helper()
	if err := f.Close(); err != nil {
		f.t.Fatal(err)
	}
	for _, v := range versions {
		var err error
		if f.postgres {
			err = postgres.MigrateTo(f.t.Context(), f.url, v, postgres.MigrateOptions{})
		} else {
			err = sqlite.MigrateTo(f.t.Context(), f.url, v)
		}
		if err != nil {
			f.t.Fatal(err)
		}
	}
	f.reopen()
}

// found returns table, what and place of what a check finds.
func found(r *audit.Report) (list []string) {
	for _, x := range r.Findings {
		list = append(list, fmt.Sprintf("%s %s %d", x.Table, x.What, x.From))
	}
	slices.Sort(list)
	return list
}

// TestMigrationWritesBeginnings: rows from before a chain are sealed by the migration, in parts.
// From then on each of them is checked; going down and up again finds nothing that is not so.
func TestMigrationWritesBeginnings(t *testing.T) {
	newest, err := migrations.SQLite.Newest()
	if err != nil {
		t.Fatal(err)
	}
	for _, down := range []int{migrations.Beginnings - 1, migrations.Oldest} {
		t.Run(fmt.Sprint(down), func(t *testing.T) {
			onBoth(t, func(t *testing.T, f *fixture) {
				f.append(uploaded(1), uploaded(2), uploaded(3), &store.Entry{Gap: &store.Gap{ID: "g1", Cluster: "prod", Since: at(1), Until: at(2), Lost: 3, Cause: "store", Instance: "i"}})
				var entries []*store.Entry
				for n := range 1100 {
					entries = append(entries, decided(n+1))
				}
				f.append(entries...)
				other := decided(2000)
				other.Decision.Cluster, other.Decision.Revision = "other", 0
				f.append(other)
				if down == migrations.Beginnings-1 { // a chain without beginning, of some of the rows
					f.exec(`DELETE FROM seals`, `UPDATE clusters SET seals = 0, seal_hash = `+f.empty())
					last := uploaded(4) // without what a way down below its schema loses
					last.Revision.Objects, last.Revision.Classes = nil, nil
					f.append(last, decided(1101))
				}
				f.exec(`DELETE FROM decisions WHERE cluster = 'prod' AND seq IN (1, 2, 600)`, `DELETE FROM checkpoints WHERE number = 2`, `DELETE FROM revisions WHERE number = 2`,
					`UPDATE clusters SET decisions = decisions - 3, revisions = revisions - 1 WHERE cluster = 'prod'`)
				for range 2 {
					f.migrate(down, newest)
					r := f.verify(audit.Options{})
					if !r.Good() || r.Beginning == 0 || r.BeforeSeq != 1100 || r.BeforeRevision != 3 || r.Rows[store.SealGaps] != 1 ||
						r.Rows[store.SealDecisions] < 1097 || r.Rows[store.SealRevisions] < 2 || r.Rows[store.SealCheckpoints] < 2 {
						t.Fatalf("after %d and %d: %+v", down, newest, r)
					}
				}
				if list, err := audit.Schema(t.Context(), f); err != nil || len(list) > 0 {
					t.Errorf("the schema after %d and %d: %+v, %v", down, newest, list, err)
				}
				if n, err := f.Retain(t.Context(), at(5)); err != nil || n != 2 {
					t.Fatal(n, err)
				}
				f.append(decided(1102))
				if r := f.verify(audit.Options{}); !r.Good() {
					t.Errorf("after retention: %+v", r)
				}
				f.exec(
					`UPDATE decisions SET node = 'node-2' WHERE seq = 5`, `DELETE FROM decisions WHERE seq = 520`, `UPDATE decisions SET seq = 600 WHERE seq = 1000`,
					`UPDATE revisions SET digest = 'sha256:0' WHERE number = 1`, `UPDATE checkpoints SET payload = x'00' WHERE number = 3`,
				)
				f.exec(`INSERT INTO revisions (cluster, number, token, parent_token, created_at, digest, cause, change, summary)
SELECT cluster, 2, 'forged', 'forged', created_at, digest, cause, change, summary FROM revisions WHERE number = 3`)
				want := []string{
					"checkpoints changed 3", "decisions changed 5", "decisions inserted 600", "decisions missing 1000", "decisions missing 520",
					"revisions changed 1", "revisions inserted 2",
				}
				if r := f.verify(audit.Options{}); !slices.Equal(found(r), want) {
					t.Errorf("found %q, want %q", found(r), want)
				}
				if r, err := audit.Verify(t.Context(), f, "other", audit.Options{}); err != nil || !r.Good() {
					t.Errorf("another cluster: %+v, %v", r, err)
				}
			})
		})
	}
}

// TestBeginningsAreWrittenWhole: a migration that is cut off while it writes beginnings leaves
// none, and the version of before, so that it is run again.
func TestBeginningsAreWrittenWhole(t *testing.T) {
	onBoth(t, func(t *testing.T, f *fixture) {
		if f.postgres {
			return // has one transaction as well
		}
		f.fill()
		other := decided(31)
		other.Decision.Cluster, other.Decision.Revision = "other", 0 // before prod by name
		f.append(other)
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		if err := sqlite.MigrateTo(t.Context(), f.url, migrations.Beginnings-1); err != nil {
			t.Fatal(err)
		}
		f.exec(`DELETE FROM seals`, `UPDATE clusters SET seals = 0, seal_hash = x''`,
			`CREATE TRIGGER cut_off BEFORE INSERT ON seals WHEN new.cluster = 'prod' BEGIN SELECT RAISE(ABORT, 'cut off'); END`)
		if err := sqlite.MigrateUp(t.Context(), f.url); err == nil {
			t.Fatal("the migration went through")
		}
		var seals, version int
		if err := errors.Join(f.db.QueryRowContext(t.Context(), `SELECT count(*) FROM seals`).Scan(&seals), f.db.QueryRowContext(t.Context(), `PRAGMA user_version`).Scan(&version)); err != nil {
			t.Fatal(err)
		}
		if seals != 0 || version != migrations.Beginnings-1 {
			t.Errorf("%d seals are left, and version %d", seals, version)
		}
		f.exec(`DROP TRIGGER cut_off`)
		f.reopen()
		for _, name := range []string{"prod", "other"} {
			if r, err := audit.Verify(t.Context(), f, name, audit.Options{}); err != nil || !r.Good() || r.Beginning == 0 {
				t.Errorf("%s: %+v, %v", name, r, err)
			}
		}
	})
}
