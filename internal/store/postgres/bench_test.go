package postgres

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"berth/internal/store"
	"berth/internal/store/groupcommit"
	"berth/internal/store/lists"

	"github.com/jackc/pgx/v5"
)

// BenchmarkDurableInserts sets what berth does (many committers, one Group)
// against the driver's bare COPY of the same rows into the same table in the
// same run, one COPY a transaction, in batches of as many rows as there are
// committers.
func BenchmarkDurableInserts(b *testing.B) {
	for _, n := range []int{1, 16, 128, 256} {
		b.Run(fmt.Sprintf("copy/%d", n), func(b *testing.B) { benchBare(b, n) })
		b.Run(fmt.Sprintf("group/%d", n), func(b *testing.B) { benchGroup(b, n) })
	}
}

func benchConn(b *testing.B) *pgx.Conn {
	b.Helper()
	s := openAt(b, freshURL(b), Options{})
	conn, err := s.pool.Acquire(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(conn.Release)
	return conn.Conn()
}

func benchGroup(b *testing.B, committers int) {
	benchGroupOn(b, openAt(b, freshURL(b), Options{}), committers)
}

func benchGroupOn(b *testing.B, s *Store, committers int) {
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
	var rows int
	if err := s.pool.QueryRow(context.Background(), `SELECT count(*) FROM decisions`).Scan(&rows); err != nil || rows != b.N {
		b.Fatalf("%d rows of %d, %v", rows, b.N, err)
	}
}

// benchBare writes with nothing between the loop and the driver's own COPY.
func benchBare(b *testing.B, batch int) {
	conn := benchConn(b)
	b.ReportAllocs()
	b.ResetTimer()
	for i := 0; i < b.N; {
		n := min(batch, b.N-i)
		var rows []*lists.Row
		for range n {
			i++
			rows = append(rows, benchRow(int64(i)))
		}
		if err := copyDecisions(b.Context(), conn, "decisions", rows); err != nil {
			b.Fatal(err)
		}
	}
	b.StopTimer()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "rows/s")
}

// benchRow is benchDecision with a stamp that is there already.
func benchRow(i int64) *lists.Row {
	r := lists.NewRow(benchDecision(i))
	r.StampID, r.Seq = 1, i
	return r
}

func benchDecision(i int64) *store.Decision {
	return sampleDecision("prod", fmt.Sprintf("0197a1b2-c3d4-7e5f-8a9b-%012d", i), time.Now())
}

// copyDecisions writes rows by the driver's own COPY.
func copyDecisions(ctx context.Context, conn *pgx.Conn, table string, rows []*lists.Row) error {
	_, err := conn.CopyFrom(ctx, pgx.Identifier{table}, lists.Stored.Names(), pgx.CopyFromSlice(len(rows), func(i int) ([]any, error) {
		return decisionValues(rows[i]), nil
	}))
	return err
}
