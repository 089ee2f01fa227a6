package spool

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"berth/internal/store"
	"berth/internal/store/groupcommit"
)

// BenchmarkSpool is 64 callers whose decisions go to the spool by group commit.
// Compare it with BenchmarkBareBatches: the same bytes in the same batches.
func BenchmarkSpool(b *testing.B) {
	files, err := Directory(filepath.Join(b.TempDir(), "spool"))
	if err != nil {
		b.Fatal(err)
	}
	db := newDatabase()
	db.away = true
	w, err := Open(db, files, Options{Limits: Limits{Total: 1 << 40}})
	if err != nil {
		b.Fatal(err)
	}
	g := groupcommit.NewGroup(w, groupcommit.Options{})
	var next sync.Mutex
	n := 0
	b.SetParallelism(32) // on two cores
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			next.Lock()
			n++
			e := decision("c", n)
			next.Unlock()
			if err := g.Commit(context.Background(), e); err != nil {
				b.Error(err)
				return
			}
		}
	})
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "records/s")
	b.StopTimer()
	if err := g.Close(context.Background()); err != nil {
		b.Error(err)
	}
	if err := w.Close(); err != nil {
		b.Error(err)
	}
}

// BenchmarkBareBatches writes and syncs encoded batches of 64 and nothing else.
func BenchmarkBareBatches(b *testing.B) {
	f, err := os.Create(filepath.Join(b.TempDir(), "bare"))
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	batch := encodeGroup(1, 0, recordsOf(b, "c", 0, 64))
	b.ResetTimer()
	for n := 0; n < b.N; n += 64 {
		if _, err := f.Write(batch); err != nil {
			b.Fatal(err)
		}
		if err := f.Sync(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "records/s")
}

// BenchmarkStraight is what the way past the spool costs while the database is
// well.
func BenchmarkStraight(b *testing.B) {
	for _, through := range []string{"bare", "writer"} {
		b.Run(through, func(b *testing.B) {
			db := newDatabase()
			var st store.Writer = db
			if through == "writer" {
				w, err := Open(db, newLiar(), Options{})
				if err != nil {
					b.Fatal(err)
				}
				defer func() { _ = w.Close() }()
				st = w
			}
			batch := make([]*store.Entry, 64)
			for i := range batch {
				batch[i] = decision("c", i)
			}
			b.ResetTimer()
			for range b.N {
				if err := st.Append(context.Background(), batch); err != nil {
					b.Fatal(fmt.Errorf("append: %w", err))
				}
			}
		})
	}
}
