package storetest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"berth/internal/store"
)

// simulation stores a job about prod@1.
func simulation(t *testing.T, s store.Store, id string) *store.Job {
	t.Helper()
	if newest(t, s, "prod") == 0 {
		appendAll(t, s, revision("prod", 1))
	}
	j := &store.Job{Kind: store.Simulations, ID: id, Cluster: "prod", Revision: 1, Verb: "drains", State: store.JobQueued, CreatedAt: at(3), Progress: `["ü"]`}
	wantErr(t, "CreateSimulation", s.CreateSimulation(t.Context(), j, map[string][]byte{store.SimulationQuestion: big(9), "none": nil}, store.JobLimits{}), nil)
	return j
}

func claimed(t *testing.T, s store.Store, owner string, lease time.Duration) *store.Job {
	t.Helper()
	j, err := s.ClaimJob(t.Context(), store.Simulations, owner, lease, false)
	wantErr(t, "ClaimJob", err, nil)
	if j == nil {
		t.FailNow()
	}
	return j
}

// advanced writes a job in a state, with a part, and returns the state that it then has.
func advanced(t *testing.T, s store.Store, j *store.Job, state, part string, want error) string {
	t.Helper()
	next := *j
	next.State, next.Progress, next.Attempts = state, part, 0
	state, err := s.AdvanceSimulation(t.Context(), &next, map[string][]byte{part: []byte(part)}, long)
	wantErr(t, "AdvanceSimulation", err, want)
	return state
}

func part(t *testing.T, s store.Store, id, name string, want error) string {
	t.Helper()
	size := 0
	p, err := s.SimulationPart(t.Context(), id, name, func(n int) error { size = n; return nil })
	same(t, "size", size, len(p))
	wantErr(t, "SimulationPart "+name, err, want)
	return string(p)
}

func simulated(t *testing.T, s store.Store, id string) *store.Job {
	t.Helper()
	j, err := s.Job(t.Context(), store.Simulations, id)
	wantErr(t, "Job", err, nil)
	if j == nil {
		t.FailNow()
	}
	return j
}

func notClaimed(t *testing.T, s store.Store) {
	t.Helper()
	j, err := s.ClaimJob(t.Context(), store.Simulations, "late", long, false)
	wantErr(t, fmt.Sprintf("ClaimSimulation (got %+v)", j), err, store.ErrNotFound)
}

