package queries

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

// Every query is about one cluster and a time, has a bound, reads alone, and is one statement.
func TestReadyQueries(t *testing.T) {
	if len(All()) < 20 {
		t.Fatalf("%d queries", len(All()))
	}
	names := map[string]bool{}
	for i := range All() {
		q := &All()[i]
		if names[q.Name] || q.Title == "" || q.Description == "" {
			t.Errorf("%q comes twice, or lacks its words: %+v", q.Name, q)
		}
		names[q.Name] = true
		if len(q.Parameters) == 0 || q.Parameters[0] != "cluster" || !strings.HasSuffix(q.SQL, "\nLIMIT @limit") || !strings.HasPrefix(q.SQL, "SELECT ") && !strings.HasPrefix(q.SQL, "WITH ") || strings.ContainsAny(q.SQL, ";{}") {
			t.Errorf("%s: of %v:\n%s", q.Name, q.Parameters, q.SQL)
		}
		for _, bound := range []string{Since, Until} { // or it reads the whole log
			if !slices.Contains(q.Parameters, bound) {
				t.Errorf("%s: takes no %s", q.Name, bound)
			}
		}
		if _, err := q.Bind(q.Example, 3); err != nil {
			t.Errorf("%s: its own example: %v", q.Name, err)
		}
	}
}

func TestBindNamesTheParameter(t *testing.T) {
	q, ok := Named("top-reasons")
	if !ok {
		t.Fatal("there is no top-reasons")
	}
	for want, values := range map[string]map[string]string{
		"cluster: the query needs it": {"since": "2026-01-02T00:00:00Z", "until": "2026-01-03T00:00:00Z"},
		"since: want a time":          {"cluster": "demo", "since": "yesterday"},
	} {
		_, err := q.Bind(values, 1)
		var bad *ValueError
		if !errors.As(err, &bad) || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v: %v, want %s", values, err, want)
		}
	}
	if _, ok := Named("none"); ok {
		t.Error("there is a query named none")
	}
}

// A parameter that is optional may be empty, and no other.
func TestOptionalParameters(t *testing.T) {
	q, ok := Named("decisions")
	if !ok || q.Needs("pod") || !q.Needs("cluster") {
		t.Fatalf("%+v", q)
	}
	values := map[string]string{"cluster": "demo", "since": "2026-01-02T00:00:00Z", "until": "2026-01-03T00:00:00Z"}
	if args, err := q.Bind(values, 1); err != nil || args["pod"] != "" {
		t.Errorf("%v, %v", args, err)
	}
	delete(values, "cluster")
	if _, err := q.Bind(values, 1); err == nil {
		t.Error("a cluster is not needed")
	}
}

func TestLiteral(t *testing.T) {
	q := &Query{SQL: "a = @cluster AND b >= @since LIMIT @limit"}
	values := map[string]string{"cluster": "it's", "since": "2026-01-02T00:00:00Z", "limit": "7"}
	for backend, want := range map[string]string{
		"sqlite":   "a = 'it''s' AND b >= unixepoch('2026-01-02T00:00:00Z') * 1000000 LIMIT 7;",
		"postgres": "a = 'it''s' AND b >= '2026-01-02T00:00:00Z' LIMIT 7;",
	} {
		if got := q.Literal(backend, values); got != want {
			t.Errorf("%s: %s, want %s", backend, got, want)
		}
	}
}
