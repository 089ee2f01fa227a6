package postgres

import (
	"context"
	"fmt"
	"strings"
	"time"

	"berth/internal/store"

	"github.com/jackc/pgx/v5"
)

// inTx runs fn in a transaction, again where its connection was lost: fn takes
// no harm from having taken effect before.
func (s *Store) inTx(ctx context.Context, fn func(context.Context, *pgx.Conn) error) error {
	ctx, done, err := s.enter(ctx)
	if err != nil {
		return err
	}
	defer done()
	begin := func(ctx context.Context, conn *pgx.Conn) error {
		if _, err := conn.Exec(ctx, "begin"); err != nil {
			return err
		}
		return fn(ctx, conn)
	}
	return s.transact(ctx, begin, commitTx, func() {})
}

// One of the caller's, who is not known: it has no place beyond the limits.
const sqlCountReplays = `SELECT count(*), count(*) FILTER (WHERE cluster = $1), 1 FROM replays WHERE state IN ('queued', 'running') AND id <> $2`

// CreateReplay implements store.Replays.
func (s *Store) CreateReplay(ctx context.Context, r *store.Replay, parts []*store.ReplayPart, limits store.JobLimits) error {
	if err := r.Validate(); err != nil {
		return err
	}
	state := store.ReplayQueued
	if len(parts) == 0 {
		state = store.ReplayDone
	}
	return s.inTx(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		var there bool
		// Against the cluster's deletion meanwhile, which takes this lock too.
		if err := conn.QueryRow(ctx, `SELECT TRUE FROM clusters WHERE cluster = $1 AND (revisions > 0 OR decisions > 0) FOR SHARE`, r.Cluster).Scan(&there); err != nil {
			return fmt.Errorf("cluster %s: %w", r.Cluster, err)
		}
		if err := checkJobs(ctx, conn, store.BatchReplays, r.Cluster, limits, sqlCountReplays, r.Cluster, r.ID); err != nil {
			return err
		}
		ct, err := conn.Exec(ctx, `INSERT INTO replays (cluster, id, state, since, until, profile, config, created_at, ended_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, CASE WHEN $9 THEN clock_timestamp() END) ON CONFLICT (cluster, id) DO NOTHING`,
			r.Cluster, r.ID, state, ceilMicro(r.Since), ceilMicro(r.Until), r.Profile, r.Config, r.CreatedAt.Truncate(time.Microsecond), len(parts) == 0)
		if err != nil || ct.RowsAffected() == 0 || len(parts) == 0 {
			return err
		}
		n := len(parts)
		numbers, firsts, lasts, totals := make([]int32, n), make([]int64, n), make([]int64, n), make([]int64, n)
		for i, p := range parts {
			numbers[i], firsts[i], lasts[i], totals[i] = int32(p.Number), p.First, p.Last, p.Total
		}
		_, err = conn.Exec(ctx, `INSERT INTO replay_parts (cluster, replay, part, first, last, state, total)
SELECT $1, $2, part, first, last, 'queued', total FROM unnest($3::integer[], $4::bigint[], $5::bigint[], $6::bigint[]) p (part, first, last, total)`,
			r.Cluster, r.ID, numbers, firsts, lasts, totals)
		return err
	})
}

const replayColumns = `r.cluster, r.id, r.state, r.since, r.until, r.profile, r.created_at, r.ended_at, r.reason,
  p.total, p.done, p.identical, p.different, p.errors, p.parts, p.parts_done`

const replaySums = ` CROSS JOIN LATERAL (SELECT coalesce(sum(total), 0)::bigint AS total, coalesce(sum(done), 0)::bigint AS done,
  coalesce(sum(identical), 0)::bigint AS identical, coalesce(sum(different), 0)::bigint AS different, coalesce(sum(errors), 0)::bigint AS errors,
  count(*) AS parts, count(*) FILTER (WHERE state = 'done') AS parts_done
FROM replay_parts WHERE cluster = r.cluster AND replay = r.id) p`

