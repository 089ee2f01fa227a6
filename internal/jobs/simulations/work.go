package simulations

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"berth/internal/jobs"
	"berth/internal/memory"
	"berth/internal/store"
	"berth/internal/world"
)

// maxAttempts is how often a job is begun without finishing a part before it is given up: one that
// kills the process must not do so for ever.
const maxAttempts = 5

// Runner answers a question of a kind about a revision, as JSON. An error that is no *FailedError
// has the job tried again.
type Runner func(ctx context.Context, job *store.Job, question []byte, w *world.Watch) ([]byte, error)

// Work works on jobs, this process's and others', until ctx ends.
func (j *Jobs) Work(ctx context.Context, run Runner) {
	j.Jobs.Work(ctx, func() jobs.Runner { return j.runner(run) })
}

// Step claims a job and works on it until it or ctx ends. It reports whether there was one.
func (j *Jobs) Step(ctx context.Context, run Runner) (worked bool, err error) {
	return j.Jobs.Step(ctx, j.runner(run))
}

func (j *Jobs) runner(run Runner) jobs.Runner {
	return func(ctx context.Context, job *store.Job) error {
		if job.Attempts > maxAttempts {
			return j.Fail(ctx, job, fmt.Sprintf("it was begun %d times without finishing a part", job.Attempts-1))
		}
		return (&work{j: j, job: job, progress: jobOf(job).Progress}).do(ctx, run)
	}
}

// work is one claim of a job.
type work struct {
	j *Jobs

	mu       sync.Mutex
	job      *store.Job
	progress []Progress
	renewed  time.Time
}

// do runs the job and ends it, or leaves it to the next worker.
func (w *work) do(ctx context.Context, run Runner) error {
	running, end := context.WithCancelCause(ctx)
	late := fmt.Errorf("it took longer than %s: %w", w.j.Deadline, context.DeadlineExceeded)
	running, cancel := context.WithTimeoutCause(running, w.j.Deadline, late)
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
	case err == nil && len(result) > w.j.MaxResult:
		return w.j.Fail(ctx, w.job, fmt.Sprintf("the answer has %d bytes, and %d are stored at most: ask for less of it", len(result), w.j.MaxResult))
	case err == nil:
		err = w.commit(ctx, store.JobDone, map[string][]byte{store.SimulationResult: result}, 0)
	case errors.Is(cause, jobs.ErrTaken):
		return jobs.ErrTaken
	case errors.Is(cause, late):
		return w.j.Fail(ctx, w.job, late.Error())
	case errors.As(err, &failed):
		return w.j.Fail(ctx, w.job, failed.Reason)
	}
	if err == nil || errors.Is(err, jobs.ErrTaken) {
		return err
	}
	if ctx.Err() != nil {
		w.job.Attempts-- // the process ends by itself
	}
	jobs.LetGo(ctx, func(ctx context.Context) error { return w.commit(ctx, store.JobRunning, nil, -time.Second) })
	return err
}

// answer reads the question and has it answered.
func (w *work) answer(ctx context.Context, run Runner) ([]byte, error) {
	if b := w.j.Budget; b != nil {
		claim := b.PatientClaim()
		defer claim.End()
		ctx = memory.With(ctx, claim)
	}
	question, err := w.j.part(ctx, w.job.ID, store.SimulationQuestion)
	if err != nil {
		return nil, err
	}
	return run(ctx, w.job, question, &world.Watch{Progress: w.note, Load: func(part string, v any) (bool, error) {
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
		if err != nil || len(payload) > w.j.MaxResult { // it is run again after a kill
			return err
		}
		w.mu.Lock()
		w.job.Attempts = 0
		w.mu.Unlock()
		return w.commit(ctx, store.JobRunning, map[string][]byte{part: payload}, w.j.Lease)
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
	tick := time.NewTicker(w.j.Beat)
	defer tick.Stop()
	for {
		select {
		case <-stop:
			return
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		err := w.commit(ctx, store.JobRunning, nil, w.j.Lease)
		switch {
		case err == nil:
			w.renewed = time.Now()
		case errors.Is(err, jobs.ErrTaken), time.Since(w.renewed) > w.j.Lease:
			end(jobs.ErrTaken)
			return
		}
	}
}

// commit makes what there is durable; jobs.ErrTaken where the job has ended or is another worker's.
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
		return jobs.ErrTaken
	}
	return err
}
