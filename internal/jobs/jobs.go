// Package jobs starts, shows, ends and works on jobs in the store: work about a cluster that
// outlasts a call, done by whichever replica comes to it. A kind of job adds what is stored of one,
// how it is shown, and what a worker does with a claim.
package jobs

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/google/uuid"

	"berth/internal/engine"
	"berth/internal/memory"
	"berth/internal/semantics"
	"berth/internal/store"
)

// Options tune the jobs of a kind. Zero fields take the defaults.
type Options struct {
	// Unfinished and PerCluster bound the jobs that have not ended, over all replicas; 16 and,
	// for simulations, 4.
	Unfinished, PerCluster int
	// Lease is for how long a claim is a worker's without progress; 30 s, 15 s of a simulation,
	// which renews it every Beat, 1 s. Poll is how often a worker without work looks for some,
	// 500 ms. Chunk is after how long the worker of a batch replay commits its progress, 200 ms.
	Lease, Beat, Poll, Chunk time.Duration
	// MaxResult bounds a simulation's answer in bytes, and what is stored of a part of one; 64 MiB.
	MaxResult int
	// Deadline is how long a worker runs a simulation; an hour.
	Deadline time.Duration
	// Budget bounds the memory of the work; nil: nothing does.
	Budget *memory.Budget
	// ParseProfiles reads a KubeSchedulerConfiguration; needed for batch replays with one.
	ParseProfiles func(raw []byte, under *semantics.Release) (list []*engine.Profile, ignored []string, err error)
	// Observe is called with the progress of batch replays: decisions answered again, by result.
	Observe func(identical, different, errors int64)
	Clock   func() time.Time
	Log     *slog.Logger
}

func (o Options) withDefaults(kind store.JobKind) Options {
	lease := 30 * time.Second
	if kind == store.Simulations {
		lease = 15 * time.Second
		o.PerCluster = cmp.Or(max(o.PerCluster, 0), 4)
	}
	o.Unfinished = cmp.Or(max(o.Unfinished, 0), 16)
	o.MaxResult = cmp.Or(max(o.MaxResult, 0), 64<<20)
	o.Lease, o.Beat = cmp.Or(o.Lease, lease), cmp.Or(o.Beat, time.Second)
	o.Poll, o.Chunk = cmp.Or(max(o.Poll, 0), 500*time.Millisecond), cmp.Or(max(o.Chunk, 0), 200*time.Millisecond)
	o.Deadline = cmp.Or(o.Deadline, time.Hour)
	if o.Observe == nil {
		o.Observe = func(int64, int64, int64) {}
	}
	if o.Clock == nil {
		o.Clock = time.Now
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return o
}

// Jobs are the jobs of a kind, shown as J. It is safe for concurrent use.
type Jobs[J any] struct {
	Options
	st   store.Jobs
	kind store.JobKind
	show func(*store.Job) *J
	// full adds to a shown job what lists are without.
	full func(ctx context.Context, job *J) error
	wake chan struct{} // holds a token after a job was started here

	claims  sync.Mutex
	working int // claims of this process
}

// New makes the jobs of a kind over a store.
func New[J any](st store.Jobs, kind store.JobKind, show func(*store.Job) *J, full func(ctx context.Context, job *J) error, o Options) *Jobs[J] {
	return &Jobs[J]{Options: o.withDefaults(kind), st: st, kind: kind, show: show, full: full, wake: make(chan struct{}, 1)}
}

// Make returns a new job about a cluster, not yet stored.
func (j *Jobs[J]) Make(cluster, askedBy string) (*store.Job, error) {
	id, err := uuid.NewV7()
	if err != nil {
		return nil, fmt.Errorf("make an id: %w", err)
	}
	return &store.Job{Kind: j.kind, ID: id.String(), Cluster: cluster, AskedBy: askedBy, CreatedAt: j.Now()}, nil
}

// Now is the time as stored.
func (j *Jobs[J]) Now() time.Time { return j.Clock().UTC().Truncate(time.Microsecond) }

// Limits bound the jobs.
func (j *Jobs[J]) Limits() store.JobLimits {
	return store.JobLimits{Unfinished: j.Unfinished, PerCluster: j.PerCluster}
}

// Started returns a job that was stored, and wakes a worker for it.
func (j *Jobs[J]) Started(ctx context.Context, id string) (*J, error) {
	select {
	case j.wake <- struct{}{}:
	default:
	}
	return j.Get(ctx, id)
}

// Find returns a job as lists have it.
func (j *Jobs[J]) Find(ctx context.Context, id string) (*J, error) {
	job, err := j.st.Job(ctx, j.kind, id)
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", j.kind, id, err)
	}
	return j.show(job), nil
}

// Get returns a job, with its answer once it is done.
func (j *Jobs[J]) Get(ctx context.Context, id string) (*J, error) {
	job, err := j.Find(ctx, id)
	if err == nil && j.full != nil {
		err = j.full(ctx, job)
	}
	if err != nil {
		return nil, err
	}
	return job, nil
}

// List lists jobs as Find returns them, newest first, of a cluster ("": of all), those after one
// ("": from the newest).
func (j *Jobs[J]) List(ctx context.Context, cluster, before string, limit int) ([]*J, error) {
	list, err := j.st.ListJobs(ctx, j.kind, cluster, before, limit)
	if err != nil {
		return nil, fmt.Errorf("list %s: %w", j.kind.Plural(), err)
	}
	out := make([]*J, 0, len(list))
	for _, job := range list {
		out = append(out, j.show(job))
	}
	return out, nil
}

// Cancel ends a job; one that has ended stays as it is. Its workers learn of it with their next
// commit.
func (j *Jobs[J]) Cancel(ctx context.Context, id string) (*J, error) {
	if err := j.st.EndJob(ctx, j.kind, id, store.JobCancelled, ""); err != nil {
		return nil, fmt.Errorf("%s %s: %w", j.kind, id, err)
	}
	return j.Get(ctx, id)
}

// Delete removes a job with what came of it, cancelling it where it has not ended.
func (j *Jobs[J]) Delete(ctx context.Context, id string) error {
	if err := j.st.DeleteJob(ctx, j.kind, id); err != nil {
		return fmt.Errorf("%s %s: %w", j.kind, id, err)
	}
	return nil
}