func (s *Store) replays(ctx context.Context, config, where string, args ...any) ([]*store.Replay, error) {
	ctx, done, err := s.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	rows, err := s.pool.Query(ctx, `SELECT `+replayColumns+`, `+config+` FROM replays r`+replaySums+` WHERE `+where, args...)
	if err != nil {
		return nil, s.toStoreErr(ctx, err)
	}
	var list []*store.Replay
	err = each(rows, func() error {
		var r store.Replay
		var ended *time.Time
		err := rows.Scan(&r.Cluster, &r.ID, &r.State, &r.Since, &r.Until, &r.Profile, &r.CreatedAt, &ended, &r.Reason,
			&r.Total, &r.Done, &r.Identical, &r.Different, &r.Errors, &r.Parts, &r.PartsDone, &r.Config)
		r.Since, r.Until, r.CreatedAt = r.Since.UTC(), r.Until.UTC(), r.CreatedAt.UTC()
		if ended != nil {
			r.EndedAt = ended.UTC()
		}
		list = append(list, &r)
		return err
	})
	return list, s.toStoreErr(ctx, err)
}

// Replay implements store.Replays.
func (s *Store) Replay(ctx context.Context, id string) (*store.Replay, error) {
	list, err := s.replays(ctx, "r.config", "r.id = $1", id)
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
	value := func(v any) string {
		args = append(args, v)
		return fmt.Sprint("$", len(args))
	}
	if cluster != "" {
		where.WriteString(" AND r.cluster = " + value(cluster))
	}
	if before != "" {
		where.WriteString(" AND r.id < " + value(before))
	}
	where.WriteString(" ORDER BY r.id DESC")
	if limit > 0 {
		where.WriteString(" LIMIT " + value(limit))
	}
	return s.replays(ctx, "NULL::bytea", where.String(), args...)
}

// ReplayStates implements store.Replays.
func (s *Store) ReplayStates(ctx context.Context) (map[string]int64, error) {
	return s.numbers(ctx, `SELECT state, count(*) FROM replays GROUP BY state`)
}

// numbers runs a query that returns a number for each name.
func (s *Store) numbers(ctx context.Context, query string) (map[string]int64, error) {
	ctx, done, err := s.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	rows, err := s.pool.Query(ctx, query)
	if err != nil {
		return nil, s.toStoreErr(ctx, err)
	}
	all := map[string]int64{}
	err = each(rows, func() error {
		var name string
		var n int64
		err := rows.Scan(&name, &n)
		all[name] = n
		return err
	})
	return all, s.toStoreErr(ctx, err)
}

// EndReplay implements store.Replays.
func (s *Store) EndReplay(ctx context.Context, id, state, reason string) error {
	return s.end(ctx, `UPDATE replays SET state = $2, reason = $3, ended_at = clock_timestamp() WHERE id = $1 AND state IN ('queued', 'running')`,
		`SELECT state FROM replays WHERE id = $1`, id, state, reason)
}

// end ends a job by one query, or reports by another one that there is none.
func (s *Store) end(ctx context.Context, end, there, id, state, reason string) error {
	if err := store.CheckEnd(state); err != nil {
		return err
	}
	return s.inTx(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		ct, err := conn.Exec(ctx, end, id, state, reason)
		if err != nil || ct.RowsAffected() == 1 {
			return err
		}
		var ended string
		return conn.QueryRow(ctx, there, id).Scan(&ended)
	})
}

// DeleteReplay implements store.Replays.
func (s *Store) DeleteReplay(ctx context.Context, id string) error {
	ctx, done, err := s.enter(ctx)
	if err != nil {
		return err
	}
	defer done()
	n, err := s.dropReplays(ctx, `r.id = $1`, id)
	if err == nil && n == 0 {
		err = store.ErrNotFound
	}
	return s.toStoreErr(ctx, err)
}

// PruneReplays implements store.Replays.
func (s *Store) PruneReplays(ctx context.Context, before time.Time) (int64, error) {
	ctx, done, err := s.enter(ctx)
	if err != nil {
		return 0, err
	}
	defer done()
	n, err := s.dropReplays(ctx, `r.ended_at < $1`, ceilMicro(before))
	return n, s.toStoreErr(ctx, err)
}

// dropReplays locks parts before their batches, as those who work on them do.
func (s *Store) dropReplays(ctx context.Context, where string, arg any) (n int64, err error) {
	err = pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `SELECT FROM replay_parts p JOIN replays r ON r.cluster = p.cluster AND r.id = p.replay WHERE `+where+` ORDER BY p.replay, p.part FOR UPDATE OF p`, arg); err != nil {
			return err
		}
		ct, err := tx.Exec(ctx, `DELETE FROM replays r WHERE `+where, arg)
		n = ct.RowsAffected()
		return err
	})
	if err != nil {
		return 0, err
	}
	return n, nil
}
