package storetest

import (
	"context"
	"errors"
	"testing"
	"time"

	"berth/internal/store"
)

func init() {
	ask := func(sql string, args map[string]any) *store.Query {
		return &store.Query{SQL: sql, Args: args, MaxBytes: 1 << 20}
	}
	// untyped returns a table without the types of its columns, which SQLite knows of some alone.
	untyped := func(t *testing.T, got *store.Table) *store.Table {
		t.Helper()
		if len(got.Types) != len(got.Columns) {
			t.Errorf("the types %q of the columns %q", got.Types, got.Columns)
		}
		got.Types = nil
		return got
	}
	register("Queries", cases{
		"ReadsViewsWithArguments": func(t *testing.T, s store.Store) {
			placed := decision("prod", "d1", at(1))
			placed.Pod, placed.Failures = "it's", []store.Failure{{Plugin: "NodeAffinity", Code: "Unschedulable", Reason: "r", Nodes: 3}}
			appendAll(t, s, &store.Entry{Decision: placed}, &store.Entry{Decision: decision("prod", "d2", at(9))}, &store.Entry{Decision: decision("test", "d3", at(1))})
			args := map[string]any{"cluster": "prod", "pod": "it's", "since": at(0), "until": at(5), "limit": int64(10)}
			got, err := s.Query(t.Context(), ask(`SELECT id, nodes_feasible, node, nominated_node, duration_ms, bound_snapshot FROM decision_log
WHERE cluster = @cluster AND pod = @pod AND created_at >= @since AND created_at < @until LIMIT @limit`, args))
			wantErr(t, "Query", err, nil)
			same(t, "table", &store.Table{
				Columns: []string{"id", "nodes_feasible", "node", "nominated_node", "duration_ms", "bound_snapshot"},
				Rows:    [][]any{{"d1", int64(0), "", "", float64(0), nil}},
			}, untyped(t, got))
			got, err = s.Query(t.Context(), ask(`SELECT plugin, sum(nodes) AS nodes FROM decision_failures WHERE cluster = @cluster GROUP BY plugin`, map[string]any{"cluster": "prod"}))
			wantErr(t, "Query", err, nil)
			same(t, "sum", &store.Table{Columns: []string{"plugin", "nodes"}, Rows: [][]any{{"NodeAffinity", int64(3)}}}, untyped(t, got))
		},
		"ChangesNothing": func(t *testing.T, s store.Store) {
			appendAll(t, s, &store.Entry{Decision: decision("prod", "d1", at(1))})
			for _, sql := range []string{
				`DELETE FROM decisions WHERE cluster = @cluster`, `DELETE FROM decisions WHERE cluster = @cluster RETURNING id`,
				`UPDATE decisions SET pod = 'x' WHERE cluster = @cluster`,
			} {
				if _, err := s.Query(t.Context(), ask(sql, map[string]any{"cluster": "prod"})); err == nil {
					t.Errorf("%s is no error", sql)
				}
			}
			sameList(t, "decisions", []string{"d1"}, ids(t, s, store.DecisionFilter{}))
		},
		"BytesAreBounded": func(t *testing.T, s store.Store) {
			for _, id := range []string{"d1", "d2", "d3"} {
				d := decision("prod", id, at(1))
				d.Message = incompressible(1000)
				appendAll(t, s, &store.Entry{Decision: d})
			}
			q := ask(`SELECT message FROM decision_log WHERE cluster = @cluster`, map[string]any{"cluster": "prod"})
			q.MaxBytes = 2500
			got, err := s.Query(t.Context(), q)
			wantErr(t, "Query", err, nil)
			if len(got.Rows) != 2 || !got.Cut {
				t.Errorf("%d rows, cut: %v", len(got.Rows), got.Cut)
			}
		},
		"EndsWithItsDeadline": func(t *testing.T, s store.Store) {
			ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
			defer cancel()
			begun := time.Now()
			_, err := s.Query(ctx, ask(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT 1 FROM n) SELECT count(*) FROM n`, nil))
			if !errors.Is(err, context.DeadlineExceeded) || time.Since(begun) > 20*time.Second {
				t.Errorf("after %v: %v", time.Since(begun), err)
			}
			wantErr(t, "Ping", s.Ping(t.Context()), nil)
		},
	}, calls{
		"Query": func(ctx context.Context, s store.Store) error {
			_, err := s.Query(ctx, ask(`SELECT id FROM decision_log WHERE cluster = @cluster`, map[string]any{"cluster": "prod"}))
			return err
		},
	})
}
