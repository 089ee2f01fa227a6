package lists

import "berth/internal/store"

// PutFacts writes facts of a pod, or that it was seen again.
const PutFacts = `INSERT INTO judged_pods AS p (cluster, pod_digest, namespace, name, uid,
  owner_kind, owner_name, priority_class, priority, scheduler, cpu_milli, memory_bytes,
  requests, labels, pod_created_at, seen_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)
ON CONFLICT (cluster, pod_digest) DO UPDATE SET
  seen_at = CASE WHEN excluded.seen_at > p.seen_at THEN excluded.seen_at ELSE p.seen_at END`

// FactValues returns what the columns of the facts that a decision has hold; nil without any. Times
// are as such.
func FactValues(d *store.Decision) ([]any, error) {
	f, err := d.PodFacts()
	if f == nil || err != nil {
		return nil, err
	}
	var created any
	if !f.CreatedAt.IsZero() {
		created = f.CreatedAt
	}
	return []any{
		d.Cluster, d.PodDigest, d.Namespace, d.Pod, d.PodUID,
		OrNull(f.OwnerKind), OrNull(f.OwnerName), OrNull(f.PriorityClass), d.Priority,
		f.Scheduler, f.CPUMilli, f.MemoryBytes, string(f.Requests), string(f.Labels),
		created, d.CreatedAt,
	}, nil
}
