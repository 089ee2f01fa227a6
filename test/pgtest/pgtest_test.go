package pgtest

import (
	"context"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"
)

func TestMain(m *testing.M) { os.Exit(Around(m).Run()) }

func TestServerIsPrivateAndSafe(t *testing.T) {
	want := map[string]string{"listen_addresses": "", "fsync": "on", "synchronous_commit": "on", "full_page_writes": "on"}
	conn := connect(t, Shared(t).URL())
	for setting, value := range want {
		if got := show(t, conn, setting); got != value {
			t.Errorf("%s = %q, want %q", setting, got, value)
		}
	}
}

func TestSchemasAreApart(t *testing.T) {
	Shared(t)
	for range 2 { // the second would stumble over the first one's table
		if _, err := connect(t, URL(t)).Exec(t.Context(), "CREATE TABLE x ()"); err != nil {
			t.Error(err)
		}
	}
}

func TestCrashAndRestartKeepData(t *testing.T) {
	s := Private(t, Options{Settings: []string{"application_name=x y"}})
	conn := connect(t, s.URL())
	if got := show(t, conn, "application_name"); got != "x y" {
		t.Errorf("setting = %q", got)
	}
	if _, err := conn.Exec(t.Context(), "CREATE TABLE kept AS SELECT 1"); err != nil {
		t.Fatal(err)
	}
	if err := s.Halt(syscall.SIGQUIT); err != nil {
		t.Fatal(err)
	}
	if _, err := pgx.Connect(t.Context(), s.URL()); err == nil {
		t.Error("a halted server answers")
	}
	if err := s.Launch(); err != nil {
		t.Fatal(err)
	}
	if _, err := connect(t, s.URL()).Exec(t.Context(), "SELECT * FROM kept"); err != nil {
		t.Error(err)
	}
}

func TestStandbyOnlyReads(t *testing.T) {
	s := Private(t, Options{Standby: true})
	var standby bool
	if err := connect(t, s.URL()).QueryRow(t.Context(), "SELECT pg_is_in_recovery()").Scan(&standby); err != nil || !standby {
		t.Errorf("in recovery: %v, %v", standby, err)
	}
}

func TestWhereToGetIt(t *testing.T) {
	Shared(t)
	t.Setenv("PATH", t.TempDir())
	dir, err := findBinaries()
	if err == nil {
		if !executable(dir + "/initdb") {
			t.Errorf("no initdb in %s", dir)
		}
	} else if !strings.Contains(err.Error(), "script/postgres.sh") {
		t.Errorf("error %q names no way to install it", err)
	}
}

func connect(t *testing.T, url string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
}

func show(t *testing.T, conn *pgx.Conn, setting string) (value string) {
	t.Helper()
	if err := conn.QueryRow(t.Context(), "SELECT current_setting($1)", setting).Scan(&value); err != nil {
		t.Fatal(err)
	}
	return value
}
