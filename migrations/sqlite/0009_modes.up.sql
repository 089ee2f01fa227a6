-- How an answer was used (a shadow's was recorded only), and for how long the
-- state that it was made on may have missed what happened, of a cluster that is
-- followed through its apiserver. Rows of before were given as they are.

ALTER TABLE decisions ADD COLUMN mode TEXT NOT NULL DEFAULT '';
ALTER TABLE decisions ADD COLUMN stale_ms INTEGER;

DROP VIEW decision_log;
-- The log, a row a decision.
CREATE VIEW decision_log AS
SELECT d.cluster,
       strftime('%Y-%m-%dT%H:%M:%S', d.created_at / 1000000, 'unixepoch') || printf('.%06dZ', d.created_at % 1000000) AS time,
       d.verb, d.namespace, d.pod, d.outcome, d.node, d.nominated_node, d.message,
       d.nodes_total, d.nodes_feasible, d.priority, t.profile,
       d.cluster || '@' || d.revision AS snapshot,
       CASE WHEN d.bound_revision > 0 THEN d.cluster || '@' || d.bound_revision END AS bound_snapshot,
       d.duration_micros / 1000.0 AS duration_ms,
       t.engine, t.semantics, d.id, d.created_at,
       CASE length(d.pod_uid) WHEN 16 THEN lower(substr(hex(d.pod_uid), 1, 8) || '-' || substr(hex(d.pod_uid), 9, 4) || '-' || substr(hex(d.pod_uid), 13, 4) || '-' || substr(hex(d.pod_uid), 17, 4) || '-' || substr(hex(d.pod_uid), 21)) ELSE CAST(d.pod_uid AS TEXT) END AS pod_uid,
       d.decided_as_of, d.revision, d.bound_revision, t.profile_digest,
       CASE length(d.snapshot_digest) WHEN 32 THEN 'sha256:' || lower(hex(d.snapshot_digest)) ELSE CAST(d.snapshot_digest AS TEXT) END AS snapshot_digest,
       CASE length(d.pod_digest) WHEN 32 THEN 'sha256:' || lower(hex(d.pod_digest)) ELSE CAST(d.pod_digest AS TEXT) END AS pod_digest,
       CASE length(d.answer_digest) WHEN 32 THEN 'sha256:' || lower(hex(d.answer_digest)) ELSE CAST(d.answer_digest AS TEXT) END AS answer_digest,
       d.seq, d.mode, d.stale_ms / 1000.0 AS stale_seconds
FROM decisions d LEFT JOIN stamps t ON t.id = d.stamp;

PRAGMA user_version = 9;
