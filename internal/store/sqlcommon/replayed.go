package sqlcommon

import (
	"context"
	"time"

	"berth/internal/store"
)

// What is known of replays beyond their jobs.
const (
	// overrides of a job j, in words.
	overrides = `trim(CASE WHEN j.profile <> '' THEN 'profile ' ELSE '' END || CASE WHEN length(j.config) > 0 THEN 'config ' ELSE '' END
  || CASE WHEN j.release <> '' THEN 'semantics' ELSE '' END)`

	sqlPutResult = `INSERT INTO replay_results (cluster, decision_id, replay, batch, seq, identical, differences, overrides, semantics,
  profile_digest, asked_by, peer, request_id, created_at)
VALUES ($1, $2, $3, FALSE, $4, $5, $6, $7, $8, nullif($9, ''), nullif($10, ''), nullif($11, ''), nullif($12, ''), $13) ON CONFLICT DO NOTHING`

	sqlKeepRuns = `INSERT INTO replay_runs (cluster, id, state, since, until, through_seq, overrides, semantics,
  total, identical, different, errors, asked_by, created_at, ended_at)
SELECT j.cluster, j.id, j.state, j.since, j.until, j.through_seq, ` + overrides + `, j.semantics,
  coalesce(sum(p.total), 0), coalesce(sum(p.identical), 0), coalesce(sum(p.different), 0), coalesce(sum(p.errors), 0),
  nullif(j.asked_by, ''), j.created_at, j.ended_at
FROM replays j LEFT JOIN replay_parts p ON p.cluster = j.cluster AND p.replay = j.id
WHERE %s GROUP BY j.cluster, j.id ON CONFLICT DO NOTHING`
	sqlKeepResults = `INSERT INTO replay_results (cluster, decision_id, replay, batch, seq, identical, differences, overrides, semantics,
  profile_digest, asked_by, created_at)
SELECT j.cluster, x.decision_id, j.id, TRUE, d.seq, FALSE, {differences}, ` + overrides + `, coalesce(j.semantics, ''),
  CASE WHEN ` + overrides + ` = '' THEN t.profile_digest END, nullif(j.asked_by, ''), coalesce(j.ended_at, j.created_at)
FROM replays j JOIN replay_differences x ON x.cluster = j.cluster AND x.replay = j.id
LEFT JOIN decisions d ON d.cluster = x.cluster AND d.created_at = x.created_at AND d.id = x.decision_id
LEFT JOIN stamps t ON t.id = d.stamp
WHERE %s ON CONFLICT DO NOTHING`
)

// retained are the statements by which records go that are older than a time.
var retained = []string{
	`DELETE FROM replay_results WHERE created_at < $1`,
	`DELETE FROM replay_runs WHERE coalesce(ended_at, created_at) < $1`,
	`DELETE FROM denials WHERE minute < $1`,
	`DELETE FROM placement_holds WHERE ended_at < $1`,
}

// PutReplay implements store.Jobs.
func (s Jobs) PutReplay(ctx context.Context, r *store.ReplayResult) error {
	if err := r.Validate(); err != nil {
		return err
	}
	return s.write(ctx, func(t tx) error {
		_, err := t.Exec(sqlPutResult, r.Cluster, r.DecisionID, r.ID, r.Seq, r.Identical, r.Differences, r.Overrides, r.Semantics,
			r.ProfileDigest, r.Asked.By, r.Asked.Peer, r.Asked.RequestID, r.CreatedAt.Truncate(time.Microsecond))
		return err
	})
}

const sqlPutDenial = `INSERT INTO denials (minute, instance, cluster, caller, route, status, reason, asked_by, peer, count, first_at, last_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, nullif($8, ''), nullif($9, ''), $10, $11, $12) ON CONFLICT DO NOTHING`

// PutDenials implements store.Denials.
func (l Logs) PutDenials(ctx context.Context, list []store.Denial) error {
	return l.db.Write(ctx, func(x Tx) error {
		for i := range list {
			d := &list[i]
			_, err := x.Exec(l.d.Text(sqlPutDenial), orNull(d.Minute), d.Instance, d.Cluster, d.Caller, d.Route, d.Status, d.Reason,
				d.AskedBy, d.Peer, d.Count, orNull(d.FirstAt), orNull(d.LastAt))
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// RetainLogs deletes what replays came to, refused calls and holds that have ended, as far as they
// are before a time.
func (l Logs) RetainLogs(ctx context.Context, before time.Time) error {
	return l.db.Write(ctx, func(x Tx) error {
		for _, query := range retained {
			if _, err := x.Exec(l.d.Text(query), ceil(before)); err != nil {
				return err
			}
		}
		return nil
	})
}
