// Package pgtest gives tests a PostgreSQL server of their own: a private
// directory, a Unix socket, no TCP, and never a server that others use. Only
// tests import it.
//
//	func TestMain(m *testing.M) { os.Exit(pgtest.Around(m).Run()) }
//	func TestX(t *testing.T)    { url := pgtest.URL(t) … }
//
// The server starts with the first test that needs it. Where BERTH_TEST_DATABASE_URL
// is set, that database is used instead, in schemas that are dropped again.
package pgtest

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// EnvURL names the variable that gives tests a database from outside.
const EnvURL = "BERTH_TEST_DATABASE_URL"

// Install is the command that puts PostgreSQL on a machine that has none.
const Install = "script/postgres.sh (as root: apt-get install -y --no-install-recommends postgresql)"

// shared is the server that the tests of one package use together.
var shared struct {
	once   sync.Once
	server *Server
	err    error
}

var schemas atomic.Int64

// Runner is *testing.M, or something around it.
type Runner interface{ Run() int }

// Around stops the package's server when its tests have ended.
func Around(m Runner) Runner { return around{m} }

type around struct{ m Runner }

func (a around) Run() int {
	code := a.m.Run()
	if shared.server != nil {
		if err := shared.server.Stop(); err != nil {
			fmt.Fprintln(os.Stderr, "stop postgres:", err)
			return max(code, 1)
		}
	}
	return code
}

// URL returns the address of an empty schema. Without PostgreSQL the test fails
// where CI=true and is skipped elsewhere.
func URL(tb testing.TB) string {
	tb.Helper()
	base := os.Getenv(EnvURL)
	if base == "" {
		base = Shared(tb).URL()
	}
	name := fmt.Sprintf("berth_test_%d_%d", os.Getpid(), schemas.Add(1))
	run(tb, base, "CREATE SCHEMA "+name)
	if os.Getenv(EnvURL) != "" {
		tb.Cleanup(func() { run(tb, base, "DROP SCHEMA "+name+" CASCADE") })
	}
	return With(base, "search_path", name)
}

// Database returns the address of a database of its own on the package's server: a
// copy of the one at template, to which no client may be connected, or else an empty
// one. Copying costs less than bringing a schema up to date.
func Database(tb testing.TB, template string) string {
	tb.Helper()
	base := Shared(tb).URL()
	name := fmt.Sprintf("berth_test_%d", schemas.Add(1))
	from := "template0"
	if template != "" {
		from = databaseOf(template)
	}
	run(tb, base, "CREATE DATABASE "+name+" TEMPLATE "+from)
	if template != "" { // a template outlives the test that was the first to need it
		tb.Cleanup(func() { run(tb, base, "DROP DATABASE "+name+" WITH (FORCE)") })
	}
	return at(tb, base, name)
}

// Encoded returns the address of an empty database of another encoding on a server.
func Encoded(tb testing.TB, s *Server, encoding string) string {
	tb.Helper()
	name := fmt.Sprintf("berth_test_%d", schemas.Add(1))
	run(tb, s.URL(), "CREATE DATABASE "+name+" ENCODING '"+encoding+"' LOCALE 'C' TEMPLATE template0")
	return at(tb, s.URL(), name)
}

// at returns the address of another database of a server.
func at(tb testing.TB, server, database string) string {
	tb.Helper()
	u, err := url.Parse(server)
	if err != nil {
		tb.Fatal(err)
	}
	u.Path = "/" + database
	return u.String()
}

func databaseOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		panic(err) // a test's own mistake
	}
	return strings.TrimPrefix(u.Path, "/")
}

// Shared returns the package's own server, started on the first call.
func Shared(tb testing.TB) *Server {
	tb.Helper()
	shared.once.Do(func() { shared.server, shared.err = Start(Options{}) })
	if shared.err != nil {
		refuse(tb, shared.err)
	}
	return shared.server
}

// Private starts a server for one test alone.
func Private(tb testing.TB, o Options) *Server {
	tb.Helper()
	s, err := Start(o)
	if err != nil {
		refuse(tb, err)
	}
	tb.Cleanup(func() {
		if err := s.Stop(); err != nil {
			tb.Errorf("stop postgres: %v", err)
		}
	})
	return s
}

// refuse fails in CI, where a silent skip would make green meaningless.
func refuse(tb testing.TB, err error) {
	tb.Helper()
	if os.Getenv("CI") == "true" {
		tb.Fatalf("no PostgreSQL for this test: %v", err)
	}
	fmt.Fprintf(os.Stderr, "\n!!! %s is SKIPPED, it has no PostgreSQL: %v\n", tb.Name(), err)
	tb.Skip(err)
}

// With sets a parameter of a database's address.
func With(address, key, value string) string {
	u, err := url.Parse(address)
	if err != nil {
		panic(err) // a test's own mistake
	}
	q := u.Query()
	q.Set(key, value)
	// pgx reads + in a query as itself, not as a space.
	u.RawQuery = strings.ReplaceAll(q.Encode(), "+", "%20")
	return u.String()
}

func run(tb testing.TB, address, query string) {
	tb.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	conn, err := pgx.Connect(ctx, address)
	if err != nil {
		tb.Fatalf("connect to postgres: %v", err)
	}
	defer func() { _ = conn.Close(ctx) }()
	for {
		_, err := conn.Exec(ctx, query)
		var said *pgconn.PgError
		switch {
		case err == nil:
			return
		case errors.As(err, &said) && said.Code == "55006": // a connection to the template has not quite ended
		default:
			tb.Fatalf("%s: %v", query, err)
		}
	}
}
