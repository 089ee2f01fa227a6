package audit_test

import (
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"berth/internal/audit"
	"berth/internal/store"
	"berth/internal/store/lists"
	"berth/internal/store/seal"
)

// sealedRows picks a row of each table that seals cover, and of the seals.
var sealedRows = map[string]string{
	"decisions": "id = 'd005'", "stamps": "1 = 1", "revisions": "number = 2", "checkpoints": "number = 2", "decision_gaps": "id = 'g1'", "seals": "number = 1",
}

// derived are columns that no seal covers: what woke pods follows from the revisions, and
// created_at stands beside the chain.
var derived = map[string]string{"revisions": "woken", "checkpoints": "woken", "seals": "created_at"}

// TestEveryColumnIsSealed holds the columns of the sealed tables to what the hashes cover. A
// new column is added there, for seals whose format has it: store.SealFormat is raised to its
// migration.
func TestEveryColumnIsSealed(t *testing.T) {
	split := func(list string) []string { return strings.Split(list, ", ") }
	covered := map[string][]string{
		"decisions": lists.Stored.Names(), "revisions": split(seal.RevisionColumns), "checkpoints": split(seal.CheckpointColumns),
		"decision_gaps": split(seal.GapColumns), "seals": split(seal.Columns), "stamps": {"id"},
	}
	for _, part := range strings.Split(seal.QueryOf(store.SealDecisions, store.SealFormat).Select, "coalesce(t.") {
		name, _, _ := strings.Cut(part, ",")
		covered["stamps"] = append(covered["stamps"], name)
	}
	onBoth(t, func(t *testing.T, f *fixture) {
		for table := range sealedRows {
			for _, c := range f.columns(table) {
				if !slices.Contains(covered[table], c.Name()) && c.Name() != derived[table] {
					t.Errorf("no seal covers column %s of %s", c.Name(), table)
				}
			}
		}
	})
	for _, c := range lists.Stored {
		if int64(c.Since) > store.SealFormat {
			t.Errorf("column %s of decisions is of schema %d, and seals cover those up to %d", c.Name, c.Since, store.SealFormat)
		}
	}
}

// TestEveryColumnIsChecked changes one column after the other behind the store's back.
func TestEveryColumnIsChecked(t *testing.T) {
	onBoth(t, func(t *testing.T, f *fixture) {
		f.fill()
		f.db.SetMaxOpenConns(1)
		if f.postgres {
			f.exec("SET session_replication_role = replica") // without foreign keys
		} else {
			f.exec("PRAGMA foreign_keys = off")
		}
		for table, where := range sealedRows {
			for _, c := range f.columns(table) {
				if c.Name() == derived[table] || f.postgres && table == "stamps" && c.Name() == "id" { // which no UPDATE can set
					continue
				}
				var before any
				var absent bool
				if err := f.db.QueryRowContext(t.Context(), "SELECT "+c.Name()+", "+c.Name()+" IS NULL FROM "+table+" WHERE "+where).Scan(&before, &absent); err != nil {
					t.Fatalf("%s of %s: %v", c.Name(), table, err)
				}
				after := other(c.DatabaseTypeName(), before)
				set := "UPDATE " + table + " SET " + c.Name() + " = $1 WHERE "
				back := set
				if !f.postgres && !absent { // the driver writes NULL for an empty blob
					back = strings.Replace(set, "$1", "coalesce($1, x'')", 1)
				}
				if _, err := f.db.ExecContext(t.Context(), set+where, after); err != nil {
					t.Fatalf("%s of %s: %v", c.Name(), table, err)
				}
				if r, err := audit.Verify(t.Context(), f, "prod", audit.Options{}); err == nil && r.Good() {
					t.Errorf("column %s of %s was changed from %v to %v, and nothing is found", c.Name(), table, before, after)
				}
				if _, err := f.db.ExecContext(t.Context(), back+c.Name()+" = $2", before, after); err != nil {
					t.Fatalf("%s of %s: %v", c.Name(), table, err)
				}
			}
		}
		if r := f.verify(audit.Options{}); !r.Good() {
			t.Errorf("what was put back is not as it was: %+v", r)
		}
	})
}

// other returns a value of the column's type that no row has.
func other(kind string, v any) any {
	switch kind {
	case "INTEGER", "INT8", "INT4":
		n, _ := v.(int64)
		return n + 1000
	case "TIMESTAMPTZ":
		return time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)
	case "BLOB", "BYTEA":
		b, _ := v.([]byte)
		return append(slices.Clone(b), 0)
	}
	return fmt.Sprint(v, "!")
}

// columns returns the columns of a table.
func (f *fixture) columns(table string) []*sql.ColumnType {
	f.t.Helper()
	rows, err := f.db.QueryContext(f.t.Context(), "SELECT * FROM "+table+" LIMIT 0")
	if err != nil {
		f.t.Fatal(err)
	}
	defer func(rows *sql.Rows) { _ = rows.Close() }(rows)
	list, err := rows.ColumnTypes()
	if err != nil || rows.Err() != nil {
		f.t.Fatal(err, rows.Err())
	}
	return list
}
