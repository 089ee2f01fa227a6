package lists

import (
	"time"

	"berth/internal/store"
)

// PutFacts writes facts of a pod, or that it was seen again.
const PutFacts = `INSERT INTO judged_pods (cluster, pod_digest, namespace, name, uid, owner_kind, owner_name, priority_class, priority,
  scheduler, cpu_milli, memory_bytes, requests, labels, pod_created_at, seen_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)
ON CONFLICT (cluster, pod_digest) DO UPDATE SET seen_at = excluded.seen_at WHERE judged_pods.seen_at < excluded.seen_at`

// FactValues returns what the columns of facts hold. instant returns a time as the backend writes
// it.
func FactValues(f *store.PodFacts, instant func(time.Time) any) []any {
	var created any
	if !f.CreatedAt.IsZero() {
		created = instant(f.CreatedAt)
	}
	return []any{
		f.Cluster, f.Digest, f.Namespace, f.Name, f.UID, OrNull(f.OwnerKind), OrNull(f.OwnerName), OrNull(f.PriorityClass), f.Priority,
		f.Scheduler, f.CPUMilli, f.MemoryBytes, f.Requests, f.Labels, created, instant(f.SeenAt),
	}
}
