package postgres

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"berth/migrations"
	"berth/test/migrationstest"
	"berth/test/pgtest"

	"github.com/golang-migrate/migrate/v4/database"
	"github.com/google/go-cmp/cmp"
)

const (
	killURL = "BERTH_MIGRATION_URL"
	killTo  = "BERTH_MIGRATION_TO"
)

// killedChild migrates in a child process, if this is one.
func killedChild() {
	wrap, is := migrationstest.Child(func(d database.Driver, statements []string) error {
		return d.Run(strings.NewReader("BEGIN;" + strings.Join(statements, ";\n") + ";"))
	})
	if !is {
		return
	}
	to, err := strconv.Atoi(os.Getenv(killTo))
	if err == nil {
		err = MigrateTo(context.Background(), os.Getenv(killURL), to, MigrateOptions{around: wrap})
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// TestMigrateKilledBetweenStatements kills a migration behind each statement of each file, on the
// way up and on the way down: the next one goes on from there, and nothing is lost or left.
func TestMigrateKilledBetweenStatements(t *testing.T) {
	want := schema(t, migratedURL(t))
	url := pgtest.URL(t)
	kill := func(what string, to int) int {
		t.Helper()
		return migrationstest.KillEach(t, what, killURL+"="+url, fmt.Sprintf("%s=%d", killTo, to))
	}
	up := kill("migration", newest(t)) + kill("views", newest(t))
	if diff := cmp.Diff(want, schema(t, url)); diff != "" {
		t.Errorf("schema after the way up (-want +got):\n%s", diff)
	}
	s := openAt(t, url, Options{})
	appendOne(t, s, "d1")
	want = schema(t, url) // with partitions
	down := kill("views", newest(t)-1) + kill("migration", migrations.Oldest)
	if err := MigrateUp(t.Context(), url, MigrateOptions{}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, schema(t, url)); diff != "" {
		t.Errorf("schema after the way down and up (-want +got):\n%s", diff)
	}
	if _, err := openAt(t, url, Options{}).Decision(t.Context(), "d1"); err != nil {
		t.Error(err)
	}
	if up < 80 || down < 10 {
		t.Errorf("only %d and %d kills", up, down)
	}
	t.Logf("%d kills on the way up, %d on the way down", up, down)
}
