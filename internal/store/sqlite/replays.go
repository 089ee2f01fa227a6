package sqlite

import (
	"context"
	"fmt"
	"strings"
	"time"

	"berth/internal/store"
)

// sqlNow is the database's clock, in microseconds: leases are judged by nothing
// else.
const sqlNow = `CAST(unixepoch('subsec') * 1000000 AS INTEGER)`

// The writer's statements for batch replays.
const (
	sqlPutReplay = `INSERT INTO replays (cluster, id, state, since, until, profile, config, created_at, ended_at)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, CASE WHEN ?3 = 'done' THEN ` + sqlNow + ` END)`
	// One of the caller's, who is not known: it has no place beyond the limits.
	sqlCountReplays = `SELECT count(*), count(*) FILTER (WHERE cluster = ?), 1 FROM replays WHERE state IN ('queued', 'running')`
	sqlThere        = `SELECT TRUE FROM clusters WHERE cluster = ? AND (revisions > 0 OR decisions > 0)`
	sqlPutPart      = `INSERT INTO replay_parts (cluster, replay, part, first, last, state, total) VALUES (?, ?, ?, ?, ?, 'queued', ?)`
	sqlEndReplay    = `UPDATE replays SET state = ?2, reason = ?3, ended_at = ` + sqlNow + `
WHERE id = ?1 AND state IN ('queued', 'running')`
	sqlReplayState  = `SELECT state FROM replays WHERE id = ?`
	sqlDropReplay   = `DELETE FROM replays WHERE id = ?` // its parts and differences go with it
	sqlDropReplays  = `DELETE FROM replays WHERE cluster = ?`
	sqlPruneReplays = `DELETE FROM replays WHERE ended_at < ?`
	sqlFreePart     = `SELECT p.cluster, p.replay, p.part FROM replays r JOIN replay_parts p ON p.cluster = r.cluster AND p.replay = r.id
WHERE r.state IN ('queued', 'running') AND p.state <> 'done' AND (p.owner = '' OR p.lease_until < ` + sqlNow + `)
ORDER BY r.id, p.part LIMIT 1`
	sqlClaimPart = `UPDATE replay_parts SET state = 'running', owner = ?4, lease_until = ` + sqlNow + ` + ?5, attempts = attempts + 1
WHERE cluster = ?1 AND replay = ?2 AND part = ?3`
	sqlPart = `SELECT cluster, replay, part, first, last, state, owner, attempts, cursor_revision, cursor_at, cursor_id,
total, done, identical, different, errors FROM replay_parts WHERE cluster = ? AND replay = ? AND part = ?`
	sqlBeginReplay = `UPDATE replays SET state = 'running' WHERE cluster = ? AND id = ? AND state = 'queued'`
	sqlAdvancePart = `UPDATE replay_parts SET state = ?6, attempts = 0, lease_until = ` + sqlNow + ` + ?7,
  owner = CASE WHEN ?6 = 'done' THEN '' ELSE owner END,
  cursor_revision = ?8, cursor_at = ?9, cursor_id = ?10, total = ?11, done = ?12, identical = ?13, different = ?14, errors = ?15
WHERE cluster = ?1 AND replay = ?2 AND part = ?3 AND owner = ?4 AND done = ?5 AND state = 'running'`
	sqlPutDifference = `INSERT INTO replay_differences (cluster, replay, revision, created_at, decision_id, payload) VALUES (?, ?, ?, ?, ?, ?)`
	sqlFinishReplay  = `UPDATE replays SET state = 'done', ended_at = ` + sqlNow + ` WHERE cluster = ?1 AND id = ?2 AND state = 'running'
AND NOT EXISTS (SELECT 1 FROM replay_parts WHERE cluster = ?1 AND replay = ?2 AND state <> 'done')`
	sqlFreeParts   = `UPDATE replay_parts SET owner = '' WHERE owner <> ''`
	sqlReleasePart = `UPDATE replay_parts SET owner = '', attempts = max(attempts - 1, 0)
WHERE cluster = ? AND replay = ? AND part = ? AND owner = ? AND state = 'running'`
)

// CreateReplay implements store.Replays.
func (s *Store) CreateReplay(ctx context.Context, r *store.Replay, parts []*store.ReplayPart, limits store.JobLimits) error {
	if err := r.Validate(); err != nil {
		return err
	}
	state := store.ReplayQueued
	if len(parts) == 0 {
		state = store.ReplayDone
	}
	return s.write(ctx, func(w *writer) error {
		var there bool
		if err := w.row(sqlThere, []any{r.Cluster}, &there); err != nil {
			return fmt.Errorf("cluster %s: %w", r.Cluster, err)
		}
		if err := w.checkJobs(store.BatchReplays, r.Cluster, limits, sqlCountReplays, r.Cluster); err != nil {
			return err
		}
		if _, err := w.exec(sqlPutReplay, r.Cluster, r.ID, state, ceilMicro(r.Since), ceilMicro(r.Until), r.Profile, r.Config, r.CreatedAt.UnixMicro()); err != nil {
			return err
		}
		for _, p := range parts {
			if _, err := w.exec(sqlPutPart, r.Cluster, r.ID, p.Number, p.First, p.Last, p.Total); err != nil {
				return err
			}
		}
		return nil
	})
}

