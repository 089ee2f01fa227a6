package record_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"berth/internal/queries"
	"berth/internal/store"
	"berth/migrations"

	"github.com/google/go-cmp/cmp"
)

// TestPagesOfViews reads each view of the corpus by small pages, on both backends: together they
// are its rows, each once. No two rows have a view's key in common.
func TestPagesOfViews(t *testing.T) {
	docs, err := migrations.Documented()
	if err != nil {
		t.Fatal(err)
	}
	for _, backend := range []string{"sqlite", "postgres"} {
		t.Run(backend, func(t *testing.T) {
			st, address := backends[backend](t)
			c := openCorpus(t, st)
			c.fill(t)
			c.fillLive(t)
			db := asReader(t, backend, address)
			read, more := 0, 0
			for _, v := range docs.Views {
				if v.Key != nil {
					columns := ""
					for _, column := range v.Key {
						columns += ", " + column
					}
					query := fmt.Sprintf("SELECT count(*)%s FROM %s GROUP BY %s HAVING count(*) > 1 LIMIT 3", columns, v.Name, columns[2:])
					if got := strings.TrimSpace(answer(t, db, v.Name, query)); strings.Contains(got, "\n") { // more than the names of columns
						t.Errorf("%s: rows have their key in common\n%s", v.Name, got)
					}
				}
				begin := &queries.Page{View: v.Name, Cluster: "demo", Since: time.Unix(0, 0), Until: time.Now().Add(time.Hour)}
				whole := readPages(t, st, begin, 100_000)
				if whole == nil {
					continue
				}
				read++
				more += len(whole)
				if diff := cmp.Diff(whole, readPages(t, st, begin, 3)); diff != "" {
					t.Errorf("%s (-at once +by pages):\n%s", v.Name, diff)
				}
			}
			c.close()
			if read < 15 || more < 200 {
				t.Errorf("only %d rows of %d views", more, read)
			}
		})
	}
}

// readPages returns all rows of a view, read by pages; nil where the view has none.
func readPages(t *testing.T, st store.Queries, p *queries.Page, limit int) (all [][]any) {
	t.Helper()
	probe, err := p.Probe()
	if err != nil {
		return nil
	}
	shape, err := st.Query(t.Context(), &store.Query{SQL: probe, MaxBytes: 1 << 30})
	if err != nil {
		t.Fatalf("%s: %v", p.View, err)
	}
	for {
		text, at, args, err := p.Query(shape.Columns, limit+1)
		if err != nil {
			return nil
		}
		page, err := st.Query(t.Context(), &store.Query{SQL: text, Args: args, MaxBytes: 1 << 30})
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if len(page.Rows) <= limit {
			return append(all, page.Rows...)
		}
		all = append(all, page.Rows[:limit]...)
		next, err := p.Next(page.Rows[:limit], at)
		if err != nil {
			t.Fatalf("%s: %v", p.View, err)
		}
		cursor := next.String()
		p = &queries.Page{View: p.View, Cluster: p.Cluster, Until: p.Until}
		if err := p.At(cursor); err != nil {
			t.Fatalf("%s: %v", cursor, err)
		}
	}
}
