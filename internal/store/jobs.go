package store

import (
	"context"
	"fmt"
	"time"
)

// JobKind is a kind of job, by the name of its table.
type JobKind string

// The kinds of jobs: decisions of a window of time that are answered again, and questions about
// what comes next in a cluster.
const (
	Replays     JobKind = "replays"
	Simulations JobKind = "simulations"
)

// String returns a job of the kind in words.
func (k JobKind) String() string {
	if k == Replays {
		return "batch replay"
	}
	return "job"
}

// Plural returns jobs of the kind in words.
func (k JobKind) Plural() string { return k.String() + "s" }

// The states of a job. Queued: no worker has begun. The last three end it for good.
const (
	JobQueued    = "queued"
	JobRunning   = "running"
	JobDone      = "done"
	JobCancelled = "cancelled"
	JobFailed    = "failed"
)

// Job is work about a cluster that outlasts a call, done by whichever replica comes to it.
type Job struct {
	Kind    JobKind
	ID      string // UUIDv7
	Cluster string
	// AskedBy is the caller whose job it is: kind:name, or an address; empty in what earlier
	// releases stored.
	AskedBy   string
	State     string
	CreatedAt time.Time
	EndedAt   time.Time // by the database's clock; zero until it has ended
	// Reason is why it failed.
	Reason string
	// Owner is the claim that works on it, for as long as its lease lasts by the database's clock.
	// It is unique to the claim, and so fences off a worker whose job was taken over. Attempts
	// counts claims since the last progress. Of a batch replay both are those of Part.
	Owner    string
	Attempts int

	// A simulation's: the revision that it is about, the kind of question, such as drains, and how
	// far it is, as JSON, opaque.
	Revision int64
	Verb     string
	Progress string

	// A batch replay's. Since is inclusive, Until exclusive; UTC, microseconds. Profile and Config
	// replace the recorded profile, and Release its release, by a stamp; empty: as recorded.
	Since, Until time.Time
	Profile      string
	Config       []byte
	Release      string
	// ThroughSeq is the last place in the log before it was planned: all decisions of the window up
	// to it are its. Semantics is Release, or what its server decides as in the cluster. Both are
	// written only.
	ThroughSeq int64
	Semantics  string
	ReplayCounts
	// Parts is how many parts it has, PartsDone how many of them are done. Read only.
	Parts, PartsDone int
	// Part is the part that was claimed.
	Part *ReplayPart
}

// Ended reports whether nothing will change any more.
func (j *Job) Ended() bool { return JobEnded(j.State) }

// JobEnded reports whether a job in a state has ended.
func JobEnded(state string) bool { return state != JobQueued && state != JobRunning }

// Validate returns why a job cannot be stored by every backend alike; the error wraps ErrInvalid.
func (j *Job) Validate() error {
	switch {
	case j.ID == "":
		return invalid("job.id", "is empty")
	case j.Cluster == "":
		return invalid("job.cluster", "is empty")
	}
	return validateText("job", j.ID, j.Cluster, j.AskedBy, j.Verb, j.Progress, j.Profile, j.Release, j.Reason)
}

// The parts that every simulation has and that a finished one has; others are a runner's own.
const (
	SimulationQuestion = "question"
	SimulationResult   = "result"
)

