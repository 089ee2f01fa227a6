package sqlite

import (
	"context"
	"database/sql/driver"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"berth/internal/store"
	"berth/migrations"
	"berth/test/migrationstest"

	"github.com/golang-migrate/migrate/v4/database"
	"github.com/google/go-cmp/cmp"
	"modernc.org/sqlite"
)

const killTo = "BERTH_MIGRATION_TO"

// killedChild migrates in a child process, if this is one. A function of SQL kills it: the driver
// begins and ends the transaction of a file itself.
func killedChild() {
	wrap, is := migrationstest.Child(func(d database.Driver, statements []string) error {
		return d.Run(strings.NewReader(strings.Join(append(statements, "SELECT die()"), ";\n") + ";"))
	})
	if !is {
		return
	}
	err := sqlite.RegisterScalarFunction("die", 0, func(*sqlite.FunctionContext, []driver.Value) (driver.Value, error) {
		self, err := os.FindProcess(os.Getpid())
		if err == nil {
			err = self.Kill()
		}
		time.Sleep(time.Minute) // the signal is on its way
		return nil, err
	})
	var to int
	if err == nil {
		to, err = strconv.Atoi(os.Getenv(killTo))
	}
	if err == nil {
		o := Options{}.withDefaults()
		o.around = wrap
		err = migrateTo(context.Background(), filepath.Join(os.Getenv(childDir), FileName), o, to)
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
	fresh, dir := t.TempDir(), t.TempDir()
	if err := MigrateUp(t.Context(), fresh); err != nil {
		t.Fatal(err)
	}
	want := schema(t, fresh)
	kill := func(what string, to int) int {
		t.Helper()
		return migrationstest.KillEach(t, what, childDir+"="+dir, fmt.Sprintf("%s=%d", killTo, to))
	}
	up := kill("migration", newest(t))
	if err := MigrateTo(t.Context(), dir, newest(t)-1); err != nil {
		t.Fatal(err)
	}
	up += kill("views", newest(t))
	if diff := cmp.Diff(want, schema(t, dir)); diff != "" {
		t.Errorf("schema after the way up (-want +got):\n%s", diff)
	}
	s, err := Open(t.Context(), dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	d := sampleDecision("prod", "d1", time.Now())
	d.Revision = 0
	if err := s.Append(t.Context(), []*store.Entry{{Decision: d}}); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	down := kill("views", newest(t)-1) + kill("migration", migrations.Oldest)
	if s, err = Open(t.Context(), dir, Options{}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Decision(t.Context(), "d1"); err != nil {
		t.Error(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, schema(t, dir)); diff != "" {
		t.Errorf("schema after the way down and up (-want +got):\n%s", diff)
	}
	if up < 80 || down < 40 {
		t.Errorf("only %d and %d kills", up, down)
	}
	t.Logf("%d kills on the way up, %d on the way down", up, down)
}
