package sqlcommon

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"berth/internal/memory"
	"berth/internal/store"
)

// Locks are taken in the order part, job.
const (
	sqlPutReplay = `INSERT INTO replays (cluster, id, state, since, until, profile, config, created_at, ended_at, asked_by, through_seq, semantics, release)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, CASE WHEN $3 = 'done' THEN {now} END, $9, $10, $11, $12) ON CONFLICT (cluster, id) DO NOTHING`
	sqlPutPart = `INSERT INTO replay_parts (cluster, replay, part, first, last, state, total) VALUES ($1, $2, $3, $4, $5, 'queued', $6)`
	// A caller's turn is judged by all of its jobs, those that have ended too.
	sqlFreePart = `SELECT p.cluster, p.replay, p.part FROM replays r JOIN replay_parts p ON p.cluster = r.cluster AND p.replay = r.id
WHERE r.state IN ('queued', 'running') AND p.state <> 'done' AND (p.owner = '' OR p.lease_until < {now})
  AND NOT ($1 AND r.asked_by IN (SELECT o.asked_by FROM replays o JOIN replay_parts q ON q.cluster = o.cluster AND q.replay = o.id
    WHERE o.state = 'running' AND q.owner <> '' AND q.lease_until >= {now}))
ORDER BY (SELECT max(o.claimed_at) FROM replays o WHERE o.asked_by = r.asked_by), r.id, p.part LIMIT 1{skip p}`
	sqlClaimPart = `UPDATE replay_parts SET state = 'running', owner = $4, lease_until = {now} + $5{us}, attempts = attempts + 1
WHERE cluster = $1 AND replay = $2 AND part = $3
RETURNING first, last, state, owner, attempts, cursor_revision, cursor_at, cursor_id, total, done, identical, different, errors`
	sqlBeginReplay = `UPDATE replays SET state = 'running', claimed_at = {now} WHERE cluster = $1 AND id = $2 AND ` + unfinished
	// The counter guards against a second time where the first one's answer was lost, the owner
	// against a part that was taken over.
	sqlAdvancePart = `UPDATE replay_parts SET state = $6, attempts = 0, lease_until = {now} + $7{us},
  owner = CASE WHEN $6 = 'done' THEN '' ELSE owner END,
  cursor_revision = $8, cursor_at = $9, cursor_id = $10, total = $11, done = $12, identical = $13, different = $14, errors = $15
WHERE cluster = $1 AND replay = $2 AND part = $3 AND owner = $4 AND done = $5 AND state = 'running'`
	sqlPutDifference = `INSERT INTO replay_differences (cluster, replay, revision, created_at, decision_id, payload) VALUES ($1, $2, $3, $4, $5, $6)`
	sqlFinishReplay  = `UPDATE replays SET state = 'done', ended_at = {now} WHERE cluster = $1 AND id = $2 AND state = 'running'
AND NOT EXISTS (SELECT 1 FROM replay_parts WHERE cluster = $1 AND replay = $2 AND state <> 'done')`
	sqlReleasePart = `UPDATE replay_parts SET owner = '', attempts = CASE WHEN attempts > 0 THEN attempts - 1 ELSE 0 END
WHERE cluster = $1 AND replay = $2 AND part = $3 AND owner = $4 AND state = 'running'`
	sqlFreeParts   = `UPDATE replay_parts SET owner = '' WHERE owner <> ''`
	sqlDifferences = `SELECT revision, created_at, decision_id, payload FROM replay_differences
WHERE cluster = $1 AND replay = $2 AND (revision, created_at, decision_id) > ($3, $4, $5)
ORDER BY revision, created_at, decision_id LIMIT $6`

	// The decisions to plan with, in the index's order: nothing is sorted or kept.
	planned = ` FROM {decisions by revision} WHERE cluster = $1 AND revision > $2 AND revision <= $3 AND created_at >= $4 AND created_at < $5`
)

// PlanReplay implements store.Jobs. A part's end is looked up and its decisions are counted: a row
// for each revision would take twice as long.
func (s Jobs) PlanReplay(ctx context.Context, cluster string, since, until time.Time, size int64) ([]*store.ReplayPart, error) {
	args := func(after, last int64, more ...any) []any {
		return append([]any{cluster, after, last, ceil(since), ceil(until)}, more...)
	}
	return store.CutReplay(cluster, func(after int64) (last int64, err error) {
		last = math.MaxInt64
		err = s.one(ctx, `SELECT revision`+planned+` ORDER BY revision LIMIT 1 OFFSET $6`, args(after, last, size-1), &last)
		if errors.Is(err, store.ErrNotFound) {
			return last, nil
		}
		return last, err
	}, func(after, last int64) (first, end, n int64, err error) {
		err = s.one(ctx, `SELECT coalesce(min(revision), 0), coalesce(max(revision), 0), count(*)`+planned, args(after, last), &first, &end, &n)
		return first, end, n, err
	})
}

