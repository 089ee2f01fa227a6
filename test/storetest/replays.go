package storetest

import (
	"errors"
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
func batch(t *testing.T, s store.Store, id string, parts int) *store.Job {
	t.Helper()
	if newest(t, s, "prod") == 0 {
		appendAll(t, s, revision("prod", 1))
	}
	r := &store.Job{
		Kind: store.Replays, ID: id, Cluster: "prod", State: store.JobQueued, Since: at(0), Until: at(100), CreatedAt: at(200),
		Profile: "packed", Release: "v1.37.2 VolumeLimitScaling=false", Config: []byte{0, 0xff}, Parts: parts,
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
	j, err := s.ClaimJob(t.Context(), store.Replays, owner, lease, false)
	wantErr(t, "ClaimJob", err, nil)
	if j == nil {
		t.FailNow()
	}
	same(t, "the claim", [2]any{j.Part.Owner, j.Part.Attempts}, [2]any{j.Owner, j.Attempts})
	return j.Part
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

func replay(t *testing.T, s store.Store, id string) *store.Job {
	t.Helper()
	r, err := s.Job(t.Context(), store.Replays, id)
	wantErr(t, "Replay", err, nil)
	if r == nil {
		t.FailNow()
	}
	return r
}

func unclaimed(t *testing.T, s store.Store) {
	t.Helper()
	p, err := s.ClaimJob(t.Context(), store.Replays, "late", long, false)
	wantErr(t, fmt.Sprintf("ClaimJob (got %+v)", p), err, store.ErrNotFound)
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
			list, err := s.ListJobs(t.Context(), store.Replays, "", "", 0)
			wantErr(t, "ListJobs", err, nil)
			want.Config = nil
			same(t, "list", []*store.Job{want}, list)
			_, err = s.Job(t.Context(), store.Replays, "R1")
			wantErr(t, "unknown", err, store.ErrNotFound)
			_, err = s.ReplayDifferences(t.Context(), "R1", store.ReplayCursor{}, 1)
			wantErr(t, "unknown's differences", err, store.ErrNotFound)
		},
		"UnknownClusterRefused": func(t *testing.T, s store.Store) {
			err := s.CreateReplay(t.Context(), &store.Job{ID: "r1", Cluster: "nowhere", CreatedAt: at(1)}, nil, store.JobLimits{})
			wantErr(t, "CreateReplay", err, store.ErrNotFound)
			err = s.CreateReplay(t.Context(), &store.Job{Cluster: "prod"}, nil, store.JobLimits{})
			wantErr(t, "without an id", err, store.ErrInvalid)
		},
		"NothingToDoIsDone": func(t *testing.T, s store.Store) {
			batch(t, s, "r1", 0)
			r := replay(t, s, "r1")
			same(t, "state", store.JobDone, r.State)
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
			wantErr(t, "CreateReplay", s.CreateReplay(t.Context(), &store.Job{ID: "r4", Cluster: "test", CreatedAt: at(1)}, nil, store.JobLimits{}), nil)
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
				list, err := s.ListJobs(t.Context(), store.Replays, tt.cluster, tt.before, tt.limit)
				wantErr(t, "ListJobs", err, nil)
				var got []string
				for _, r := range list {
					got = append(got, r.ID)
				}
				sameList(t, fmt.Sprint(tt), tt.want, got)
			}
			states, err := s.JobStates(t.Context(), store.Replays)
			wantErr(t, "JobStates", err, nil)
			same(t, "states", map[string]int64{store.JobDone: 4}, states)
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
			same(t, "state", store.JobRunning, replay(t, s, "r1").State)
		},
		"ProgressAndEnd": func(t *testing.T, s store.Store) {
			batch(t, s, "r1", 2)
			a, b := claim(t, s, "a", long), claim(t, s, "b", long)
			a = advance(t, s, a, 4, store.JobRunning, store.JobRunning)
			same(t, "counts", store.ReplayCounts{Total: 20, Done: 4, Identical: 3, Different: 1}, replay(t, s, "r1").ReplayCounts)
			advance(t, s, b, 10, store.JobDone, store.JobRunning)
			a = advance(t, s, a, 5, store.JobRunning, store.JobRunning)
			a.Total = 9 // one is gone since it was counted
			end := *a
			end.State = store.JobDone
			state, err := s.AdvanceReplay(t.Context(), a, &end, nil, long)
			wantErr(t, "AdvanceReplay", err, nil)
			same(t, "state", store.JobDone, state)
			r := replay(t, s, "r1")
			same(t, "counts", store.ReplayCounts{Total: 19, Done: 19, Identical: 16, Different: 3}, r.ReplayCounts)
			same(t, "parts", [2]int{2, 2}, [2]int{r.Parts, r.PartsDone})
			if r.State != store.JobDone || r.EndedAt.IsZero() {
				t.Errorf("batch is %s, ended %v", r.State, r.EndedAt)
			}
			same(t, "differences", []string{"d04", "d09", "d110"}, differences(t, s))
			unclaimed(t, s)
		},
		"DifferencesInPages": func(t *testing.T, s store.Store) {
			batch(t, s, "r1", 1)
			p := claim(t, s, "a", long)
			next, want := onward(p, 1, store.JobRunning)
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
			first = advance(t, s, first, 3, store.JobRunning, store.JobRunning)
			unclaimed(t, s) // as long as the lease lasts
			next, differ := onward(first, 1, store.JobRunning)
			_, err := s.AdvanceReplay(t.Context(), first, next, differ, past)
			wantErr(t, "AdvanceReplay", err, nil)
			second := claim(t, s, "second", long)
			same(t, "cursor", next.Cursor, second.Cursor)
			same(t, "counts", next.ReplayCounts, second.ReplayCounts)
			same(t, "attempts", 1, second.Attempts)
			late, differ := onward(next, 2, store.JobRunning)
			_, err = s.AdvanceReplay(t.Context(), next, late, differ, long)
			wantErr(t, "the first one's", err, store.ErrConflict)
			same(t, "done", int64(4), replay(t, s, "r1").Done)
			same(t, "differences", []string{"d03", "d04"}, differences(t, s))
			advance(t, s, second, 6, store.JobDone, store.JobDone)
		},
		"AdvancedOnce": func(t *testing.T, s store.Store) {
			batch(t, s, "r1", 1)
			p := claim(t, s, "a", long)
			next, differ := onward(p, 3, store.JobRunning)
			for i, want := range []error{nil, store.ErrConflict} {
				_, err := s.AdvanceReplay(t.Context(), p, next, differ, long)
				wantErr(t, fmt.Sprint("time ", i+1), err, want)
			}
			same(t, "done", int64(3), replay(t, s, "r1").Done)
			same(t, "differences", 1, len(differences(t, s)))
		},
		"CallersTakeTurns": func(t *testing.T, s store.Store) {
			appendAll(t, s, revision("prod", 1))
			limits := store.JobLimits{Unfinished: 2}
			job := func(id, caller string) *store.Job {
				return &store.Job{Kind: store.Replays, ID: id, Cluster: "prod", AskedBy: caller, Since: at(0), Until: at(1), CreatedAt: at(1)}
			}
			create := func(id, caller string) error {
				parts := []*store.ReplayPart{{Number: 0, ReplayCounts: store.ReplayCounts{Total: 1}}, {Number: 1, First: 1, Last: 1, ReplayCounts: store.ReplayCounts{Total: 1}}}
				return s.CreateReplay(t.Context(), job(id, caller), parts, limits)
			}
			for _, id := range []string{"a1", "a2"} {
				wantErr(t, "CreateReplay", create(id, "token:a"), nil)
			}
			var busy *store.BusyError
			for _, err := range []error{create("a3", "token:a"), s.CheckJobs(t.Context(), job("a3", "token:a"), limits)} {
				if !errors.As(err, &busy) || busy.Unfinished != 2 || busy.Kind != store.Replays {
					t.Errorf("one more: %v", err)
				}
			}
			wantErr(t, "CheckJobs", s.CheckJobs(t.Context(), job("b1", "token:b"), limits), nil)
			wantErr(t, "the first of another caller", create("b1", "token:b"), nil)
			same(t, "who asked", "token:b", replay(t, s, "b1").AskedBy)
			var got []string
			for i := range 6 {
				p := claim(t, s, fmt.Sprint("w", i), long)
				got = append(got, fmt.Sprint(p.Replay, "/", p.Number))
				time.Sleep(2 * time.Millisecond) // SQLite's clock has milliseconds
			}
			same(t, "turns", []string{"a1/0", "b1/0", "a1/1", "b1/1", "a2/0", "a2/1"}, got)
			wantErr(t, "CreateReplay", create("c1", "token:c"), nil)
			wantErr(t, "EndJob", s.EndJob(t.Context(), store.Replays, "a2", store.JobCancelled, ""), nil)
			wantErr(t, "CreateReplay", create("c2", "token:d"), nil)
			for _, want := range []string{"c1", "c2"} {
				j, err := s.ClaimJob(t.Context(), store.Replays, "w", long, true)
				wantErr(t, "ClaimJob", err, nil)
				same(t, "a caller without a job that runs", want, j.ID)
			}
			_, err := s.ClaimJob(t.Context(), store.Replays, "w", long, true)
			wantErr(t, "a claim for callers without a job that runs", err, store.ErrNotFound)
			same(t, "the next", "c1", claim(t, s, "w", long).Replay)
		},
		"AttemptsCountClaimsWithoutProgress": func(t *testing.T, s store.Store) {
			batch(t, s, "r1", 1)
			for i := range 3 {
				same(t, "attempts", i+1, claim(t, s, fmt.Sprint(i), past).Attempts)
			}
			p := claim(t, s, "a", long)
			advance(t, s, p, 1, store.JobRunning, store.JobRunning)
			wantErr(t, "another's", s.ReleaseReplay(t.Context(), &store.ReplayPart{Cluster: "prod", Replay: "r1", Owner: "b"}), nil)
			unclaimed(t, s)
			wantErr(t, "ReleaseReplay", s.ReleaseReplay(t.Context(), p), nil)
			same(t, "attempts", 1, claim(t, s, "c", long).Attempts)
		},
		"CancelledStopsAtOnce": func(t *testing.T, s store.Store) {
			batch(t, s, "r1", 2)
			p := advance(t, s, claim(t, s, "a", long), 2, store.JobRunning, store.JobRunning)
			for range 2 {
				wantErr(t, "EndJob", s.EndJob(t.Context(), store.Replays, "r1", store.JobCancelled, ""), nil)
			}
			wantErr(t, "EndJob", s.EndJob(t.Context(), store.Replays, "r1", store.JobFailed, "late"), nil)
			advance(t, s, p, 2, store.JobRunning, store.JobCancelled)
			unclaimed(t, s)
			r := replay(t, s, "r1")
			same(t, "counts", store.ReplayCounts{Total: 20, Done: 2, Identical: 1, Different: 1}, r.ReplayCounts)
			if r.State != store.JobCancelled || r.EndedAt.IsZero() || r.Reason != "" {
				t.Errorf("batch %+v", r)
			}
			wantErr(t, "unknown", s.EndJob(t.Context(), store.Replays, "r9", store.JobCancelled, ""), store.ErrNotFound)
			wantErr(t, "no end", s.EndJob(t.Context(), store.Replays, "r1", store.JobDone, ""), store.ErrInvalid)
		},
		"FailedSaysWhy": func(t *testing.T, s store.Store) {
			batch(t, s, "r1", 1)
			wantErr(t, "EndJob", s.EndJob(t.Context(), store.Replays, "r1", store.JobFailed, "no"), nil)
			r := replay(t, s, "r1")
			same(t, "state and reason", [2]string{"failed", "no"}, [2]string{r.State, r.Reason})
		},
		"DeletedWithAllThatIsItsOwn": func(t *testing.T, s store.Store) {
			batch(t, s, "r1", 1)
			p := claim(t, s, "a", long)
			advance(t, s, p, 1, store.JobRunning, store.JobRunning)
			wantErr(t, "DeleteJob", s.DeleteJob(t.Context(), store.Replays, "r1"), nil)
			wantErr(t, "again", s.DeleteJob(t.Context(), store.Replays, "r1"), store.ErrNotFound)
			_, err := s.AdvanceReplay(t.Context(), p, p, nil, long)
			wantErr(t, "AdvanceReplay", err, store.ErrNotFound)
			unclaimed(t, s)
			batch(t, s, "r1", 1)
			same(t, "differences", 0, len(differences(t, s)))
			wantErr(t, "DeleteCluster", s.DeleteCluster(t.Context(), "prod"), nil)
			_, err = s.Job(t.Context(), store.Replays, "r1")
			wantErr(t, "Replay", err, store.ErrNotFound)
		},
		"PrunedWhenEndedLongAgo": func(t *testing.T, s store.Store) {
			batch(t, s, "r1", 0)
			batch(t, s, "r2", 1)
			n, err := s.PruneJobs(t.Context(), store.Replays, at(0))
			wantErr(t, "PruneJobs", err, nil)
			same(t, "too early", int64(0), n)
			n, err = s.PruneJobs(t.Context(), store.Replays, replay(t, s, "r1").EndedAt.Add(time.Hour))
			wantErr(t, "PruneJobs", err, nil)
			same(t, "pruned", int64(1), n)
			same(t, "the one that has not ended", store.JobQueued, replay(t, s, "r2").State)
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
						j, err := s.ClaimJob(t.Context(), store.Replays, fmt.Sprint("w", w), long, false)
						if err != nil {
							wantErr(t, "ClaimJob", err, store.ErrNotFound)
							return
						}
						p := j.Part
						next, differ := onward(p, 10, store.JobDone)
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
			same(t, "state", store.JobDone, r.State) // whichever two were the last, together or not
			same(t, "done", int64(10*parts), r.Done)
			same(t, "differences", parts, len(differences(t, s)))
		},
	})
}
