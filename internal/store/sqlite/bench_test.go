package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"berth/internal/store"
	"berth/internal/store/groupcommit"
	"berth/internal/store/lists"
)

// BenchmarkDurableInserts sets what berth does (many committers, one Group)
// against the bare driver in the same run: the same bytes as one JSON text with
// an index on its time (document), and the same typed columns and indexes
// (columns), in batches of as many rows as there are committers. tables is the
// layout that was not chosen: failures and scores as rows of their own.
func BenchmarkDurableInserts(b *testing.B) {
	for _, n := range []int{1, 16, 128} {
		b.Run(fmt.Sprintf("document/%d", n), func(b *testing.B) { benchBare(b, n, documentLayout) })
		b.Run(fmt.Sprintf("columns/%d", n), func(b *testing.B) { benchBare(b, n, columnsLayout) })
		b.Run(fmt.Sprintf("tables/%d", n), func(b *testing.B) { benchBare(b, n, tablesLayout) })
		b.Run(fmt.Sprintf("group/%d", n), func(b *testing.B) { benchGroup(b, n) })
	}
}

func benchGroup(b *testing.B, committers int) {
	s := openAt(b, b.TempDir())
	var batches int // counted by the one writing goroutine
	g := groupcommit.NewGroup(s, groupcommit.Options{ObserveFunc: func(int, time.Duration, error) { batches++ }})
	var next atomic.Int64
	var wg sync.WaitGroup
	b.ReportAllocs()
	b.ResetTimer()
	for range committers {
		wg.Go(func() {
			for i := next.Add(1); i <= int64(b.N); i = next.Add(1) {
				if err := g.Commit(context.Background(), &store.Entry{Decision: benchDecision(i)}); err != nil {
					b.Errorf("commit: %v", err)
					return
				}
			}
		})
	}
	wg.Wait()
	b.StopTimer()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "rows/s")
	if err := g.Close(context.Background()); err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(b.N)/float64(batches), "rows/batch")
	infos, err := s.clusterNames(context.Background())
	if err != nil || len(infos) != 1 {
		b.Fatalf("clusters %v, %v", infos, err)
	}
}

func benchDecision(i int64) *store.Decision {
	d := sampleDecision("prod", fmt.Sprintf("0197a1b2-c3d4-7e5f-8a9b-%012d", i), time.Now())
	d.Revision, d.Seq = 0, i
	return d
}

// benchValues are a decision's with a stamp that is there already.
func benchValues(d *store.Decision) []any {
	r := lists.NewRow(d)
	r.StampID, r.Seq = 1, d.Seq
	return decisionValues(r)
}

// layout is a way to write a decision: the tables it needs, the statements of
// one decision, and their arguments.
type layout struct {
	ddl        string
	statements []string
	arguments  func(d *store.Decision) [][]any // of each statement, one []any a row
}

var documentLayout = layout{
	ddl:        `CREATE TABLE docs (id TEXT PRIMARY KEY, ts INTEGER, doc TEXT) STRICT; CREATE INDEX docs_ts ON docs (ts)`,
	statements: []string{`INSERT INTO docs (id, ts, doc) VALUES (?, ?, ?)`},
	arguments: func(d *store.Decision) [][]any {
		values := benchValues(d)
		doc, err := json.Marshal(values[2:])
		if err != nil {
			panic(err)
		}
		return [][]any{{d.ID, d.CreatedAt.UnixMicro(), string(doc)}}
	},
}

var columnsLayout = layout{
	statements: []string{sqlPutDecisions[1]},
	arguments:  func(d *store.Decision) [][]any { return [][]any{benchValues(d)} },
}

var tablesLayout = layout{
	ddl: `CREATE TABLE f (cluster TEXT, id TEXT, plugin TEXT, code TEXT, reason TEXT, nodes INTEGER, PRIMARY KEY (cluster, id, plugin, reason)) STRICT, WITHOUT ROWID;
CREATE TABLE s (cluster TEXT, id TEXT, rank INTEGER, node TEXT, total INTEGER, PRIMARY KEY (cluster, id, rank)) STRICT, WITHOUT ROWID`,
	statements: []string{
		sqlPutDecisions[1],
		`INSERT INTO f VALUES (?,?,?,?,?,?),(?,?,?,?,?,?)`,
		`INSERT INTO s VALUES (?,?,?,?,?),(?,?,?,?,?),(?,?,?,?,?),(?,?,?,?,?),(?,?,?,?,?)`,
	},
	arguments: func(d *store.Decision) [][]any {
		var fs, ss []any
		for _, f := range d.Failures {
			fs = append(fs, d.Cluster, d.ID, f.Plugin, f.Code, f.Reason, int64(f.Nodes))
		}
		for _, s := range d.Scores {
			ss = append(ss, d.Cluster, d.ID, int64(s.Rank), s.Node, s.Total)
		}
		bare := *d
		bare.Failures, bare.Scores = nil, nil
		return [][]any{benchValues(&bare), fs, ss}
	},
}

// benchBare writes with nothing between the loop and the driver.
func benchBare(b *testing.B, batch int, l layout) {
	ctx := context.Background()
	dir := b.TempDir()
	if err := MigrateUp(ctx, dir); err != nil {
		b.Fatal(err)
	}
	db, err := sql.Open("sqlite", dsn(filepath.Join(dir, FileName), Options{}.withDefaults(), writing))
	if err != nil {
		b.Fatal(err)
	}
	defer func() {
		if err := db.Close(); err != nil {
			b.Error(err)
		}
	}()
	db.SetMaxOpenConns(1)
	conn, err := db.Conn(ctx)
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	exec := func(query string) {
		if _, err := conn.ExecContext(ctx, query); err != nil {
			b.Fatalf("%s: %v", query, err)
		}
	}
	if l.ddl != "" {
		exec(l.ddl)
	}
	var stmts []*sql.Stmt
	for _, q := range l.statements {
		st, err := conn.PrepareContext(ctx, q)
		if err != nil {
			b.Fatal(err)
		}
		defer func() { _ = st.Close() }()
		stmts = append(stmts, st)
	}
	b.ReportAllocs()
	b.ResetTimer()
	for i := int64(1); i <= int64(b.N); {
		exec("BEGIN IMMEDIATE")
		for range batch {
			for j, args := range l.arguments(benchDecision(i)) {
				if _, err := stmts[j].ExecContext(ctx, args...); err != nil {
					b.Fatal(err)
				}
			}
			if i++; i > int64(b.N) {
				break
			}
		}
		exec("COMMIT")
	}
	b.StopTimer()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "rows/s")
}
