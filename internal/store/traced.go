package store

import (
	"context"
	"errors"
	"time"

	"berth/internal/span"
)

// Traced returns s with a span for each call that a request waits for. The calls of workers and
// followers go straight to s (TestTraced lists them), and so do Append and Ping, whose callers have
// a span of their own.
func Traced(s Store) Store { return traced{s} }

type traced struct{ Store }

// call runs f as a part. What is not found is an answer, not a failure.
func call[T any](ctx context.Context, name string, f func(context.Context) (T, error)) (T, error) {
	ctx, part := span.Start(ctx, name)
	v, err := f(ctx)
	if errors.Is(err, ErrNotFound) {
		part.End(nil)
	} else {
		part.End(err)
	}
	return v, err
}

// do is call for what returns nothing but an error.
func do(ctx context.Context, name string, f func(context.Context) error) error {
	_, err := call(ctx, name, func(ctx context.Context) (struct{}, error) { return struct{}{}, f(ctx) })
	return err
}

// Newest implements Revisions.
func (t traced) Newest(ctx context.Context, cluster string) (*Revision, error) {
	return call(ctx, "store: newest revision", func(ctx context.Context) (*Revision, error) { return t.Store.Newest(ctx, cluster) })
}

// Revision implements Revisions.
func (t traced) Revision(ctx context.Context, cluster string, number int64) (*Revision, error) {
	return call(ctx, "store: revision", func(ctx context.Context) (*Revision, error) { return t.Store.Revision(ctx, cluster, number) })
}

// RevisionsAfter implements Revisions.
func (t traced) RevisionsAfter(ctx context.Context, cluster string, after int64, limit int) ([]*Revision, error) {
	return call(ctx, "store: changes of revisions", func(ctx context.Context) ([]*Revision, error) {
		return t.Store.RevisionsAfter(ctx, cluster, after, limit)
	})
}

// CheckpointAt implements Revisions.
func (t traced) CheckpointAt(ctx context.Context, cluster string, number int64, admit func(size int) error) (*Checkpoint, error) {
	return call(ctx, "store: checkpoint", func(ctx context.Context) (*Checkpoint, error) {
		return t.Store.CheckpointAt(ctx, cluster, number, admit)
	})
}

// LockChain implements Sharing.
func (t traced) LockChain(ctx context.Context, cluster string) (func(), error) {
	return call(ctx, "store: lock the chain", func(ctx context.Context) (func(), error) { return t.Store.LockChain(ctx, cluster) })
}

// ListRevisions implements Revisions.
func (t traced) ListRevisions(ctx context.Context, cluster string, before int64, limit int) ([]*Revision, error) {
	return call(ctx, "store: list revisions", func(ctx context.Context) ([]*Revision, error) {
		return t.Store.ListRevisions(ctx, cluster, before, limit)
	})
}

// DeleteRevision implements Revisions.
func (t traced) DeleteRevision(ctx context.Context, cluster string, number int64) error {
	return do(ctx, "store: delete a revision", func(ctx context.Context) error { return t.Store.DeleteRevision(ctx, cluster, number) })
}

// Clusters implements Revisions.
func (t traced) Clusters(ctx context.Context, f ClusterFilter) ([]ClusterInfo, error) {
	return call(ctx, "store: list clusters", func(ctx context.Context) ([]ClusterInfo, error) { return t.Store.Clusters(ctx, f) })
}

// DeleteCluster implements Revisions.
func (t traced) DeleteCluster(ctx context.Context, cluster string) error {
	return do(ctx, "store: delete a cluster", func(ctx context.Context) error { return t.Store.DeleteCluster(ctx, cluster) })
}

// Decision implements Decisions.
func (t traced) Decision(ctx context.Context, id string) (*Decision, error) {
	return call(ctx, "store: decision", func(ctx context.Context) (*Decision, error) { return t.Store.Decision(ctx, id) })
}

// ListDecisions implements Decisions.
func (t traced) ListDecisions(ctx context.Context, f DecisionFilter) ([]*Decision, error) {
	return call(ctx, "store: list decisions", func(ctx context.Context) ([]*Decision, error) { return t.Store.ListDecisions(ctx, f) })
}

// FollowDecisions implements Decisions.
func (t traced) FollowDecisions(ctx context.Context, cluster string, after int64, limit int) ([]*Decision, error) {
	return call(ctx, "store: follow decisions", func(ctx context.Context) ([]*Decision, error) {
		return t.Store.FollowDecisions(ctx, cluster, after, limit)
	})
}

// FailedAttempts implements Attempts.
func (t traced) FailedAttempts(ctx context.Context, f AttemptFilter) ([]FailedAttempts, error) {
	return call(ctx, "store: failed attempts", func(ctx context.Context) ([]FailedAttempts, error) { return t.Store.FailedAttempts(ctx, f) })
}

