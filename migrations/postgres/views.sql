-- All views, as this program shows them. The file is run after the migrations, in one transaction.
-- CREATE OR REPLACE leaves what others built on a view and the rights to it, but only takes new
-- columns at the end: a migration that changes others drops the view first.
--
-- They are for people, with the same names and columns on every backend. Narrow them with the raw
-- columns (cluster, created_at, pod, node), which have indexes; the column time is for reading.

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
       d.seq, d.mode, d.stale_ms / 1000.0::float8 AS stale_seconds,
       d.asked_by, d.peer, d.request_id, d.asked_as_of, d.rejected_by,
       d.id AS decision_id,
       coalesce(d.purpose, CASE WHEN d.mode = 'shadow' THEN 'shadow' WHEN d.bound_revision > 0 OR d.verb <> 'decide' THEN 'live' END) AS purpose, d.attempt,
       (extract(epoch FROM d.created_at) * 1000000)::bigint AS unix_micros, d.placement
FROM decisions d LEFT JOIN stamps t ON t.id = d.stamp;

-- How many nodes each plugin rejected, and why. named_share is how many of them the record names.
CREATE OR REPLACE VIEW decision_failures AS
SELECT d.cluster, d.id AS decision_id,
       to_char(d.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS time,
       d.verb, d.namespace, d.pod, d.outcome,
       f.value ->> 0 AS plugin,
       CASE (f.value -> 1)::text WHEN '1' THEN 'Unschedulable' WHEN '2' THEN 'UnschedulableAndUnresolvable' ELSE f.value ->> 1 END AS code,
       f.value ->> 2 AS reason,
       (f.value ->> 3)::bigint AS nodes,
       d.nodes_total, d.created_at,
       coalesce(d.purpose, CASE WHEN d.mode = 'shadow' THEN 'shadow' WHEN d.bound_revision > 0 OR d.verb <> 'decide' THEN 'live' END) AS purpose, d.attempt,
       coalesce(json_array_length(f.value -> 4), 0)::float8 / nullif((f.value ->> 3)::bigint, 0) AS named_share
FROM decisions d, json_array_elements(d.failures::json) f;

-- How many nodes of each pool those were: pool is the value of the label of nodes that --pool-label
-- names, '' without the label, (others) behind the 20 pools with most of them. NULL: the record does
-- not count by pool, and nodes are all. named is nodes where the record names all nodes that the
-- plugin rejected for the reason, else 0.
CREATE OR REPLACE VIEW decision_pool_rejections AS
SELECT d.cluster, d.id AS decision_id,
       to_char(d.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS time,
       d.verb, d.namespace, d.pod, d.outcome,
       f.value ->> 0 AS plugin,
       CASE (f.value -> 1)::text WHEN '1' THEN 'Unschedulable' WHEN '2' THEN 'UnschedulableAndUnresolvable' ELSE f.value ->> 1 END AS code,
       f.value ->> 2 AS reason,
       p.value ->> 0 AS pool,
       coalesce(p.value ->> 1, f.value ->> 3)::bigint AS nodes,
       CASE WHEN json_array_length(f.value -> 4) >= (f.value ->> 3)::bigint THEN coalesce(p.value ->> 1, f.value ->> 3)::bigint ELSE 0 END AS named,
       coalesce(json_array_length(f.value -> 4), 0)::float8 / nullif((f.value ->> 3)::bigint, 0) AS named_share,
       d.created_at,
       coalesce(d.purpose, CASE WHEN d.mode = 'shadow' THEN 'shadow' WHEN d.bound_revision > 0 OR d.verb <> 'decide' THEN 'live' END) AS purpose, d.attempt
FROM decisions d CROSS JOIN json_array_elements(d.failures::json) f LEFT JOIN json_array_elements(f.value -> 7) p ON true;

-- Which nodes those were, as far as the record names them: a record keeps few
-- names, nodes says how many there were.
CREATE OR REPLACE VIEW decision_rejected_nodes AS
SELECT d.cluster, d.id AS decision_id,
       to_char(d.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS time,
       d.verb, d.namespace, d.pod, d.outcome,
       coalesce(f.value ->> 5, '') || n.value || coalesce(f.value ->> 6, '') AS node,
       f.value ->> 0 AS plugin,
       CASE (f.value -> 1)::text WHEN '1' THEN 'Unschedulable' WHEN '2' THEN 'UnschedulableAndUnresolvable' ELSE f.value ->> 1 END AS code,
       f.value ->> 2 AS reason,
       (f.value ->> 3)::bigint AS nodes,
       d.created_at,
       coalesce(d.purpose, CASE WHEN d.mode = 'shadow' THEN 'shadow' WHEN d.bound_revision > 0 OR d.verb <> 'decide' THEN 'live' END) AS purpose, d.attempt
FROM decisions d, json_array_elements(d.failures::json) f, json_array_elements_text(f.value -> 4) n;

-- The best nodes of each decision. plugins is JSON, see decision_plugin_scores.
CREATE OR REPLACE VIEW decision_scores AS
SELECT d.cluster, d.id AS decision_id,
       to_char(d.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS time,
       d.verb, d.namespace, d.pod,
       (s.value ->> 0)::integer AS rank,
       s.value ->> 1 AS node,
       (s.value ->> 2)::bigint AS total,
       s.value ->> 1 = d.node AS chosen,
       CASE WHEN coalesce(t.plugins, '') = '' THEN s.value ->> 3 ELSE (
         SELECT '[' || string_agg(format('{"plugin":%s,"raw":%s,"normalized":%s,"weight":%s,"weighted":%s}', nullif(t.plugins, '')::json -> (p.place - 1)::integer -> 0,
             CASE json_typeof(p.value) WHEN 'array' THEN p.value ->> 0 ELSE p.value #>> '{}' END,
             CASE json_typeof(p.value) WHEN 'array' THEN p.value ->> 1 ELSE p.value #>> '{}' END,
             nullif(t.plugins, '')::json -> (p.place - 1)::integer ->> 1,
             (CASE json_typeof(p.value) WHEN 'array' THEN p.value ->> 1 ELSE p.value #>> '{}' END)::bigint * (nullif(t.plugins, '')::json -> (p.place - 1)::integer ->> 1)::bigint), ',' ORDER BY p.place) || ']'
         FROM json_array_elements(s.value -> 3) WITH ORDINALITY p (value, place)) END AS plugins,
       d.created_at,
       coalesce(d.purpose, CASE WHEN d.mode = 'shadow' THEN 'shadow' WHEN d.bound_revision > 0 OR d.verb <> 'decide' THEN 'live' END) AS purpose, d.attempt
FROM decisions d LEFT JOIN stamps t ON t.id = d.stamp CROSS JOIN json_array_elements(d.scores::json) s;

-- What each plugin thought of the best nodes.
CREATE OR REPLACE VIEW decision_plugin_scores AS
SELECT d.cluster, d.id AS decision_id, d.namespace, d.pod,
       (s.value ->> 0)::integer AS rank,
       s.value ->> 1 AS node,
       CASE json_typeof(p.value) WHEN 'object' THEN p.value ->> 'plugin' ELSE nullif(t.plugins, '')::json -> (p.place - 1)::integer ->> 0 END AS plugin,
       (CASE json_typeof(p.value) WHEN 'object' THEN p.value ->> 'raw' WHEN 'array' THEN p.value ->> 0 ELSE p.value #>> '{}' END)::bigint AS raw,
       (CASE json_typeof(p.value) WHEN 'object' THEN p.value ->> 'normalized' WHEN 'array' THEN p.value ->> 1 ELSE p.value #>> '{}' END)::bigint AS normalized,
       (CASE json_typeof(p.value) WHEN 'object' THEN p.value ->> 'weight' ELSE nullif(t.plugins, '')::json -> (p.place - 1)::integer ->> 1 END)::bigint AS weight,
       CASE json_typeof(p.value) WHEN 'object' THEN (p.value ->> 'weighted')::bigint WHEN 'array' THEN (p.value ->> 1)::bigint * (nullif(t.plugins, '')::json -> (p.place - 1)::integer ->> 1)::bigint
         ELSE (p.value #>> '{}')::bigint * (nullif(t.plugins, '')::json -> (p.place - 1)::integer ->> 1)::bigint END AS weighted,
       d.created_at,
       coalesce(d.purpose, CASE WHEN d.mode = 'shadow' THEN 'shadow' WHEN d.bound_revision > 0 OR d.verb <> 'decide' THEN 'live' END) AS purpose, d.attempt
FROM decisions d LEFT JOIN stamps t ON t.id = d.stamp CROSS JOIN json_array_elements(d.scores::json) s CROSS JOIN json_array_elements(s.value -> 3) WITH ORDINALITY p (value, place);

-- By how much the first node beat the second: 0 is a tie, which was broken by
-- a hash of pod and node. tied counts those of the recorded best that have the first one's total.
CREATE OR REPLACE VIEW decision_margins AS
SELECT d.cluster, d.id AS decision_id, d.namespace, d.pod,
       d.scores::json #>> '{0,1}' AS first,
       d.scores::json #>> '{1,1}' AS second,
       (d.scores::json #>> '{0,2}')::bigint - (d.scores::json #>> '{1,2}')::bigint AS margin,
       d.created_at,
       (SELECT count(*) FROM json_array_elements(d.scores::json) s WHERE s.value ->> 2 = d.scores::json #>> '{0,2}') AS tied,
       to_char(d.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS time,
       coalesce(d.purpose, CASE WHEN d.mode = 'shadow' THEN 'shadow' WHEN d.bound_revision > 0 OR d.verb <> 'decide' THEN 'live' END) AS purpose, d.attempt
FROM decisions d
WHERE json_array_length(d.scores::json) > 1;

-- Who would be evicted for whom.
CREATE OR REPLACE VIEW decision_victims AS
SELECT d.cluster, d.id AS decision_id,
       to_char(d.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS time,
       d.namespace, d.pod, d.priority,
       v.value ->> 0 AS victim_namespace,
       v.value ->> 1 AS victim,
       v.value ->> 2 AS victim_uid,
       (v.value ->> 3)::integer AS victim_priority,
       v.value ->> 4 AS node,
       d.created_at,
       coalesce(d.purpose, CASE WHEN d.mode = 'shadow' THEN 'shadow' WHEN d.bound_revision > 0 OR d.verb <> 'decide' THEN 'live' END) AS purpose, d.attempt,
       v.value ->> 5 AS budget_violated, nullif(v.value ->> 6, '') AS victim_owner_kind, nullif(v.value ->> 7, '') AS victim_owner
FROM decisions d, json_array_elements(d.victims::json) v;

-- What was in the way of decisions that place nothing: at most ten objects of the nodes that are
-- nearest to taking the pod, the nearest first, and how many more these nodes have. Records of
-- releases that kept no names have no rows.
CREATE OR REPLACE VIEW decision_blockers AS
SELECT d.cluster, d.id AS decision_id,
       to_char(d.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS time,
       d.verb, d.namespace, d.pod, d.outcome,
       (b.place - 1)::integer AS rank,
       b.value ->> 0 AS plugin,
       b.value ->> 1 AS kind,
       nullif(b.value ->> 2, '') AS blocker_namespace,
       b.value ->> 3 AS blocker,
       b.value ->> 4 AS blocker_owner_kind, b.value ->> 5 AS blocker_owner,
       (d.blockers::json ->> 0)::bigint AS more,
       d.revision, d.created_at,
       coalesce(d.purpose, CASE WHEN d.mode = 'shadow' THEN 'shadow' WHEN d.bound_revision > 0 OR d.verb <> 'decide' THEN 'live' END) AS purpose, d.attempt
FROM decisions d, json_array_elements(d.blockers::json) WITH ORDINALITY AS b (value, place)
WHERE b.place > 1;

-- What was tried to place pods: a row an attempt, which is one decision that binds, or the calls of
-- one of kube-scheduler's cycles. Its outcome is that of its last record, which is looked for among
-- the pod's records up to its next attempt: no call comes later than an hour after the first.
-- Questions and shadow calls are none.
CREATE OR REPLACE VIEW attempts AS
SELECT s.cluster, s.attempt,
       to_char(s.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS time,
       s.namespace, s.pod, CASE octet_length(s.pod_uid) WHEN 16 THEN encode(s.pod_uid, 'hex')::uuid::text ELSE convert_from(s.pod_uid, 'UTF8') END AS pod_uid,
       s.verb, coalesce(e.outcome, s.outcome) AS outcome, coalesce(e.node, s.node) AS node, coalesce(e.nominated_node, s.nominated_node) AS nominated_node,
       CASE WHEN coalesce(e.outcome, s.outcome) = 'Scheduled' THEN '' ELSE coalesce(nullif(coalesce(e.message, s.message), ''), s.message) END AS message,
       CASE WHEN coalesce(e.outcome, s.outcome) <> 'Scheduled' THEN coalesce(e.rejected_by, s.rejected_by) END AS rejected_by,
       s.priority, t.profile, s.asked_by, s.purpose,
       (SELECT count(*) FROM decisions p
        WHERE p.cluster = s.cluster AND p.pod = s.pod AND p.namespace = s.namespace AND p.pod_uid = s.pod_uid AND p.attempt = p.id AND p.purpose IN ('live', 'watched')
          AND p.created_at <= s.created_at) AS number,
       extract(epoch FROM coalesce(e.created_at, s.created_at) - (SELECT f.created_at FROM decisions f
        WHERE f.cluster = s.cluster AND f.pod = s.pod AND f.namespace = s.namespace AND f.pod_uid = s.pod_uid AND f.attempt = f.id AND f.purpose IN ('live', 'watched')
          AND f.created_at <= s.created_at ORDER BY f.created_at LIMIT 1))::float8 AS waited_seconds,
       (SELECT '["' || string_agg(d.id, '","' ORDER BY d.seq) || '"]' FROM decisions d
        WHERE d.cluster = s.cluster AND d.pod = s.pod AND d.namespace = s.namespace AND d.attempt = s.id
          AND d.created_at >= s.created_at - interval '1 minute' AND d.created_at < coalesce((SELECT n.created_at FROM decisions n
        WHERE n.cluster = s.cluster AND n.pod = s.pod AND n.namespace = s.namespace AND n.pod_uid = s.pod_uid AND n.attempt = n.id AND n.purpose IN ('live', 'watched')
          AND n.created_at > s.created_at AND n.created_at < s.created_at + interval '2 hours' ORDER BY n.created_at LIMIT 1), s.created_at + interval '2 hours')) AS decisions,
       s.created_at, coalesce(e.created_at, s.created_at) AS ended_at,
       CASE octet_length(s.pod_digest) WHEN 32 THEN 'sha256:' || encode(s.pod_digest, 'hex') ELSE convert_from(s.pod_digest, 'UTF8') END AS pod_digest,
       s.revision, s.seq, s.placement
FROM decisions s LEFT JOIN stamps t ON t.id = s.stamp
LEFT JOIN LATERAL (
  SELECT d.outcome, d.node, d.nominated_node, d.message, d.rejected_by, d.created_at FROM decisions d
  WHERE s.verb <> 'decide' AND d.cluster = s.cluster AND d.pod = s.pod AND d.namespace = s.namespace AND d.attempt = s.id
          AND d.created_at >= s.created_at - interval '1 minute' AND d.created_at < coalesce((SELECT n.created_at FROM decisions n
        WHERE n.cluster = s.cluster AND n.pod = s.pod AND n.namespace = s.namespace AND n.pod_uid = s.pod_uid AND n.attempt = n.id AND n.purpose IN ('live', 'watched')
          AND n.created_at > s.created_at AND n.created_at < s.created_at + interval '2 hours' ORDER BY n.created_at LIMIT 1), s.created_at + interval '2 hours')
  ORDER BY d.seq DESC LIMIT 1) e ON true
WHERE s.attempt = s.id AND s.purpose IN ('live', 'watched');

-- Pods that were placed: a row a bind that took. A bind that the apiserver refused is none; one whose
-- answer never came is. Binds of before attempts were kept are found too.
CREATE OR REPLACE VIEW placements AS
SELECT b.cluster, b.id AS decision_id,
       to_char(b.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS time,
       b.namespace, b.pod, CASE octet_length(b.pod_uid) WHEN 16 THEN encode(b.pod_uid, 'hex')::uuid::text ELSE convert_from(b.pod_uid, 'UTF8') END AS pod_uid,
       b.node, b.verb, b.priority, t.profile, b.asked_by,
       nullif((SELECT count(*) FROM decisions p
        WHERE p.cluster = b.cluster AND p.pod = b.pod AND p.namespace = b.namespace AND p.pod_uid = b.pod_uid AND p.attempt = p.id AND p.purpose IN ('live', 'watched')
          AND p.created_at <= b.created_at), 0) AS attempts,
       extract(epoch FROM b.created_at - (SELECT f.created_at FROM decisions f
        WHERE f.cluster = b.cluster AND f.pod = b.pod AND f.namespace = b.namespace AND f.pod_uid = b.pod_uid AND f.attempt = f.id AND f.purpose IN ('live', 'watched')
          AND f.created_at <= b.created_at ORDER BY f.created_at LIMIT 1))::float8 AS waited_seconds,
       b.cluster || '@' || b.bound_revision AS bound_snapshot,
       b.bound_revision, b.created_at,
       CASE octet_length(b.pod_digest) WHEN 32 THEN 'sha256:' || encode(b.pod_digest, 'hex') ELSE convert_from(b.pod_digest, 'UTF8') END AS pod_digest,
       b.seq, coalesce(b.purpose, 'live') AS purpose, b.attempt,
       extract(epoch FROM b.created_at - (SELECT f.pod_created_at FROM judged_pods f WHERE f.cluster = b.cluster AND f.pod_digest = CASE octet_length(b.pod_digest) WHEN 32 THEN 'sha256:' || encode(b.pod_digest, 'hex') ELSE convert_from(b.pod_digest, 'UTF8') END))::float8 AS seconds_since_created,
       (extract(epoch FROM b.created_at) * 1000000)::bigint AS unix_micros, b.placement
FROM decisions b LEFT JOIN stamps t ON t.id = b.stamp
WHERE b.bound_revision + 0 > 0 AND b.outcome = 'Scheduled' AND b.verb IN ('decide', 'bind') -- + 0 keeps other indexes out of it
  AND NOT EXISTS (
    SELECT 1 FROM decisions r
    WHERE b.verb = 'bind' AND r.cluster = b.cluster AND r.pod = b.pod AND r.namespace = b.namespace AND r.pod_uid = b.pod_uid
      AND r.created_at >= b.created_at - interval '1 minute' AND r.created_at < b.created_at + interval '2 hours'
      AND r.seq + 0 > b.seq AND r.verb = 'bind-result' AND r.outcome = 'Unschedulable' AND coalesce(r.attempt = b.attempt, b.attempt IS NULL));

-- Pods as they were judged, a row for each digest of a pod.
CREATE OR REPLACE VIEW pod_facts AS
SELECT f.cluster, f.pod_digest, f.namespace, f.name AS pod, f.uid AS pod_uid, f.owner_kind, f.owner_name,
       f.priority_class, f.priority, f.scheduler, f.cpu_milli, f.memory_bytes, f.requests, f.labels,
       f.pod_created_at, f.seen_at,
       to_char(f.seen_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS time
FROM judged_pods f;

-- Their labels, a row a label.
CREATE OR REPLACE VIEW pod_labels AS
SELECT f.cluster, f.pod_digest, f.namespace, f.name AS pod, l.key AS label, l.value, f.seen_at
FROM judged_pods f, json_each_text(f.labels::json) l;

-- Why live attempts placed no pod, hour by hour, those that evicted others included. pods counts each
-- pod once, nodes those of the record that began the attempt.
CREATE OR REPLACE VIEW pending_reasons AS
SELECT d.cluster,
       to_char(d.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24":00:00Z"') AS hour,
       f.value ->> 0 AS plugin,
       f.value ->> 2 AS reason,
       count(DISTINCT d.namespace || '/' || d.pod) AS pods,
       count(DISTINCT d.id) AS decisions,
       sum((f.value ->> 3)::bigint)::bigint AS nodes,
       (to_char(d.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24":00:00Z"'))::timestamptz AS hour_at
FROM decisions d, json_array_elements(d.failures::json) f
WHERE d.outcome IN ('Unschedulable', 'Preempting') AND coalesce(d.attempt, d.id) = d.id
  AND (d.purpose = 'live' OR d.purpose IS NULL AND d.mode <> 'shadow' AND (d.bound_revision > 0 OR d.verb <> 'decide'))
GROUP BY 1, 2, 3, 4;

-- The line of a cluster's revisions.
CREATE OR REPLACE VIEW revision_log AS
SELECT r.cluster, r.cluster || '@' || r.number AS snapshot,
       to_char(r.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS time,
       r.cause, r.digest, length(r.change) AS change_bytes,
       length(c.payload) AS checkpoint_bytes,
       r.summary, r.number, r.created_at, r.asked_by, r.peer, r.request_id,
       coalesce(
         (SELECT o.changes FROM revision_changes o WHERE o.cluster = r.cluster AND o.revision = r.number AND o.place = 1),
         CASE WHEN r.cause = 'bind' THEN (
           SELECT 1 FROM decisions b
           WHERE b.cluster = r.cluster AND b.bound_revision = r.number AND b.bound_revision > 0 AND b.verb IN ('decide', 'bind')
             AND b.outcome = 'Scheduled' AND b.purpose IS NOT NULL LIMIT 1) END) AS objects
FROM revisions r LEFT JOIN checkpoints c ON c.cluster = r.cluster AND c.number = r.number;

-- What revisions changed, a row an object. The rows outlive their revision. A pod that a decision
-- bound is the decision's row; the other objects of its revision are rows of their own, and so is one
-- pod of a placement that changed nothing else, which has the count.
CREATE OR REPLACE VIEW revision_objects AS
SELECT o.cluster, o.revision, o.place, o.action, o.kind, o.namespace, o.name, o.uid, o.node, o.changed,
       o.cause, o.asked_by, o.created_at,
       to_char(o.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS time,
       o.cluster || '@' || o.revision AS snapshot, o.changes AS objects
FROM revision_changes o
UNION ALL
SELECT b.cluster, b.bound_revision, 0, 'apply'::text COLLATE "C", 'Pod'::text COLLATE "C", b.namespace COLLATE "C", b.pod COLLATE "C", nullif(CASE octet_length(b.pod_uid) WHEN 16 THEN encode(b.pod_uid, 'hex')::uuid::text ELSE convert_from(b.pod_uid, 'UTF8') END, '') COLLATE "C", b.node COLLATE "C", NULL::text,
       'bind'::text COLLATE "C", b.asked_by COLLATE "C", b.created_at,
       to_char(b.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
       b.cluster || '@' || b.bound_revision,
       coalesce((SELECT o.changes FROM revision_changes o WHERE o.cluster = b.cluster AND o.revision = b.bound_revision AND o.place = 1), 1)
FROM decisions b
WHERE b.bound_revision > 0 AND b.verb IN ('decide', 'bind') AND b.outcome = 'Scheduled' AND b.purpose IS NOT NULL
  AND (b.placement IS NULL OR NOT EXISTS (
    SELECT 1 FROM revision_changes o
    WHERE o.cluster = b.cluster AND o.revision = b.bound_revision AND o.place = 1 AND o.kind = 'Pod' AND o.namespace = b.namespace AND o.name = b.pod));

-- When pods were deleted, by what the index of deletions serves: a query of revision_objects reads
-- binds as well.
CREATE OR REPLACE VIEW pod_deletions AS
SELECT o.cluster, to_char(o.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS time,
       o.namespace, o.name AS pod, coalesce(o.uid, '') AS pod_uid, o.revision, o.cause, o.asked_by, o.created_at,
       (extract(epoch FROM o.created_at) * 1000000)::bigint AS unix_micros
FROM revision_changes o
WHERE o.action = 'delete' AND o.kind = 'Pod';

-- What was changed of priority classes, and so of who is evicted for whom.
CREATE OR REPLACE VIEW priority_class_log AS
SELECT l.cluster, l.seq, l.action, l.name, l.old_value, l.new_value, l.old_policy, l.new_policy,
       l.old_global_default = 1 AS old_global_default, l.new_global_default = 1 AS new_global_default,
       l.source, l.revision, l.asked_by, l.peer, l.request_id, l.created_at,
       to_char(l.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS time
FROM priority_class_changes l;

-- Who was evicted for whom: a row a victim of a nomination that was written. Candidates of /preempt,
-- questions and shadow calls are none. berth evicts nothing itself: gone_at is of the revision that
-- deleted the victim.
CREATE OR REPLACE VIEW evictions AS
SELECT e.cluster, e.decision_id, e.time, e.namespace, e.pod, e.pod_uid, e.priority,
       e.victim_namespace || '/' || e.victim_name AS victim, e.victim_uid, e.victim_priority,
       e.victim_owner_kind, e.victim_owner, e.node, e.verb, e.asked_by, e.budget_violated,
       (SELECT o.created_at FROM revision_changes o
        WHERE o.cluster = e.cluster AND o.namespace = e.victim_namespace AND o.name = e.victim_name AND o.action = 'delete'
          AND o.kind = 'Pod' AND o.revision > e.revision AND (o.uid = e.victim_uid OR e.victim_uid = '')
        ORDER BY o.revision LIMIT 1) AS gone_at,
       e.created_at, e.victim_namespace, e.victim_name, e.revision, e.seq, e.purpose, e.attempt, e.pod_digest
FROM (
  SELECT d.cluster, d.id AS decision_id,
         to_char(d.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS time,
         d.namespace, d.pod, CASE octet_length(d.pod_uid) WHEN 16 THEN encode(d.pod_uid, 'hex')::uuid::text ELSE convert_from(d.pod_uid, 'UTF8') END AS pod_uid, d.priority,
         v.value ->> 0 AS victim_namespace, v.value ->> 1 AS victim_name, v.value ->> 2 AS victim_uid, (v.value ->> 3)::integer AS victim_priority, v.value ->> 4 AS node,
         v.value ->> 5 AS budget_violated, nullif(v.value ->> 6, '') AS victim_owner_kind, nullif(v.value ->> 7, '') AS victim_owner,
         d.nominated_node, d.verb, d.asked_by, d.created_at, d.revision, d.seq, coalesce(d.purpose, 'live') AS purpose, d.attempt,
         CASE octet_length(d.pod_digest) WHEN 32 THEN 'sha256:' || encode(d.pod_digest, 'hex') ELSE convert_from(d.pod_digest, 'UTF8') END AS pod_digest
  FROM decisions d CROSS JOIN json_array_elements(d.victims::json) v
  WHERE d.outcome = 'Preempting' AND d.bound_revision + 0 > 0 -- + 0 keeps other indexes out of it
) e
WHERE e.node = e.nominated_node AND e.purpose IN ('live', 'watched');

-- Pods that were tried, and their end: placed, deleted before that, or waiting still.
CREATE OR REPLACE VIEW pods_over_time AS
SELECT p.cluster, p.namespace, p.pod, p.pod_uid, p.first_attempt_at, p.placed_at, p.gone_at,
       CASE WHEN p.placed_at IS NOT NULL THEN 'placed' WHEN p.gone_at IS NOT NULL THEN 'deleted' ELSE 'waits' END AS "end",
       p.priority, p.attempt
FROM (
  SELECT s.cluster, s.namespace, s.pod, CASE octet_length(s.pod_uid) WHEN 16 THEN encode(s.pod_uid, 'hex')::uuid::text ELSE convert_from(s.pod_uid, 'UTF8') END AS pod_uid, s.created_at AS first_attempt_at,
         (SELECT b.created_at FROM placements b
          WHERE b.cluster = s.cluster AND b.pod = s.pod AND b.namespace = s.namespace
            AND b.pod_uid = CASE octet_length(s.pod_uid) WHEN 16 THEN encode(s.pod_uid, 'hex')::uuid::text ELSE convert_from(s.pod_uid, 'UTF8') END AND b.created_at >= s.created_at
          ORDER BY b.created_at LIMIT 1) AS placed_at,
         (SELECT o.created_at FROM revision_changes o
          WHERE o.cluster = s.cluster AND o.namespace = s.namespace AND o.name = s.pod AND o.action = 'delete' AND o.kind = 'Pod'
            AND o.revision > s.revision AND o.uid = CASE octet_length(s.pod_uid) WHEN 16 THEN encode(s.pod_uid, 'hex')::uuid::text ELSE convert_from(s.pod_uid, 'UTF8') END
          ORDER BY o.revision LIMIT 1) AS gone_at,
         s.priority, s.attempt
  FROM decisions s
  WHERE s.attempt = s.id AND s.purpose IN ('live', 'watched') AND NOT EXISTS (
    SELECT 1 FROM decisions f
    WHERE f.cluster = s.cluster AND f.pod = s.pod AND f.namespace = s.namespace AND f.pod_uid = s.pod_uid
      AND f.attempt = f.id AND f.purpose IN ('live', 'watched') AND f.created_at < s.created_at)
) p;

-- How full a cluster was, by revision and resource.
CREATE OR REPLACE VIEW capacity AS
SELECT cluster, cluster || '@' || revision AS snapshot,
       to_char(measured_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS time,
       resource, allocatable, requested, free, stranded, fragmentation, nodes, nodes_in_use, nodes_bound,
       revision, measured_at
FROM capacities;

-- What was changed about access: tokens, the access file, settings at each start. That belongs to
-- no cluster, so that a reader of one cluster sees nothing of it.
CREATE OR REPLACE VIEW access_changes AS
SELECT ''::text AS cluster,
       to_char(created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS time,
       action, object, detail, asked_by, peer, request_id, id, created_at
FROM access_log;

-- The jobs of questions about what comes next: how they ended, and how long they took.
CREATE OR REPLACE VIEW simulation_log AS
SELECT cluster, id, cluster || '@' || revision AS snapshot,
       to_char(created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS time,
       kind, state, reason, extract(epoch FROM ended_at - created_at)::float8 AS seconds, attempts, progress,
       revision, created_at, ended_at, nullif(asked_by, '') AS asked_by
FROM simulations;

-- Placements whose pods are on their nodes until a time, and how they ended.
CREATE OR REPLACE VIEW holds AS
SELECT cluster, id, state, cluster || '@' || revision AS bound_snapshot,
       to_char(created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS time,
       to_char(expires_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS expires_time,
       to_char(ended_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS ended_time,
       cluster || '@' || ended_revision AS ended_snapshot, pod_count AS pods, pods AS placed, namespaces,
       extract(epoch FROM expires_at - created_at)::float8 AS seconds, asked_by, ended_by, created_at, expires_at, ended_at
FROM placement_holds;

-- What the log says of its own gaps.
CREATE OR REPLACE VIEW decision_gaps_log AS
SELECT cluster,
       to_char(since AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS time,
       to_char(until AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS until_time,
       lost, cause, instance, id, since, until
FROM decision_gaps;

-- The epochs of the chains, and what each server found missing after a failover. A row whose cluster
-- is empty is of the whole database, and belongs to no cluster.
CREATE OR REPLACE VIEW chain_epochs_log AS
SELECT cluster,
       to_char(met_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS time,
       number, system, timeline, instance, lost,
       to_char(since AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS since_time,
       to_char(until AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS until_time,
       first_revision, last_revision, ids, met_at
FROM chain_epochs;

-- The plugins that turned most nodes down in live attempts, hour by hour; rank 1 is the first.
-- A node counts once in each attempt, in the record that began it.
CREATE OR REPLACE VIEW top_rejecting_plugins AS
SELECT d.cluster,
       to_char(d.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24":00:00Z"') AS hour,
       rank() OVER (PARTITION BY d.cluster, to_char(d.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24":00:00Z"') ORDER BY sum((f.value ->> 3)::bigint) DESC) AS rank,
       f.value ->> 0 AS plugin,
       sum((f.value ->> 3)::bigint)::bigint AS nodes,
       count(DISTINCT d.id) AS decisions,
       count(DISTINCT d.namespace || '/' || d.pod) AS pods,
       (to_char(d.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24":00:00Z"'))::timestamptz AS hour_at
FROM decisions d, json_array_elements(d.failures::json) f
WHERE coalesce(d.attempt, d.id) = d.id
  AND (d.purpose = 'live' OR d.purpose IS NULL AND d.mode <> 'shadow' AND (d.bound_revision > 0 OR d.verb <> 'decide'))
GROUP BY d.cluster, to_char(d.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24":00:00Z"'), f.value ->> 0;

-- How often each node was where a live attempt ended, one of its recorded best, or named among the
-- rejected by the record that began it, day by day (UTC). A node that no record names is not here: a
-- record names the answer, the best few, and the rejected of a reason that
-- rejected few.
CREATE OR REPLACE VIEW node_choices AS
SELECT u.cluster, to_char(u.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS day, u.node,
       sum(u.chosen)::bigint AS chosen, sum(u.scored)::bigint AS scored, sum(u.rejected)::bigint AS rejected,
       (to_char(u.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD') || ' 00:00Z')::timestamptz AS day_at
FROM (
  SELECT d.cluster, d.node, d.created_at, 1 AS chosen, 0 AS scored, 0 AS rejected FROM decisions d
  WHERE d.node <> '' AND d.outcome = 'Scheduled' AND (d.purpose = 'live' OR d.purpose IS NULL AND d.mode <> 'shadow' AND (d.bound_revision > 0 OR d.verb <> 'decide'))
    AND NOT (d.verb <> 'decide' AND EXISTS (
      SELECT 1 FROM decisions b
      WHERE b.cluster = d.cluster AND b.pod = d.pod AND b.created_at >= d.created_at AND b.namespace = d.namespace
        AND b.attempt = d.attempt AND b.seq + 0 > d.seq AND b.outcome = 'Scheduled' AND b.node <> ''))
  UNION ALL
  SELECT s.cluster, s.node, s.created_at, 0, 1, 0 FROM decision_scores s WHERE s.purpose = 'live'
  UNION ALL
  SELECT r.cluster, r.node, r.created_at, 0, 0, 1 FROM decision_rejected_nodes r WHERE r.purpose = 'live' AND coalesce(r.attempt, r.decision_id) = r.decision_id
) u
GROUP BY u.cluster, to_char(u.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD'), u.node;

-- Nodes that live attempts looked at and that were never the answer, in all that is kept.
CREATE OR REPLACE VIEW nodes_never_chosen AS
SELECT cluster, node, sum(scored)::bigint AS scored, sum(rejected)::bigint AS rejected, min(day) AS first_day, max(day) AS last_day
FROM node_choices
GROUP BY cluster, node
HAVING sum(chosen) = 0;

-- Decisions on a revision that was no longer the newest when the answer was
-- recorded: how many revisions behind, and for how many seconds it had been
-- outdated. A question about a named old snapshot is one of them.
CREATE OR REPLACE VIEW stale_decisions AS
SELECT d.cluster, d.id AS decision_id,
       to_char(d.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS time,
       d.verb, d.namespace, d.pod, d.outcome, d.node,
       d.cluster || '@' || d.revision AS snapshot,
       d.cluster || '@' || n.number AS newest_snapshot,
       n.number - d.revision AS revisions_behind,
       extract(epoch FROM d.created_at - o.created_at)::float8 AS stale_seconds,
       d.created_at,
       coalesce(d.purpose, CASE WHEN d.mode = 'shadow' THEN 'shadow' WHEN d.bound_revision > 0 OR d.verb <> 'decide' THEN 'live' END) AS purpose, d.attempt
FROM decisions d
JOIN revisions n ON n.cluster = d.cluster AND n.number = (
  SELECT r.number FROM revisions r WHERE r.cluster = d.cluster AND r.created_at <= d.created_at ORDER BY r.created_at DESC, r.number DESC LIMIT 1)
JOIN revisions o ON o.cluster = d.cluster AND o.number = (
  SELECT min(r.number) FROM revisions r WHERE r.cluster = d.cluster AND r.number > d.revision)
WHERE d.revision + 0 > 0 AND d.bound_revision = 0 AND n.number > d.revision + 0; -- + 0 keeps the index by revision out of it

-- How long each pod waited from its first live attempt to its bind, as far as berth bound it; bound,
-- node and wait_seconds are NULL where it did not. decisions counts records, unschedulable attempts.
CREATE OR REPLACE VIEW scheduling_latency AS
SELECT d.cluster, d.namespace, d.pod, CASE octet_length(d.pod_uid) WHEN 16 THEN encode(d.pod_uid, 'hex')::uuid::text ELSE convert_from(d.pod_uid, 'UTF8') END AS pod_uid,
       count(*) AS decisions,
       count(DISTINCT CASE WHEN d.outcome IN ('Unschedulable', 'Preempting') THEN coalesce(d.attempt, d.id) END) AS unschedulable,
       to_char(min(d.created_at) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS first_decided,
       to_char(min(CASE WHEN d.bound_revision > 0 AND d.outcome = 'Scheduled' THEN d.created_at END) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS bound,
       min(CASE WHEN d.bound_revision > 0 AND d.outcome = 'Scheduled' THEN d.node END) AS node,
       extract(epoch FROM min(CASE WHEN d.bound_revision > 0 AND d.outcome = 'Scheduled' THEN d.created_at END) - min(d.created_at))::float8 AS wait_seconds,
       min(d.created_at) AS first_decided_at,
       min(CASE WHEN d.bound_revision > 0 AND d.outcome = 'Scheduled' THEN d.created_at END) AS bound_at
FROM decisions d
WHERE (d.purpose = 'live' OR d.purpose IS NULL AND d.mode <> 'shadow' AND (d.bound_revision > 0 OR d.verb <> 'decide'))
GROUP BY d.cluster, d.namespace, d.pod, d.pod_uid;

-- Pods whose live attempts ended with another node than the one before, and how often. decisions
-- counts attempts.
CREATE OR REPLACE VIEW flapping_pods AS
SELECT d.cluster, d.namespace, d.pod, count(*) AS decisions, count(DISTINCT d.node) AS nodes,
       count(CASE WHEN d.node <> (
         SELECT b.node FROM decisions b
         WHERE b.cluster = d.cluster AND b.pod = d.pod AND b.namespace = d.namespace AND b.node <> '' AND b.outcome = 'Scheduled'
           AND coalesce(b.attempt, b.id) <> coalesce(d.attempt, d.id) AND (b.purpose = 'live' OR b.purpose IS NULL AND b.mode <> 'shadow' AND (b.bound_revision > 0 OR b.verb <> 'decide'))
           AND (b.created_at, b.id) < (d.created_at, d.id)
         ORDER BY b.created_at DESC, b.id DESC LIMIT 1) THEN 1 END) AS changes,
       to_char(min(d.created_at) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS first_decided,
       to_char(max(d.created_at) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS last_decided
FROM decisions d
WHERE d.node <> '' AND d.outcome = 'Scheduled' AND (d.purpose = 'live' OR d.purpose IS NULL AND d.mode <> 'shadow' AND (d.bound_revision > 0 OR d.verb <> 'decide'))
  AND NOT (d.verb <> 'decide' AND EXISTS (
    SELECT 1 FROM decisions b
    WHERE b.cluster = d.cluster AND b.pod = d.pod AND b.created_at >= d.created_at AND b.namespace = d.namespace
      AND b.attempt = d.attempt AND b.seq + 0 > d.seq AND b.outcome = 'Scheduled' AND b.node <> ''))
GROUP BY d.cluster, d.namespace, d.pod
HAVING count(DISTINCT d.node) > 1;

-- What share of a cluster's decisions each verb and profile had, day by day (UTC).
CREATE OR REPLACE VIEW decision_shares AS
SELECT d.cluster, to_char(d.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS day, d.verb, t.profile, count(*) AS decisions,
       round(1.0 * count(*) / sum(count(*)) OVER (PARTITION BY d.cluster, to_char(d.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD')), 6)::float8 AS share,
       (to_char(d.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD') || ' 00:00Z')::timestamptz AS day_at
FROM decisions d LEFT JOIN stamps t ON t.id = d.stamp
GROUP BY d.cluster, to_char(d.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD'), d.verb, t.profile;

-- How long decisions took, hour by hour: the smallest duration that half of
-- them, or 99 in 100, did not exceed.
CREATE OR REPLACE VIEW decision_durations AS
SELECT r.cluster, r.hour, r.verb, count(*) AS decisions,
       min(CASE WHEN r.place * 2 >= r.total THEN r.duration_micros END) / 1000.0::float8 AS p50_ms,
       min(CASE WHEN r.place * 100 >= r.total * 99 THEN r.duration_micros END) / 1000.0::float8 AS p99_ms,
       max(r.duration_micros) / 1000.0::float8 AS max_ms,
       (r.hour)::timestamptz AS hour_at
FROM (
  SELECT d.cluster, to_char(d.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24":00:00Z"') AS hour, d.verb, d.duration_micros,
         row_number() OVER (PARTITION BY d.cluster, to_char(d.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24":00:00Z"'), d.verb ORDER BY d.duration_micros) AS place,
         count(*) OVER (PARTITION BY d.cluster, to_char(d.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24":00:00Z"'), d.verb) AS total
  FROM decisions d
) r
GROUP BY r.cluster, r.hour, r.verb;

-- A pod that is evicted, comes back under its name and is evicted by the same
-- pod again. evictions counts pods by UID, so that deciding twice before the
-- victim has left is not a pair.
CREATE OR REPLACE VIEW preemption_pairs AS
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
CREATE OR REPLACE VIEW nominations_never_bound AS
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

-- Batch replays: the jobs that are kept, and what is left of those that are not. overrides names what
-- was not as recorded; through_seq is the last place in the log when the batch was made.
CREATE OR REPLACE VIEW replay_runs_log AS
SELECT j.cluster, to_char(j.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS time,
       j.id, j.state, j.since, j.until, j.overrides, j.total, j.identical, j.different, j.errors,
       extract(epoch FROM j.ended_at - j.created_at)::float8 AS seconds, j.semantics, j.through_seq,
       nullif(j.asked_by, '') AS asked_by, j.created_at, j.ended_at
FROM (
  SELECT r.cluster, r.id, r.state, r.since, r.until, r.through_seq,
         trim(CASE WHEN r.profile <> '' THEN 'profile ' ELSE '' END || CASE WHEN length(r.config) > 0 THEN 'config ' ELSE '' END
           || CASE WHEN r.release <> '' THEN 'semantics' ELSE '' END) AS overrides,
         r.semantics,
         (SELECT coalesce(sum(p.total), 0)::bigint FROM replay_parts p WHERE p.cluster = r.cluster AND p.replay = r.id) AS total,
         (SELECT coalesce(sum(p.identical), 0)::bigint FROM replay_parts p WHERE p.cluster = r.cluster AND p.replay = r.id) AS identical,
         (SELECT coalesce(sum(p.different), 0)::bigint FROM replay_parts p WHERE p.cluster = r.cluster AND p.replay = r.id) AS different,
         (SELECT coalesce(sum(p.errors), 0)::bigint FROM replay_parts p WHERE p.cluster = r.cluster AND p.replay = r.id) AS errors,
         r.asked_by, r.created_at, r.ended_at
  FROM replays r
  UNION ALL
  SELECT cluster, id, state, since, until, through_seq, overrides, semantics, total, identical, different, errors, asked_by, created_at, ended_at
  FROM replay_runs
) j;

-- Decisions that were answered again: each alone, those of a batch that differed or failed, and of a
-- batch that is done all others that were on record when it was made.
CREATE OR REPLACE VIEW replay_log AS
SELECT r.cluster, to_char(r.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS time,
       r.decision_id, r.seq, r.identical, r.differences, r.overrides, r.semantics, r.profile_digest,
       r.replay, r.batch, r.asked_by, r.peer, r.request_id, r.created_at
FROM replay_results r
UNION ALL
SELECT x.cluster, to_char(coalesce(j.ended_at, j.created_at) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), x.decision_id, d.seq, FALSE,
       CASE WHEN x.payload::json ->> 'error' IS NULL THEN
         coalesce(json_array_length(x.payload::json -> 'differences'), 0) + coalesce((x.payload::json ->> 'differencesOmitted')::bigint, 0) END, j.overrides, j.semantics, CASE WHEN j.overrides = '' THEN t.profile_digest END,
       j.id, TRUE, j.asked_by, NULL, NULL, coalesce(j.ended_at, j.created_at)
FROM replay_runs_log j
JOIN replay_differences x ON x.cluster = j.cluster AND x.replay = j.id
LEFT JOIN decisions d ON d.cluster = x.cluster AND d.created_at = x.created_at AND d.id = x.decision_id
LEFT JOIN stamps t ON t.id = d.stamp
UNION ALL
SELECT d.cluster, to_char(j.ended_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), d.id, d.seq, TRUE,
       0, j.overrides, j.semantics, CASE WHEN j.overrides = '' THEN t.profile_digest END,
       j.id, TRUE, j.asked_by, NULL, NULL, j.ended_at
FROM replay_runs_log j
JOIN decisions d ON d.cluster = j.cluster AND d.created_at >= j.since AND d.created_at < j.until AND d.seq <= j.through_seq
LEFT JOIN stamps t ON t.id = d.stamp
WHERE j.state = 'done'
  AND NOT EXISTS (SELECT 1 FROM replay_differences x
    WHERE x.cluster = d.cluster AND x.replay = j.id AND x.revision = d.revision AND x.created_at = d.created_at AND x.decision_id = d.id)
  AND NOT EXISTS (SELECT 1 FROM replay_results r WHERE r.cluster = d.cluster AND r.decision_id = d.id AND r.replay = j.id);

-- Decisions that no replay answered as they are recorded, with whatever result.
CREATE OR REPLACE VIEW never_replayed AS
SELECT d.cluster, to_char(d.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS time,
       d.id AS decision_id, d.verb, d.namespace, d.pod, d.outcome, d.node, d.seq, d.created_at,
       coalesce(d.purpose, CASE WHEN d.mode = 'shadow' THEN 'shadow' WHEN d.bound_revision > 0 OR d.verb <> 'decide' THEN 'live' END) AS purpose, d.attempt
FROM decisions d
WHERE NOT EXISTS (SELECT 1 FROM replays j
    WHERE j.cluster = d.cluster AND j.state = 'done' AND j.profile = '' AND coalesce(length(j.config), 0) = 0 AND j.release = ''
      AND j.since <= d.created_at AND d.created_at < j.until AND d.seq <= j.through_seq)
  AND NOT EXISTS (SELECT 1 FROM replay_runs j
    WHERE j.cluster = d.cluster AND j.state = 'done' AND j.overrides = '' AND j.since <= d.created_at AND d.created_at < j.until AND d.seq <= j.through_seq)
  AND NOT EXISTS (SELECT 1 FROM replay_results r WHERE r.cluster = d.cluster AND r.decision_id = d.id AND r.overrides = '');

-- Calls that were refused for who asked, by the minute. A row whose reason is cut counts those that
-- have no row of their own, since there were too many kinds.
CREATE OR REPLACE VIEW denied_calls AS
SELECT cluster, to_char(minute AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS time,
       asked_by, peer, route, status, reason, count, first_at, last_at, instance, minute AS created_at
FROM denials;

-- The hash chains, a row a seal. created_at is beside the chain: no hash covers it.
CREATE OR REPLACE VIEW seal_log AS
SELECT s.cluster, to_char(s.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS time,
       s.number, s.kind, s.format, s.after_seq, s.seq, s.after_revision, s.revision,
       length(s.row_hashes)::bigint / 32 AS decisions, 'sha256:' || encode(s.hash, 'hex') AS hash,
       CASE WHEN length(s.previous) > 0 THEN 'sha256:' || encode(s.previous, 'hex') END AS previous,
       coalesce((SELECT max((e.items::json #>> '{epoch,number}')::bigint) FROM seals e
         WHERE e.cluster = s.cluster AND e.kind <> 'rows' AND e.kind = 'epoch' AND e.number <= s.number), 0) AS epoch,
       s.items, s.created_at
FROM seals s;

-- What was taken away on purpose, by ranges that are inclusive at both ends. time and setting are
-- sealed; they are NULL in removals by earlier releases.
CREATE OR REPLACE VIEW retention_log AS
SELECT s.cluster, s.items::json #>> '{removed,at}' AS time, 'decisions' AS removed,
       (r.value ->> 0)::bigint AS from_seq, (r.value ->> 1)::bigint AS to_seq, NULL::bigint AS from_revision, NULL::bigint AS to_revision, NULL::text AS gap,
       s.items::json #>> '{removed,setting}' AS setting, s.items::json #>> '{removed,askedBy}' AS asked_by, s.number AS seal, s.created_at, (r.value ->> 1)::bigint - (r.value ->> 0)::bigint + 1 AS rows_removed
FROM seals s, json_array_elements(s.items::json #> '{removed,decisions}') r
WHERE s.kind <> 'rows' AND s.kind = 'removal'
UNION ALL
SELECT s.cluster, s.items::json #>> '{removed,at}', 'revisions', NULL, NULL, (r.value ->> 0)::bigint, (r.value ->> 1)::bigint, NULL,
       s.items::json #>> '{removed,setting}', s.items::json #>> '{removed,askedBy}', s.number, s.created_at, (r.value ->> 1)::bigint - (r.value ->> 0)::bigint + 1
FROM seals s, json_array_elements(s.items::json #> '{removed,revisions}') r
WHERE s.kind <> 'rows' AND s.kind = 'removal'
UNION ALL
SELECT s.cluster, s.items::json #>> '{removed,at}', 'gaps', NULL, NULL, NULL, NULL, r.value,
       s.items::json #>> '{removed,setting}', s.items::json #>> '{removed,askedBy}', s.number, s.created_at, 1
FROM seals s, json_array_elements_text(s.items::json #> '{removed,gaps}') r
WHERE s.kind <> 'rows' AND s.kind = 'removal'
UNION ALL
SELECT s.cluster, s.items::json #>> '{removed,at}', 'revision_objects', NULL, NULL, (r.value ->> 0)::bigint, (r.value ->> 1)::bigint, NULL,
       s.items::json #>> '{removed,setting}', s.items::json #>> '{removed,askedBy}', s.number, s.created_at, NULL
FROM seals s, json_array_elements(s.items::json #> '{removed,rows,revision_changes}') r
WHERE s.kind <> 'rows' AND s.kind = 'removal'
UNION ALL
SELECT s.cluster, s.items::json #>> '{removed,at}', 'cluster', NULL, s.seq, NULL, NULL, NULL,
       s.items::json #>> '{removed,setting}', s.items::json #>> '{removed,askedBy}', s.number, s.created_at, NULL
FROM seals s
WHERE s.kind <> 'rows' AND s.kind = 'deletion';

-- What API tokens may do, a row a role, pattern of clusters and pattern of namespaces.
CREATE OR REPLACE VIEW token_grants AS
SELECT c.value AS cluster, t.name AS token, g.value ->> 'role' AS role, n.value AS namespace,
       t.id, t.created_at, t.expires_at, t.revoked_at, t.used_at,
       to_char(t.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS created,
       to_char(t.expires_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS expires,
       to_char(t.revoked_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS revoked,
       to_char(t.used_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS used
FROM tokens t, json_array_elements(t.grants::json) g, json_array_elements_text(g.value -> 'clusters') c, json_array_elements_text(g.value -> 'namespaces') n;

-- The decisions of an hour by what they were of: a roll-up, which a server keeps up a few seconds
-- behind the log.
CREATE OR REPLACE VIEW decisions_by_hour AS
SELECT h.cluster, to_char(h.hour AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24":00:00Z"') AS hour,
       h.verb, h.outcome, nullif(h.purpose, '') AS purpose, h.namespace,
       t.profile, t.profile_digest, t.engine, t.semantics,
       h.decisions, h.bound, h.first_at, h.last_at, h.stamp, h.hour AS hour_at
FROM hourly_decisions h LEFT JOIN stamps t ON t.id = h.stamp;

-- The configurations that decided, by the roll-up. A payload that is not as its digest says is shown
-- as NULL, since it may be no text.
CREATE OR REPLACE VIEW profile_log AS
SELECT u.cluster, u.profile_digest, u.profile,
       to_char(u.first_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS first,
       to_char(u.last_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS last,
       u.decisions,
       CASE WHEN 'sha256:' || encode(sha256(p.payload), 'hex') = p.digest THEN convert_from(p.payload, 'UTF8') END AS configuration,
       u.first_at, u.last_at
FROM (
  SELECT h.cluster, t.profile_digest, max(t.profile) AS profile, min(h.first_at) AS first_at, max(h.last_at) AS last_at, sum(h.decisions)::bigint AS decisions
  FROM hourly_decisions h JOIN stamps t ON t.id = h.stamp
  WHERE t.profile_digest <> ''
  GROUP BY h.cluster, t.profile_digest
) u LEFT JOIN profiles p ON p.digest = u.profile_digest;

-- Why nodes were rejected in an hour, of live attempts alone: a roll-up.
CREATE OR REPLACE VIEW failures_by_hour AS
SELECT cluster, to_char(hour AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24":00:00Z"') AS hour,
       namespace, plugin, code, reason, decisions, nodes, unplaced, unplaced_nodes, hour AS hour_at
FROM hourly_failures WHERE pool = '(all)';

-- The same by the pool of the nodes; NULL: the records do not count by pool. A decision is counted in
-- each pool in which it rejected nodes.
CREATE OR REPLACE VIEW pool_failures_by_hour AS
SELECT cluster, to_char(hour AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24":00:00Z"') AS hour,
       namespace, nullif(pool, '(unknown)') AS pool, plugin, code, reason, decisions, nodes, unplaced, unplaced_nodes, hour AS hour_at
FROM hourly_failures WHERE pool <> '(all)';

-- How many pods each node got in an hour: a roll-up.
CREATE OR REPLACE VIEW placements_by_hour AS
SELECT cluster, to_char(hour AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24":00:00Z"') AS hour,
       node, namespace, placements, hour AS hour_at
FROM hourly_placements;

-- How long decisions took, hour by hour, as a histogram: a roll-up.
CREATE OR REPLACE VIEW durations_by_hour AS
SELECT cluster, to_char(hour AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24":00:00Z"') AS hour,
       verb, over_micros / 1000.0::float8 AS over_ms, upto_micros / 1000.0::float8 AS upto_ms, decisions,
       total_micros / 1000.0::float8 AS total_ms, max_micros / 1000.0::float8 AS max_ms, hour AS hour_at
FROM hourly_durations;

-- The stretches of time in which a pod waited for one cause: from the first attempt that found it to
-- the first one that found another or a node, its bind or its deletion. A point is a full 5 minutes:
-- since_point is the first of them at which it waited, until_point the first at which it did not.
CREATE OR REPLACE VIEW pod_waits AS
SELECT cluster,
       to_char(since AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS time,
       to_char(until AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS until_time,
       namespace, pod, pod_uid, cause,
       extract(epoch FROM coalesce(until, now()) - since)::float8 AS seconds,
       since, until,
       to_char(to_timestamp(ceil(extract(epoch FROM since) / 300) * 300) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI":00Z"') AS since_point,
       to_char(to_timestamp(ceil(extract(epoch FROM until) / 300) * 300) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI":00Z"') AS until_point,
       to_timestamp(ceil(extract(epoch FROM since) / 300) * 300) AS since_point_at,
       to_timestamp(ceil(extract(epoch FROM until) / 300) * 300) AS until_point_at
FROM waits;

-- The pods that waited in an hour, by cause. A stretch is in each hour that it touches. Those that it
-- fills are counted by where stretches begin and end, so that long ones cost no more than short ones.
CREATE OR REPLACE VIEW waiting_by_hour AS
WITH stretches AS NOT MATERIALIZED (
  SELECT cluster, namespace, cause, pod || '/' || pod_uid AS pod, since, coalesce(until, now()) AS until,
         date_trunc('hour', since, 'UTC') AS first, date_trunc('hour', coalesce(until, now()), 'UTC') AS last
  FROM waits
)
SELECT cluster, to_char(hour AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24":00:00Z"') AS hour,
       namespace, cause, sum(pods)::bigint AS pods, sum(seconds)::float8 AS seconds, hour AS hour_at
FROM (
  SELECT r.cluster, r.namespace, r.cause, h.hour, r.pods, r.pods * 3600 AS seconds
  FROM (
    SELECT cluster, namespace, cause, hour, lead(hour) OVER w AS next, sum(n) OVER w AS pods
    FROM (
      SELECT cluster, namespace, cause, hour, sum(n) AS n
      FROM (
        SELECT cluster, namespace, cause, first + interval '1 hour' AS hour, 1 AS n FROM stretches WHERE first + interval '1 hour' < last
        UNION ALL
        SELECT cluster, namespace, cause, last, -1 FROM stretches WHERE first + interval '1 hour' < last
      ) u
      GROUP BY cluster, namespace, cause, hour
    ) s
    WINDOW w AS (PARTITION BY cluster, namespace, cause ORDER BY hour)
  ) r CROSS JOIN LATERAL generate_series(r.hour, r.next - interval '1 hour', interval '1 hour') h (hour)
  WHERE r.pods > 0
  UNION ALL
  SELECT cluster, namespace, cause, hour, count(DISTINCT pod), sum(seconds)
  FROM (
    SELECT cluster, namespace, cause, pod, first AS hour, extract(epoch FROM least(until, first + interval '1 hour') - since) AS seconds FROM stretches
    UNION ALL
    SELECT cluster, namespace, cause, pod, last, extract(epoch FROM until - last) FROM stretches WHERE last > first AND until > last
  ) e
  GROUP BY cluster, namespace, cause, hour
) u
GROUP BY cluster, u.hour, namespace, cause;

DO $$
BEGIN
  GRANT SELECT ON decision_log, decision_failures, decision_pool_rejections, decision_rejected_nodes, decision_scores,
    decision_plugin_scores, decision_margins, decision_victims, decision_blockers, pending_reasons, revision_log, capacity,
    revision_objects, pod_deletions, priority_class_log, evictions, pods_over_time,
    simulation_log, holds, decision_gaps_log, chain_epochs_log, access_changes, top_rejecting_plugins, node_choices, nodes_never_chosen,
    stale_decisions, scheduling_latency, flapping_pods, decision_shares, decision_durations,
    preemption_pairs, nominations_never_bound, attempts, placements, pod_facts, pod_labels,
    replay_runs_log, replay_log, never_replayed, denied_calls, seal_log, retention_log, token_grants,
    decisions_by_hour, profile_log, failures_by_hour, pool_failures_by_hour, placements_by_hour, durations_by_hour,
    pod_waits, waiting_by_hour TO berth_reader;
EXCEPTION WHEN undefined_object OR insufficient_privilege THEN
  RAISE NOTICE 'berth_reader is not let in: %', SQLERRM;
END
$$;

-- Who writes records also keeps the facts of pods, notes when one was seen again, and ends holds.
-- Roles get what server migrate gives a new one.
DO $$
DECLARE
  role text;
BEGIN
  FOR role IN
    SELECT DISTINCT g.grantee::regrole::text
    FROM pg_class c, aclexplode(c.relacl) g
    WHERE c.oid = to_regclass('decisions') AND g.privilege_type = 'INSERT' AND g.grantee NOT IN (0, c.relowner)
  LOOP
    EXECUTE 'GRANT SELECT, INSERT, UPDATE (seen_at) ON judged_pods TO ' || role;
    EXECUTE 'GRANT SELECT, INSERT, UPDATE ON placement_holds TO ' || role;
  END LOOP;
END
$$;
