package main

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // PostgreSQL's driver
	_ "modernc.org/sqlite"             // SQLite's
)

// books are a scenario's records, checked.
type books struct {
	records []row
	byVerb  map[string]int
}

// bookkeeping reads all records of a server over REST and by SQL, compares the
// two, and has every one of them replayed: each has to come out identical.
func (e *env) bookkeeping(ctx context.Context, s *server, database string) (*books, error) {
	b := &books{byVerb: map[string]int{}}
	var err error
	if b.records, err = s.records(ctx); err != nil {
		return nil, err
	}
	for _, r := range b.records {
		b.byVerb[r.Verb]++
	}
	stored, err := countBySQL(ctx, s, database)
	if err != nil {
		return nil, err
	}
	e.check(maps.Equal(stored, b.byVerb), "records by REST %v, by SQL %v", b.byVerb, stored)
	var job struct {
		ID, State, Reason                         string
		Total, Done, Identical, Different, Errors int64
	}
	if err := s.call(ctx, http.MethodPost, "/v1/replays", map[string]string{"cluster": followed}, &job); err != nil {
		return nil, err
	}
	for end := time.Now().Add(5 * time.Minute); job.State == "queued" || job.State == "running"; time.Sleep(100 * time.Millisecond) {
		if time.Now().After(end) {
			return nil, fmt.Errorf("the batch replay is %s after five minutes", job.State)
		}
		if err := s.call(ctx, http.MethodGet, "/v1/replays/"+job.ID, nil, &job); err != nil {
			return nil, err
		}
	}
	e.check(job.State == "done" && job.Identical == int64(len(b.records)), "of %d records, replays: %+v", len(b.records), job)
	var parts []string
	for _, verb := range slices.Sorted(maps.Keys(b.byVerb)) {
		parts = append(parts, fmt.Sprintf("%d %s", b.byVerb[verb], verb))
	}
	e.figure("books: %s; %d of %d replayed identically", strings.Join(parts, ", "), job.Identical, len(b.records))
	return b, nil
}

func countBySQL(ctx context.Context, s *server, database string) (_ map[string]int, err error) {
	driver, source := "pgx", database
	if database == "" {
		found, err := filepath.Glob(filepath.Join(s.dir, s.name+"-data", "*.db"))
		if err != nil || len(found) != 1 {
			return nil, fmt.Errorf("the embedded store is not to be found: %v, %w", found, err)
		}
		driver, source = "sqlite", "file:"+found[0]+"?mode=ro"
	}
	db, err := sql.Open(driver, source)
	if err != nil {
		return nil, err
	}
	defer func() { _ = db.Close() }()
	rows, err := db.QueryContext(ctx, "SELECT verb, COUNT(*) FROM decisions WHERE cluster = '"+followed+"' GROUP BY verb")
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	out := map[string]int{}
	for rows.Next() {
		var verb string
		var n int
		if err := rows.Scan(&verb, &n); err != nil {
			return nil, err
		}
		out[verb] = n
	}
	return out, rows.Err()
}

// bound checks that every pod of the scenario is on one node, that it never was
// on another, and that its way there is on record: asked about, bound, confirmed.
func (e *env) bound(b *books, byBerth bool) {
	index := map[string][]row{}
	for _, r := range b.records {
		index[r.Pod.UID] = append(index[r.Pod.UID], r)
	}
	for _, l := range e.kubelets.alive(e.namespace) {
		if !e.check(len(l.nodes) == 1, "pod %s was on nodes %v: want one", l.name, l.nodes) {
			continue
		}
		seen := map[string]bool{}
		for _, r := range index[string(l.uid)] {
			seen[r.Verb] = true
			if r.Node == l.nodes[0] && r.Outcome == "Scheduled" {
				seen[r.Verb+" there"] = true
			}
		}
		e.check(seen["filter"], "pod %s is bound, and no record says that berth was asked about it", l.name)
		if byBerth {
			e.check(seen["bind there"], "pod %s is on node %s, and no record of a bind says so", l.name, l.nodes[0])
		}
	}
}

// answered checks that every answer that kube-scheduler got is on record.
func (e *env) answered(b *books, f *frontend) {
	known := map[string]bool{}
	for _, r := range b.records {
		known[r.ID] = true
	}
	n := 0
	for _, x := range f.said("") {
		if x.status != http.StatusOK || x.verb == "bind" {
			continue // an answer to a bind names no record; bound looks for those
		}
		if x.id == "" && x.verb == "filter" && !strings.HasSuffix(string(x.answer), `"Error":""}`) {
			continue // an error in words decides nothing
		}
		n++
		e.check(known[x.id], "kube-scheduler was answered by decision %q on %s, which is not on record", x.id, x.verb)
	}
	e.figure("%d answers to filter, prioritize and preempt, each on record", n)
}

// allowed checks that each pod went where berth's last answer to /filter let it go.
func (e *env) allowed(f *frontend) {
	last := map[string][]byte{}
	for _, x := range f.said("filter") {
		_, _, uid := x.pod()
		last[uid] = x.answer
	}
	for _, l := range e.kubelets.of(e.namespace) {
		if len(l.nodes) == 1 {
			e.check(passes(last[string(l.uid)], l.nodes[0]), "pod %s is on node %s, which berth did not allow: %.300s", l.name, l.nodes[0], last[string(l.uid)])
		}
	}
}
