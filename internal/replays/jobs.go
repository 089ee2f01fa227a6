package replays

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/google/uuid"

	"berth/internal/cluster"
	"berth/internal/decision"
	"berth/internal/decisionlog"
	"berth/internal/engine"
	"berth/internal/memory"
	"berth/internal/store"
)

// Options tune Jobs. Zero fields take the defaults.
type Options struct {
	// ParseProfiles reads a KubeSchedulerConfiguration; needed for jobs with one.
	ParseProfiles func(raw []byte) (list []*engine.Profile, ignored []string, err error)
	// Profiles are the server's, which a job's profile must be one of.
	Profiles []*engine.Profile
	// Unfinished bounds the jobs that have not ended, over all replicas; 16 unless
	// told.
	Unfinished int
	// Lease is for how long a part is a worker's without progress; 30 s unless
	// told. Poll is how often a worker without work looks for some; 500 ms unless
	// told. Chunk is after how long a worker commits its progress; 200 ms unless
	// told.
	Lease, Poll, Chunk time.Duration
	// Budget bounds the memory of the work; nil: nothing does.
	Budget *memory.Budget
	// Observe is told of progress: decisions that were answered again, by result.
	Observe func(identical, different, errors int64)
	Clock   func() time.Time
	Log     *slog.Logger
}

