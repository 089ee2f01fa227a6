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

UPDATE schema_version SET version = 6;
