package simulations

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"berth/internal/cluster"
	"berth/internal/memory"
	"berth/internal/store"
)

// Options tune Jobs. Zero fields take the defaults.
type Options struct {
	// Unfinished and PerCluster bound the jobs that have not ended, over all replicas; 16 and 4
	// unless told.
	Unfinished, PerCluster int
	// MaxResult bounds an answer in bytes, and what is stored of a part of one; 64 MiB unless told.
	MaxResult int
	// Deadline is how long a worker runs a job; an hour unless told.
	Deadline time.Duration
	// Lease is for how long a job is a worker's, who renews it every Beat; 15 s and 1 s unless
	// told. Poll is how often a worker without work looks for some; 500 ms unless told.
	Lease, Beat, Poll time.Duration
	// Budget bounds the memory of the work; nil: nothing does.
	Budget *memory.Budget
	Clock  func() time.Time
	Log    *slog.Logger
}

func (o Options) withDefaults() Options {
	for _, n := range []struct {
		at *int
		to int
	}{{&o.Unfinished, 16}, {&o.PerCluster, 4}, {&o.MaxResult, 64 << 20}} {
		if *n.at <= 0 {
			*n.at = n.to
		}
	}
	for _, d := range []struct {
		at *time.Duration
		to time.Duration
	}{{&o.Deadline, time.Hour}, {&o.Lease, 15 * time.Second}, {&o.Beat, time.Second}, {&o.Poll, 500 * time.Millisecond}} {
		if *d.at == 0 {
			*d.at = d.to
		}
	}
	if o.Clock == nil {
		o.Clock = time.Now
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return o
}

// Jobs starts, shows and ends jobs, and works on them. It is safe for concurrent use.
type Jobs struct {
	st   store.Simulations
	o    Options
	wake chan struct{} // holds a token after a job was started here

	claims  sync.Mutex
	working atomic.Int64 // jobs of this process
}

// New makes jobs over a store.
func New(st store.Simulations, o Options) *Jobs {
	return &Jobs{st: st, o: o.withDefaults(), wake: make(chan struct{}, 1)}
}

// Question is what a job is to answer.
type Question struct {
	Cluster  string
	Revision int64
	Kind     string
	AskedBy  string // the caller who asks: kind:name, or an address
	// Body is for the runner, and so are Parts: what is finished already.
	Body  []byte
	Parts map[string][]byte
}

// Job is a question about what comes next that outlasts a call.
type Job struct {
	ID    string `json:"id"`
	State string `json:"state" enums:"queued,running,done,cancelled,failed"`
	// Kind is the last part of the path that it was asked by.
	Kind      string     `json:"kind" enums:"simulations,fit,pools,drains,losses,rollouts"`
	Cluster   string     `json:"cluster"`
	Snapshot  string     `json:"snapshot" example:"prod@1042"`
	CreatedAt time.Time  `json:"createdAt"`
	EndedAt   *time.Time `json:"endedAt,omitempty"`
	// Reason is the reason why it failed.
	Reason string `json:"reason,omitempty"`
	// Progress is how far each part is that has begun.
	Progress []Progress `json:"progress"`
	// Result is the answer that the call would have had, once it is done; lists are without it.
	Result json.RawMessage `json:"result,omitempty" swaggertype:"object"`
} // @name SimulationJob

// Progress is how far a part of a job is: a configuration of a scenario, or what is counted.
type Progress struct {
	Part string `json:"part" example:"packed"`
	Done int    `json:"done"`
	// Total is 0 where it is not known.
	Total int `json:"total"`
} // @name SimulationProgress

// Ended reports whether nothing of the job will change any more.
func (j *Job) Ended() bool { return (&store.Simulation{State: j.State}).Ended() }

func jobOf(s *store.Simulation) *Job {
	j := &Job{
		ID: s.ID, State: s.State, Kind: s.Kind, Cluster: s.Cluster, Snapshot: cluster.FormatID(s.Cluster, s.Revision),
		CreatedAt: s.CreatedAt, Reason: s.Reason, Progress: []Progress{},
	}
	_ = json.Unmarshal([]byte(s.Progress), &j.Progress) // it is written below, and empty before
	if !s.EndedAt.IsZero() {
		j.EndedAt = &s.EndedAt
	}
	return j
}

// Start stores a job, for this or another replica to work on; *store.BusyError where there are too
// many.
func (j *Jobs) Start(ctx context.Context, q *Question) (*Job, error) {
	id, err := uuid.NewV7()
	if err != nil {
		return nil, fmt.Errorf("make an id: %w", err)
	}
	parts := map[string][]byte{store.SimulationQuestion: q.Body}
	for name, payload := range q.Parts {
		if len(payload) <= j.o.MaxResult {
			parts[name] = payload
		}
	}
	s := &store.Simulation{ID: id.String(), Cluster: q.Cluster, Revision: q.Revision, Kind: q.Kind, AskedBy: q.AskedBy, CreatedAt: j.o.Clock().UTC().Truncate(time.Microsecond)}
	if err := j.st.CreateSimulation(ctx, s, parts, store.JobLimits{Unfinished: j.o.Unfinished, PerCluster: j.o.PerCluster}); err != nil {
		return nil, fmt.Errorf("store a job: %w", err)
	}
	select {
	case j.wake <- struct{}{}:
	default:
	}
	return j.Get(ctx, s.ID)
}

// Get returns a job, with its answer once it is done.
func (j *Jobs) Get(ctx context.Context, id string) (*Job, error) {
	out, err := j.Find(ctx, id)
	if err != nil {
		return nil, err
	}
	if out.State == store.ReplayDone {
		if out.Result, err = j.part(ctx, id, store.SimulationResult); err != nil {
			return nil, fmt.Errorf("answer of job %s: %w", id, err)
		}
	}
	return out, nil
}

// Find returns a job without its answer.
func (j *Jobs) Find(ctx context.Context, id string) (*Job, error) {
	s, err := j.st.Simulation(ctx, id)
	if err != nil {
		return nil, fmt.Errorf("job %s: %w", id, err)
	}
	return jobOf(s), nil
}

// part reads a part of a job, with memory for it and what is made of it.
func (j *Jobs) part(ctx context.Context, id, name string) ([]byte, error) {
	return j.st.SimulationPart(ctx, id, name, func(size int) error { return memory.Take(ctx, partFactor*int64(size)) })
}

// partFactor is what a part takes, with what is made of it, in bytes a byte.
const partFactor = 4

// List lists jobs without their answers, newest first, of a cluster ("": of all), those after one
// ("": from the newest).
func (j *Jobs) List(ctx context.Context, cluster, before string, limit int) ([]*Job, error) {
	list, err := j.st.ListSimulations(ctx, cluster, before, limit)
	if err != nil {
		return nil, fmt.Errorf("list jobs: %w", err)
	}
	out := make([]*Job, 0, len(list))
	for _, s := range list {
		out = append(out, jobOf(s))
	}
	return out, nil
}

// Cancel ends a job; one that has ended stays as it is. Its worker learns of it with its next beat.
func (j *Jobs) Cancel(ctx context.Context, id string) (*Job, error) {
	if err := j.st.EndSimulation(ctx, id, store.ReplayCancelled, ""); err != nil {
		return nil, fmt.Errorf("job %s: %w", id, err)
	}
	return j.Get(ctx, id)
}

// Delete removes a job with its answer, cancelling it where it has not ended.
func (j *Jobs) Delete(ctx context.Context, id string) error {
	if err := j.st.DeleteSimulation(ctx, id); err != nil {
		return fmt.Errorf("job %s: %w", id, err)
	}
	return nil
}

// FailedError is an answer of a runner that is the same however often it is tried.
type FailedError struct{ Reason string }

func (e *FailedError) Error() string { return e.Reason }

var errTaken = errors.New("the job has ended, or another worker has it")
