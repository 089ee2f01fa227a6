package sqlite

// The writer's statements. They are prepared once; the text is the key.
const (
	sqlBegin    = `BEGIN IMMEDIATE`
	sqlCommit   = `COMMIT`
	sqlRollback = `ROLLBACK`

	sqlHead = `SELECT newest, token FROM clusters WHERE cluster = ?`
	// The books are kept by difference, so that one statement a batch and
	// cluster is enough.
	sqlPutHead = `INSERT INTO clusters (cluster, newest, token, revisions, decisions) VALUES (?, ?, ?, ?, ?)
ON CONFLICT (cluster) DO UPDATE SET newest = excluded.newest, token = excluded.token,
  revisions = revisions + excluded.revisions, decisions = decisions + excluded.decisions`
	sqlDropHead = `DELETE FROM clusters WHERE cluster = ?`

	sqlToken       = `SELECT token FROM revisions WHERE cluster = ? AND number = ?`
	sqlPutRevision = `INSERT INTO revisions (cluster, number, token, parent_token, created_at, digest, cause, change, summary)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`
	sqlPutCheckpoint  = `INSERT INTO checkpoints (cluster, number, payload) VALUES (?, ?, ?) ON CONFLICT DO NOTHING`
	sqlNextCheckpoint = `SELECT EXISTS (SELECT 1 FROM checkpoints c WHERE c.cluster = r.cluster AND c.number = r.number)
FROM revisions r WHERE r.cluster = ? AND r.number > ? ORDER BY r.number LIMIT 1`
	sqlReferred = `SELECT EXISTS (SELECT 1 FROM decisions WHERE cluster = ?1 AND revision = ?2)
OR EXISTS (SELECT 1 FROM decisions WHERE cluster = ?1 AND bound_revision = ?2 AND bound_revision > 0)`
	sqlDropRevision  = `DELETE FROM revisions WHERE cluster = ? AND number = ?` // its checkpoint goes with it
	sqlCountDown     = `UPDATE clusters SET revisions = revisions - 1 WHERE cluster = ?`
	sqlDropDecisions = `DELETE FROM decisions WHERE cluster = ?`
	sqlDropRevisions = `DELETE FROM revisions WHERE cluster = ?`

	sqlRetain = `DELETE FROM decisions WHERE rowid IN
(SELECT rowid FROM decisions WHERE cluster = ? AND created_at < ? ORDER BY created_at LIMIT ?)`
	sqlCountDecisionsDown = `UPDATE clusters SET decisions = decisions - ? WHERE cluster = ?`

	sqlPutProfile = `INSERT INTO profiles (digest, name, payload) VALUES (?, ?, ?) ON CONFLICT DO NOTHING`

	sqlPutDecision = `INSERT INTO decisions (` + decisionColumns + `, failures, scores, victims, input)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`
	sqlDecisionCluster = `SELECT cluster FROM decisions WHERE id = ?`
	sqlDropDecision    = `DELETE FROM decisions WHERE id = ?`

	sqlBumpClasses = `INSERT INTO priority_class_versions (cluster, version) VALUES (?, 1)
ON CONFLICT (cluster) DO UPDATE SET version = version + 1 RETURNING version`
	sqlBumpKnownClasses = `UPDATE priority_class_versions SET version = version + 1 WHERE cluster = ?`
	sqlClass            = `SELECT version, value, global_default, preemption_policy, payload FROM priority_classes WHERE cluster = ? AND name = ?`
	sqlDefaultClass     = `SELECT name FROM priority_classes WHERE cluster = ? AND name <> ? AND global_default = 1`
	sqlPutClass         = `INSERT INTO priority_classes (cluster, name, version, value, global_default, preemption_policy, payload)
VALUES (?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (cluster, name) DO UPDATE SET version = excluded.version, value = excluded.value,
  global_default = excluded.global_default, preemption_policy = excluded.preemption_policy, payload = excluded.payload`
	sqlDropClass   = `DELETE FROM priority_classes WHERE cluster = ? AND name = ?`
	sqlDropClasses = `DELETE FROM priority_classes WHERE cluster = ?`

	// decisionColumns are those that a list shows, in the order of
	// decisionValues and decisionTargets.
	decisionColumns = `cluster, id, created_at, decided_as_of, revision, bound_revision, verb, outcome,
namespace, pod, pod_uid, node, nominated_node, priority, nodes_total, nodes_feasible, message,
profile, profile_digest, engine, semantics, snapshot_digest, pod_digest, answer_digest, duration_micros`
)

var writerSQL = []string{
	sqlBegin, sqlCommit, sqlRollback, sqlHead, sqlPutHead, sqlDropHead, sqlToken, sqlPutRevision,
	sqlPutCheckpoint, sqlNextCheckpoint, sqlReferred, sqlDropRevision, sqlCountDown, sqlDropDecisions,
	sqlDropRevisions, sqlPutProfile, sqlPutDecision, sqlDropDecision,
	sqlRetain, sqlCountDecisionsDown, sqlPrune, sqlCountRevisionsDown, sqlDecisionCluster,
	sqlPutGap, sqlDropGaps, sqlRetainGaps,
	sqlBumpClasses, sqlBumpKnownClasses, sqlClass, sqlDefaultClass, sqlPutClass, sqlDropClass, sqlDropClasses,
}
