package simulations

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"berth/internal/jobs"
	"berth/internal/memory"
	"berth/internal/revision"
	"berth/internal/store"
)

// Jobs starts, shows and ends jobs, and works on them. It is safe for concurrent use.
type Jobs struct {
	*jobs.Jobs[Job]
	st store.Jobs
}

// New makes jobs over a store.
func New(st store.Jobs, o jobs.Options) *Jobs {
	j := &Jobs{st: st}
	j.Jobs = jobs.New(st, store.Simulations, jobOf, j.answer, o)
	return j
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
func (j *Job) Ended() bool { return store.JobEnded(j.State) }

func jobOf(s *store.Job) *Job {
	j := &Job{
		ID: s.ID, State: s.State, Kind: s.Verb, Cluster: s.Cluster, Snapshot: revision.FormatID(s.Cluster, s.Revision),
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
	s, err := j.Make(q.Cluster, q.AskedBy)
	if err != nil {
		return nil, err
	}
	s.Revision, s.Verb = q.Revision, q.Kind
	parts := map[string][]byte{store.SimulationQuestion: q.Body}
	for name, payload := range q.Parts {
		if len(payload) <= j.MaxResult {
			parts[name] = payload
		}
	}
	if err := j.st.CreateSimulation(ctx, s, parts, j.Limits()); err != nil {
		return nil, fmt.Errorf("store a job: %w", err)
	}
	return j.Started(ctx, s.ID)
}

// answer reads the answer of a job that is done.
func (j *Jobs) answer(ctx context.Context, job *Job) (err error) {
	if job.State != store.JobDone {
		return nil
	}
	if job.Result, err = j.part(ctx, job.ID, store.SimulationResult); err != nil {
		return fmt.Errorf("answer of job %s: %w", job.ID, err)
	}
	return nil
}

// Question reads what a job was made of, as Start was given it.
func (j *Jobs) Question(ctx context.Context, id string) ([]byte, error) {
	q, err := j.part(ctx, id, store.SimulationQuestion)
	if err != nil {
		return nil, fmt.Errorf("question of job %s: %w", id, err)
	}
	return q, nil
}

// part reads a part of a job, with memory for it and what is made of it.
func (j *Jobs) part(ctx context.Context, id, name string) ([]byte, error) {
	return j.st.SimulationPart(ctx, id, name, func(size int) error { return memory.Take(ctx, partFactor*int64(size)) })
}

// partFactor is what a part takes, with what is made of it, in bytes a byte.
const partFactor = 4

// FailedError is an answer of a runner that is the same however often it is tried.
type FailedError struct{ Reason string }

func (e *FailedError) Error() string { return e.Reason }
