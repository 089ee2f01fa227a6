package audit_test

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib"
	"go.uber.org/goleak"
	_ "modernc.org/sqlite"

	"berth/internal/audit"
	"berth/internal/store"
	"berth/internal/store/postgres"
	"berth/internal/store/sqlite"
	"berth/test/pgtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(pgtest.Around(m)) }

// fixture is a store and a way around it.
type fixture struct {
	store.Store
	t  *testing.T
	db *sql.DB
	// postgres reports which dialect db speaks.
	postgres bool
	url      string // of the database, or the directory
}

// onBoth runs a test on each kind of store.
func onBoth(t *testing.T, run func(t *testing.T, f *fixture)) {
	t.Run("sqlite", func(t *testing.T) {
		dir := t.TempDir()
		f := &fixture{t: t, url: dir}
		f.open("sqlite", "file:"+filepath.Join(dir, sqlite.FileName)+"?_pragma=busy_timeout(5000)")
		run(t, f)
	})
	t.Run("postgres", func(t *testing.T) {
		url := pgtest.URL(t)
		if err := postgres.MigrateUp(t.Context(), url, postgres.MigrateOptions{}); err != nil {
			t.Fatal(err)
		}
		f := &fixture{t: t, postgres: true, url: url}
		f.open("pgx", url)
		run(t, f)
	})
}

// reopen opens the store, the first time or again.
func (f *fixture) reopen() {
	f.t.Helper()
	var err error
	if f.postgres {
		f.Store, err = postgres.Open(f.t.Context(), f.url, postgres.Options{})
	} else {
		f.Store, err = sqlite.Open(f.t.Context(), f.url, sqlite.Options{})
	}
	if err != nil {
		f.t.Fatal(err)
	}
}

func (f *fixture) open(driver, address string) {
	f.t.Helper()
	f.reopen()
	var err error
	if f.db, err = sql.Open(driver, address); err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() {
		if err := f.db.Close(); err != nil {
			f.t.Error(err)
		}
		if err := f.Close(); err != nil {
			f.t.Error(err)
		}
	})
}

// exec changes the database behind the store's back.
func (f *fixture) exec(queries ...string) {
	f.t.Helper()
	for _, q := range queries {
		if f.postgres { // what one dialect writes otherwise
			q = strings.NewReplacer("x'00'", `'\x00'`, "created_at = 1", "created_at = '2020-01-01'").Replace(q)
		}
		res, err := f.db.ExecContext(f.t.Context(), q)
		if err != nil {
			f.t.Fatalf("%s: %v", q, err)
		}
		if n, err := res.RowsAffected(); err != nil || n == 0 && strings.HasPrefix(q, "UPDATE") {
			f.t.Fatalf("%s: %d rows, %v", q, n, err)
		}
	}
}

// empty is a blob of no bytes.
func (f *fixture) empty() string {
	if f.postgres {
		return `''`
	}
	return `x''`
}

// verify checks a cluster's chain.
func (f *fixture) verify(o audit.Options) *audit.Report {
	f.t.Helper()
	r, err := audit.Verify(f.t.Context(), f, "prod", o)
	if err != nil {
		f.t.Fatal(err)
	}
	return r
}

func (f *fixture) append(entries ...*store.Entry) {
	f.t.Helper()
	if err := f.Append(f.t.Context(), entries); err != nil {
		f.t.Fatal(err)
	}
	for i, e := range entries {
		if e.Err != nil {
			f.t.Fatalf("entry %d: %v", i, e.Err)
		}
	}
}

func at(second int) time.Time { return time.Date(2026, 2, 1, 0, 0, second, 0, time.UTC) }

// decided is the decision that gets place n of the log of prod.
func decided(n int) *store.Entry {
	return &store.Entry{Decision: &store.Decision{
		ID: fmt.Sprintf("d%03d", n), Cluster: "prod", Revision: 1, Verb: "decide", CreatedAt: at(n), Now: at(n),
		Namespace: "shop", Pod: fmt.Sprintf("cart-%d", n), Outcome: "Scheduled", Node: "node-1", Input: []byte{1, 2, 3, 4},
		Profile: "default-scheduler", ProfileDigest: "sha256:p", Engine: "v0.1.0", Semantics: "v1.36.3",
		Failures: []store.Failure{{Plugin: "NodeResourcesFit", Code: "Unschedulable", Reason: "Insufficient cpu", Nodes: 3}},
		Scores:   []store.Score{{Rank: 1, Node: "node-1", Total: 7, Plugins: store.PluginScores{{Plugin: "ImageLocality", Raw: 7, Normalized: 7, Weight: 1, Weighted: 7}}}},
	}}
}

func uploaded(n int64) *store.Entry {
	r := &store.Revision{
		Cluster: "prod", Number: n, Token: fmt.Sprint("t", n), CreatedAt: at(0), Digest: fmt.Sprint("sha256:", n), Cause: "upload", Summary: []byte(`{}`),
		Objects: []store.RevisionObject{
			{Action: store.Deleted, Kind: "Pod", Namespace: "shop", Name: "cart-0", UID: "u0"},
			{Action: store.Applied, Kind: "PriorityClass", Name: "rush", Changed: []byte(`["value"]`)},
		},
		Changes: 2,
		Classes: []store.ClassChange{{Name: "rush", New: &store.ClassFacts{Value: int32(n), Policy: "Never"}}},
	}
	if n > 1 {
		r.ParentToken = fmt.Sprint("t", n-1)
	}
	return &store.Entry{Revision: r, Checkpoint: &store.Checkpoint{Cluster: "prod", Number: n, Payload: []byte{byte(n), 9}}}
}

// fill writes three seals: two revisions and a gap, and twice ten decisions.
func (f *fixture) fill() {
	f.t.Helper()
	f.append(uploaded(1), uploaded(2), &store.Entry{Gap: &store.Gap{ID: "g1", Cluster: "prod", Since: at(1), Until: at(2), Lost: 3, Cause: "store", Instance: "i"}})
	for batch := range 2 {
		var entries []*store.Entry
		for i := range 10 {
			entries = append(entries, decided(10*batch+i+1))
		}
		f.append(entries...)
	}
	if r := f.verify(audit.Options{}); !r.Good() || r.Rows[store.SealDecisions] != 20 || r.Rows[store.SealRevisions] != 2 ||
		r.Rows[store.SealCheckpoints] != 2 || r.Rows[store.SealGaps] != 1 || r.ToSeal != 3 {
		f.t.Fatalf("before: %+v", r)
	}
}