// replaySums sums up the parts of a batch r.
const replaySums = `(SELECT coalesce(sum(total), 0) || ' ' || coalesce(sum(done), 0) || ' ' || coalesce(sum(identical), 0) || ' ' ||
coalesce(sum(different), 0) || ' ' || coalesce(sum(errors), 0) || ' ' || count(*) || ' ' || coalesce(sum(state = 'done'), 0)
FROM replay_parts p WHERE p.cluster = r.cluster AND p.replay = r.id)`

func (s *Store) replays(ctx context.Context, config, where string, args ...any) ([]*store.Replay, error) {
	if err := s.usable(); err != nil {
		return nil, err
	}
	query := `SELECT cluster, id, state, since, until, profile, ` + config + `, created_at, coalesce(ended_at, 0), reason, ` + replaySums + ` FROM replays r WHERE ` + where
	rows, err := s.reads.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, s.toStoreErr(err)
	}
	defer func() { _ = rows.Close() }() // its errors come through rows.Err
	var list []*store.Replay
	for rows.Next() {
		var r store.Replay
		var since, until, created, ended int64
		var sums string
		if err := rows.Scan(&r.Cluster, &r.ID, &r.State, &since, &until, &r.Profile, &r.Config, &created, &ended, &r.Reason, &sums); err != nil {
			return nil, s.toStoreErr(err)
		}
		if _, err := fmt.Sscan(sums, &r.Total, &r.Done, &r.Identical, &r.Different, &r.Errors, &r.Parts, &r.PartsDone); err != nil {
			return nil, fmt.Errorf("replay %s: %w", r.ID, err)
		}
		r.Since, r.Until, r.CreatedAt = fromMicro(since), fromMicro(until), fromMicro(created)
		if ended != 0 {
			r.EndedAt = fromMicro(ended)
		}
		list = append(list, &r)
	}
	return list, s.toStoreErr(rows.Err())
}

// Replay implements store.Replays.
func (s *Store) Replay(ctx context.Context, id string) (*store.Replay, error) {
	list, err := s.replays(ctx, "config", "id = ?", id)
	if err != nil {
		return nil, err
	}
	if len(list) == 0 {
		return nil, store.ErrNotFound
	}
	return list[0], nil
}

// ListReplays implements store.Replays.
func (s *Store) ListReplays(ctx context.Context, cluster, before string, limit int) ([]*store.Replay, error) {
	var where strings.Builder
	where.WriteString("TRUE")
	var args []any
	if cluster != "" {
		where.WriteString(" AND cluster = ?")
		args = append(args, cluster)
	}
	if before != "" {
		where.WriteString(" AND id < ?")
		args = append(args, before)
	}
	where.WriteString(" ORDER BY id DESC")
	if limit > 0 {
		where.WriteString(" LIMIT ?")
		args = append(args, limit)
	}
	return s.replays(ctx, "NULL", where.String(), args...)
}

// ReplayStates implements store.Replays.
func (s *Store) ReplayStates(ctx context.Context) (map[string]int64, error) {
	return s.numbers(ctx, `SELECT state, count(*) FROM replays GROUP BY state`)
}

// numbers runs a query that returns a number for each name.
func (s *Store) numbers(ctx context.Context, query string) (map[string]int64, error) {
	if err := s.usable(); err != nil {
		return nil, err
	}
	rows, err := s.reads.QueryContext(ctx, query)
	if err != nil {
		return nil, s.toStoreErr(err)
	}
	defer func() { _ = rows.Close() }() // its errors come through rows.Err
	all := map[string]int64{}
	for rows.Next() {
		var name string
		var n int64
		if err := rows.Scan(&name, &n); err != nil {
			return nil, s.toStoreErr(err)
		}
		all[name] = n
	}
	return all, s.toStoreErr(rows.Err())
}

// EndReplay implements store.Replays.
func (s *Store) EndReplay(ctx context.Context, id, state, reason string) error {
	return s.end(ctx, sqlEndReplay, sqlReplayState, id, state, reason)
}

// end ends a job by one query, or reports by another one that there is none.
func (s *Store) end(ctx context.Context, end, there, id, state, reason string) error {
	if err := store.CheckEnd(state); err != nil {
		return err
	}
	return s.write(ctx, func(w *writer) error {
		if n, err := w.exec(end, id, state, reason); err != nil || n == 1 {
			return err
		}
		var ended string
		return w.row(there, []any{id}, &ended)
	})
}

// DeleteReplay implements store.Replays.
func (s *Store) DeleteReplay(ctx context.Context, id string) error {
	return s.drop(ctx, sqlDropReplay, id)
}

// drop deletes a job.
func (s *Store) drop(ctx context.Context, query, id string) error {
	return s.write(ctx, func(w *writer) error {
		n, err := w.exec(query, id)
		if err == nil && n == 0 {
			err = store.ErrNotFound
		}
		return err
	})
}

// PruneReplays implements store.Replays.
func (s *Store) PruneReplays(ctx context.Context, before time.Time) (int64, error) {
	return s.pruneJobs(ctx, sqlPruneReplays, before)
}

// pruneJobs deletes the jobs that ended before a time.
func (s *Store) pruneJobs(ctx context.Context, query string, before time.Time) (n int64, err error) {
	err = s.write(ctx, func(w *writer) error {
		n, err = w.exec(query, ceilMicro(before))
		return err
	})
	if err != nil {
		return 0, err
	}
	return n, nil
}
