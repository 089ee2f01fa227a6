package audit_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"berth/internal/audit"
	"berth/internal/store"
	"berth/internal/store/postgres"
	"berth/test/pgtest"
)

// evidence is a store that was opened to be checked.
type evidence interface {
	store.Seals
	Close() error
}

// checked checks a cluster and the schema of evidence, which is closed then.
func checked(t *testing.T, e evidence, err error) []string {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	r, err := audit.Verify(t.Context(), e, "prod", audit.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(r.AddSchema(t.Context(), e), e.Close()); err != nil {
		t.Fatal(err)
	}
	return found(r)
}

// TestEvidenceOfPostgres: a role that may only SELECT checks all of it; where it may not make
// temporary views the report names what it did not look at.
func TestEvidenceOfPostgres(t *testing.T) {
	address := pgtest.URL(t)
	if err := postgres.MigrateUp(t.Context(), address, postgres.MigrateOptions{}); err != nil {
		t.Fatal(err)
	}
	f := &fixture{t: t, postgres: true, url: address}
	f.open("pgx", address)
	f.fill()
	var schema, database string
	if err := f.db.QueryRowContext(t.Context(), `SELECT current_schema(), current_database()`).Scan(&schema, &database); err != nil {
		t.Fatal(err)
	}
	role := fmt.Sprintf("berth_auditor_%d", time.Now().UnixNano())
	f.exec(`CREATE ROLE `+role, `GRANT USAGE ON SCHEMA `+schema+` TO `+role, `GRANT SELECT ON ALL TABLES IN SCHEMA `+schema+` TO `+role)
	t.Cleanup(func() {
		for _, q := range []string{`GRANT TEMPORARY ON DATABASE ` + database + ` TO PUBLIC`, `DROP OWNED BY ` + role, `DROP ROLE ` + role} {
			if _, err := f.db.ExecContext(context.Background(), q); err != nil {
				t.Error(q, err)
			}
		}
	})
	check := func(key, value string, want ...string) {
		t.Helper()
		e, err := postgres.OpenEvidence(t.Context(), pgtest.With(address, key, value))
		if got := checked(t, e, err); !slices.Equal(got, want) {
			t.Errorf("%s=%s found %q, want %q", key, value, got, want)
		}
	}
	check("role", role)
	check("default_transaction_read_only", "on", "schema unchecked 0")
	f.exec(`UPDATE decisions SET node = 'node-2' WHERE seq = 5`)
	check("role", role, "decisions changed 5")
	f.exec(`REVOKE TEMPORARY ON DATABASE ` + database + ` FROM PUBLIC`)
	check("role", role, "decisions changed 5", "schema unchecked 0")
}