// Hold implements Holds.
func (t traced) Hold(ctx context.Context, id string) (*Hold, error) {
	return call(ctx, "store: hold", func(ctx context.Context) (*Hold, error) { return t.Store.Hold(ctx, id) })
}

// ListHolds implements Holds.
func (t traced) ListHolds(ctx context.Context, f HoldFilter) ([]*Hold, error) {
	return call(ctx, "store: list holds", func(ctx context.Context) ([]*Hold, error) { return t.Store.ListHolds(ctx, f) })
}

// Held implements Holds.
func (t traced) Held(ctx context.Context, cluster string, limit int) ([]*Hold, error) {
	return call(ctx, "store: holds of a cluster", func(ctx context.Context) ([]*Hold, error) { return t.Store.Held(ctx, cluster, limit) })
}

// Origin implements Origins.
func (t traced) Origin(ctx context.Context, cluster string) (*Origin, error) {
	return call(ctx, "store: origin", func(ctx context.Context) (*Origin, error) { return t.Store.Origin(ctx, cluster) })
}

// Copies implements Origins.
func (t traced) Copies(ctx context.Context, source string, number int64) ([]*Origin, error) {
	return call(ctx, "store: copies of a cluster", func(ctx context.Context) ([]*Origin, error) { return t.Store.Copies(ctx, source, number) })
}

// Profile implements Profiles.
func (t traced) Profile(ctx context.Context, digest string) (*Profile, error) {
	return call(ctx, "store: profile", func(ctx context.Context) (*Profile, error) { return t.Store.Profile(ctx, digest) })
}

// PriorityClasses implements PriorityClasses.
func (t traced) PriorityClasses(ctx context.Context, cluster string, whole bool) (list []*PriorityClass, version int64, err error) {
	list, err = call(ctx, "store: list priority classes", func(ctx context.Context) (list []*PriorityClass, err error) {
		list, version, err = t.Store.PriorityClasses(ctx, cluster, whole)
		return list, err
	})
	return list, version, err
}

// PriorityClass implements PriorityClasses.
func (t traced) PriorityClass(ctx context.Context, cluster, name string) (*PriorityClass, error) {
	return call(ctx, "store: priority class", func(ctx context.Context) (*PriorityClass, error) {
		return t.Store.PriorityClass(ctx, cluster, name)
	})
}

// PutPriorityClass implements PriorityClasses.
func (t traced) PutPriorityClass(ctx context.Context, c *PriorityClass, expect int64) (int64, error) {
	return call(ctx, "store: put a priority class", func(ctx context.Context) (int64, error) { return t.Store.PutPriorityClass(ctx, c, expect) })
}

// DeletePriorityClass implements PriorityClasses.
func (t traced) DeletePriorityClass(ctx context.Context, cluster, name string, expect int64) error {
	return do(ctx, "store: delete a priority class", func(ctx context.Context) error { return t.Store.DeletePriorityClass(ctx, cluster, name, expect) })
}

// PlanReplay implements Jobs.
func (t traced) PlanReplay(ctx context.Context, cluster string, since, until time.Time, size int64) ([]*ReplayPart, error) {
	return call(ctx, "store: plan a replay", func(ctx context.Context) ([]*ReplayPart, error) {
		return t.Store.PlanReplay(ctx, cluster, since, until, size)
	})
}

// CreateReplay implements Jobs.
func (t traced) CreateReplay(ctx context.Context, j *Job, parts []*ReplayPart, limits JobLimits) error {
	return do(ctx, "store: create a replay", func(ctx context.Context) error { return t.Store.CreateReplay(ctx, j, parts, limits) })
}

// CreateSimulation implements Jobs.
func (t traced) CreateSimulation(ctx context.Context, j *Job, parts map[string][]byte, limits JobLimits) error {
	return do(ctx, "store: create a simulation", func(ctx context.Context) error { return t.Store.CreateSimulation(ctx, j, parts, limits) })
}

// CheckJobs implements Jobs.
func (t traced) CheckJobs(ctx context.Context, j *Job, limits JobLimits) error {
	return do(ctx, "store: count jobs", func(ctx context.Context) error { return t.Store.CheckJobs(ctx, j, limits) })
}

// Job implements Jobs.
func (t traced) Job(ctx context.Context, kind JobKind, id string) (*Job, error) {
	return call(ctx, "store: job", func(ctx context.Context) (*Job, error) { return t.Store.Job(ctx, kind, id) })
}

// ListJobs implements Jobs.
func (t traced) ListJobs(ctx context.Context, kind JobKind, cluster, before string, limit int) ([]*Job, error) {
	return call(ctx, "store: list jobs", func(ctx context.Context) ([]*Job, error) {
		return t.Store.ListJobs(ctx, kind, cluster, before, limit)
	})
}