func init() {
	register("Simulations", cases{
		"RoundTrip": func(t *testing.T, s store.Store) {
			want := simulation(t, s, "s1")
			same(t, "job", want, simulated(t, s, "s1"))
			same(t, "question", string(big(9)), part(t, s, "s1", store.SimulationQuestion, nil))
			same(t, "an empty part", "", part(t, s, "s1", "none", nil))
			_, err := s.SimulationPart(t.Context(), "s1", store.SimulationQuestion, func(int) error { return store.ErrFull })
			wantErr(t, "a part that is not admitted", err, store.ErrFull)
			part(t, s, "s1", "profile/a", store.ErrNotFound)
			part(t, s, "s2", store.SimulationQuestion, store.ErrNotFound)
			_, err = s.Job(t.Context(), store.Simulations, "S1")
			wantErr(t, "unknown", err, store.ErrNotFound)
			for what, bad := range map[error]*store.Job{
				store.ErrNotFound: {ID: "s2", Cluster: "prod", Revision: 2, CreatedAt: at(1)},
				store.ErrInvalid:  {Cluster: "prod", Revision: 1, CreatedAt: at(1)},
			} {
				wantErr(t, "CreateSimulation", s.CreateSimulation(t.Context(), bad, nil, store.JobLimits{}), what)
			}
		},
		"ListedNewestFirstInPages": func(t *testing.T, s store.Store) {
			appendAll(t, s, revision("test", 1))
			for _, id := range []string{"s1", "s3", "s2"} {
				simulation(t, s, id)
			}
			wantErr(t, "CreateSimulation", s.CreateSimulation(t.Context(), &store.Job{ID: "s4", Cluster: "test", Revision: 1, CreatedAt: at(1)}, nil, store.JobLimits{}), nil)
			for _, tt := range []struct {
				cluster, before string
				limit           int
				want            []string
			}{
				{"", "", 0, []string{"s4", "s3", "s2", "s1"}},
				{"prod", "", 2, []string{"s3", "s2"}},
				{"prod", "s2", 2, []string{"s1"}},
				{"Prod", "", 0, nil},
			} {
				list, err := s.ListJobs(t.Context(), store.Simulations, tt.cluster, tt.before, tt.limit)
				wantErr(t, "ListJobs", err, nil)
				var got []string
				for _, j := range list {
					got = append(got, j.ID)
				}
				sameList(t, fmt.Sprint(tt), tt.want, got)
			}
		},
		"CountedWithOthers": func(t *testing.T, s store.Store) {
			const clusters, most = 8, 3
			create := func(id, cluster string) error {
				return s.CreateSimulation(t.Context(), &store.Job{ID: id, Cluster: cluster, Revision: 1, CreatedAt: at(1)}, nil, store.JobLimits{Unfinished: most, PerCluster: 2})
			}
			for i := range clusters {
				appendAll(t, s, revision(fmt.Sprint("c", i), 1))
			}
			var wg sync.WaitGroup
			var stored atomic.Int32
			begin := make(chan struct{})
			for i := range 2 * clusters { // calls about one cluster may wait for each other anyway
				wg.Go(func() {
					<-begin
					var busy *store.BusyError
					if err := create(fmt.Sprint("s", i), fmt.Sprint("c", i%clusters)); err == nil {
						stored.Add(1)
					} else if !errors.As(err, &busy) || busy.Cluster == "" && busy.Unfinished != most {
						t.Error(err)
					}
				})
			}
			close(begin)
			wg.Wait()
			same(t, "stored", most, int(stored.Load()))
			list, err := s.ListJobs(t.Context(), store.Simulations, "", "", 0)
			wantErr(t, "ListJobs", err, nil)
			for _, j := range list {
				wantErr(t, "EndJob", s.EndJob(t.Context(), store.Simulations, j.ID, store.JobFailed, "no"), nil)
			}
			for i := range 2 {
				wantErr(t, "after their end", create(fmt.Sprint("t", i), "c0"), nil)
			}
			var busy *store.BusyError
			if err := create("t2", "c0"); !errors.As(err, &busy) || busy.Cluster != "c0" || busy.Unfinished != 2 {
				t.Errorf("one more of its cluster: %v", err)
			}
		},
		"ClaimedOnceOldestFirst": func(t *testing.T, s store.Store) {
			for _, id := range []string{"s2", "s1"} {
				simulation(t, s, id)
			}
			var got []string
			for i := range 2 {
				j := claimed(t, s, fmt.Sprint("w", i), long)
				got = append(got, fmt.Sprint(j.ID, " ", j.Owner, " ", j.State, " ", j.Attempts, " ", j.Verb, " ", j.Revision))
			}
			same(t, "claims", []string{"s1 w0 running 1 drains 1", "s2 w1 running 1 drains 1"}, got)
			notClaimed(t, s)
		},
		"CallersTakeTurns": func(t *testing.T, s store.Store) {
			appendAll(t, s, revision("prod", 1), revision("test", 1))
			create := func(id, cluster, caller string) error {
				return s.CreateSimulation(t.Context(), &store.Job{ID: id, Cluster: cluster, Revision: 1, AskedBy: caller, CreatedAt: at(1)}, nil, store.JobLimits{Unfinished: 4, PerCluster: 3})
			}
			for _, id := range []string{"a1", "a2", "a3"} {
				wantErr(t, "CreateSimulation", create(id, "prod", "token:a"), nil)
			}
			var busy *store.BusyError
			if err := create("a4", "prod", "token:a"); !errors.As(err, &busy) || busy.Cluster != "prod" {
				t.Errorf("one more of the cluster: %v", err)
			}
			wantErr(t, "the first of another caller in that cluster", create("b1", "prod", "token:b"), nil)
			if err := create("a4", "test", "token:a"); !errors.As(err, &busy) || busy.Cluster != "" {
				t.Errorf("one more in all: %v", err)
			}
			for i := range 4 {
				wantErr(t, "the first of a caller", create(fmt.Sprint("c", i), "test", fmt.Sprint("token:c", i)), nil)
			}
			if err := create("d1", "prod", "token:d"); !errors.As(err, &busy) || busy.Unfinished != 8 {
				t.Errorf("beyond twice the limit: %v", err)
			}
			same(t, "who asked", "token:b", simulated(t, s, "b1").AskedBy)
			got := []string{claimed(t, s, "w", long).ID}
			for range 5 {
				j, err := s.ClaimJob(t.Context(), store.Simulations, "w", long, true)
				wantErr(t, "ClaimJob", err, nil)
				got = append(got, j.ID)
			}
			same(t, "turns", []string{"a1", "b1", "c0", "c1", "c2", "c3"}, got)
			_, err := s.ClaimJob(t.Context(), store.Simulations, "w", long, true)
			wantErr(t, "a claim for callers without a job that runs", err, store.ErrNotFound)
			same(t, "the next", "a2", claimed(t, s, "w", long).ID)
		},
		"PartsAndEnd": func(t *testing.T, s store.Store) {
			simulation(t, s, "s1")
			j := claimed(t, s, "a", long)
			for range 2 { // an answer that was lost
				same(t, "state", store.JobRunning, advanced(t, s, j, store.JobRunning, "profile/a", nil))
			}
			same(t, "part", "profile/a", part(t, s, "s1", "profile/a", nil))
			got := simulated(t, s, "s1")
			same(t, "progress and attempts", [2]any{"profile/a", 0}, [2]any{got.Progress, got.Attempts})
			same(t, "state", store.JobDone, advanced(t, s, j, store.JobDone, store.SimulationResult, nil))
			if got = simulated(t, s, "s1"); got.State != store.JobDone || got.EndedAt.IsZero() {
				t.Errorf("%+v", got)
			}
			same(t, "result", "result", part(t, s, "s1", store.SimulationResult, nil))
			same(t, "a late word", store.JobDone, advanced(t, s, j, store.JobRunning, "profile/b", nil))
			part(t, s, "s1", "profile/b", store.ErrNotFound)
			notClaimed(t, s)
		},
		"LeaseThatRanOutIsTakenOver": func(t *testing.T, s store.Store) {
			simulation(t, s, "s1")
			for i := range 3 {
				same(t, "attempts", i+1, claimed(t, s, "first", past).Attempts)
			}
			first := claimed(t, s, "first", past)
			advanced(t, s, first, store.JobRunning, "profile/a", nil)
			notClaimed(t, s) // the lease was renewed
			_, err := s.AdvanceSimulation(t.Context(), first, nil, past)
			wantErr(t, "AdvanceSimulation", err, nil)
			second := claimed(t, s, "second", long)
			advanced(t, s, first, store.JobDone, store.SimulationResult, store.ErrConflict)
			part(t, s, "s1", store.SimulationResult, store.ErrNotFound)
			same(t, "the part of the first", "profile/a", part(t, s, "s1", "profile/a", nil))
			same(t, "state", store.JobDone, advanced(t, s, second, store.JobDone, store.SimulationResult, nil))
		},
		"CancelledStopsAtOnce": func(t *testing.T, s store.Store) {
			simulation(t, s, "s1")
			j := claimed(t, s, "a", long)
			for range 2 {
				wantErr(t, "EndJob", s.EndJob(t.Context(), store.Simulations, "s1", store.JobCancelled, ""), nil)
			}
			wantErr(t, "EndJob", s.EndJob(t.Context(), store.Simulations, "s1", store.JobFailed, "late"), nil)
			same(t, "state", store.JobCancelled, advanced(t, s, j, store.JobDone, store.SimulationResult, nil))
			part(t, s, "s1", store.SimulationResult, store.ErrNotFound)
			notClaimed(t, s)
			if got := simulated(t, s, "s1"); got.State != store.JobCancelled || got.EndedAt.IsZero() || got.Reason != "" {
				t.Errorf("%+v", got)
			}
			wantErr(t, "unknown", s.EndJob(t.Context(), store.Simulations, "s9", store.JobCancelled, ""), store.ErrNotFound)
			wantErr(t, "no end", s.EndJob(t.Context(), store.Simulations, "s1", store.JobDone, ""), store.ErrInvalid)
		},
		"DeletedWithAllThatIsItsOwn": func(t *testing.T, s store.Store) {
			simulation(t, s, "s1")
			j := claimed(t, s, "a", long)
			wantErr(t, "DeleteJob", s.DeleteJob(t.Context(), store.Simulations, "s1"), nil)
			wantErr(t, "again", s.DeleteJob(t.Context(), store.Simulations, "s1"), store.ErrNotFound)
			advanced(t, s, j, store.JobRunning, "profile/a", store.ErrNotFound)
			simulation(t, s, "s1")
			part(t, s, "s1", "profile/a", store.ErrNotFound)
			j = claimed(t, s, "a", long)
			wantErr(t, "DeleteCluster", s.DeleteCluster(t.Context(), "prod"), nil)
			advanced(t, s, j, store.JobDone, store.SimulationResult, store.ErrNotFound)
			_, err := s.Job(t.Context(), store.Simulations, "s1")
			wantErr(t, "Job", err, store.ErrNotFound)
		},
		"RevisionStaysWithItsJob": func(t *testing.T, s store.Store) {
			simulation(t, s, "s1")
			appendAll(t, s, revision("prod", 2), revision("prod", 3))
			_, err := s.Prune(t.Context(), at(1000))
			wantErr(t, "Prune", err, nil)
			revisions, err := s.RevisionsAfter(t.Context(), "prod", 0, 0)
			wantErr(t, "RevisionsAfter", err, nil)
			same(t, "revisions", []int64{1, 3}, numbers(revisions))
			wantErr(t, "DeleteRevision", s.DeleteRevision(t.Context(), "prod", 1), store.ErrInUse)
			wantErr(t, "DeleteJob", s.DeleteJob(t.Context(), store.Simulations, "s1"), nil)
			wantErr(t, "DeleteRevision", s.DeleteRevision(t.Context(), "prod", 1), nil)
		},
		"PrunedWhenEndedLongAgo": func(t *testing.T, s store.Store) {
			simulation(t, s, "s1")
			simulation(t, s, "s2")
			wantErr(t, "EndJob", s.EndJob(t.Context(), store.Simulations, "s1", store.JobCancelled, ""), nil)
			for before, want := range map[time.Time]int64{at(0): 0, simulated(t, s, "s1").EndedAt.Add(time.Hour): 1} {
				n, err := s.PruneJobs(t.Context(), store.Simulations, before)
				wantErr(t, "PruneJobs", err, nil)
				same(t, "pruned", want, n)
			}
			same(t, "the one that has not ended", store.JobQueued, simulated(t, s, "s2").State)
		},
		"ManyClaimAtOnce": func(t *testing.T, s store.Store) {
			const jobs = 24
			for i := range jobs {
				simulation(t, s, fmt.Sprint("s", i))
			}
			var mu sync.Mutex
			seen := map[string]int{}
			var wg sync.WaitGroup
			for w := range 6 {
				wg.Go(func() {
					for {
						j, err := s.ClaimJob(t.Context(), store.Simulations, fmt.Sprint("w", w), long, false)
						if err != nil {
							wantErr(t, "ClaimJob", err, store.ErrNotFound)
							return
						}
						advanced(t, s, j, store.JobDone, store.SimulationResult, nil)
						mu.Lock()
						seen[j.ID]++
						mu.Unlock()
					}
				})
			}
			wg.Wait()
			for i := range jobs {
				if id := fmt.Sprint("s", i); seen[id] != 1 || simulated(t, s, id).State != store.JobDone {
					t.Errorf("job %s was done %d times", id, seen[id])
				}
			}
		},
	}, calls{
		"CreateSimulation": func(ctx context.Context, s store.Store) error {
			return s.CreateSimulation(ctx, &store.Job{ID: "s1", Cluster: "prod", Revision: 1, CreatedAt: at(1)}, nil, store.JobLimits{})
		},
		"CheckJobs": func(ctx context.Context, s store.Store) error {
			return s.CheckJobs(ctx, &store.Job{Kind: store.Simulations, ID: "s1", Cluster: "prod"}, store.JobLimits{})
		},
		"JobStates": func(ctx context.Context, s store.Store) error {
			_, err := s.JobStates(ctx, store.Simulations)
			return err
		},
		"Job": func(ctx context.Context, s store.Store) error {
			_, err := s.Job(ctx, store.Simulations, "s1")
			return err
		},
		"SimulationPart": func(ctx context.Context, s store.Store) error {
			_, err := s.SimulationPart(ctx, "s1", "p", nil)
			return err
		},
		"ListJobs": func(ctx context.Context, s store.Store) error {
			_, err := s.ListJobs(ctx, store.Simulations, "", "", 1)
			return err
		},
		"EndJob": func(ctx context.Context, s store.Store) error {
			return s.EndJob(ctx, store.Simulations, "s1", store.JobCancelled, "")
		},
		"DeleteJob": func(ctx context.Context, s store.Store) error { return s.DeleteJob(ctx, store.Simulations, "s1") },
		"PruneJobs": func(ctx context.Context, s store.Store) error {
			_, err := s.PruneJobs(ctx, store.Simulations, at(1))
			return err
		},
		"ClaimJob": func(ctx context.Context, s store.Store) error {
			_, err := s.ClaimJob(ctx, store.Simulations, "w", long, false)
			return err
		},
		"AdvanceSimulation": func(ctx context.Context, s store.Store) error {
			_, err := s.AdvanceSimulation(ctx, &store.Job{ID: "s1", Owner: "w", State: store.JobRunning}, nil, long)
			return err
		},
	})
}

// SimulationView stores jobs in an empty store and wants how they ended, also after they were
// begun.
func SimulationView(t *testing.T, s store.Store, ask Ask) {
	t.Helper()
	for _, id := range []string{"s1", "s2", "s3"} {
		simulation(t, s, id)
	}
	same(t, "state", store.JobDone, advanced(t, s, claimed(t, s, "w", long), store.JobDone, store.SimulationResult, nil))
	wantErr(t, "EndJob", s.EndJob(t.Context(), store.Simulations, "s2", store.JobFailed, "no such node"), nil)
	compareRows(t, ask, []question{
		{`SELECT id, snapshot, time, kind, state, reason, attempts, progress FROM simulation_log WHERE cluster = 'prod' ORDER BY id`, []string{
			"s1|prod@1|2026-03-01T00:00:01.123456Z|drains|done||0|result",
			"s2|prod@1|2026-03-01T00:00:01.123456Z|drains|failed|no such node|0|[\"ü\"]",
			"s3|prod@1|2026-03-01T00:00:01.123456Z|drains|queued||0|[\"ü\"]",
		}},
		{`SELECT id FROM simulation_log WHERE seconds IS NULL OR ended_at IS NULL`, []string{"s3"}},
	})
}
