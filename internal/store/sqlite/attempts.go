package sqlite

import (
	"context"
	"encoding/json"
	"fmt"

	"berth/internal/memory"
	"berth/internal/store"
	"berth/internal/store/lists"
)

// sqlAttempts has each name looked up in the index by pod.
const sqlAttempts = `SELECT d.namespace, d.pod, d.pod_uid, count(*), max(d.created_at), max(max(d.revision, d.bound_revision))
FROM json_each(?) n CROSS JOIN decisions d
WHERE d.cluster = ? AND d.pod = n.value AND d.created_at <= ? AND d.revision <= ? AND d.bound_revision <= ?
AND d.verb IN ('decide', 'filter') AND d.outcome IN ('Unschedulable', 'Preempting')
GROUP BY d.namespace, d.pod, d.pod_uid`

const sqlLastChange = `SELECT coalesce((SELECT r.number FROM revisions r WHERE r.cluster = ? AND r.number <= ?
AND NOT EXISTS (SELECT 1 FROM decisions d WHERE d.cluster = r.cluster AND d.bound_revision = r.number AND d.bound_revision > 0 AND d.outcome <> 'Scheduled')
ORDER BY r.number DESC LIMIT 1), 0)`

// FailedAttempts implements store.Attempts.
func (s *Store) FailedAttempts(ctx context.Context, f store.AttemptFilter) (out []store.FailedAttempts, err error) {
	if err := s.usable(); err != nil {
		return nil, err
	}
	names, err := json.Marshal(f.Pods)
	if err != nil {
		return nil, fmt.Errorf("encode names: %w", err)
	}
	rows, err := s.reads.QueryContext(ctx, sqlAttempts, string(names), f.Cluster, f.Until.UnixMicro(), f.Revision, f.Revision)
	if err != nil {
		return nil, s.toStoreErr(err)
	}
	defer func() { _ = rows.Close() }() // its errors come through rows.Err
	for rows.Next() {
		var a store.FailedAttempts
		var uid []byte
		var last int64
		if err := rows.Scan(&a.Namespace, &a.Pod, &uid, &a.Count, &last, &a.Revision); err != nil {
			return nil, s.toStoreErr(err)
		}
		a.UID, a.Last = lists.UnpackUID(uid), fromMicro(last)
		if err := memory.Take(ctx, a.Footprint()); err != nil {
			return nil, err
		}
		out = append(out, a)
	}
	return out, s.toStoreErr(rows.Err())
}

// LastChange implements store.Attempts.
func (s *Store) LastChange(ctx context.Context, cluster string, revision int64) (number int64, err error) {
	if err := s.usable(); err != nil {
		return 0, err
	}
	return number, s.toStoreErr(s.reads.QueryRowContext(ctx, sqlLastChange, cluster, revision).Scan(&number))
}
