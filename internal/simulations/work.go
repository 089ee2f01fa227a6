package simulations

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"berth/internal/jobs"
	"berth/internal/memory"
	"berth/internal/scenario"
	"berth/internal/store"
)

// maxAttempts is how often a job is begun without finishing a part before it is given up: one that
// kills the process must not do so for ever.
const maxAttempts = 5

// Runner answers a question of a kind about a revision, as JSON. An error that is no *FailedError
// has the job tried again.
type Runner func(ctx context.Context, s *store.Simulation, question []byte, w *scenario.Watch) ([]byte, error)

// workers is how many jobs a process works on at once.
const workers = 2

// Work works on jobs, this process's and others', until ctx ends. A job may run for an hour, so
// another one is begun beside it, for a caller none of whose jobs runs.
func (j *Jobs) Work(ctx context.Context, run Runner) {
	var all sync.WaitGroup
	for range workers {
		all.Go(func() {
			jobs.Loop(ctx, j.wake, j.o.Poll, func(ctx context.Context) (bool, error) { return j.Step(ctx, run) }, func(err error) {
				j.o.Log.LogAttrs(ctx, slog.LevelWarn, "a job was interrupted; it goes on later", slog.String("error", err.Error()))
			})
		})
	}
	all.Wait()
}

// Step claims a job and works on it until it or ctx ends. It reports whether there was one.
func (j *Jobs) Step(ctx context.Context, run Runner) (worked bool, err error) {
	s, err := j.claim(ctx)
	if errors.Is(err, store.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("claim a job: %w", err)
	}
	defer j.working.Add(-1)
	if s.Attempts > maxAttempts {
		return true, j.fail(ctx, s, fmt.Sprintf("it was begun %d times without finishing a part", s.Attempts-1))
	}
	w := &work{j: j, job: s, progress: jobOf(s).Progress}
	if err := w.do(ctx, run); err != nil {
		return true, fmt.Errorf("job %s: %w", s.ID, err)
	}
	return true, nil
}

// claim claims a job, beside one that this process works on only for a caller none of whose jobs
// runs.
func (j *Jobs) claim(ctx context.Context) (*store.Simulation, error) {
	owner, err := uuid.NewRandom()
	if err != nil {
		return nil, fmt.Errorf("make an id: %w", err)
	}
	j.claims.Lock()
	defer j.claims.Unlock()
	s, err := j.st.ClaimSimulation(ctx, owner.String(), j.o.Lease, j.working.Load() > 0)
	if err == nil {
		j.working.Add(1)
	}
	return s, err
}

func (j *Jobs) fail(ctx context.Context, s *store.Simulation, reason string) error {
	j.o.Log.LogAttrs(ctx, slog.LevelWarn, "a job failed", slog.String("job", s.ID), slog.String("error", reason))
	return j.st.EndSimulation(ctx, s.ID, store.ReplayFailed, reason)
}

// work is one claim of a job.
type work struct {
	j *Jobs

	mu       sync.Mutex
	job      *store.Simulation
	progress []Progress
	renewed  time.Time
}

// do runs the job and ends it, or leaves it to the next worker.
func (w *work) do(ctx context.Context, run Runner) error {
	running, end := context.WithCancelCause(ctx)
	late := fmt.Errorf("it took longer than %s: %w", w.j.o.Deadline, context.DeadlineExceeded)
	running, cancel := context.WithTimeoutCause(running, w.j.o.Deadline, late)
	defer cancel()
	var beating sync.WaitGroup
	stop := make(chan struct{})
	w.renewed = time.Now()
	beating.Go(func() { w.beat(running, stop, end) })
	result, err := w.answer(running, run)
	cause := context.Cause(running)
	close(stop)
	beating.Wait()
	end(nil)
	var failed *FailedError
	switch {
	case err == nil && len(result) > w.j.o.MaxResult:
		return w.j.fail(ctx, w.job, fmt.Sprintf("the answer has %d bytes, and %d are stored at most: ask for less of it", len(result), w.j.o.MaxResult))
	case err == nil:
		err = w.commit(ctx, store.ReplayDone, map[string][]byte{store.SimulationResult: result}, 0)
	case errors.Is(cause, errTaken):
		return nil
	case errors.Is(cause, late):
		return w.j.fail(ctx, w.job, late.Error())
	case errors.As(err, &failed):
		return w.j.fail(ctx, w.job, failed.Reason)
	}
	if err == nil || errors.Is(err, errTaken) {
		return nil
	}
	if ctx.Err() != nil {
		w.job.Attempts-- // the process ends by itself
	}
	let, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	_ = w.commit(let, store.ReplayRunning, nil, -time.Second) // else the lease runs out
	return err
}

// answer reads the question and has it answered.
func (w *work) answer(ctx context.Context, run Runner) ([]byte, error) {
	if b := w.j.o.Budget; b != nil {
		claim := b.PatientClaim()
		defer claim.End()
		ctx = memory.With(ctx, claim)
	}
	question, err := w.j.part(ctx, w.job.ID, store.SimulationQuestion)
	if err != nil {
		return nil, err
	}
	return run(ctx, w.job, question, &scenario.Watch{Progress: w.note, Load: func(part string, v any) (bool, error) {
		payload, err := w.j.part(ctx, w.job.ID, part)
		if errors.Is(err, store.ErrNotFound) {
			return false, nil
		}
		if err == nil {
			err = json.Unmarshal(payload, v)
		}
		return err == nil, err
	}, Save: func(part string, v any) error {
		payload, err := json.Marshal(v)
		if err != nil || len(payload) > w.j.o.MaxResult { // it is run again after a kill
			return err
		}
		w.mu.Lock()
		w.job.Attempts = 0
		w.mu.Unlock()
		return w.commit(ctx, store.ReplayRunning, map[string][]byte{part: payload}, w.j.o.Lease)
	}})
}

// note takes down how far a part is.
func (w *work) note(part string, done, total int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	i := slices.IndexFunc(w.progress, func(p Progress) bool { return p.Part == part })
	if i < 0 {
		i, w.progress = len(w.progress), append(w.progress, Progress{})
	}
	w.progress[i] = Progress{part, done, total}
}

// beat renews the lease until it is stopped, and ends the run where the job is no more this
// worker's.
func (w *work) beat(ctx context.Context, stop <-chan struct{}, end context.CancelCauseFunc) {
	tick := time.NewTicker(w.j.o.Beat)
	defer tick.Stop()
	for {
		select {
		case <-stop:
			return
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		err := w.commit(ctx, store.ReplayRunning, nil, w.j.o.Lease)
		switch {
		case err == nil:
			w.renewed = time.Now()
		case errors.Is(err, errTaken), time.Since(w.renewed) > w.j.o.Lease:
			end(errTaken)
			return
		}
	}
}

// commit makes what there is durable; errTaken where the job has ended or is another worker's.
func (w *work) commit(ctx context.Context, state string, parts map[string][]byte, lease time.Duration) error {
	w.mu.Lock()
	s := *w.job
	progress, err := json.Marshal(w.progress)
	w.mu.Unlock()
	if err != nil {
		return fmt.Errorf("encode the progress: %w", err)
	}
	s.State, s.Progress = state, string(progress)
	got, err := w.j.st.AdvanceSimulation(ctx, &s, parts, lease)
	if errors.Is(err, store.ErrConflict) || errors.Is(err, store.ErrNotFound) || err == nil && got != state {
		return errTaken
	}
	return err
}
