package postgres

import (
	"context"

	"berth/internal/store"
	"berth/internal/store/sqlcommon"
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
func (s *Store) FailedAttempts(ctx context.Context, f store.AttemptFilter) ([]store.FailedAttempts, error) {
	return sqlcommon.FailedAttempts(ctx, common{s}, sqlAttempts, f.Cluster, f.Pods, f.Until.UTC(), f.Named, f.Revision)
}
