package simulations

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"berth/internal/jobs"
	"berth/internal/memory"
	"berth/internal/store"
	"berth/internal/store/postgres"
	"berth/internal/store/sqlite"
	"berth/internal/world"
	"berth/test/pgtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(pgtest.Around(m)) }

// onBoth runs a test on a store of each kind that has prod@1.
func onBoth(t *testing.T, run func(t *testing.T, st store.Store)) {
	for name, open := range map[string]func(t *testing.T) (store.Store, error){
		"sqlite": func(t *testing.T) (store.Store, error) {
			return sqlite.Open(t.Context(), t.TempDir(), sqlite.Options{})
		},
		"postgres": func(t *testing.T) (store.Store, error) {
			url := pgtest.URL(t)
			if err := postgres.MigrateUp(t.Context(), url, postgres.MigrateOptions{}); err != nil {
				return nil, err
			}
			return postgres.Open(t.Context(), url, postgres.Options{})
		},
	} {
		t.Run(name, func(t *testing.T) {
			st, err := open(t)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = st.Close() }()
			e := &store.Entry{
				Revision:   &store.Revision{Cluster: "prod", Number: 1, Token: "t", CreatedAt: time.Now(), Digest: "sha256:1", Cause: "upload", Summary: []byte(`{}`)},
				Checkpoint: &store.Checkpoint{Cluster: "prod", Number: 1, Payload: []byte{1}},
			}
			if err := st.Append(t.Context(), []*store.Entry{e}); err != nil || e.Err != nil {
				t.Fatal(err, e.Err)
			}
			run(t, st)
		})
	}
}

func start(t *testing.T, j *Jobs) *Job {
	t.Helper()
	job, err := j.Start(t.Context(), &Question{Cluster: "prod", Revision: 1, Kind: "drains", Body: []byte("question")})
	if err != nil {
		t.Fatal(err)
	}
	return job
}

