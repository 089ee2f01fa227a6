package storetest

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"berth/internal/store"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// long is a lease that does not run out in a test, past one that has.
const (
	long = time.Hour
	past = -time.Hour
)

// batch stores a batch of so many parts of ten decisions each.
func batch(t *testing.T, s store.Store, id string, parts int) *store.Replay {
	t.Helper()
	if newest(t, s, "prod") == 0 {
		appendAll(t, s, revision("prod", 1))
	}
	r := &store.Replay{
		ID: id, Cluster: "prod", State: store.ReplayQueued, Since: at(0), Until: at(100), CreatedAt: at(200),
		Profile: "packed", Config: []byte{0, 0xff}, Parts: parts,
	}
	var list []*store.ReplayPart
	for i := range parts {
		list = append(list, &store.ReplayPart{Cluster: "prod", Number: i, First: int64(10 * i), Last: int64(10*i + 9), ReplayCounts: store.ReplayCounts{Total: 10}})
		r.Total += 10
	}
	wantErr(t, "CreateReplay", s.CreateReplay(t.Context(), r, list, store.JobLimits{}), nil)
	return r
}

func claim(t *testing.T, s store.Store, owner string, lease time.Duration) *store.ReplayPart {
	t.Helper()
	p, err := s.ClaimReplay(t.Context(), owner, lease)
	wantErr(t, "ClaimReplay", err, nil)
	if p == nil {
		t.FailNow()
	}
	return p
}

// onward is a part after n more decisions, all identical but for one.
func onward(p *store.ReplayPart, n int64, state string) (*store.ReplayPart, []*store.ReplayDifference) {
	next := *p
	next.Done += n
	next.Identical += n - 1
	next.Different++
	next.State = state
	next.Cursor = store.ReplayCursor{Revision: p.First, CreatedAt: at(int(next.Done)), ID: fmt.Sprintf("d%d%d", p.Number, next.Done)}
	return &next, []*store.ReplayDifference{{ReplayCursor: next.Cursor, Payload: []byte(`{"verb":"ü"}`)}}
}

func advance(t *testing.T, s store.Store, p *store.ReplayPart, n int64, state, want string) *store.ReplayPart {
	t.Helper()
	next, differ := onward(p, n, state)
	got, err := s.AdvanceReplay(t.Context(), p, next, differ, long)
	wantErr(t, "AdvanceReplay", err, nil)
	same(t, "the batch's state", want, got)
	return next
}

func replay(t *testing.T, s store.Store, id string) *store.Replay {
	t.Helper()
	r, err := s.Replay(t.Context(), id)
	wantErr(t, "Replay", err, nil)
	if r == nil {
		t.FailNow()
	}
	return r
}

func unclaimed(t *testing.T, s store.Store) {
	t.Helper()
	p, err := s.ClaimReplay(t.Context(), "late", long)
	wantErr(t, fmt.Sprintf("ClaimReplay (got %+v)", p), err, store.ErrNotFound)
}

func differences(t *testing.T, s store.Store) []string {
	t.Helper()
	list, err := s.ReplayDifferences(t.Context(), "r1", store.ReplayCursor{}, 100)
	wantErr(t, "ReplayDifferences", err, nil)
	var out []string
	for _, d := range list {
		out = append(out, d.ID)
	}
	return out
}

