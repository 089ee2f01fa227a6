package postgres

import (
	"context"

	"berth/internal/memory"
	"berth/internal/store"
	"berth/internal/store/lists"
)

const sqlAttempts = `SELECT namespace, pod, pod_uid, count(*), max(created_at), max(greatest(revision, bound_revision))
FROM decisions
WHERE cluster = $1 AND pod = ANY($2) AND created_at <= $3 AND revision <= $4 AND bound_revision <= $4
AND verb IN ('decide', 'filter') AND outcome IN ('Unschedulable', 'Preempting')
GROUP BY namespace, pod, pod_uid`

const sqlLastChange = `SELECT coalesce((SELECT r.number FROM revisions r WHERE r.cluster = $1 AND r.number <= $2
AND NOT EXISTS (SELECT 1 FROM decisions d WHERE d.cluster = r.cluster AND d.bound_revision = r.number AND d.bound_revision > 0 AND d.outcome <> 'Scheduled')
ORDER BY r.number DESC LIMIT 1), 0)`

// FailedAttempts implements store.Attempts.
func (s *Store) FailedAttempts(ctx context.Context, f store.AttemptFilter) (out []store.FailedAttempts, err error) {
	ctx, done, err := s.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	rows, err := s.pool.Query(ctx, sqlAttempts, f.Cluster, f.Pods, f.Until.UTC(), f.Revision)
	if err != nil {
		return nil, s.toStoreErr(ctx, err)
	}
	defer rows.Close()
	for rows.Next() {
		var a store.FailedAttempts
		var uid []byte
		if err := rows.Scan(&a.Namespace, &a.Pod, &uid, &a.Count, moment{&a.Last}, &a.Revision); err != nil {
			return nil, s.toStoreErr(ctx, err)
		}
		a.UID = lists.UnpackUID(uid)
		if err := memory.Take(ctx, a.Footprint()); err != nil {
			return nil, err
		}
		out = append(out, a)
	}
	return out, s.toStoreErr(ctx, rows.Err())
}

// LastChange implements store.Attempts.
func (s *Store) LastChange(ctx context.Context, cluster string, revision int64) (number int64, err error) {
	ctx, done, err := s.enter(ctx)
	if err != nil {
		return 0, err
	}
	defer done()
	return number, s.toStoreErr(ctx, s.pool.QueryRow(ctx, sqlLastChange, cluster, revision).Scan(&number))
}