func get(t *testing.T, j *Jobs, id string) *Job {
	t.Helper()
	job, err := j.Get(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return job
}

// parts is a runner of so many parts, each of which depends on the ones before. It counts how often
// each was run to its end and kept.
type parts struct {
	n    int
	mu   sync.Mutex
	kept map[string]int
}

func (p *parts) run(ctx context.Context, s *store.Job, question []byte, w *world.Watch) ([]byte, error) {
	text := string(question)
	for i := range p.n {
		name, had := fmt.Sprint("profile/", i), ""
		if there, err := w.Load(name, &had); err != nil || there {
			if err != nil {
				return nil, err
			}
			text = had
			continue
		}
		for k := range 10 {
			w.Progress(name, k+1, 10)
		}
		text += fmt.Sprint(" ", s.Verb, i)
		if err := w.Save(name, text); err != nil {
			return nil, err
		}
		p.mu.Lock()
		p.kept[name]++
		p.mu.Unlock()
	}
	return json.Marshal(text)
}

// errKilled is the error of a store that the process lost.
var errKilled = errors.New("the process was killed")

// dying is a store that a process loses after so many writes; the last one may have taken effect.
type dying struct {
	store.Store
	writes int
	lost   bool
}

func (d *dying) AdvanceSimulation(ctx context.Context, s *store.Job, parts map[string][]byte, lease time.Duration) (string, error) {
	if d.writes--; d.writes > 0 {
		return d.Store.AdvanceSimulation(ctx, s, parts, lease)
	}
	if d.writes == 0 && d.lost {
		_, _ = d.Store.AdvanceSimulation(ctx, s, parts, lease)
	}
	return "", errKilled
}

// TestKilledAnywhereGoesOn kills workers at random points: the answer is the same, and no part that
// was stored is run again.
func TestKilledAnywhereGoesOn(t *testing.T) {
	onBoth(t, func(t *testing.T, st store.Store) {
		r := rand.New(rand.NewPCG(1, 2))
		const want = `"question drains0 drains1 drains2 drains3"`
		for range 20 {
			p := &parts{n: 4, kept: map[string]int{}}
			// The lease of one that is killed has run out when the next one looks.
			o := jobs.Options{Lease: -time.Second, Beat: time.Hour}
			job := start(t, New(st, o))
			for kills := 0; kills < 100; kills++ {
				d := &dying{Store: st, writes: 2 + r.IntN(3), lost: r.IntN(2) == 0}
				worked, err := New(d, o).Step(t.Context(), p.run)
				if !worked || err == nil {
					break
				}
				if !errors.Is(err, errKilled) {
					t.Fatal(err)
				}
			}
			got := get(t, New(st, o), job.ID)
			if got.State != store.JobDone || string(got.Result) != want || len(got.Progress) != 4 || got.Progress[3] != (Progress{"profile/3", 10, 10}) {
				t.Fatalf("%+v %s", got, got.Result)
			}
			for name, n := range p.kept {
				if n > 1 {
					t.Errorf("%s was run %d times", name, n)
				}
			}
		}
	})
}

func TestReplicasShare(t *testing.T) {
	onBoth(t, func(t *testing.T, st store.Store) {
		p := &parts{n: 2, kept: map[string]int{}}
		var ids []string
		for range 12 {
			ids = append(ids, start(t, New(st, jobs.Options{PerCluster: 100, Unfinished: 100})).ID)
		}
		var wg sync.WaitGroup
		for range 2 {
			j := New(st, jobs.Options{})
			wg.Go(func() {
				for worked := true; worked; {
					var err error
					if worked, err = j.Step(t.Context(), p.run); err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
		wg.Wait()
		for _, id := range ids {
			if got := get(t, New(st, jobs.Options{}), id); got.State != store.JobDone {
				t.Errorf("%+v", got)
			}
		}
		if p.kept["profile/0"] != len(ids) {
			t.Errorf("%v of %d jobs", p.kept, len(ids))
		}
	})
}

// TestEnds are the ways in which a job ends without an answer.
func TestEnds(t *testing.T) {
	onBoth(t, func(t *testing.T, st store.Store) {
		wait := func(ctx context.Context, _ *store.Job, _ []byte, _ *world.Watch) ([]byte, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}
		j := New(st, jobs.Options{Beat: time.Millisecond, MaxResult: 10, Deadline: 20 * time.Second, Budget: memory.New(0)})
		step := func(j *Jobs, run Runner) *Job {
			t.Helper()
			job := start(t, j)
			if worked, err := j.Step(t.Context(), run); !worked || err != nil {
				t.Fatal(worked, err)
			}
			return get(t, j, job.ID)
		}
		cancelled := func(ctx context.Context, s *store.Job, q []byte, w *world.Watch) ([]byte, error) {
			if _, err := j.Cancel(context.WithoutCancel(ctx), s.ID); err != nil {
				t.Error(err)
			}
			_, err := wait(ctx, s, q, w)
			if cause := context.Cause(ctx); !errors.Is(cause, jobs.ErrTaken) {
				t.Errorf("it ended by %v", cause)
			}
			return nil, err
		}
		if got := step(j, cancelled); got.State != store.JobCancelled || got.Reason != "" {
			t.Errorf("%+v", got)
		}
		fails := func(context.Context, *store.Job, []byte, *world.Watch) ([]byte, error) {
			return nil, fmt.Errorf("x: %w", &FailedError{"nodes: no such node"})
		}
		if got := step(j, fails); got.State != store.JobFailed || got.Reason != "nodes: no such node" {
			t.Errorf("%+v", got)
		}
		long := func(context.Context, *store.Job, []byte, *world.Watch) ([]byte, error) {
			return []byte(`"01234567890"`), nil
		}
		if got := step(j, long); got.State != store.JobFailed || !strings.Contains(got.Reason, "13 bytes") {
			t.Errorf("%+v", got)
		}
		if got := step(New(st, jobs.Options{Deadline: time.Millisecond}), wait); got.State != store.JobFailed || !strings.Contains(got.Reason, "longer than 1ms") {
			t.Errorf("%+v", got)
		}
		// One that is taken over is left to the other worker, and one that ends lets its job go.
		job := start(t, j)
		taken := func(ctx context.Context, s *store.Job, q []byte, w *world.Watch) ([]byte, error) {
			if _, err := st.AdvanceSimulation(ctx, s, nil, -time.Hour); err != nil {
				t.Error(err)
			}
			if _, err := st.ClaimJob(ctx, store.Simulations, "other", -time.Hour, false); err != nil {
				t.Error(err)
			}
			return wait(ctx, s, q, w)
		}
		if worked, err := New(st, jobs.Options{Beat: 50 * time.Millisecond}).Step(t.Context(), taken); !worked || err != nil {
			t.Fatal(worked, err)
		}
		ctx, stop := context.WithCancel(t.Context())
		ends := func(ctx context.Context, s *store.Job, q []byte, w *world.Watch) ([]byte, error) {
			stop()
			return wait(ctx, s, q, w)
		}
		if _, err := j.Step(ctx, ends); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		s, err := st.ClaimJob(t.Context(), store.Simulations, "next", -time.Hour, false)
		if err != nil || s.ID != job.ID || s.Attempts != 3 {
			t.Fatalf("%+v, %v", s, err)
		}
		for range maxAttempts { // each is killed before it finishes a part
			if _, err := st.ClaimJob(t.Context(), store.Simulations, "x", -time.Second, false); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := j.Step(t.Context(), wait); err != nil {
			t.Fatal(err)
		}
		if got := get(t, j, job.ID); got.State != store.JobFailed || !strings.Contains(got.Reason, "without finishing a part") {
			t.Errorf("%+v", got)
		}
	})
}

// TestWork is the worker of a server: it finds what is started, and ends.
func TestWork(t *testing.T) {
	onBoth(t, func(t *testing.T, st store.Store) {
		j := New(st, jobs.Options{Poll: time.Hour})
		ran := make(chan struct{})
		ctx, stop := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		wg.Go(func() {
			j.Work(ctx, func(context.Context, *store.Job, []byte, *world.Watch) ([]byte, error) {
				close(ran)
				return []byte("1"), nil
			})
		})
		start(t, j)
		<-ran
		stop()
		wg.Wait()
	})
}

// TestCallersTakeTurns: a caller's job runs beside the long one of another, whose next one waits.
func TestCallersTakeTurns(t *testing.T) {
	onBoth(t, func(t *testing.T, st store.Store) {
		j := New(st, jobs.Options{Poll: 5 * time.Millisecond})
		for _, caller := range []string{"a", "a", "a", "b"} {
			if _, err := j.Start(t.Context(), &Question{Cluster: "prod", Revision: 1, Kind: "drains", AskedBy: caller, Body: []byte("q")}); err != nil {
				t.Fatal(err)
			}
		}
		ctx, end := context.WithCancel(t.Context())
		began, done := make(chan string, 4), make(chan struct{})
		go func() {
			defer close(done)
			j.Work(ctx, func(ctx context.Context, s *store.Job, _ []byte, _ *world.Watch) ([]byte, error) {
				began <- s.AskedBy
				if s.AskedBy == "a" {
					<-ctx.Done()
					return nil, ctx.Err()
				}
				return []byte(`{}`), nil
			})
		}()
		got := map[string]int{}
		for range 2 {
			select {
			case caller := <-began:
				got[caller]++
			case <-time.After(time.Minute):
				t.Fatal("nothing begins")
			}
		}
		time.Sleep(50 * time.Millisecond)
		if got["a"] != 1 || got["b"] != 1 || len(began) != 0 {
			t.Errorf("%v began, and %d more", got, len(began))
		}
		end()
		<-done
	})
}