// CreateReplay implements store.Jobs.
func (s Jobs) CreateReplay(ctx context.Context, j *store.Job, parts []*store.ReplayPart, limits store.JobLimits) error {
	j.Kind = store.Replays
	state := store.JobQueued
	if len(parts) == 0 {
		state = store.JobDone
	}
	return s.create(ctx, j, limits, func(t tx) error {
		n, err := t.Exec(sqlPutReplay, j.Cluster, j.ID, state, ceil(j.Since), ceil(j.Until), j.Profile, j.Config, j.CreatedAt.Truncate(time.Microsecond), j.AskedBy, j.ThroughSeq, j.Semantics, j.Release)
		if err != nil || n == 0 { // stored already: the answer was lost
			return err
		}
		rows := make([][]any, len(parts))
		for i, p := range parts {
			rows[i] = []any{j.Cluster, j.ID, p.Number, p.First, p.Last, p.Total}
		}
		return t.Many(sqlPutPart, rows)
	})
}

func claimPart(t tx, owner string, lease time.Duration, idle bool) (*store.ReplayPart, error) {
	var p store.ReplayPart
	if err := t.Row(sqlFreePart, []any{idle}, &p.Cluster, &p.Replay, &p.Number); err != nil {
		return nil, err
	}
	var at time.Time
	err := t.Row(sqlClaimPart, []any{p.Cluster, p.Replay, p.Number, owner, lease.Microseconds()}, &p.First, &p.Last, &p.State, &p.Owner, &p.Attempts,
		&p.Cursor.Revision, Time{&at}, &p.Cursor.ID, &p.Total, &p.Done, &p.Identical, &p.Different, &p.Errors)
	if err != nil {
		return nil, err
	}
	if p.Cursor.ID != "" {
		p.Cursor.CreatedAt = at
	}
	_, err = t.Exec(sqlBeginReplay, p.Cluster, p.Replay)
	return &p, err
}

// cursorTime is a cursor's time; one before all others for the zero cursor.
func cursorTime(c store.ReplayCursor) time.Time {
	if c.ID == "" {
		return time.Unix(0, 0)
	}
	return c.CreatedAt
}

// AdvanceReplay implements store.Jobs.
func (s Jobs) AdvanceReplay(ctx context.Context, before, after *store.ReplayPart, differ []*store.ReplayDifference, lease time.Duration) (state string, err error) {
	err = s.write(ctx, func(t tx) error {
		if err := t.Row(`SELECT state FROM replays WHERE cluster = $1 AND id = $2`, []any{before.Cluster, before.Replay}, &state); err != nil || store.JobEnded(state) {
			return err
		}
		n, err := t.Exec(sqlAdvancePart, before.Cluster, before.Replay, before.Number, before.Owner, before.Done, after.State, lease.Microseconds(),
			after.Cursor.Revision, cursorTime(after.Cursor), after.Cursor.ID, after.Total, after.Done, after.Identical, after.Different, after.Errors)
		if err != nil {
			return err
		}
		if n != 1 {
			return fmt.Errorf("another process has part %d of replay %s by now: %w", before.Number, before.Replay, store.ErrConflict)
		}
		rows := make([][]any, len(differ))
		for i, d := range differ {
			rows[i] = []any{before.Cluster, before.Replay, d.Revision, d.CreatedAt, d.ID, string(d.Payload)}
		}
		if err := t.Many(sqlPutDifference, rows); err != nil || after.State != store.JobDone {
			return err
		}
		// Two last parts that end at once wait for each other here, and the second sees the first.
		// Both may hold the job's key by differences that they wrote, which this lock lets be.
		var held string
		if err := t.Row(`SELECT state FROM replays WHERE cluster = $1 AND id = $2{no key update}`, []any{before.Cluster, before.Replay}, &held); err != nil {
			return err
		}
		if n, err = t.Exec(sqlFinishReplay, before.Cluster, before.Replay); n == 1 {
			state = store.JobDone
		}
		return err
	})
	if err != nil {
		return "", err
	}
	return state, nil
}

// ReleaseReplay implements store.Jobs.
func (s Jobs) ReleaseReplay(ctx context.Context, p *store.ReplayPart) error {
	return s.write(ctx, func(t tx) error {
		_, err := t.Exec(sqlReleasePart, p.Cluster, p.Replay, p.Number, p.Owner)
		return err
	})
}

// ReleaseAll lets all parts go: no process has one.
func (s Jobs) ReleaseAll(ctx context.Context) error {
	return s.write(ctx, func(t tx) error {
		_, err := t.Exec(sqlFreeParts)
		return err
	})
}

// ReplayDifferences implements store.Jobs.
func (s Jobs) ReplayDifferences(ctx context.Context, id string, after store.ReplayCursor, limit int) ([]*store.ReplayDifference, error) {
	var cluster string
	if err := s.one(ctx, `SELECT cluster FROM replays WHERE id = $1`, []any{id}, &cluster); err != nil {
		return nil, err
	}
	var list []*store.ReplayDifference
	args := []any{cluster, id, after.Revision, cursorTime(after), after.ID, most(limit)}
	err := s.db.Read(ctx, s.d.Text(sqlDifferences), args, func(scan func(into ...any) error) error {
		var d store.ReplayDifference
		err := scan(&d.Revision, Time{&d.CreatedAt}, &d.ID, &d.Payload)
		list = append(list, &d)
		return cmp.Or(err, memory.Take(ctx, d.Footprint()))
	})
	return list, err
}
