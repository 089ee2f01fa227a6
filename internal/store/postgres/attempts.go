package postgres

import (
	"context"

	"berth/internal/memory"
	"berth/internal/store"
	"berth/internal/store/lists"
)

const sqlAttempts = `SELECT namespace, pod, pod_uid, attempts, last, revision, rejected_by FROM (
  SELECT namespace, pod, pod_uid, count(*) OVER of_pod AS attempts, coalesce(asked_as_of, created_at) AS last,
    greatest(revision, bound_revision) AS revision, rejected_by,
    row_number() OVER (of_pod ORDER BY coalesce(asked_as_of, created_at) DESC, seq DESC) AS place
  FROM decisions
  WHERE cluster = $1 AND pod = ANY($2) AND coalesce(asked_as_of, created_at) <= $3 AND ($4 OR asked_as_of IS NULL)
  AND revision <= $5 AND bound_revision <= $5
  AND verb IN ('decide', 'filter') AND outcome IN ('Unschedulable', 'Preempting')
  WINDOW of_pod AS (PARTITION BY namespace, pod, pod_uid)
) d WHERE place = 1`

// FailedAttempts implements store.Attempts.
func (s *Store) FailedAttempts(ctx context.Context, f store.AttemptFilter) (out []store.FailedAttempts, err error) {
	ctx, done, err := s.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	rows, err := s.pool.Query(ctx, sqlAttempts, f.Cluster, f.Pods, f.Until.UTC(), f.Named, f.Revision)
	if err != nil {
		return nil, s.toStoreErr(ctx, err)
	}
	defer rows.Close()
	for rows.Next() {
		var a store.FailedAttempts
		var uid []byte
		if err := rows.Scan(&a.Namespace, &a.Pod, &uid, &a.Count, moment{&a.Last}, &a.Revision, lists.TextOrNull(&a.RejectedBy)); err != nil {
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
