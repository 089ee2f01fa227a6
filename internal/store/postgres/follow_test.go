package postgres

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"berth/internal/store"
)

// TestFollowTwoReplicas lets 8 writers on two pools record decisions of two
// clusters, some of them late, in batches that wait for one another at the
// clusters' locks, while three readers follow: none may miss a record, see one
// twice, or see what was refused. BERTH_FOLLOW_DECISIONS makes it longer.
func TestFollowTwoReplicas(t *testing.T) {
	total := 3000
	if v := os.Getenv("BERTH_FOLLOW_DECISIONS"); v != "" {
		n, err := strconv.Atoi(v)
		if err != nil {
			t.Fatal(err)
		}
		total = n
	}
	url := freshURL(t)
	replicas := []*Store{openAt(t, url, Options{}), openAt(t, url, Options{})}
	const writers = 8
	var mu sync.Mutex
	recorded := map[string]bool{} // ids of cluster a, as its writers were told
	var left atomic.Int64
	left.Store(int64(total))
	var writing sync.WaitGroup
	for w := range writers {
		writing.Go(func() {
			r := rand.New(rand.NewPCG(1, uint64(w)))
			for n := 0; left.Load() > 0; n++ {
				var es []*store.Entry
				for i := range 1 + r.IntN(40) {
					created := time.Now()
					if r.IntN(10) == 0 {
						created = created.Add(-time.Duration(r.IntN(3600)) * time.Second) // as out of a spool
					}
					es = append(es, &store.Entry{Decision: sampleDecision([]string{"a", "a", "b"}[r.IntN(3)], fmt.Sprintf("%d-%d-%d", w, n, i), created)})
				}
				nowhere := sampleDecision("a", fmt.Sprintf("%d-%d-refused", w, n), time.Now())
				nowhere.Revision = 9
				es = append(es, &store.Entry{Decision: nowhere})
				time.Sleep(time.Duration(r.IntN(2000)) * time.Microsecond) // commits come in another order than times
				for range 1 + r.IntN(2) {                                  // the second time as after a lost answer
					if err := replicas[(w+n)%2].Append(context.Background(), es); err != nil {
						t.Errorf("Append: %v", err)
						return
					}
				}
				left.Add(-int64(len(es)))
				mu.Lock()
				for _, e := range es {
					if e.Err == nil && e.Decision.Cluster == "a" {
						recorded[e.Decision.ID] = true
					} else if e.Err != nil && !errors.Is(e.Err, store.ErrNotFound) {
						t.Errorf("refused: %v", e.Err)
					}
				}
				mu.Unlock()
			}
		})
	}
	written := make(chan struct{})
	seen := make([]map[string]int, 3)
	var following sync.WaitGroup
	for i := range seen {
		seen[i] = map[string]int{}
		following.Go(func() {
			after := int64(0)
			for ended := false; ; {
				select {
				case <-written:
					ended = true // what comes from here on is the rest
				default:
				}
				page, err := replicas[i%2].FollowDecisions(context.Background(), "a", after, 1+i*50)
				if err != nil {
					t.Errorf("FollowDecisions: %v", err)
					return
				}
				for _, d := range page {
					seen[i][d.ID]++
					after = d.Seq
				}
				if ended && len(page) == 0 {
					return
				}
			}
		})
	}
	writing.Wait()
	close(written)
	following.Wait()
	for i, ids := range seen {
		skipped, twice := 0, 0
		for id := range recorded {
			if ids[id] == 0 {
				skipped++
			}
			if ids[id] > 1 {
				twice++
			}
		}
		if skipped > 0 || twice > 0 || len(ids) != len(recorded) {
			t.Errorf("reader %d saw %d of %d records: %d skipped, %d twice", i, len(ids), len(recorded), skipped, twice)
		}
	}
	if len(recorded) < total/3 {
		t.Errorf("%d records only", len(recorded))
	}
	t.Logf("%d records", len(recorded))
}