func (o Options) withDefaults() Options {
	if o.Unfinished <= 0 {
		o.Unfinished = 16
	}
	if o.Lease == 0 {
		o.Lease = 30 * time.Second
	}
	if o.Poll <= 0 {
		o.Poll = 500 * time.Millisecond
	}
	if o.Chunk <= 0 {
		o.Chunk = 200 * time.Millisecond
	}
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

// Store is what Jobs need of a store.
type Store interface {
	store.Replays
	Newest(ctx context.Context, cluster string) (*store.Revision, error)
}

// Jobs starts, shows and ends batch replays, and works on them. It is safe for
// concurrent use.
type Jobs struct {
	st   Store
	log  *decisionlog.Log
	o    Options
	wake chan struct{} // holds a token after a job was started here
}

// New makes jobs over a store and its decision log.
func New(st Store, log *decisionlog.Log, o Options) *Jobs {
	return &Jobs{st: st, log: log, o: o.withDefaults(), wake: make(chan struct{}, 1)}
}

// Request describes what is to be answered again.
type Request struct {
	Cluster string
	// Since is inclusive, Until exclusive; zero: from the beginning, until now.
	Since, Until time.Time
	// Profile and Config replace the recorded profile where they are given.
	Profile string
	Config  []byte
}

// Job is a batch replay.
type Job struct {
	ID        string     `json:"id"`
	State     string     `json:"state" enums:"queued,running,done,cancelled,failed"`
	Cluster   string     `json:"cluster"`
	Since     time.Time  `json:"since"`
	Until     time.Time  `json:"until"`
	Profile   string     `json:"profile,omitempty"`
	CreatedAt time.Time  `json:"createdAt"`
	EndedAt   *time.Time `json:"endedAt,omitempty"`
	// Reason is the reason why it failed.
	Reason string `json:"reason,omitempty"`
	// Total is how many decisions there are; Done is the sum of the last three.
	Total     int64 `json:"total"`
	Done      int64 `json:"done"`
	Identical int64 `json:"identical"`
	Different int64 `json:"different"`
	Errors    int64 `json:"errors"`
	Parts     int   `json:"parts"`
	PartsDone int   `json:"partsDone"`
}

// Ended reports whether nothing of the job will change any more.
func (j *Job) Ended() bool { return (&store.Replay{State: j.State}).Ended() }

func jobOf(r *store.Replay) *Job {
	j := &Job{
		ID: r.ID, State: r.State, Cluster: r.Cluster, Since: r.Since, Until: r.Until, Profile: r.Profile, CreatedAt: r.CreatedAt,
		Reason: r.Reason, Total: r.Total, Done: r.Done, Identical: r.Identical, Different: r.Different, Errors: r.Errors,
		Parts: r.Parts, PartsDone: r.PartsDone,
	}
	if !r.EndedAt.IsZero() {
		j.EndedAt = &r.EndedAt
	}
	return j
}

// Parts are planned in pieces of the first size and put together so that there
// are a few, none much above the second: a part begins with loading a state, and
// ends with a commit, which less than half of the least is not worth.
const (
	leastPart = 5000
	mostPart  = 50_000
	fewParts  = 4
)

// Start stores a job, for this or another replica to work on. What is wrong
// with the request is *decision.Error.
func (j *Jobs) Start(ctx context.Context, q Request) (*Job, error) {
	if err := cluster.CheckName(q.Cluster); err != nil {
		return nil, decision.Errorf(decision.Malformed, "cluster", "%v", err)
	}
	now := j.o.Clock().UTC().Truncate(time.Microsecond)
	if q.Until.IsZero() || q.Until.After(now) {
		q.Until = now.Add(time.Microsecond) // what is decided later is of no job's business
	}
	if q.Since.IsZero() {
		q.Since = time.Unix(0, 0)
	}
	if q.Since.After(q.Until) {
		return nil, decision.Errorf(decision.Invalid, "since", "%s is after until, %s", q.Since.UTC().Format(time.RFC3339Nano), q.Until.UTC().Format(time.RFC3339Nano))
	}
	if _, err := j.overrides(q.Profile, q.Config); err != nil {
		return nil, err
	}
	switch _, err := j.st.Newest(ctx, q.Cluster); {
	case errors.Is(err, store.ErrNotFound):
		return nil, decision.Errorf(decision.NotFound, "cluster", "there is no cluster %q", q.Cluster)
	case err != nil:
		return nil, fmt.Errorf("cluster %s: %w", q.Cluster, err)
	}
	states, err := j.st.ReplayStates(ctx)
	if err != nil {
		return nil, fmt.Errorf("count batch replays: %w", err)
	}
	limits := store.JobLimits{Unfinished: j.o.Unfinished}
	if err := limits.Check(store.BatchReplays, q.Cluster, store.JobCounts{All: states[store.ReplayQueued] + states[store.ReplayRunning], Caller: 1}); err != nil {
		return nil, err // before the plan, which takes long
	}
	parts, err := j.st.PlanReplay(ctx, q.Cluster, q.Since, q.Until, leastPart)
	if err != nil {
		return nil, fmt.Errorf("plan a batch replay: %w", err)
	}
	id, err := uuid.NewV7()
	if err != nil {
		return nil, fmt.Errorf("make an id: %w", err)
	}
	r := &store.Replay{ID: id.String(), Cluster: q.Cluster, Since: q.Since, Until: q.Until, Profile: q.Profile, Config: q.Config, CreatedAt: now}
	if err := j.st.CreateReplay(ctx, r, join(parts), limits); err != nil {
		return nil, fmt.Errorf("store a batch replay: %w", err)
	}
	select {
	case j.wake <- struct{}{}:
	default:
	}
	return j.Get(ctx, r.ID)
}

// join puts pieces together.
func join(pieces []*store.ReplayPart) []*store.ReplayPart {
	total := int64(0)
	for _, p := range pieces {
		total += p.Total
	}
	size := min(max(total/fewParts, leastPart), mostPart)
	var out []*store.ReplayPart
	for _, p := range pieces {
		if n := len(out); n > 0 && (out[n-1].Total < size || p.Total < leastPart/2) {
			out[n-1].Last = p.Last
			out[n-1].Total += p.Total
			continue
		}
		next := *p
		next.Number = len(out)
		out = append(out, &next)
	}
	return out
}

// overrides reads what a job replaces.
func (j *Jobs) overrides(profile string, config []byte) (o decisionlog.Overrides, err error) {
	o.Profile = profile
	choice := j.o.Profiles
	if len(config) > 0 {
		if j.o.ParseProfiles == nil {
			return o, decision.Errorf(decision.Invalid, "config", "it cannot be read here")
		}
		if o.Profiles, _, err = j.o.ParseProfiles(config); err != nil {
			return o, decision.Errorf(decision.Invalid, "config", "%v", err)
		}
		choice = o.Profiles
	}
	if profile == "" {
		return o, nil
	}
	names := make([]string, len(choice))
	for i, p := range choice {
		if names[i] = p.Name; p.Name == profile {
			return o, nil
		}
	}
	return o, decision.Errorf(decision.Invalid, "profile", "there is no profile %q; there are %q", profile, names)
}

// Get returns a job.
func (j *Jobs) Get(ctx context.Context, id string) (*Job, error) { return j.Find(ctx, id) }

// Find is Get: the differences of a job are asked for apart.
func (j *Jobs) Find(ctx context.Context, id string) (*Job, error) {
	r, err := j.st.Replay(ctx, id)
	if err != nil {
		return nil, fmt.Errorf("batch replay %s: %w", id, err)
	}
	return jobOf(r), nil
}

// List lists jobs, newest first, of a cluster ("": of all), those after one
// ("": from the newest).
func (j *Jobs) List(ctx context.Context, cluster, before string, limit int) ([]*Job, error) {
	list, err := j.st.ListReplays(ctx, cluster, before, limit)
	if err != nil {
		return nil, fmt.Errorf("list batch replays: %w", err)
	}
	out := make([]*Job, 0, len(list))
	for _, r := range list {
		out = append(out, jobOf(r))
	}
	return out, nil
}

// Cancel ends a job; one that has ended stays as it is. Workers hear of it with
// their next commit.
func (j *Jobs) Cancel(ctx context.Context, id string) (*Job, error) {
	if err := j.st.EndReplay(ctx, id, store.ReplayCancelled, ""); err != nil {
		return nil, fmt.Errorf("batch replay %s: %w", id, err)
	}
	return j.Get(ctx, id)
}

// Delete removes a job with what differed, cancelling it where it has not ended.
func (j *Jobs) Delete(ctx context.Context, id string) error {
	if err := j.st.DeleteReplay(ctx, id); err != nil {
		return fmt.Errorf("batch replay %s: %w", id, err)
	}
	return nil
}

// Difference is a decision that came out otherwise, with its place in the list.
type Difference struct {
	decisionlog.BatchDifference
	Cursor store.ReplayCursor `json:"-"`
}

// Differences lists what differed or failed, in the order of revisions, behind a
// cursor.
func (j *Jobs) Differences(ctx context.Context, id string, after store.ReplayCursor, limit int) ([]*Difference, error) {
	list, err := j.st.ReplayDifferences(ctx, id, after, limit)
	if err != nil {
		return nil, fmt.Errorf("differences of batch replay %s: %w", id, err)
	}
	out := make([]*Difference, 0, len(list))
	for _, d := range list {
		x := &Difference{Cursor: d.ReplayCursor}
		if err := json.Unmarshal(d.Payload, &x.BatchDifference); err != nil {
			return nil, fmt.Errorf("difference of decision %s: %w (%w)", d.ID, cluster.ErrCorrupt, err)
		}
		out = append(out, x)
	}
	return out, nil
}

// States counts the stored jobs by state.
func (j *Jobs) States(ctx context.Context) (map[string]int64, error) { return j.st.ReplayStates(ctx) }