// EndJob implements Jobs.
func (t traced) EndJob(ctx context.Context, kind JobKind, id, state, reason string) error {
	return do(ctx, "store: end a job", func(ctx context.Context) error { return t.Store.EndJob(ctx, kind, id, state, reason) })
}

// DeleteJob implements Jobs.
func (t traced) DeleteJob(ctx context.Context, kind JobKind, id string) error {
	return do(ctx, "store: delete a job", func(ctx context.Context) error { return t.Store.DeleteJob(ctx, kind, id) })
}

// ReplayDecisions implements Jobs.
func (t traced) ReplayDecisions(ctx context.Context, q ReplayRange, after ReplayCursor, limit int, f func(*Decision) error) error {
	return do(ctx, "store: decisions of a time", func(ctx context.Context) error { return t.Store.ReplayDecisions(ctx, q, after, limit, f) })
}

// ReplayDifferences implements Jobs.
func (t traced) ReplayDifferences(ctx context.Context, id string, after ReplayCursor, limit int) ([]*ReplayDifference, error) {
	return call(ctx, "store: list differences", func(ctx context.Context) ([]*ReplayDifference, error) {
		return t.Store.ReplayDifferences(ctx, id, after, limit)
	})
}

// SimulationPart implements Jobs.
func (t traced) SimulationPart(ctx context.Context, id, part string, admit func(size int) error) ([]byte, error) {
	return call(ctx, "store: simulation's part", func(ctx context.Context) ([]byte, error) {
		return t.Store.SimulationPart(ctx, id, part, admit)
	})
}

// Query implements Queries.
func (t traced) Query(ctx context.Context, q *Query) (*Table, error) {
	return call(ctx, "store: query", func(ctx context.Context) (*Table, error) { return t.Store.Query(ctx, q) })
}

// Tokens implements Access.
func (t traced) Tokens(ctx context.Context) ([]*Token, error) {
	return call(ctx, "store: list tokens", func(ctx context.Context) ([]*Token, error) { return t.Store.Tokens(ctx) })
}

// PutToken implements Access.
func (t traced) PutToken(ctx context.Context, token *Token, c *AccessChange) error {
	return do(ctx, "store: put a token", func(ctx context.Context) error { return t.Store.PutToken(ctx, token, c) })
}

// PutAccessChange implements Access.
func (t traced) PutAccessChange(ctx context.Context, c *AccessChange) error {
	return do(ctx, "store: put a change of access", func(ctx context.Context) error { return t.Store.PutAccessChange(ctx, c) })
}

// AccessChanges implements Access.
func (t traced) AccessChanges(ctx context.Context, before string, limit int) ([]*AccessChange, error) {
	return call(ctx, "store: list changes of access", func(ctx context.Context) ([]*AccessChange, error) {
		return t.Store.AccessChanges(ctx, before, limit)
	})
}

// PutReplay implements Jobs.
func (t traced) PutReplay(ctx context.Context, r *ReplayResult) error {
	return do(ctx, "store: put a replay", func(ctx context.Context) error { return t.Store.PutReplay(ctx, r) })
}

// SealHeads implements Seals.
func (t traced) SealHeads(ctx context.Context, cluster string) ([]SealHead, error) {
	return call(ctx, "store: heads of seals", func(ctx context.Context) ([]SealHead, error) { return t.Store.SealHeads(ctx, cluster) })
}

// Books implements Seals.
func (t traced) Books(ctx context.Context, cluster string, count bool) ([]Books, error) {
	return call(ctx, "store: books", func(ctx context.Context) ([]Books, error) { return t.Store.Books(ctx, cluster, count) })
}

// Schema implements Seals.
func (t traced) Schema(ctx context.Context) ([]SchemaFault, error) {
	return call(ctx, "store: schema", func(ctx context.Context) ([]SchemaFault, error) { return t.Store.Schema(ctx) })
}

// ListSeals implements Seals.
func (t traced) ListSeals(ctx context.Context, cluster string, after int64, limit int, removals bool) ([]*Seal, error) {
	return call(ctx, "store: list seals", func(ctx context.Context) ([]*Seal, error) {
		return t.Store.ListSeals(ctx, cluster, after, limit, removals)
	})
}

// SealRows implements Seals.
func (t traced) SealRows(ctx context.Context, table SealTable, format int64, cluster string, from, to int64, limit int) ([]SealRow, error) {
	return call(ctx, "store: hash rows", func(ctx context.Context) ([]SealRow, error) {
		return t.Store.SealRows(ctx, table, format, cluster, from, to, limit)
	})
}