// Jobs keeps jobs that all replicas work on. A worker claims a job, or a part of a batch replay,
// and each time it commits what it has done together with how far it is, so that a kill at any
// moment leaves nothing out and has nothing done twice.
type Jobs interface {
	// PlanReplay cuts the decisions of a window into parts of about size decisions each, never
	// between two of one revision. Parts come with number, range and total.
	PlanReplay(ctx context.Context, cluster string, since, until time.Time, size int64) ([]*ReplayPart, error)
	// CreateReplay stores a batch replay with its parts; one without parts is done. ErrNotFound
	// where the cluster is unknown, *BusyError where there are as many jobs of the kind as limits
	// allow, which are counted as of one instant with other calls.
	CreateReplay(ctx context.Context, j *Job, parts []*ReplayPart, limits JobLimits) error
	// CreateSimulation stores a simulation with parts, one of them its question. ErrNotFound where
	// its revision is unknown, which then stays for as long as the job; *BusyError as above.
	CreateSimulation(ctx context.Context, j *Job, parts map[string][]byte, limits JobLimits) error
	// CheckJobs returns the *BusyError that one more job would have now.
	CheckJobs(ctx context.Context, j *Job, limits JobLimits) error
	// Job returns a job, a batch replay with its parts' counters summed up; ErrNotFound without
	// one.
	Job(ctx context.Context, kind JobKind, id string) (*Job, error)
	// ListJobs lists newest first, by ID, those of a cluster ("": all) with ID < before ("": all),
	// up to limit (0: all), without Config.
	ListJobs(ctx context.Context, kind JobKind, cluster, before string, limit int) ([]*Job, error)
	// JobStates counts the stored jobs of a kind by state.
	JobStates(ctx context.Context, kind JobKind) (map[string]int64, error)
	// EndJob ends a job that has not ended as cancelled or failed; one that has stays as it is.
	EndJob(ctx context.Context, kind JobKind, id, state, reason string) error
	// DeleteJob removes a job with its parts and differences. What a batch replay came to stays on
	// record, until Retain takes it away.
	DeleteJob(ctx context.Context, kind JobKind, id string) error
	// PruneJobs removes jobs that ended before a time and returns how many.
	PruneJobs(ctx context.Context, kind JobKind, before time.Time) (int64, error)

	// ClaimJob returns a job that no worker has or whose lease ran out, of a batch replay one such
	// part; ErrNotFound where there is none. Callers take turns: it is the oldest one of the caller
	// whose jobs a worker had last the longest time ago. With idle it is one of a caller none of
	// whose jobs a worker has.
	ClaimJob(ctx context.Context, kind JobKind, owner string, lease time.Duration, idle bool) (*Job, error)
	// AdvanceReplay takes a part from before to after (cursor, counters, state done or running),
	// adds what differed, and renews the lease, whole or not at all. ErrConflict: the part has
	// changed since before was read, or another process has it. The state is the job's; where that
	// has ended nothing was written.
	AdvanceReplay(ctx context.Context, before, after *ReplayPart, differ []*ReplayDifference, lease time.Duration) (state string, err error)
	// PutReplay records that a decision was answered again. One that is stored stays, so that a
	// retry is safe.
	PutReplay(ctx context.Context, r *ReplayResult) error
	// ReleaseReplay lets a claimed part go, so that another may have it at once.
	ReleaseReplay(ctx context.Context, p *ReplayPart) error
	// AdvanceSimulation writes what a worker has of a job (state, progress, attempts), adds parts,
	// and renews the lease, whole or not at all. State is running, or done. ErrConflict: another
	// worker has it. The state is the job's; where that had ended nothing was written.
	AdvanceSimulation(ctx context.Context, j *Job, parts map[string][]byte, lease time.Duration) (state string, err error)
	// SimulationPart returns a part of a simulation; ErrNotFound without one. admit is called with
	// its size before it is read, and ends the call with its error.
	SimulationPart(ctx context.Context, id, part string, admit func(size int) error) ([]byte, error)

	// ReplayDecisions passes up to limit decisions of a range behind a cursor to f, by (revision,
	// created at, id), with what a replay needs: see ReplayColumns. f may keep the record. It ends
	// early once inputs of more than PageBytes were given.
	ReplayDecisions(ctx context.Context, q ReplayRange, after ReplayCursor, limit int, f func(*Decision) error) error
	// ReplayChanges lists up to limit revisions with Number > after, ascending, with what it takes
	// to go from one to the next. The list ends early once changes of more than PageBytes are in
	// it.
	ReplayChanges(ctx context.Context, cluster string, after int64, limit int) ([]*ReplayChange, error)
	// ReplayDifferences lists what differed behind a cursor, in order, up to limit.
	ReplayDifferences(ctx context.Context, id string, after ReplayCursor, limit int) ([]*ReplayDifference, error)
}

// CheckEnd refuses to end a job as anything but cancelled or failed.
func CheckEnd(state string) error {
	if state != JobCancelled && state != JobFailed {
		return fmt.Errorf("end a job as %q: %w", state, ErrInvalid)
	}
	return nil
}

// JobLimits bound the jobs of a kind that have not ended; 0: no bound.
type JobLimits struct {
	// Unfinished bounds all of them, PerCluster those of one cluster.
	Unfinished, PerCluster int
}

// BusyError is the error where as many jobs have not ended as may, in all or of a cluster.
type BusyError struct {
	Kind       JobKind
	Cluster    string // empty: in all
	Unfinished int64
}

func (e *BusyError) Error() string {
	of := ""
	if e.Cluster != "" {
		of = " of cluster " + e.Cluster
	}
	return fmt.Sprintf("%d %s%s have not ended: wait for one, or cancel it", e.Unfinished, e.Kind.Plural(), of)
}

// JobCounts are how many jobs have not ended.
type JobCounts struct {
	All, Cluster int64
	// Caller counts those of the caller whose job would be one more.
	Caller int64
}

// Check returns a *BusyError where one more job would be too many. A caller without a job has a
// place beyond the limits, up to twice as many: no other caller can take all of them.
func (l JobLimits) Check(j *Job, n JobCounts) error {
	places := int64(1)
	if n.Caller == 0 {
		places = 2
	}
	switch {
	case l.Unfinished > 0 && n.All >= places*int64(l.Unfinished):
		return &BusyError{j.Kind, "", n.All}
	case l.PerCluster > 0 && n.Cluster >= places*int64(l.PerCluster):
		return &BusyError{j.Kind, j.Cluster, n.Cluster}
	}
	return nil
}
