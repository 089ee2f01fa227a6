package record_test

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	_ "github.com/jackc/pgx/v5/stdlib"

	"berth/internal/audit"
	"berth/internal/decision"
	"berth/internal/decision/record"
	"berth/internal/engine"
	"berth/internal/revision"
	"berth/internal/store"
	"berth/internal/store/seal"
	"berth/internal/store/sqlite"
	"berth/test/logtest"
)

// behind opens a way around a store.
func behind(t *testing.T, backend, address string) *sql.DB {
	t.Helper()
	driver, source := "pgx", address
	if backend == "sqlite" {
		driver, source = "sqlite", "file:"+filepath.Join(address, sqlite.FileName)+"?_pragma=busy_timeout(5000)"
	}
	db, err := sql.Open(driver, source)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func execute(t *testing.T, db *sql.DB, query string, args ...any) {
	t.Helper()
	if _, err := db.ExecContext(t.Context(), query, args...); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
}

// makeOld makes of a store what a release of schema 21 would have written of the same: without
// purposes, attempts, objects of revisions and facts, and with its seals.
func makeOld(t *testing.T, st store.Store, db *sql.DB) {
	t.Helper()
	execute(t, db, `UPDATE decisions SET purpose = NULL, attempt = NULL, facts = NULL`)
	execute(t, db, `DELETE FROM revision_changes`)
	execute(t, db, `DELETE FROM judged_pods`)
	heads, err := st.SealHeads(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range heads {
		seals(t, st, db, h.Cluster, func(s *store.Seal, items *store.SealItems) { s.Format, items.Rows = 21, nil })
	}
}

// seals writes the chain of a cluster anew, each seal as change makes it, of the rows as they are.
func seals(t *testing.T, st store.Store, db *sql.DB, cluster string, change func(*store.Seal, *store.SealItems)) {
	t.Helper()
	list, err := st.ListSeals(t.Context(), cluster, 0, 0, false)
	if err != nil {
		t.Fatal(err)
	}
	previous := []byte{}
	for _, s := range list {
		var items store.SealItems
		if s.Items != nil {
			if err := json.Unmarshal(s.Items, &items); err != nil {
				t.Fatal(err)
			}
		}
		change(s, &items)
		if s.Items != nil {
			if s.Items, err = json.Marshal(&items); err != nil {
				t.Fatal(err)
			}
		}
		s.Previous = previous
		rows, err := st.SealRows(t.Context(), store.SealDecisions, s.Format, cluster, s.AfterSeq+1, s.Seq, 1000)
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range rows { // others were deleted
			copy(s.RowHashes[(row.Place-s.AfterSeq-1)*sha256.Size:], row.Hash)
		}
		s.Hash = seal.Hash(s)
		previous = s.Hash
		execute(t, db, `UPDATE seals SET format = $1, previous = $2, hash = $3, row_hashes = $4, items = $5 WHERE cluster = $6 AND number = $7`,
			s.Format, s.Previous, s.Hash, notNil(s.RowHashes), textOrNil(s.Items), s.Cluster, s.Number)
	}
	execute(t, db, `UPDATE clusters SET seal_hash = $1 WHERE cluster = $2`, previous, cluster)
}

func notNil(b []byte) []byte { return append([]byte{}, b...) }

func textOrNil(b []byte) any {
	if b == nil {
		return nil
	}
	return string(b)
}

// contents returns the rows of a query, a text each.
func contents(t *testing.T, db *sql.DB, query string) (list []string) {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), query)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	names, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	for rows.Next() {
		values, into := make([]any, len(names)), make([]any, len(names))
		for i := range values {
			into[i] = &values[i]
		}
		if err := rows.Scan(into...); err != nil {
			t.Fatal(err)
		}
		list = append(list, strings.Trim(fmt.Sprint(values), "[]"))
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return list
}

const (
	attributions = `SELECT id, verb, outcome, coalesce(purpose, '-'), coalesce(attempt, '-') FROM decisions ORDER BY id`
	objectRows   = `SELECT * FROM revision_changes ORDER BY cluster, revision, place`
	factRows     = `SELECT cluster, pod_digest, namespace, name, uid, owner_kind, owner_name, priority_class, priority, scheduler,
cpu_milli, memory_bytes, requests, labels, pod_created_at FROM judged_pods ORDER BY cluster, pod_digest`
)

// verified wants all chains of a store to hold.
func verified(t *testing.T, when string, st store.Store) {
	t.Helper()
	for _, cluster := range []string{"demo", "live"} {
		r, err := audit.Verify(t.Context(), st, cluster, audit.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if !r.Good() {
			t.Errorf("%s: %s", when, r.Text())
		}
	}
}

// cutOff is a store that fails at a write, before or after it took place.
type cutOff struct {
	store.Store
	after bool
	left  int // writes until then
}

var errCut = errors.New("cut off")

func (c *cutOff) write(f func() error) error {
	if c.left--; c.left < 0 {
		if c.after {
			if err := f(); err != nil {
				return err
			}
		}
		return errCut
	}
	return f()
}

func (c *cutOff) FillDecisions(ctx context.Context, f *store.Fillable, list []*store.Decision) (n int64, err error) {
	err = c.write(func() error { n, err = c.Store.FillDecisions(ctx, f, list); return err })
	return n, err
}

func (c *cutOff) FillObjects(ctx context.Context, cluster string, list []*store.Revision) (n int64, err error) {
	err = c.write(func() error { n, err = c.Store.FillObjects(ctx, cluster, list); return err })
	return n, err
}

func (c *cutOff) FillFacts(ctx context.Context, list []*store.Decision) error {
	return c.write(func() error { return c.Store.FillFacts(ctx, list) })
}

// fillIn is what `server backfill` does of a cluster.
func fillIn(t *testing.T, c *corpus, st store.Store, cluster string, page int) (out record.Filled, objects revision.Filled, err error) {
	t.Helper()
	f, err := st.Fillable(t.Context(), cluster)
	if err != nil {
		t.Fatal(err)
	}
	l := record.New(c.Manager, st, &decision.Configuration{Profiles: c.Profiles}, record.Options{})
	told := func(int64) {}
	b := l.NewBackfill(f, &out, told)
	b.Pages(page)
	if err := b.Attribute(t.Context()); err != nil {
		return out, objects, err
	}
	if objects, err = revision.Backfill(t.Context(), st, f, told); err != nil {
		return out, objects, err
	}
	return out, objects, b.Facts(t.Context())
}

// rollUp brings the roll-ups of clusters up to their logs.
func rollUp(t *testing.T, st store.Store, clusters ...string) {
	t.Helper()
	for _, cluster := range clusters {
		for more := true; more; {
			step, err := st.RollUp(t.Context(), cluster)
			if err != nil {
				t.Fatal(err)
			}
			more = step.More
		}
	}
}

// TestBackfill makes a log, takes from it what earlier releases did not write, and fills it in
// again: what comes is what was, but for purposes that no record says. It is cut off at each write.
func TestBackfill(t *testing.T) {
	for backend, open := range backends {
		t.Run(backend, func(t *testing.T) {
			st, address := open(t)
			c := openCorpus(t, st)
			c.fill(t)
			c.fillCycles(t)
			c.fillLive(t)
			db := behind(t, backend, address)
			rollUp(t, st, "demo", "live")
			written, objects, facts := contents(t, db, attributions), contents(t, db, objectRows), contents(t, db, factRows)
			makeOld(t, st, db)
			verified(t, "as it was", st)
			// Of this release, and of a spool that an earlier one had filled.
			c.decide(t, "14:00:00", decision.Question{Pod: shopPod(t, "today", "1", ""), Bind: true})
			spooled := &store.Decision{ID: "z", Cluster: "demo", Verb: "filter", PodUID: "u", Outcome: "Scheduled", CreatedAt: c.now, Now: c.now}
			if err := st.Append(t.Context(), []*store.Entry{{Decision: spooled}}); err != nil {
				t.Fatal(err)
			}
			today := contents(t, db, attributions)
			today = today[len(today)-2:]
			rollUp(t, st, "demo")
			objects, facts = append(objects, contents(t, db, objectRows)...), append(facts, contents(t, db, factRows)...)
			slices.Sort(objects)
			slices.Sort(facts)
			verified(t, "before", st)
			for cut := 0; ; cut++ {
				whole := true
				for _, cluster := range []string{"demo", "live"} {
					_, _, err := fillIn(t, c, &cutOff{Store: st, after: cut%2 == 0, left: cut % 9}, cluster, 2)
					if err != nil && !errors.Is(err, errCut) {
						t.Fatal(err)
					}
					whole = whole && err == nil
				}
				verified(t, fmt.Sprint("after cut ", cut), st)
				if whole {
					break
				}
				if cut > 50 {
					t.Fatal("it does not come to an end")
				}
			}
			out, revisions, err := fillIn(t, c, st, "demo", 1000)
			if want := (record.Filled{NoPurpose: 2, Sealed: 1}); err != nil || out != want || revisions != (revision.Filled{}) {
				t.Errorf("once more: %+v, %+v, %v", out, revisions, err)
			}
			// What is not known: a question that found no node, and a pod that was nominated to the
			// node again that it was nominated to.
			preempting := 0
			for i, row := range written {
				if strings.Contains(row, "decide Preempting live") {
					preempting++
				}
				if strings.Contains(row, "decide Unschedulable question") || strings.Contains(row, "decide Preempting live") && preempting == 2 {
					written[i] = strings.NewReplacer(" question ", " - ", " live ", " - ").Replace(row)
				}
			}
			if diff := cmp.Diff(slices.Concat(written, today), contents(t, db, attributions)); diff != "" {
				t.Errorf("purposes and attempts (-written +filled in):\n%s", diff)
			}
			if diff := cmp.Diff(objects, slices.Sorted(slices.Values(contents(t, db, objectRows)))); diff != "" {
				t.Errorf("objects (-written +filled in):\n%s", diff)
			}
			if diff := cmp.Diff(facts, slices.Sorted(slices.Values(contents(t, db, factRows)))); diff != "" {
				t.Errorf("facts (-written +filled in):\n%s", diff)
			}
		})
	}
}

// TestBackfillOfAShortLog: what may be of an attempt whose beginning was deleted for its age has
// none, and what revisions changed that was deleted does not come back.
func TestBackfillOfAShortLog(t *testing.T) {
	for backend, open := range backends {
		t.Run(backend, func(t *testing.T) {
			st, address := open(t)
			c := openCorpus(t, st)
			c.fill(t)
			c.fillCycles(t)
			db := behind(t, backend, address)
			c.at(t, "11:40:01")
			before := c.now
			if _, err := st.Retain(t.Context(), before); err != nil {
				t.Fatal(err)
			}
			kept := contents(t, db, objectRows)
			execute(t, db, `UPDATE decisions SET purpose = NULL, attempt = NULL`)
			seals(t, st, db, "demo", func(s *store.Seal, _ *store.SealItems) { s.Format = 21 })
			out, revisions, err := fillIn(t, c, st, "demo", 2)
			if err != nil || out.NoAttempt != 1 || out.Attempts != 4 || revisions.Removed == 0 || revisions.Revisions != 0 {
				t.Errorf("%+v, %+v, %v", out, revisions, err)
			}
			if diff := cmp.Diff(kept, contents(t, db, objectRows)); diff != "" {
				t.Errorf("objects (-kept +after):\n%s", diff)
			}
			if r, err := audit.Verify(t.Context(), st, "demo", audit.Options{}); err != nil || !r.Good() {
				t.Errorf("%v: %s", err, r.Text())
			}
		})
	}
}

// fillCycles adds an hour of kube-scheduler's cycles for a pod that fits nowhere: two whole ones,
// one of which tries its nominated node alone first, and one of which only the end came.
func (c *corpus) fillCycles(t *testing.T) {
	t.Helper()
	huge := shopPod(t, "gigantic", "60", "")
	none := []engine.NodeVictims{}
	for _, call := range []struct {
		clock, verb string
		nodes       []string
	}{
		{"11:40:00", decision.VerbFilter, nil},
		{"11:40:01", decision.VerbPreempt, nil},
		{"11:41:00", decision.VerbFilter, []string{"web-1"}},
		{"11:41:00", decision.VerbFilter, nil},
		{"11:41:01", decision.VerbPreempt, nil},
		{"12:50:00", decision.VerbPreempt, nil},
	} {
		c.at(t, call.clock)
		q := decision.Question{Cluster: "demo", Verb: call.verb, Pod: huge, NodeNames: call.nodes, NoPreemption: call.verb == decision.VerbFilter}
		if call.nodes != nil {
			q.Nominated = call.nodes[0]
		}
		if call.verb == decision.VerbPreempt {
			q.Victims = none
		}
		id, err := logtest.Record(t.Context(), c, q, nothing)
		if err != nil {
			t.Fatal(err)
		}
		c.ids = append(c.ids, id)
	}
}
