package storetest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"berth/internal/store"
)

func init() {
	register("Concurrency", cases{
		// Writers race for one chain as replicas do: read the newest, write the next.
		"NoUpdateIsLost": func(t *testing.T, s store.Store) {
			const writers, each = 6, 25
			var accepted sync.Map
			var wg sync.WaitGroup
			for w := range writers {
				wg.Go(func() {
					for done := 0; done < each; {
						e := revision("prod", 1)
						e.Revision.Token = fmt.Sprintf("%d-%d", w, done)
						if r, err := s.Newest(context.Background(), "prod"); err == nil {
							e.Revision.Number, e.Revision.ParentToken = r.Number+1, r.Token
							e.Checkpoint.Number = r.Number + 1
						}
						if err := s.Append(context.Background(), []*store.Entry{e}); err != nil {
							t.Errorf("Append: %v", err)
							return
						}
						if errors.Is(e.Err, store.ErrConflict) {
							continue
						}
						if e.Err != nil {
							t.Errorf("refused: %v", e.Err)
							return
						}
						accepted.Store(e.Revision.Token, e.Revision.Number)
						done++
					}
				})
			}
			wg.Wait()
			rs, err := s.RevisionsAfter(t.Context(), "prod", 0, 0)
			wantErr(t, "RevisionsAfter", err, nil)
			same(t, "revisions", writers*each, len(rs))
			parent := ""
			for i, r := range rs {
				same(t, "number", int64(i+1), r.Number)
				same(t, "parent", parent, r.ParentToken)
				number, _ := accepted.Load(r.Token)
				same(t, "the writer's number", any(r.Number), number)
				parent = r.Token
			}
		},
		"ReadersBesideWriters": func(t *testing.T, s store.Store) {
			appendAll(t, s, revision("prod", 1))
			var stop atomic.Bool
			var readers, writers sync.WaitGroup
			for range 4 {
				readers.Go(func() {
					for !stop.Load() {
						if _, err := s.ListDecisions(context.Background(), store.DecisionFilter{Limit: 10}); err != nil {
							t.Errorf("ListDecisions: %v", err)
							return
						}
						if _, err := s.Newest(context.Background(), "prod"); err != nil {
							t.Errorf("Newest: %v", err)
							return
						}
					}
				})
			}
			for w := range 4 {
				writers.Go(func() {
					for i := range 25 {
						// Two writers a record: one of them comes second.
						id := fmt.Sprintf("%d-%d", w/2, i)
						e := &store.Entry{Decision: decision("prod", id, at(i))}
						if err := s.Append(context.Background(), []*store.Entry{e}); err != nil || e.Err != nil {
							t.Errorf("Append %s: %v, %v", id, err, e.Err)
						}
						if _, err := s.Decision(context.Background(), id); err != nil {
							t.Errorf("a written decision is not there: %v", err)
						}
					}
				})
			}
			writers.Wait()
			stop.Store(true)
			readers.Wait()
			infos, err := s.Clusters(t.Context(), store.ClusterFilter{})
			wantErr(t, "Clusters", err, nil)
			same(t, "decisions counted", int64(50), infos[0].Decisions)
			same(t, "decisions listed", 50, len(ids(t, s, store.DecisionFilter{})))
		},
		"CloseAmidCalls": func(t *testing.T, s store.Store) {
			appendAll(t, s, revision("prod", 1), &store.Entry{Decision: decision("prod", "d1", at(1))})
			var wg sync.WaitGroup
			for name, call := range allCalls {
				wg.Go(func() {
					for range 20 {
						err := call(context.Background(), s)
						if err != nil && !errors.Is(err, store.ErrClosed) && !errors.Is(err, store.ErrNotFound) && !errors.Is(err, store.ErrConflict) {
							t.Errorf("%s: %v", name, err)
						}
					}
				})
			}
			wantErr(t, "Close", s.Close(), nil)
			wg.Wait()
		},
	})
}
