-- How an answer was used (a shadow's was recorded only), and for how long the
-- state that it was made on may have missed what happened, of a cluster that is
-- followed through its apiserver. Rows of before were given as they are.

ALTER TABLE decisions ADD COLUMN mode text NOT NULL DEFAULT '';
ALTER TABLE decisions ADD COLUMN stale_ms bigint;

-- The log, a row a decision.
CREATE OR REPLACE VIEW decision_log AS
SELECT d.cluster,
       to_char(d.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS time,
       d.verb, d.namespace, d.pod, d.outcome, d.node, d.nominated_node, d.message,
       d.nodes_total, d.nodes_feasible, d.priority, t.profile,
       d.cluster || '@' || d.revision AS snapshot,
       CASE WHEN d.bound_revision > 0 THEN d.cluster || '@' || d.bound_revision END AS bound_snapshot,
       d.duration_micros / 1000.0::float8 AS duration_ms,
       t.engine, t.semantics, d.id, d.created_at,
       CASE octet_length(d.pod_uid) WHEN 16 THEN encode(d.pod_uid, 'hex')::uuid::text ELSE convert_from(d.pod_uid, 'UTF8') END AS pod_uid,
       d.decided_as_of, d.revision, d.bound_revision, t.profile_digest,
       CASE octet_length(d.snapshot_digest) WHEN 32 THEN 'sha256:' || encode(d.snapshot_digest, 'hex') ELSE convert_from(d.snapshot_digest, 'UTF8') END AS snapshot_digest,
       CASE octet_length(d.pod_digest) WHEN 32 THEN 'sha256:' || encode(d.pod_digest, 'hex') ELSE convert_from(d.pod_digest, 'UTF8') END AS pod_digest,
       CASE octet_length(d.answer_digest) WHEN 32 THEN 'sha256:' || encode(d.answer_digest, 'hex') ELSE convert_from(d.answer_digest, 'UTF8') END AS answer_digest,
       d.seq, d.mode, d.stale_ms / 1000.0::float8 AS stale_seconds
FROM decisions d LEFT JOIN stamps t ON t.id = d.stamp;

UPDATE schema_version SET version = 9;
