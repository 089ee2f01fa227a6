package sqlite

import (
	"context"
	"encoding/json"
	"fmt"

	"berth/internal/store"
	"berth/internal/store/sqlcommon"
)

// sqlAttempts has each name looked up in the index by pod.
const sqlAttempts = `SELECT namespace, pod, pod_uid, attempts, last, revision, rejected_by FROM (
  SELECT d.namespace, d.pod, d.pod_uid, count(*) OVER of_pod AS attempts, coalesce(d.asked_as_of, d.created_at) AS last,
    max(d.revision, d.bound_revision) AS revision, d.rejected_by,
    row_number() OVER (of_pod ORDER BY coalesce(d.asked_as_of, d.created_at) DESC, d.seq DESC) AS place
  FROM json_each(?1) n CROSS JOIN decisions d
  WHERE d.cluster = ?2 AND d.pod = n.value AND coalesce(d.asked_as_of, d.created_at) <= ?3 AND (?4 OR d.asked_as_of IS NULL)
  AND d.revision + 0 <= ?5 AND d.bound_revision <= ?5
  AND d.verb IN ('decide', 'filter') AND d.outcome IN ('Unschedulable', 'Preempting')
  WINDOW of_pod AS (PARTITION BY d.namespace, d.pod, d.pod_uid)
) WHERE place = 1`

// FailedAttempts implements store.Attempts.
func (s *Store) FailedAttempts(ctx context.Context, f store.AttemptFilter) ([]store.FailedAttempts, error) {
	names, err := json.Marshal(f.Pods)
	if err != nil {
		return nil, fmt.Errorf("encode names: %w", err)
	}
	return sqlcommon.FailedAttempts(ctx, common{s}, sqlAttempts, string(names), f.Cluster, f.Until, f.Named, f.Revision)
}