func init() {
	register("Replays", cases{
		"RoundTrip": func(t *testing.T, s store.Store) {
			want := batch(t, s, "r1", 2)
			same(t, "batch", want, replay(t, s, "r1"))
			list, err := s.ListReplays(t.Context(), "", "", 0)
			wantErr(t, "ListReplays", err, nil)
			want.Config = nil
			same(t, "list", []*store.Replay{want}, list)
			_, err = s.Replay(t.Context(), "R1")
			wantErr(t, "unknown", err, store.ErrNotFound)
			_, err = s.ReplayDifferences(t.Context(), "R1", store.ReplayCursor{}, 1)
			wantErr(t, "unknown's differences", err, store.ErrNotFound)
		},
		"UnknownClusterRefused": func(t *testing.T, s store.Store) {
			err := s.CreateReplay(t.Context(), &store.Replay{ID: "r1", Cluster: "nowhere", CreatedAt: at(1)}, nil, store.JobLimits{})
			wantErr(t, "CreateReplay", err, store.ErrNotFound)
			err = s.CreateReplay(t.Context(), &store.Replay{Cluster: "prod"}, nil, store.JobLimits{})
			wantErr(t, "without an id", err, store.ErrInvalid)
		},
		"NothingToDoIsDone": func(t *testing.T, s store.Store) {
			batch(t, s, "r1", 0)
			r := replay(t, s, "r1")
			same(t, "state", store.ReplayDone, r.State)
			if r.EndedAt.IsZero() {
				t.Error("it has not ended")
			}
			unclaimed(t, s)
		},
		"ListedNewestFirstInPages": func(t *testing.T, s store.Store) {
			appendAll(t, s, revision("test", 1))
			for _, id := range []string{"r1", "r3", "r2"} {
				batch(t, s, id, 0)
			}
			wantErr(t, "CreateReplay", s.CreateReplay(t.Context(), &store.Replay{ID: "r4", Cluster: "test", CreatedAt: at(1)}, nil, store.JobLimits{}), nil)
			for _, tt := range []struct {
				cluster, before string
				limit           int
				want            []string
			}{
				{"", "", 0, []string{"r4", "r3", "r2", "r1"}},
				{"prod", "", 2, []string{"r3", "r2"}},
				{"prod", "r2", 2, []string{"r1"}},
				{"test", "", 0, []string{"r4"}},
				{"Prod", "", 0, nil},
			} {
				list, err := s.ListReplays(t.Context(), tt.cluster, tt.before, tt.limit)
				wantErr(t, "ListReplays", err, nil)
				var got []string
				for _, r := range list {
					got = append(got, r.ID)
				}
				sameList(t, fmt.Sprint(tt), tt.want, got)
			}
			states, err := s.ReplayStates(t.Context())
			wantErr(t, "ReplayStates", err, nil)
			same(t, "states", map[string]int64{store.ReplayDone: 4}, states)
		},
		"ClaimedOnceOldestFirst": func(t *testing.T, s store.Store) {
			batch(t, s, "r2", 1)
			batch(t, s, "r1", 2)
			var got []string
			for i := range 3 {
				p := claim(t, s, fmt.Sprint("w", i), long)
				got = append(got, fmt.Sprint(p.Replay, "/", p.Number, " ", p.Owner, " ", p.First, "-", p.Last, " ", p.State, " ", p.Attempts))
			}
			same(t, "claims", []string{"r1/0 w0 0-9 running 1", "r1/1 w1 10-19 running 1", "r2/0 w2 0-9 running 1"}, got)
			unclaimed(t, s)
			same(t, "state", store.ReplayRunning, replay(t, s, "r1").State)
		},
		"ProgressAndEnd": func(t *testing.T, s store.Store) {
			batch(t, s, "r1", 2)
			a, b := claim(t, s, "a", long), claim(t, s, "b", long)
			a = advance(t, s, a, 4, store.ReplayRunning, store.ReplayRunning)
			same(t, "counts", store.ReplayCounts{Total: 20, Done: 4, Identical: 3, Different: 1}, replay(t, s, "r1").ReplayCounts)
			advance(t, s, b, 10, store.ReplayDone, store.ReplayRunning)
			a = advance(t, s, a, 5, store.ReplayRunning, store.ReplayRunning)
			a.Total = 9 // one is gone since it was counted
			end := *a
			end.State = store.ReplayDone
			state, err := s.AdvanceReplay(t.Context(), a, &end, nil, long)
			wantErr(t, "AdvanceReplay", err, nil)
			same(t, "state", store.ReplayDone, state)
			r := replay(t, s, "r1")
			same(t, "counts", store.ReplayCounts{Total: 19, Done: 19, Identical: 16, Different: 3}, r.ReplayCounts)
			same(t, "parts", [2]int{2, 2}, [2]int{r.Parts, r.PartsDone})
			if r.State != store.ReplayDone || r.EndedAt.IsZero() {
				t.Errorf("batch is %s, ended %v", r.State, r.EndedAt)
			}
			same(t, "differences", []string{"d04", "d09", "d110"}, differences(t, s))
			unclaimed(t, s)
		},
		"DifferencesInPages": func(t *testing.T, s store.Store) {
			batch(t, s, "r1", 1)
			p := claim(t, s, "a", long)
			next, want := onward(p, 1, store.ReplayRunning)
			for i := range 6 {
				c := store.ReplayCursor{Revision: int64(i / 4), CreatedAt: at(i / 2), ID: fmt.Sprint("x", i)}
				want = append(want, &store.ReplayDifference{ReplayCursor: c, Payload: []byte(fmt.Sprint(i))})
			}
			_, err := s.AdvanceReplay(t.Context(), p, next, want, long)
			wantErr(t, "AdvanceReplay", err, nil)
			want = append(append(want[1:5:5], want[0]), want[5:]...) // revision 0, time and id decide
			var got []*store.ReplayDifference
			for after := (store.ReplayCursor{}); ; {
				page, err := s.ReplayDifferences(t.Context(), "r1", after, 2)
				wantErr(t, "ReplayDifferences", err, nil)
				if len(page) == 0 {
					break
				}
				got = append(got, page...)
				after = page[len(page)-1].ReplayCursor
			}
			byCursor := cmpopts.SortSlices(func(a, b *store.ReplayDifference) bool { return a.ID < b.ID })
			if diff := cmp.Diff(want, got, byCursor); diff != "" {
				t.Errorf("differences (-want +got):\n%s", diff)
			}
			for i := range got[1:] {
				if a, b := got[i], got[i+1]; a.Revision > b.Revision || a.Revision == b.Revision && a.CreatedAt.After(b.CreatedAt) {
					t.Errorf("%v before %v", a.ReplayCursor, b.ReplayCursor)
				}
			}
		},
		"LeaseThatRanOutIsTakenOver": func(t *testing.T, s store.Store) {
			batch(t, s, "r1", 1)
			first := claim(t, s, "first", long)
			first = advance(t, s, first, 3, store.ReplayRunning, store.ReplayRunning)
			unclaimed(t, s) // as long as the lease lasts
			next, differ := onward(first, 1, store.ReplayRunning)
			_, err := s.AdvanceReplay(t.Context(), first, next, differ, past)
			wantErr(t, "AdvanceReplay", err, nil)
			second := claim(t, s, "second", long)
			same(t, "cursor", next.Cursor, second.Cursor)
			same(t, "counts", next.ReplayCounts, second.ReplayCounts)
			same(t, "attempts", 1, second.Attempts)
			late, differ := onward(next, 2, store.ReplayRunning)
			_, err = s.AdvanceReplay(t.Context(), next, late, differ, long)
			wantErr(t, "the first one's", err, store.ErrConflict)
			same(t, "done", int64(4), replay(t, s, "r1").Done)
			same(t, "differences", []string{"d03", "d04"}, differences(t, s))
			advance(t, s, second, 6, store.ReplayDone, store.ReplayDone)
		},
		"AdvancedOnce": func(t *testing.T, s store.Store) {
			batch(t, s, "r1", 1)
			p := claim(t, s, "a", long)
			next, differ := onward(p, 3, store.ReplayRunning)
			for i, want := range []error{nil, store.ErrConflict} {
				_, err := s.AdvanceReplay(t.Context(), p, next, differ, long)
				wantErr(t, fmt.Sprint("time ", i+1), err, want)
			}
			same(t, "done", int64(3), replay(t, s, "r1").Done)
			same(t, "differences", 1, len(differences(t, s)))
		},
		"AttemptsCountClaimsWithoutProgress": func(t *testing.T, s store.Store) {
			batch(t, s, "r1", 1)
			for i := range 3 {
				same(t, "attempts", i+1, claim(t, s, fmt.Sprint(i), past).Attempts)
			}
			p := claim(t, s, "a", long)
			advance(t, s, p, 1, store.ReplayRunning, store.ReplayRunning)
			wantErr(t, "another's", s.ReleaseReplay(t.Context(), &store.ReplayPart{Cluster: "prod", Replay: "r1", Owner: "b"}), nil)
			unclaimed(t, s)
			wantErr(t, "ReleaseReplay", s.ReleaseReplay(t.Context(), p), nil)
			same(t, "attempts", 1, claim(t, s, "c", long).Attempts)
		},
		"CancelledStopsAtOnce": func(t *testing.T, s store.Store) {
			batch(t, s, "r1", 2)
			p := advance(t, s, claim(t, s, "a", long), 2, store.ReplayRunning, store.ReplayRunning)
			for range 2 {
				wantErr(t, "EndReplay", s.EndReplay(t.Context(), "r1", store.ReplayCancelled, ""), nil)
			}
			wantErr(t, "EndReplay", s.EndReplay(t.Context(), "r1", store.ReplayFailed, "late"), nil)
			advance(t, s, p, 2, store.ReplayRunning, store.ReplayCancelled)
			unclaimed(t, s)
			r := replay(t, s, "r1")
			same(t, "counts", store.ReplayCounts{Total: 20, Done: 2, Identical: 1, Different: 1}, r.ReplayCounts)
			if r.State != store.ReplayCancelled || r.EndedAt.IsZero() || r.Reason != "" {
				t.Errorf("batch %+v", r)
			}
			wantErr(t, "unknown", s.EndReplay(t.Context(), "r9", store.ReplayCancelled, ""), store.ErrNotFound)
			wantErr(t, "no end", s.EndReplay(t.Context(), "r1", store.ReplayDone, ""), store.ErrInvalid)
		},
		"FailedSaysWhy": func(t *testing.T, s store.Store) {
			batch(t, s, "r1", 1)
			wantErr(t, "EndReplay", s.EndReplay(t.Context(), "r1", store.ReplayFailed, "no"), nil)
			r := replay(t, s, "r1")
			same(t, "state and reason", [2]string{"failed", "no"}, [2]string{r.State, r.Reason})
		},
		"DeletedWithAllThatIsItsOwn": func(t *testing.T, s store.Store) {
			batch(t, s, "r1", 1)
			p := claim(t, s, "a", long)
			advance(t, s, p, 1, store.ReplayRunning, store.ReplayRunning)
			wantErr(t, "DeleteReplay", s.DeleteReplay(t.Context(), "r1"), nil)
			wantErr(t, "again", s.DeleteReplay(t.Context(), "r1"), store.ErrNotFound)
			_, err := s.AdvanceReplay(t.Context(), p, p, nil, long)
			wantErr(t, "AdvanceReplay", err, store.ErrNotFound)
			unclaimed(t, s)
			batch(t, s, "r1", 1)
			same(t, "differences", 0, len(differences(t, s)))
			wantErr(t, "DeleteCluster", s.DeleteCluster(t.Context(), "prod"), nil)
			_, err = s.Replay(t.Context(), "r1")
			wantErr(t, "Replay", err, store.ErrNotFound)
		},
		"PrunedWhenEndedLongAgo": func(t *testing.T, s store.Store) {
			batch(t, s, "r1", 0)
			batch(t, s, "r2", 1)
			n, err := s.PruneReplays(t.Context(), at(0))
			wantErr(t, "PruneReplays", err, nil)
			same(t, "too early", int64(0), n)
			n, err = s.PruneReplays(t.Context(), replay(t, s, "r1").EndedAt.Add(time.Hour))
			wantErr(t, "PruneReplays", err, nil)
			same(t, "pruned", int64(1), n)
			same(t, "the one that has not ended", store.ReplayQueued, replay(t, s, "r2").State)
		},
		"ManyClaimAtOnce": func(t *testing.T, s store.Store) {
			const parts = 24
			batch(t, s, "r1", parts)
			var mu sync.Mutex
			seen := map[int]int{}
			var wg sync.WaitGroup
			for w := range 6 {
				wg.Go(func() {
					for {
						p, err := s.ClaimReplay(t.Context(), fmt.Sprint("w", w), long)
						if err != nil {
							wantErr(t, "ClaimReplay", err, store.ErrNotFound)
							return
						}
						next, differ := onward(p, 10, store.ReplayDone)
						_, err = s.AdvanceReplay(t.Context(), p, next, differ, long)
						wantErr(t, "AdvanceReplay", err, nil)
						mu.Lock()
						seen[p.Number]++
						mu.Unlock()
					}
				})
			}
			wg.Wait()
			for i := range parts {
				if seen[i] != 1 {
					t.Errorf("part %d was done %d times", i, seen[i])
				}
			}
			r := replay(t, s, "r1")
			same(t, "state", store.ReplayDone, r.State) // whichever two were the last, together or not
			same(t, "done", int64(10*parts), r.Done)
			same(t, "differences", parts, len(differences(t, s)))
		},
	})
}
