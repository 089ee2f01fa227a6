package replays

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"berth/internal/decision"
	"berth/internal/decision/record"
	"berth/internal/jobs"
	"berth/internal/revision"
	"berth/internal/semantics"
	"berth/internal/store"
)

// Store is what Jobs need of a store.
type Store interface {
	store.Jobs
	Newest(ctx context.Context, cluster string) (*store.Revision, error)
	SealHeads(ctx context.Context, cluster string) ([]store.SealHead, error)
}

// Jobs starts, shows and ends batch replays, and works on them. It is safe for
// concurrent use.
type Jobs struct {
	*jobs.Jobs[Job]
	st  Store
	log *record.Log
}

// New makes jobs over a store and its decision log.
func New(st Store, log *record.Log, o jobs.Options) *Jobs {
	return &Jobs{jobs.New(st, store.Replays, jobOf, nil, o), st, log}
}

// Request describes what is to be answered again.
type Request struct {
	Cluster string
	AskedBy string // the caller: kind:name, or an address
	// Since is inclusive, Until exclusive; zero: from the beginning, until now.
	Since, Until time.Time
	// Profile and Config replace the recorded profile where they are given, and Release its
	// release.
	Profile string
	Config  []byte
	Release *semantics.Release
}

// Job is a batch replay.
type Job struct {
	ID      string    `json:"id"`
	State   string    `json:"state" enums:"queued,running,done,cancelled,failed"`
	Cluster string    `json:"cluster"`
	Since   time.Time `json:"since"`
	Until   time.Time `json:"until"`
	Profile string    `json:"profile,omitempty"`
	// Semantics is the release that stands in for the recorded one.
	Semantics string     `json:"semantics,omitempty" example:"v1.37.2"`
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
func (j *Job) Ended() bool { return store.JobEnded(j.State) }

func jobOf(r *store.Job) *Job {
	j := &Job{
		ID: r.ID, State: r.State, Cluster: r.Cluster, Since: r.Since, Until: r.Until, Profile: r.Profile, Semantics: r.Release, CreatedAt: r.CreatedAt,
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
	if err := revision.CheckName(q.Cluster); err != nil {
		return nil, decision.Errorf(decision.Malformed, "cluster", "%v", err)
	}
	now := j.Now()
	if q.Until.IsZero() || q.Until.After(now) {
		q.Until = now.Add(time.Microsecond) // what is decided later is of no job's business
	}
	if q.Since.IsZero() {
		q.Since = time.Unix(0, 0)
	}
	if q.Since.After(q.Until) {
		return nil, decision.Errorf(decision.Invalid, "since", "%s is after until, %s", q.Since.UTC().Format(time.RFC3339Nano), q.Until.UTC().Format(time.RFC3339Nano))
	}
	switch _, err := j.st.Newest(ctx, q.Cluster); {
	case errors.Is(err, store.ErrNotFound):
		return nil, decision.Errorf(decision.NotFound, "cluster", "there is no cluster %q", q.Cluster)
	case err != nil:
		return nil, fmt.Errorf("cluster %s: %w", q.Cluster, err)
	}
	r, err := j.Make(q.Cluster, q.AskedBy)
	if err != nil {
		return nil, err
	}
	r.Since, r.Until, r.Profile, r.Config = q.Since, q.Until, q.Profile, q.Config
	r.Semantics = j.log.Configured().Release(q.Cluster).Stamp()
	if q.Release != nil {
		r.Release = q.Release.Stamp()
		r.Semantics = r.Release
	}
	if _, err := j.overrides(r); err != nil {
		return nil, err
	}
	if err := j.st.CheckJobs(ctx, r, j.Limits()); err != nil {
		return nil, fmt.Errorf("count batch replays: %w", err) // before the plan, which takes long
	}
	// Before the plan: what comes in while that is made may be in none of its parts.
	heads, err := j.st.SealHeads(ctx, q.Cluster)
	if err != nil {
		return nil, fmt.Errorf("cluster %s: %w", q.Cluster, err)
	}
	for _, h := range heads {
		r.ThroughSeq = h.Seq
	}
	parts, err := j.st.PlanReplay(ctx, q.Cluster, q.Since, q.Until, leastPart)
	if err != nil {
		return nil, fmt.Errorf("plan a batch replay: %w", err)
	}
	if err := j.st.CreateReplay(ctx, r, join(parts), j.Limits()); err != nil {
		return nil, fmt.Errorf("store a batch replay: %w", err)
	}
	return j.Started(ctx, r.ID)
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
func (j *Jobs) overrides(r *store.Job) (o record.Overrides, err error) {
	o.Profile = r.Profile
	c := j.log.Configured()
	choice, under := c.Of(r.Cluster), c.Release(r.Cluster)
	if r.Release != "" {
		if under, err = semantics.Parse(r.Release); err != nil { // another server's
			return o, decision.Errorf(decision.Malformed, "semantics", "%v", err)
		}
		o.Release = under
	}
	switch {
	case len(r.Config) > 0 && j.ParseProfiles == nil:
		return o, decision.Errorf(decision.Invalid, "config", "it cannot be read here")
	case len(r.Config) > 0:
		if o.Profiles, _, err = j.ParseProfiles(r.Config, under); err != nil {
			return o, decision.Errorf(decision.Invalid, "config", "%v", err)
		}
		choice = o.Profiles
	case r.Profile != "" && r.Release != "":
		if o.Profiles, err = c.Under(under); err != nil {
			return o, err
		}
		choice = o.Profiles
	}
	if r.Profile == "" {
		return o, nil
	}
	names := make([]string, len(choice))
	for i, p := range choice {
		if names[i] = p.Name; p.Name == r.Profile {
			return o, nil
		}
	}
	return o, decision.Errorf(decision.Invalid, "profile", "there is no profile %q; there are %q", r.Profile, names)
}

// Difference is a decision that came out otherwise, with its place in the list.
type Difference struct {
	record.BatchDifference
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
			return nil, fmt.Errorf("difference of decision %s: %w (%w)", d.ID, revision.ErrCorrupt, err)
		}
		out = append(out, x)
	}
	return out, nil
}
