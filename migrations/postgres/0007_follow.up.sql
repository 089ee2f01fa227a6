-- A place in the log that is given when a record is committed, so that a reader
-- who goes on after the last place that it saw misses nothing: created_at is
-- when the answer was made, and records come in late and out of that order.
-- What is there is numbered by created_at and id, and each row written anew.

ALTER TABLE decisions ADD COLUMN seq bigint NOT NULL DEFAULT 0;
UPDATE decisions d SET seq = q.seq
FROM (SELECT cluster, created_at, id, row_number() OVER (PARTITION BY cluster ORDER BY created_at, id) AS seq FROM decisions) q
WHERE q.cluster = d.cluster AND q.created_at = d.created_at AND q.id = d.id;
ALTER TABLE decisions ALTER COLUMN seq DROP DEFAULT;
CREATE INDEX decisions_by_seq ON decisions (cluster, seq);

-- The last place given. It never goes back: the row of a cluster that had
-- decisions stays where the cluster is deleted, for those who follow it.
ALTER TABLE clusters ADD COLUMN last_seq bigint NOT NULL DEFAULT 0;
UPDATE clusters SET last_seq = (SELECT coalesce(max(d.seq), 0) FROM decisions d WHERE d.cluster = clusters.cluster);

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
       d.seq
FROM decisions d LEFT JOIN stamps t ON t.id = d.stamp;

UPDATE schema_version SET version = 7;
