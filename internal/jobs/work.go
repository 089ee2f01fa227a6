package jobs

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/google/uuid"

	"berth/internal/store"
)

// workers is how many claims of a kind a process works on at once.
const workers = 2

// ErrTaken is the error of a worker whose job has ended, or has become another worker's.
var ErrTaken = errors.New("the job has ended, or another worker has it")

// Runner works on a claim until it is done, its job ends, or ctx does. It is for one goroutine.
type Runner func(ctx context.Context, job *store.Job) error

// Work works on jobs, this process's and others', until ctx ends. A job may run for an hour, so
// another one is begun beside it, for a caller none of whose jobs runs. make is called once for
// each worker.
func (j *Jobs[J]) Work(ctx context.Context, make func() Runner) {
	var all sync.WaitGroup
	for range workers {
		all.Go(func() {
			for run := make(); ctx.Err() == nil; {
				worked, err := j.Step(ctx, run)
				if err != nil && ctx.Err() == nil {
					j.Log.LogAttrs(ctx, slog.LevelWarn, "a job was interrupted; it goes on later", slog.String("kind", string(j.kind)), slog.String("error", err.Error()))
				}
				if worked && err == nil {
					continue
				}
				select {
				case <-ctx.Done():
				case <-j.wake:
				case <-time.After(j.Poll):
				}
			}
		})
	}
	all.Wait()
}

// Step claims a job and works on it until it or ctx ends. It reports whether there was one.
func (j *Jobs[J]) Step(ctx context.Context, run Runner) (worked bool, err error) {
	job, err := j.claim(ctx)
	if errors.Is(err, store.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("claim a %s: %w", j.kind, err)
	}
	defer j.count(-1)
	err = run(ctx, job)
	switch {
	case errors.Is(err, ErrTaken), errors.Is(err, store.ErrConflict), errors.Is(err, store.ErrNotFound):
		return true, nil // taken over, or deleted
	case err != nil:
		return true, fmt.Errorf("%s %s: %w", j.kind, job.ID, err)
	}
	return true, nil
}

// claim claims a job, beside one that this process works on only for a caller none of whose jobs
// runs.
func (j *Jobs[J]) claim(ctx context.Context) (*store.Job, error) {
	owner, err := uuid.NewRandom()
	if err != nil {
		return nil, fmt.Errorf("make an id: %w", err)
	}
	j.claims.Lock()
	defer j.claims.Unlock()
	job, err := j.st.ClaimJob(ctx, j.kind, owner.String(), j.Lease, j.working > 0)
	if err == nil {
		j.working++
	}
	return job, err
}

func (j *Jobs[J]) count(n int) {
	j.claims.Lock()
	defer j.claims.Unlock()
	j.working += n
}

// Fail ends a job for good.
func (j *Jobs[J]) Fail(ctx context.Context, job *store.Job, reason string) error {
	j.Log.LogAttrs(ctx, slog.LevelWarn, "a job failed", slog.String("kind", string(j.kind)), slog.String("job", job.ID), slog.String("error", reason))
	return j.st.EndJob(ctx, j.kind, job.ID, store.JobFailed, reason)
}

// LetGo runs what returns a claim, also where ctx has ended; else its lease runs out.
func LetGo(ctx context.Context, release func(ctx context.Context) error) {
	let, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	_ = release(let)
}
