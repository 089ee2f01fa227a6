-- A view cannot lose a column, so that those that stand on it are made again.
DROP VIEW nominations_never_bound;
DROP VIEW preemption_pairs;
DROP VIEW decision_log;

-- The log, a row a decision.
CREATE VIEW decision_log AS
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

-- A pod that is evicted, comes back under its name and is evicted by the same
-- pod again. evictions counts pods by UID, so that deciding twice before the
-- victim has left is not a pair.
CREATE VIEW preemption_pairs AS
SELECT v.cluster, v.namespace, v.pod, v.victim_namespace, v.victim,
       count(DISTINCT v.victim_uid) AS evictions,
       count(DISTINCT v.decision_id) AS decisions,
       min(v.time) AS first, max(v.time) AS last,
       min(v.created_at) AS first_at, max(v.created_at) AS last_at
FROM decision_victims v JOIN decision_log d ON d.cluster = v.cluster AND d.created_at = v.created_at AND d.id = v.decision_id
WHERE d.outcome = 'Preempting' AND d.nominated_node = v.node
GROUP BY v.cluster, v.namespace, v.pod, v.victim_namespace, v.victim
HAVING count(DISTINCT v.victim_uid) > 1;

-- Nominations that were written and that no bind of the pod followed.
CREATE VIEW nominations_never_bound AS
SELECT n.cluster, n.namespace, n.pod, n.nominated_node AS node,
       count(*) AS nominations,
       min(n.time) AS first, max(n.time) AS last,
       min(n.created_at) AS first_at, max(n.created_at) AS last_at
FROM decision_log n
WHERE n.outcome = 'Preempting' AND n.bound_snapshot IS NOT NULL
  AND NOT EXISTS (
    SELECT 1 FROM decision_log b
    WHERE b.cluster = n.cluster AND b.pod = n.pod AND b.namespace = n.namespace AND b.created_at >= n.created_at
      AND b.outcome = 'Scheduled' AND b.bound_snapshot IS NOT NULL)
GROUP BY n.cluster, n.namespace, n.pod, n.nominated_node;

DO $$
BEGIN
  GRANT SELECT ON preemption_pairs, nominations_never_bound TO berth_reader;
EXCEPTION WHEN undefined_object OR insufficient_privilege THEN
  RAISE NOTICE 'berth_reader is not let in: %', SQLERRM;
END
$$;

DO $$
BEGIN
  GRANT SELECT ON decision_log TO berth_reader;
EXCEPTION WHEN undefined_object OR insufficient_privilege THEN
  RAISE NOTICE 'berth_reader is not let in: %', SQLERRM;
END
$$;

ALTER TABLE decisions DROP COLUMN stale_ms;
ALTER TABLE decisions DROP COLUMN mode;

UPDATE schema_version SET version = 8;
