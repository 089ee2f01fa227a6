package postgres

import (
	"strings"
	"testing"

	"berth/test/pgtest"
)

// TestRoleWithoutCreate: a user who may create nothing in the schema public, as from PostgreSQL 15
// on, is told both ways on by the names that they need, and either works.
func TestRoleWithoutCreate(t *testing.T) {
	base := pgtest.Private(t, pgtest.Options{}).URL()
	execRaw(t, base, `CREATE ROLE berth_no_create LOGIN; REVOKE CREATE ON SCHEMA public FROM PUBLIC`)
	as := pgtest.With(base, "user", "berth_no_create")
	err := MigrateUp(t.Context(), as, MigrateOptions{})
	if sqlState(err) != statePrivilege {
		t.Fatal(err)
	}
	for _, want := range []string{"permission denied for schema public", "GRANT CREATE ON SCHEMA public TO berth_no_create", "?search_path=NAME"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not in %v", want, err)
		}
	}
	migrated := func(how, address string) {
		t.Helper()
		if err := MigrateUp(t.Context(), address, MigrateOptions{}); err != nil {
			t.Fatalf("%s: %v", how, err)
		}
		if st, err := MigrateStatus(t.Context(), address); err != nil || st.Version != st.Latest {
			t.Errorf("%s: %+v %v", how, st, err)
		}
		if s := openAt(t, address, Options{}); s.Ping(t.Context()) != nil {
			t.Errorf("%s: the store is not well", how)
		}
	}
	execRaw(t, base, `CREATE SCHEMA own AUTHORIZATION berth_no_create`)
	migrated("a schema of its own", pgtest.With(as, "search_path", "own"))
	execRaw(t, base, `GRANT CREATE ON SCHEMA public TO berth_no_create`)
	migrated("the grant", as)
}
