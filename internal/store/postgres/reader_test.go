package postgres

import (
	"strings"
	"testing"
	"time"

	"berth/internal/store"
	"berth/test/pgtest"

	"github.com/jackc/pgx/v5"
)

// login connects to a schema of ours as another role.
func login(t *testing.T, url, role string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), pgtest.With(url, "user", role))
	if err != nil {
		t.Fatalf("log in as %s: %v", role, err)
	}
	t.Cleanup(func() { hangUp(conn) })
	return conn
}

// private returns a server of the test's own, whose roles no other test changes,
// and two clusters' decisions.
func private(t *testing.T) (url string) {
	t.Helper()
	url = pgtest.Private(t, pgtest.Options{}).URL()
	if err := MigrateUp(t.Context(), url, MigrateOptions{}); err != nil {
		t.Fatal(err)
	}
	s := openAt(t, url, Options{})
	for _, cluster := range []string{"demo", "prod"} {
		d := sampleDecision(cluster, "d-"+cluster, time.Now())
		if err := s.Append(t.Context(), []*store.Entry{{Decision: d}}); err != nil {
			t.Fatal(err)
		}
	}
	return url
}

// TestReader logs in as the role that people get: it reads every view and
// nothing else, and cannot hold the server up by mistake.
func TestReader(t *testing.T) {
	url := private(t)
	execRaw(t, url, `ALTER ROLE berth_reader LOGIN`)
	conn := login(t, url, "berth_reader")
	views := ask(t, conn, `SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'v' ORDER BY 1`)
	if len(views) < 17 {
		t.Errorf("views %v", views)
	}
	for _, v := range views {
		ask(t, conn, `SELECT * FROM `+v+` LIMIT 1`)
	}
	if got := ask(t, conn, `SELECT DISTINCT cluster FROM decision_log ORDER BY 1`); strings.Join(got, " ") != "demo prod" {
		t.Errorf("clusters %v", got)
	}
	for _, table := range ask(t, conn, `SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p', 'S')`) {
		if _, err := conn.Exec(t.Context(), `SELECT * FROM `+table); sqlState(err) != statePrivilege {
			t.Errorf("the reading role reads %s: %v", table, err)
		}
	}
	writes := []string{
		`DELETE FROM pending_reasons`, `INSERT INTO decision_log (id) VALUES ('x')`, `UPDATE decisions SET node = 'x'`, `TRUNCATE decisions`,
		`CREATE TABLE x ()`, `CREATE TEMP TABLE x ()`, `DROP VIEW decision_log`, `ALTER TABLE decisions ADD x text`, `CREATE ROLE x`, `COPY decisions TO STDOUT`,
	}
	for _, query := range writes {
		if _, err := conn.Exec(t.Context(), query); err == nil {
			t.Errorf("the reading role may %s", query)
		}
		if _, err := conn.Exec(t.Context(), `BEGIN READ WRITE; `+query); err == nil && !strings.Contains(query, "TEMP") {
			t.Errorf("the reading role, having asked to write, may %s", query)
		}
		if _, err := conn.Exec(t.Context(), `ROLLBACK`); err != nil {
			t.Fatal(err)
		}
	}
	for setting, want := range map[string]string{
		"statement_timeout": "5s", "idle_in_transaction_session_timeout": "10s", "default_transaction_read_only": "on", "jit": "off",
	} {
		if got := ask(t, conn, `SHOW `+setting); got[0] != want {
			t.Errorf("%s = %s, want %s", setting, got[0], want)
		}
	}
	if got := ask(t, conn, `SELECT rolconnlimit FROM pg_roles WHERE rolname = 'berth_reader'`); got[0] != "5" {
		t.Errorf("connections %s", got[0])
	}
	for range 4 {
		login(t, url, "berth_reader")
	}
	if more, err := pgx.Connect(t.Context(), pgtest.With(url, "user", "berth_reader")); err == nil {
		hangUp(more)
		t.Error("a sixth connection was let in")
	}
}

// TestReaderOfOneCluster runs what docs/sql.md says about it.
func TestReaderOfOneCluster(t *testing.T) {
	url := private(t)
	execRaw(t, url, foreign)
	execRaw(t, url, recipe(t, "CREATE SCHEMA only_demo"))
	conn := login(t, url, "demo_reader")
	for _, v := range ask(t, conn, `SELECT relname FROM pg_class WHERE relnamespace = 'only_demo'::regnamespace AND relkind = 'v'`) {
		for _, cluster := range ask(t, conn, `SELECT DISTINCT cluster FROM `+v) {
			if cluster != "demo" {
				t.Errorf("%s shows cluster %s", v, cluster)
			}
		}
		if _, err := conn.Exec(t.Context(), `SELECT * FROM public.`+v); sqlState(err) != statePrivilege {
			t.Errorf("public.%s is open: %v", v, err)
		}
	}
	if got := ask(t, conn, `SELECT cluster, pod FROM decision_log`); len(got) != 1 || got[0] != "demo|cart-d-demo" {
		t.Errorf("decisions %v", got)
	}
	// What errors say is a way to read, too: the condition comes before any of the reader's own.
	if got := ask(t, conn, `SELECT count(*) FROM decision_log WHERE 1 / CASE WHEN cluster = 'prod' THEN 0 ELSE 1 END = 1`); got[0] != "1" {
		t.Errorf("count %v", got)
	}
	if got := ask(t, conn, `SHOW statement_timeout`); got[0] != "5s" {
		t.Errorf("statement_timeout %s", got[0])
	}
	for _, v := range []string{"stats", "stats_of_clusters", "stats_info"} {
		if _, err := conn.Exec(t.Context(), `SELECT * FROM only_demo.`+v); sqlState(err) != stateUndefinedTable {
			t.Errorf("another owner's view %s is given: %v", v, err)
		}
	}
}
