package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"berth/internal/store"

	"github.com/jackc/pgx/v5"
)

// Locks are taken in the order part, batch.
const (
	sqlClaimPart = `WITH free AS (
  SELECT p.cluster, p.replay, p.part FROM replays r JOIN replay_parts p ON p.cluster = r.cluster AND p.replay = r.id
  WHERE r.state IN ('queued', 'running') AND p.state <> 'done' AND (p.owner = '' OR p.lease_until < clock_timestamp())
  ORDER BY r.id, p.part LIMIT 1 FOR UPDATE OF p SKIP LOCKED
)
UPDATE replay_parts p SET state = 'running', owner = $1, lease_until = clock_timestamp() + $2 * interval '1 microsecond', attempts = attempts + 1
FROM free WHERE p.cluster = free.cluster AND p.replay = free.replay AND p.part = free.part
RETURNING p.cluster, p.replay, p.part, p.first, p.last, p.state, p.owner, p.attempts, p.cursor_revision, p.cursor_at, p.cursor_id,
  p.total, p.done, p.identical, p.different, p.errors`
	sqlBeginReplay = `UPDATE replays SET state = 'running' WHERE cluster = $1 AND id = $2 AND state = 'queued'`
	// The counter guards against a second time where the first one's answer was
	// lost, the owner against a part that was taken over.
	sqlAdvancePart = `UPDATE replay_parts SET state = $6, attempts = 0, lease_until = clock_timestamp() + $7 * interval '1 microsecond',
  owner = CASE WHEN $6 = 'done' THEN '' ELSE owner END,
  cursor_revision = $8, cursor_at = $9, cursor_id = $10, total = $11, done = $12, identical = $13, different = $14, errors = $15
WHERE cluster = $1 AND replay = $2 AND part = $3 AND owner = $4 AND done = $5 AND state = 'running'`
	sqlPutDifferences = `INSERT INTO replay_differences (cluster, replay, revision, created_at, decision_id, payload)
SELECT $1, $2, d.revision, d.created_at, d.id, d.payload FROM unnest($3::bigint[], $4::timestamptz[], $5::text[], $6::text[]) d (revision, created_at, id, payload)`
	sqlFinishReplay = `UPDATE replays SET state = 'done', ended_at = clock_timestamp() WHERE cluster = $1 AND id = $2 AND state = 'running'
AND NOT EXISTS (SELECT 1 FROM replay_parts WHERE cluster = $1 AND replay = $2 AND state <> 'done')`
	sqlDropReplays = `DELETE FROM replays WHERE cluster = $1` // parts and differences go with them
	sqlReleasePart = `UPDATE replay_parts SET owner = '', attempts = greatest(attempts - 1, 0)
WHERE cluster = $1 AND replay = $2 AND part = $3 AND owner = $4 AND state = 'running'`
)

// ClaimReplay implements store.Replays. Where the answer to a commit is lost,
// the part that it claimed waits for its lease to run out.
func (s *Store) ClaimReplay(ctx context.Context, owner string, lease time.Duration) (*store.ReplayPart, error) {
	var p store.ReplayPart
	err := s.inTx(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		p = store.ReplayPart{}
		var at time.Time
		err := conn.QueryRow(ctx, sqlClaimPart, owner, lease.Microseconds()).Scan(&p.Cluster, &p.Replay, &p.Number, &p.First, &p.Last, &p.State, &p.Owner, &p.Attempts,
			&p.Cursor.Revision, &at, &p.Cursor.ID, &p.Total, &p.Done, &p.Identical, &p.Different, &p.Errors)
		if err != nil {
			return err
		}
		if p.Cursor.ID != "" {
			p.Cursor.CreatedAt = at.UTC()
		}
		_, err = conn.Exec(ctx, sqlBeginReplay, p.Cluster, p.Replay)
		return err
	})
	if err != nil {
		return nil, err
	}
	return &p, nil
}

// AdvanceReplay implements store.Replays.
func (s *Store) AdvanceReplay(ctx context.Context, before, after *store.ReplayPart, differ []*store.ReplayDifference, lease time.Duration) (state string, err error) {
	err = s.inTx(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		if err := conn.QueryRow(ctx, `SELECT state FROM replays WHERE cluster = $1 AND id = $2`, before.Cluster, before.Replay).Scan(&state); err != nil {
			return err
		}
		if state != store.ReplayQueued && state != store.ReplayRunning {
			return nil
		}
		ct, err := conn.Exec(ctx, sqlAdvancePart, before.Cluster, before.Replay, before.Number, before.Owner, before.Done, after.State, lease.Microseconds(),
			after.Cursor.Revision, cursorTime(after.Cursor), after.Cursor.ID, after.Total, after.Done, after.Identical, after.Different, after.Errors)
		if err != nil {
			return err
		}
		if ct.RowsAffected() != 1 {
			return fmt.Errorf("another process has part %d of replay %s by now: %w", before.Number, before.Replay, store.ErrConflict)
		}
		if err := putDifferences(ctx, conn, before, differ); err != nil || after.State != store.ReplayDone {
			return err
		}
		// Two last parts that end at once wait for each other here, and the
		// second sees the first. Both may hold the batch's key by differences that
		// they wrote, which this lock lets be.
		var held string
		if err := conn.QueryRow(ctx, `SELECT state FROM replays WHERE cluster = $1 AND id = $2 FOR NO KEY UPDATE`, before.Cluster, before.Replay).Scan(&held); err != nil {
			return err
		}
		if ct, err = conn.Exec(ctx, sqlFinishReplay, before.Cluster, before.Replay); ct.RowsAffected() == 1 {
			state = store.ReplayDone
		}
		return err
	})
	if err != nil {
		return "", err
	}
	return state, nil
}

func putDifferences(ctx context.Context, conn *pgx.Conn, p *store.ReplayPart, differ []*store.ReplayDifference) error {
	if len(differ) == 0 {
		return nil
	}
	n := len(differ)
	revisions, times, ids, payloads := make([]int64, n), make([]time.Time, n), make([]string, n), make([]string, n)
	for i, d := range differ {
		revisions[i], times[i], ids[i], payloads[i] = d.Revision, d.CreatedAt, d.ID, string(d.Payload)
	}
	ct, err := conn.Exec(ctx, sqlPutDifferences, p.Cluster, p.Replay, revisions, times, ids, payloads)
	if err == nil && ct.RowsAffected() != int64(n) {
		err = fmt.Errorf("write differences: %d rows, not %d", ct.RowsAffected(), n)
	}
	return err
}

// cursorTime is a cursor's time; one before all others for the zero cursor.
func cursorTime(c store.ReplayCursor) time.Time {
	if c.ID == "" {
		return time.Unix(0, 0)
	}
	return c.CreatedAt
}

// ReleaseReplay implements store.Replays.
func (s *Store) ReleaseReplay(ctx context.Context, p *store.ReplayPart) error {
	return s.inTx(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, sqlReleasePart, p.Cluster, p.Replay, p.Number, p.Owner)
		return errors.Join(err)
	})
}
