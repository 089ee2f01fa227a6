package postgres

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"berth/internal/store"
	"berth/test/storetest"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
)

// TestViews runs queries that people need.
func TestViews(t *testing.T) {
	s := openAt(t, freshURL(t), Options{})
	conn, err := s.pool.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Release()
	if _, err := conn.Exec(t.Context(), `SET ROLE berth_reader`); err != nil {
		t.Fatal(err)
	}
	defer func() { _, _ = conn.Exec(context.Background(), `RESET ROLE`) }()
	storetest.Views(t, s, func(query string) []string { return ask(t, conn.Conn(), query) })
	for _, query := range []string{`SELECT * FROM decisions`, `SELECT * FROM checkpoints`, `DELETE FROM decision_log`, `CREATE TABLE x ()`} {
		if _, err := conn.Exec(t.Context(), query); sqlState(err) != statePrivilege && sqlState(err) != "55000" {
			t.Errorf("the reading role's %s: %v", query, err)
		}
	}
}

// TestOtherViews asks those about preemption and capacity.
func TestOtherViews(t *testing.T) {
	for name, views := range map[string]func(*testing.T, store.Store, storetest.Ask){
		"attempts": storetest.AttemptViews, "facts": storetest.FactViews, "preemption": storetest.PreemptionViews, "capacity": storetest.CapacityView,
		"simulation": storetest.SimulationView, "evidence": storetest.EvidenceViews,
	} {
		t.Run(name, func(t *testing.T) {
			s := openAt(t, freshURL(t), Options{})
			conn, err := s.pool.Acquire(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Release()
			views(t, s, func(query string) []string { return ask(t, conn.Conn(), query) })
		})
	}
}

// TestListsUseTheirIndexes keeps the list from sorting or from reading the
// whole log.
func TestListsUseTheirIndexes(t *testing.T) {
	s := openAt(t, freshURL(t), Options{})
	var es []*store.Entry
	now := time.Now()
	for i := range 3000 {
		d := sampleDecision("prod", fmt.Sprintf("%06d", i), now.Add(time.Duration(i)*time.Second))
		d.Pod, d.Node = fmt.Sprint("pod-", i%300), fmt.Sprint("node-", i%300)
		es = append(es, &store.Entry{Decision: d})
	}
	if err := s.Append(t.Context(), es); err != nil {
		t.Fatal(err)
	}
	conn, err := s.pool.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Release()
	if _, err := conn.Exec(t.Context(), `ANALYZE decisions`); err != nil {
		t.Fatal(err)
	}
	before := store.DecisionFilter{Cluster: "prod", BeforeTime: now.Add(time.Hour), BeforeID: "x", Limit: 10}
	tests := []struct {
		index string
		set   func(f *store.DecisionFilter)
	}{
		{"_pkey", func(*store.DecisionFilter) {}},
		{"_pod_created_at_idx", func(f *store.DecisionFilter) { f.Namespace, f.Pod = "shop", "pod-7" }},
		{"_node_created_at_idx", func(f *store.DecisionFilter) { f.Node = "node-7" }},
	}
	for _, tt := range tests {
		f := before
		tt.set(&f)
		query, args := listSQL(f)
		plan := strings.Join(ask(t, conn.Conn(), "EXPLAIN "+query, args...), "\n")
		if !strings.Contains(plan, tt.index) || strings.Contains(plan, "Seq Scan on "+partitionName(now)) {
			t.Errorf("%+v: plan\n%s\nwants %s and no reading of all", f, plan, tt.index)
		}
	}
}

// TestHostileRows plants values that we never write: a row is input, and one
// that is wrong may cost its own reader an error, and no caller a panic.
func TestHostileRows(t *testing.T) {
	url := freshURL(t)
	s := openAt(t, url, Options{})
	refused := 0
	for c, column := range []string{"failures", "scores", "victims"} {
		for v, value := range []string{`{`, `null`, `{}`, `[1]`, `[[[]]]`, `[[{}]]`, `[null]`, `[[]]`, `[["a","b","c",1e99]]`, `[[9223372036854775808]]`, `[["a",1,"r",3,[],"","",[["m5"]]]]`, `[["a",1,"r",3,[],"","",[[1,2]]]]`, ``} {
			id := fmt.Sprint("h", c, "-", v)
			appendOne(t, s, id)
			execRaw(t, url, fmt.Sprintf(`UPDATE decisions SET %s = '%s', decided_as_of = 'infinity' WHERE id = '%s'`, column, value, id))
			if v%2 == 0 {
				execRaw(t, url, fmt.Sprintf(`UPDATE decisions SET decided_as_of = now() WHERE id = '%s'`, id))
			}
			if _, err := s.Decision(t.Context(), id); err != nil {
				if errors.Is(err, store.ErrNotFound) || errors.Is(err, store.ErrClosed) || errors.Is(err, store.ErrUnavailable) {
					t.Errorf("%s = %s: %v", column, value, err)
				}
				refused++
			}
		}
	}
	if refused < 11 {
		t.Errorf("only %d hostile rows were noticed", refused)
	}
	if err := s.Ping(t.Context()); err != nil {
		t.Errorf("Ping = %v", err)
	}
	appendOne(t, s, "after")
}

// ask returns the rows of a query, columns joined as psql -At does.
func ask(t *testing.T, conn *pgx.Conn, query string, args ...any) []string {
	t.Helper()
	rows, err := conn.Query(t.Context(), query, args...)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	defer rows.Close()
	var out []string
	for rows.Next() {
		values, err := rows.Values()
		if err != nil {
			t.Fatalf("%s: %v", query, err)
		}
		texts := make([]string, len(values))
		for i, v := range values {
			if n, ok := v.(pgtype.Numeric); ok {
				v = n.Int // of a sum of bigints: a whole number
			}
			texts[i] = fmt.Sprint(v)
		}
		out = append(out, strings.Join(texts, "|"))
	}
	if err := rows.Err(); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return out
}
