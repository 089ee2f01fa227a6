-- All views, as this program shows them. The file is run after the migrations, in one transaction,
-- whenever a view in the database is another: each view is dropped and made anew.
--
-- They are for people, with the same names and columns on every backend. Narrow them with the raw
-- columns (cluster, created_at, pod, node), which have indexes; the column time is for reading.

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
       d.seq, d.mode, d.stale_ms / 1000.0 AS stale_seconds,
       d.asked_by, d.peer, d.request_id, d.asked_as_of, d.rejected_by,
       d.id AS decision_id,
       coalesce(d.purpose, CASE WHEN d.mode = 'shadow' THEN 'shadow' WHEN d.bound_revision > 0 OR d.verb <> 'decide' THEN 'live' END) AS purpose, d.attempt,
       d.created_at AS unix_micros, d.placement
FROM decisions d LEFT JOIN stamps t ON t.id = d.stamp;

-- How many nodes each plugin rejected, and why. named_share is how many of them the record names.
CREATE VIEW decision_failures AS
SELECT d.cluster, d.id AS decision_id,
       strftime('%Y-%m-%dT%H:%M:%S', d.created_at / 1000000, 'unixepoch') || printf('.%06dZ', d.created_at % 1000000) AS time,
       d.verb, d.namespace, d.pod, d.outcome,
       json_extract(f.value, '$[0]') AS plugin,
       CASE json_extract(f.value, '$[1]') WHEN 1 THEN 'Unschedulable' WHEN 2 THEN 'UnschedulableAndUnresolvable' ELSE json_extract(f.value, '$[1]') END AS code,
       json_extract(f.value, '$[2]') AS reason,
       json_extract(f.value, '$[3]') AS nodes,
       d.nodes_total, d.created_at,
       coalesce(d.purpose, CASE WHEN d.mode = 'shadow' THEN 'shadow' WHEN d.bound_revision > 0 OR d.verb <> 'decide' THEN 'live' END) AS purpose, d.attempt,
       coalesce(json_array_length(f.value, '$[4]'), 0) * 1.0 / nullif(json_extract(f.value, '$[3]'), 0) AS named_share
FROM decisions d, json_each(d.failures) f;

-- How many nodes of each pool those were: pool is the value of the label of nodes that --pool-label
-- names, '' without the label, (others) behind the 20 pools with most of them. NULL: the record does
-- not count by pool, and nodes are all. named is nodes where the record names all nodes that the
-- plugin rejected for the reason, else 0.
CREATE VIEW decision_pool_rejections AS
SELECT d.cluster, d.id AS decision_id,
       strftime('%Y-%m-%dT%H:%M:%S', d.created_at / 1000000, 'unixepoch') || printf('.%06dZ', d.created_at % 1000000) AS time,
       d.verb, d.namespace, d.pod, d.outcome,
       json_extract(f.value, '$[0]') AS plugin,
       CASE json_extract(f.value, '$[1]') WHEN 1 THEN 'Unschedulable' WHEN 2 THEN 'UnschedulableAndUnresolvable' ELSE json_extract(f.value, '$[1]') END AS code,
       json_extract(f.value, '$[2]') AS reason,
       json_extract(p.value, '$[0]') AS pool,
       coalesce(json_extract(p.value, '$[1]'), json_extract(f.value, '$[3]')) AS nodes,
       CASE WHEN json_array_length(f.value, '$[4]') >= json_extract(f.value, '$[3]') THEN coalesce(json_extract(p.value, '$[1]'), json_extract(f.value, '$[3]')) ELSE 0 END AS named,
       coalesce(json_array_length(f.value, '$[4]'), 0) * 1.0 / nullif(json_extract(f.value, '$[3]'), 0) AS named_share,
       d.created_at,
       coalesce(d.purpose, CASE WHEN d.mode = 'shadow' THEN 'shadow' WHEN d.bound_revision > 0 OR d.verb <> 'decide' THEN 'live' END) AS purpose, d.attempt
FROM decisions d CROSS JOIN json_each(d.failures) f LEFT JOIN json_each(f.value, '$[7]') p;

-- Which nodes those were, as far as the record names them: a record keeps few
-- names, nodes says how many there were.
CREATE VIEW decision_rejected_nodes AS
SELECT d.cluster, d.id AS decision_id,
       strftime('%Y-%m-%dT%H:%M:%S', d.created_at / 1000000, 'unixepoch') || printf('.%06dZ', d.created_at % 1000000) AS time,
       d.verb, d.namespace, d.pod, d.outcome,
       coalesce(json_extract(f.value, '$[5]'), '') || n.value || coalesce(json_extract(f.value, '$[6]'), '') AS node,
       json_extract(f.value, '$[0]') AS plugin,
       CASE json_extract(f.value, '$[1]') WHEN 1 THEN 'Unschedulable' WHEN 2 THEN 'UnschedulableAndUnresolvable' ELSE json_extract(f.value, '$[1]') END AS code,
       json_extract(f.value, '$[2]') AS reason,
       json_extract(f.value, '$[3]') AS nodes,
       d.created_at,
       coalesce(d.purpose, CASE WHEN d.mode = 'shadow' THEN 'shadow' WHEN d.bound_revision > 0 OR d.verb <> 'decide' THEN 'live' END) AS purpose, d.attempt
FROM decisions d, json_each(d.failures) f, json_each(f.value, '$[4]') n;

-- The best nodes of each decision. plugins is JSON, see decision_plugin_scores.
CREATE VIEW decision_scores AS
SELECT d.cluster, d.id AS decision_id,
       strftime('%Y-%m-%dT%H:%M:%S', d.created_at / 1000000, 'unixepoch') || printf('.%06dZ', d.created_at % 1000000) AS time,
       d.verb, d.namespace, d.pod,
       json_extract(s.value, '$[0]') AS rank,
       json_extract(s.value, '$[1]') AS node,
       json_extract(s.value, '$[2]') AS total,
       json_extract(s.value, '$[1]') = d.node AS chosen,
       CASE WHEN coalesce(t.plugins, '') = '' THEN json_extract(s.value, '$[3]') ELSE (
         SELECT json_group_array(json_object('plugin', json_extract(t.plugins, '$[' || p.key || '][0]'),
             'raw', CASE p.type WHEN 'array' THEN json_extract(p.value, '$[0]') ELSE p.value END,
             'normalized', CASE p.type WHEN 'array' THEN json_extract(p.value, '$[1]') ELSE p.value END,
             'weight', json_extract(t.plugins, '$[' || p.key || '][1]'),
             'weighted', CASE p.type WHEN 'array' THEN json_extract(p.value, '$[1]') ELSE p.value END * json_extract(t.plugins, '$[' || p.key || '][1]')))
         FROM json_each(s.value, '$[3]') p) END AS plugins,
       d.created_at,
       coalesce(d.purpose, CASE WHEN d.mode = 'shadow' THEN 'shadow' WHEN d.bound_revision > 0 OR d.verb <> 'decide' THEN 'live' END) AS purpose, d.attempt
FROM decisions d LEFT JOIN stamps t ON t.id = d.stamp, json_each(d.scores) s;

-- What each plugin thought of the best nodes.
CREATE VIEW decision_plugin_scores AS
SELECT d.cluster, d.id AS decision_id, d.namespace, d.pod,
       json_extract(s.value, '$[0]') AS rank,
       json_extract(s.value, '$[1]') AS node,
       CASE p.type WHEN 'object' THEN json_extract(p.value, '$.plugin') ELSE json_extract(t.plugins, '$[' || p.key || '][0]') END AS plugin,
       CASE p.type WHEN 'object' THEN json_extract(p.value, '$.raw') WHEN 'array' THEN json_extract(p.value, '$[0]') ELSE p.value END AS raw,
       CASE p.type WHEN 'object' THEN json_extract(p.value, '$.normalized') WHEN 'array' THEN json_extract(p.value, '$[1]') ELSE p.value END AS normalized,
       CASE p.type WHEN 'object' THEN json_extract(p.value, '$.weight') ELSE json_extract(t.plugins, '$[' || p.key || '][1]') END AS weight,
       CASE p.type WHEN 'object' THEN json_extract(p.value, '$.weighted') WHEN 'array' THEN json_extract(p.value, '$[1]') * json_extract(t.plugins, '$[' || p.key || '][1]') ELSE p.value * json_extract(t.plugins, '$[' || p.key || '][1]') END AS weighted,
       d.created_at,
       coalesce(d.purpose, CASE WHEN d.mode = 'shadow' THEN 'shadow' WHEN d.bound_revision > 0 OR d.verb <> 'decide' THEN 'live' END) AS purpose, d.attempt
FROM decisions d LEFT JOIN stamps t ON t.id = d.stamp, json_each(d.scores) s, json_each(s.value, '$[3]') p;

-- By how much the first node beat the second: 0 is a tie, which was broken by
-- a hash of pod and node. tied counts those of the recorded best that have the first one's total.
CREATE VIEW decision_margins AS
SELECT d.cluster, d.id AS decision_id, d.namespace, d.pod,
       json_extract(d.scores, '$[0][1]') AS first,
       json_extract(d.scores, '$[1][1]') AS second,
       json_extract(d.scores, '$[0][2]') - json_extract(d.scores, '$[1][2]') AS margin,
       d.created_at,
       (SELECT count(*) FROM json_each(d.scores) s WHERE json_extract(s.value, '$[2]') = json_extract(d.scores, '$[0][2]')) AS tied,
       strftime('%Y-%m-%dT%H:%M:%S', d.created_at / 1000000, 'unixepoch') || printf('.%06dZ', d.created_at % 1000000) AS time,
       coalesce(d.purpose, CASE WHEN d.mode = 'shadow' THEN 'shadow' WHEN d.bound_revision > 0 OR d.verb <> 'decide' THEN 'live' END) AS purpose, d.attempt
FROM decisions d
WHERE json_array_length(d.scores) > 1;

-- Who would be evicted for whom.
CREATE VIEW decision_victims AS
SELECT d.cluster, d.id AS decision_id,
       strftime('%Y-%m-%dT%H:%M:%S', d.created_at / 1000000, 'unixepoch') || printf('.%06dZ', d.created_at % 1000000) AS time,
       d.namespace, d.pod, d.priority,
       json_extract(v.value, '$[0]') AS victim_namespace,
       json_extract(v.value, '$[1]') AS victim,
       json_extract(v.value, '$[2]') AS victim_uid,
       json_extract(v.value, '$[3]') AS victim_priority,
       json_extract(v.value, '$[4]') AS node,
       d.created_at,
       coalesce(d.purpose, CASE WHEN d.mode = 'shadow' THEN 'shadow' WHEN d.bound_revision > 0 OR d.verb <> 'decide' THEN 'live' END) AS purpose, d.attempt,
       json_extract(v.value, '$[5]') AS budget_violated, nullif(json_extract(v.value, '$[6]'), '') AS victim_owner_kind, nullif(json_extract(v.value, '$[7]'), '') AS victim_owner
FROM decisions d, json_each(d.victims) v;

-- What was in the way of decisions that place nothing: at most ten objects of the nodes that are
-- nearest to taking the pod, the nearest first, and how many more these nodes have. Records of
-- releases that kept no names have no rows.
CREATE VIEW decision_blockers AS
SELECT d.cluster, d.id AS decision_id,
       strftime('%Y-%m-%dT%H:%M:%S', d.created_at / 1000000, 'unixepoch') || printf('.%06dZ', d.created_at % 1000000) AS time,
       d.verb, d.namespace, d.pod, d.outcome,
       b.key AS rank,
       json_extract(b.value, '$[0]') AS plugin,
       json_extract(b.value, '$[1]') AS kind,
       nullif(json_extract(b.value, '$[2]'), '') AS blocker_namespace,
       json_extract(b.value, '$[3]') AS blocker,
       json_extract(b.value, '$[4]') AS blocker_owner_kind, json_extract(b.value, '$[5]') AS blocker_owner,
       json_extract(d.blockers, '$[0]') AS more,
       d.revision, d.created_at,
       coalesce(d.purpose, CASE WHEN d.mode = 'shadow' THEN 'shadow' WHEN d.bound_revision > 0 OR d.verb <> 'decide' THEN 'live' END) AS purpose, d.attempt
FROM decisions d, json_each(d.blockers) b
WHERE b.key > 0;

-- What was tried to place pods: a row an attempt, which is one decision that binds, or the calls of
-- one of kube-scheduler's cycles. Its outcome is that of its last record, which is looked for among
-- the pod's records up to its next attempt: no call comes later than an hour after the first.
-- Questions and shadow calls are none.
CREATE VIEW attempts AS
SELECT s.cluster, s.attempt,
       strftime('%Y-%m-%dT%H:%M:%S', s.created_at / 1000000, 'unixepoch') || printf('.%06dZ', s.created_at % 1000000) AS time,
       s.namespace, s.pod, CASE length(s.pod_uid) WHEN 16 THEN lower(substr(hex(s.pod_uid), 1, 8) || '-' || substr(hex(s.pod_uid), 9, 4) || '-' || substr(hex(s.pod_uid), 13, 4) || '-' || substr(hex(s.pod_uid), 17, 4) || '-' || substr(hex(s.pod_uid), 21)) ELSE CAST(s.pod_uid AS TEXT) END AS pod_uid,
       s.verb, e.outcome AS outcome, e.node AS node, e.nominated_node AS nominated_node,
       CASE WHEN e.outcome = 'Scheduled' THEN '' ELSE coalesce(nullif(e.message, ''), s.message) END AS message,
       CASE WHEN e.outcome <> 'Scheduled' THEN coalesce(e.rejected_by, s.rejected_by) END AS rejected_by,
       s.priority, t.profile, s.asked_by, s.purpose,
       (SELECT count(*) FROM decisions p
        WHERE p.cluster = s.cluster AND p.pod = s.pod AND p.namespace = s.namespace AND p.pod_uid = s.pod_uid AND p.attempt = p.id AND p.purpose IN ('live', 'watched')
          AND p.created_at <= s.created_at) AS number,
       (e.created_at - (SELECT f.created_at FROM decisions f
        WHERE f.cluster = s.cluster AND f.pod = s.pod AND f.namespace = s.namespace AND f.pod_uid = s.pod_uid AND f.attempt = f.id AND f.purpose IN ('live', 'watched')
          AND f.created_at <= s.created_at ORDER BY f.created_at LIMIT 1)) / 1e6 AS waited_seconds,
       (SELECT json_group_array(i.id) FROM (SELECT d.id FROM decisions d
        WHERE d.cluster = s.cluster AND d.pod = s.pod AND d.namespace = s.namespace AND d.attempt = s.id
          AND d.created_at >= s.created_at - 60000000 AND d.created_at < coalesce((SELECT n.created_at FROM decisions n
        WHERE n.cluster = s.cluster AND n.pod = s.pod AND n.namespace = s.namespace AND n.pod_uid = s.pod_uid AND n.attempt = n.id AND n.purpose IN ('live', 'watched')
          AND n.created_at > s.created_at AND n.created_at < s.created_at + 7200000000 ORDER BY n.created_at LIMIT 1), s.created_at + 7200000000)
        ORDER BY d.seq) i) AS decisions,
       s.created_at, e.created_at AS ended_at,
       CASE length(s.pod_digest) WHEN 32 THEN 'sha256:' || lower(hex(s.pod_digest)) ELSE CAST(s.pod_digest AS TEXT) END AS pod_digest,
       s.revision, s.seq, s.placement
FROM decisions s LEFT JOIN stamps t ON t.id = s.stamp
JOIN decisions e ON e.id = CASE s.verb WHEN 'decide' THEN s.id ELSE (
  SELECT d.id FROM decisions d
  WHERE d.cluster = s.cluster AND d.pod = s.pod AND d.namespace = s.namespace AND d.attempt = s.id
          AND d.created_at >= s.created_at - 60000000 AND d.created_at < coalesce((SELECT n.created_at FROM decisions n
        WHERE n.cluster = s.cluster AND n.pod = s.pod AND n.namespace = s.namespace AND n.pod_uid = s.pod_uid AND n.attempt = n.id AND n.purpose IN ('live', 'watched')
          AND n.created_at > s.created_at AND n.created_at < s.created_at + 7200000000 ORDER BY n.created_at LIMIT 1), s.created_at + 7200000000)
  ORDER BY d.seq DESC LIMIT 1) END
WHERE s.attempt = s.id AND s.purpose IN ('live', 'watched');

-- Pods that were placed: a row a bind that took. A bind that the apiserver refused is none; one whose
-- answer never came is. Binds of before attempts were kept are found too.
CREATE VIEW placements AS
SELECT b.cluster, b.id AS decision_id,
       strftime('%Y-%m-%dT%H:%M:%S', b.created_at / 1000000, 'unixepoch') || printf('.%06dZ', b.created_at % 1000000) AS time,
       b.namespace, b.pod, CASE length(b.pod_uid) WHEN 16 THEN lower(substr(hex(b.pod_uid), 1, 8) || '-' || substr(hex(b.pod_uid), 9, 4) || '-' || substr(hex(b.pod_uid), 13, 4) || '-' || substr(hex(b.pod_uid), 17, 4) || '-' || substr(hex(b.pod_uid), 21)) ELSE CAST(b.pod_uid AS TEXT) END AS pod_uid,
       b.node, b.verb, b.priority, t.profile, b.asked_by,
       nullif((SELECT count(*) FROM decisions p
        WHERE p.cluster = b.cluster AND p.pod = b.pod AND p.namespace = b.namespace AND p.pod_uid = b.pod_uid AND p.attempt = p.id AND p.purpose IN ('live', 'watched')
          AND p.created_at <= b.created_at), 0) AS attempts,
       (b.created_at - (SELECT f.created_at FROM decisions f
        WHERE f.cluster = b.cluster AND f.pod = b.pod AND f.namespace = b.namespace AND f.pod_uid = b.pod_uid AND f.attempt = f.id AND f.purpose IN ('live', 'watched')
          AND f.created_at <= b.created_at ORDER BY f.created_at LIMIT 1)) / 1e6 AS waited_seconds,
       b.cluster || '@' || b.bound_revision AS bound_snapshot,
       b.bound_revision, b.created_at,
       CASE length(b.pod_digest) WHEN 32 THEN 'sha256:' || lower(hex(b.pod_digest)) ELSE CAST(b.pod_digest AS TEXT) END AS pod_digest,
       b.seq, coalesce(b.purpose, 'live') AS purpose, b.attempt,
       (b.created_at - (SELECT f.pod_created_at FROM judged_pods f WHERE f.cluster = b.cluster AND f.pod_digest = CASE length(b.pod_digest) WHEN 32 THEN 'sha256:' || lower(hex(b.pod_digest)) ELSE CAST(b.pod_digest AS TEXT) END)) / 1e6 AS seconds_since_created,
       b.created_at AS unix_micros, b.placement
FROM decisions b LEFT JOIN stamps t ON t.id = b.stamp
WHERE b.bound_revision + 0 > 0 AND b.outcome = 'Scheduled' AND b.verb IN ('decide', 'bind') -- + 0 keeps other indexes out of it
  AND NOT EXISTS (
    SELECT 1 FROM decisions r
    WHERE b.verb = 'bind' AND r.cluster = b.cluster AND r.pod = b.pod AND r.namespace = b.namespace AND r.pod_uid = b.pod_uid
      AND r.created_at >= b.created_at - 60000000 AND r.created_at < b.created_at + 7200000000
      AND r.seq + 0 > b.seq AND r.verb = 'bind-result' AND r.outcome = 'Unschedulable' AND coalesce(r.attempt = b.attempt, b.attempt IS NULL));

-- Pods as they were judged, a row for each digest of a pod.
CREATE VIEW pod_facts AS
SELECT f.cluster, f.pod_digest, f.namespace, f.name AS pod, f.uid AS pod_uid, f.owner_kind, f.owner_name,
       f.priority_class, f.priority, f.scheduler, f.cpu_milli, f.memory_bytes, f.requests, f.labels,
       f.pod_created_at, f.seen_at,
       strftime('%Y-%m-%dT%H:%M:%S', f.seen_at / 1000000, 'unixepoch') || printf('.%06dZ', f.seen_at % 1000000) AS time
FROM judged_pods f;

-- Their labels, a row a label.
CREATE VIEW pod_labels AS
SELECT f.cluster, f.pod_digest, f.namespace, f.name AS pod, l.key AS label, l.value, f.seen_at
FROM judged_pods f, json_each(f.labels) l;

-- Why live attempts placed no pod, hour by hour, those that evicted others included. pods counts each
-- pod once, nodes those of the record that began the attempt.
CREATE VIEW pending_reasons AS
SELECT d.cluster,
       strftime('%Y-%m-%dT%H:00:00Z', d.created_at / 1000000, 'unixepoch') AS hour,
       json_extract(f.value, '$[0]') AS plugin,
       json_extract(f.value, '$[2]') AS reason,
       count(DISTINCT d.namespace || '/' || d.pod) AS pods,
       count(DISTINCT d.id) AS decisions,
       sum(json_extract(f.value, '$[3]')) AS nodes,
       unixepoch(strftime('%Y-%m-%dT%H:00:00Z', d.created_at / 1000000, 'unixepoch')) * 1000000 AS hour_at
FROM decisions d, json_each(d.failures) f
WHERE d.outcome IN ('Unschedulable', 'Preempting') AND coalesce(d.attempt, d.id) = d.id
  AND (d.purpose = 'live' OR d.purpose IS NULL AND d.mode <> 'shadow' AND (d.bound_revision > 0 OR d.verb <> 'decide'))
GROUP BY 1, 2, 3, 4;

-- The line of a cluster's revisions.
CREATE VIEW revision_log AS
SELECT r.cluster, r.cluster || '@' || r.number AS snapshot,
       strftime('%Y-%m-%dT%H:%M:%S', r.created_at / 1000000, 'unixepoch') || printf('.%06dZ', r.created_at % 1000000) AS time,
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
CREATE VIEW revision_objects AS
SELECT o.cluster, o.revision, o.place, o.action, o.kind, o.namespace, o.name, o.uid, o.node, o.changed,
       o.cause, o.asked_by, o.created_at,
       strftime('%Y-%m-%dT%H:%M:%S', o.created_at / 1000000, 'unixepoch') || printf('.%06dZ', o.created_at % 1000000) AS time,
       o.cluster || '@' || o.revision AS snapshot, o.changes AS objects
FROM revision_changes o
UNION ALL
SELECT b.cluster, b.bound_revision, 0, 'apply', 'Pod', b.namespace, b.pod, nullif(CASE length(b.pod_uid) WHEN 16 THEN lower(substr(hex(b.pod_uid), 1, 8) || '-' || substr(hex(b.pod_uid), 9, 4) || '-' || substr(hex(b.pod_uid), 13, 4) || '-' || substr(hex(b.pod_uid), 17, 4) || '-' || substr(hex(b.pod_uid), 21)) ELSE CAST(b.pod_uid AS TEXT) END, ''), b.node, NULL,
       'bind', b.asked_by, b.created_at,
       strftime('%Y-%m-%dT%H:%M:%S', b.created_at / 1000000, 'unixepoch') || printf('.%06dZ', b.created_at % 1000000),
       b.cluster || '@' || b.bound_revision,
       coalesce((SELECT o.changes FROM revision_changes o WHERE o.cluster = b.cluster AND o.revision = b.bound_revision AND o.place = 1), 1)
FROM decisions b
WHERE b.bound_revision > 0 AND b.verb IN ('decide', 'bind') AND b.outcome = 'Scheduled' AND b.purpose IS NOT NULL
  AND (b.placement IS NULL OR NOT EXISTS (
    SELECT 1 FROM revision_changes o
    WHERE o.cluster = b.cluster AND o.revision = b.bound_revision AND o.place = 1 AND o.kind = 'Pod' AND o.namespace = b.namespace AND o.name = b.pod));

-- When pods were deleted, by what the index of deletions serves: a query of revision_objects reads
-- binds as well.
CREATE VIEW pod_deletions AS
SELECT o.cluster, strftime('%Y-%m-%dT%H:%M:%S', o.created_at / 1000000, 'unixepoch') || printf('.%06dZ', o.created_at % 1000000) AS time,
       o.namespace, o.name AS pod, coalesce(o.uid, '') AS pod_uid, o.revision, o.cause, o.asked_by, o.created_at,
       o.created_at AS unix_micros
FROM revision_changes o
WHERE o.action = 'delete' AND o.kind = 'Pod';

-- What was changed of priority classes, and so of who is evicted for whom.
CREATE VIEW priority_class_log AS
SELECT l.cluster, l.seq, l.action, l.name, l.old_value, l.new_value, l.old_policy, l.new_policy,
       l.old_global_default, l.new_global_default,
       l.source, l.revision, l.asked_by, l.peer, l.request_id, l.created_at,
       strftime('%Y-%m-%dT%H:%M:%S', l.created_at / 1000000, 'unixepoch') || printf('.%06dZ', l.created_at % 1000000) AS time
FROM priority_class_changes l;

-- Who was evicted for whom: a row a victim of a nomination that was written. Candidates of /preempt,
-- questions and shadow calls are none. berth evicts nothing itself: gone_at is of the revision that
-- deleted the victim.
CREATE VIEW evictions AS
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
         strftime('%Y-%m-%dT%H:%M:%S', d.created_at / 1000000, 'unixepoch') || printf('.%06dZ', d.created_at % 1000000) AS time,
         d.namespace, d.pod, CASE length(d.pod_uid) WHEN 16 THEN lower(substr(hex(d.pod_uid), 1, 8) || '-' || substr(hex(d.pod_uid), 9, 4) || '-' || substr(hex(d.pod_uid), 13, 4) || '-' || substr(hex(d.pod_uid), 17, 4) || '-' || substr(hex(d.pod_uid), 21)) ELSE CAST(d.pod_uid AS TEXT) END AS pod_uid, d.priority,
         json_extract(v.value, '$[0]') AS victim_namespace, json_extract(v.value, '$[1]') AS victim_name, json_extract(v.value, '$[2]') AS victim_uid, json_extract(v.value, '$[3]') AS victim_priority, json_extract(v.value, '$[4]') AS node,
         json_extract(v.value, '$[5]') AS budget_violated, nullif(json_extract(v.value, '$[6]'), '') AS victim_owner_kind, nullif(json_extract(v.value, '$[7]'), '') AS victim_owner,
         d.nominated_node, d.verb, d.asked_by, d.created_at, d.revision, d.seq, coalesce(d.purpose, 'live') AS purpose, d.attempt,
         CASE length(d.pod_digest) WHEN 32 THEN 'sha256:' || lower(hex(d.pod_digest)) ELSE CAST(d.pod_digest AS TEXT) END AS pod_digest
  FROM decisions d CROSS JOIN json_each(d.victims) v
  WHERE d.outcome = 'Preempting' AND d.bound_revision + 0 > 0 -- + 0 keeps other indexes out of it
) e
WHERE e.node = e.nominated_node AND e.purpose IN ('live', 'watched');

-- Pods that were tried, and their end: placed, deleted before that, or waiting still.
CREATE VIEW pods_over_time AS
SELECT p.cluster, p.namespace, p.pod, p.pod_uid, p.first_attempt_at, p.placed_at, p.gone_at,
       CASE WHEN p.placed_at IS NOT NULL THEN 'placed' WHEN p.gone_at IS NOT NULL THEN 'deleted' ELSE 'waits' END AS "end",
       p.priority, p.attempt
FROM (
  SELECT s.cluster, s.namespace, s.pod, CASE length(s.pod_uid) WHEN 16 THEN lower(substr(hex(s.pod_uid), 1, 8) || '-' || substr(hex(s.pod_uid), 9, 4) || '-' || substr(hex(s.pod_uid), 13, 4) || '-' || substr(hex(s.pod_uid), 17, 4) || '-' || substr(hex(s.pod_uid), 21)) ELSE CAST(s.pod_uid AS TEXT) END AS pod_uid, s.created_at AS first_attempt_at,
         (SELECT b.created_at FROM placements b
          WHERE b.cluster = s.cluster AND b.pod = s.pod AND b.namespace = s.namespace
            AND b.pod_uid = CASE length(s.pod_uid) WHEN 16 THEN lower(substr(hex(s.pod_uid), 1, 8) || '-' || substr(hex(s.pod_uid), 9, 4) || '-' || substr(hex(s.pod_uid), 13, 4) || '-' || substr(hex(s.pod_uid), 17, 4) || '-' || substr(hex(s.pod_uid), 21)) ELSE CAST(s.pod_uid AS TEXT) END AND b.created_at >= s.created_at
          ORDER BY b.created_at LIMIT 1) AS placed_at,
         (SELECT o.created_at FROM revision_changes o
          WHERE o.cluster = s.cluster AND o.namespace = s.namespace AND o.name = s.pod AND o.action = 'delete' AND o.kind = 'Pod'
            AND o.revision > s.revision AND o.uid = CASE length(s.pod_uid) WHEN 16 THEN lower(substr(hex(s.pod_uid), 1, 8) || '-' || substr(hex(s.pod_uid), 9, 4) || '-' || substr(hex(s.pod_uid), 13, 4) || '-' || substr(hex(s.pod_uid), 17, 4) || '-' || substr(hex(s.pod_uid), 21)) ELSE CAST(s.pod_uid AS TEXT) END
          ORDER BY o.revision LIMIT 1) AS gone_at,
         s.priority, s.attempt
  FROM decisions s
  WHERE s.attempt = s.id AND s.purpose IN ('live', 'watched') AND NOT EXISTS (
    SELECT 1 FROM decisions f
    WHERE f.cluster = s.cluster AND f.pod = s.pod AND f.namespace = s.namespace AND f.pod_uid = s.pod_uid
      AND f.attempt = f.id AND f.purpose IN ('live', 'watched') AND f.created_at < s.created_at)
) p;

-- How full a cluster was, by revision and resource.
CREATE VIEW capacity AS
SELECT cluster, cluster || '@' || revision AS snapshot,
       strftime('%Y-%m-%dT%H:%M:%S', measured_at / 1000000, 'unixepoch') || printf('.%06dZ', measured_at % 1000000) AS time,
       resource, allocatable, requested, free, stranded, fragmentation, nodes, nodes_in_use, nodes_bound,
       revision, measured_at
FROM capacities;

-- What was changed about access: tokens, the access file, settings at each start. That belongs to
-- no cluster, so that a reader of one cluster sees nothing of it.
CREATE VIEW access_changes AS
SELECT '' AS cluster,
       strftime('%Y-%m-%dT%H:%M:%S', created_at / 1000000, 'unixepoch') || printf('.%06dZ', created_at % 1000000) AS time,
       action, object, detail, asked_by, peer, request_id, id, created_at
FROM access_log;

-- The jobs of questions about what comes next: how they ended, and how long they took.
CREATE VIEW simulation_log AS
SELECT cluster, id, cluster || '@' || revision AS snapshot,
       strftime('%Y-%m-%dT%H:%M:%S', created_at / 1000000, 'unixepoch') || printf('.%06dZ', created_at % 1000000) AS time,
       kind, state, reason, (ended_at - created_at) / 1000000.0 AS seconds, attempts, progress,
       revision, created_at, ended_at, nullif(asked_by, '') AS asked_by
FROM simulations;

-- Placements whose pods are on their nodes until a time, and how they ended.
CREATE VIEW holds AS
SELECT cluster, id, state, cluster || '@' || revision AS bound_snapshot,
       strftime('%Y-%m-%dT%H:%M:%S', created_at / 1000000, 'unixepoch') || printf('.%06dZ', created_at % 1000000) AS time,
       strftime('%Y-%m-%dT%H:%M:%S', expires_at / 1000000, 'unixepoch') || printf('.%06dZ', expires_at % 1000000) AS expires_time,
       strftime('%Y-%m-%dT%H:%M:%S', ended_at / 1000000, 'unixepoch') || printf('.%06dZ', ended_at % 1000000) AS ended_time,
       cluster || '@' || ended_revision AS ended_snapshot, pod_count AS pods, pods AS placed, namespaces,
       (expires_at - created_at) / 1000000.0 AS seconds, asked_by, ended_by, created_at, expires_at, ended_at
FROM placement_holds;

-- What the log says of its own gaps.
CREATE VIEW decision_gaps_log AS
SELECT cluster,
       strftime('%Y-%m-%dT%H:%M:%S', since / 1000000, 'unixepoch') || printf('.%06dZ', since % 1000000) AS time,
       strftime('%Y-%m-%dT%H:%M:%S', until / 1000000, 'unixepoch') || printf('.%06dZ', until % 1000000) AS until_time,
       lost, cause, instance, id, since, until
FROM decision_gaps;

-- The epochs of the chains, and what each server found missing after a failover. A row whose cluster
-- is empty is of the whole database, and belongs to no cluster.
CREATE VIEW chain_epochs_log AS
SELECT cluster,
       strftime('%Y-%m-%dT%H:%M:%S', met_at / 1000000, 'unixepoch') || printf('.%06dZ', met_at % 1000000) AS time,
       number, system, timeline, instance, lost,
       strftime('%Y-%m-%dT%H:%M:%S', since / 1000000, 'unixepoch') || printf('.%06dZ', since % 1000000) AS since_time,
       strftime('%Y-%m-%dT%H:%M:%S', until / 1000000, 'unixepoch') || printf('.%06dZ', until % 1000000) AS until_time,
       first_revision, last_revision, ids, met_at
FROM chain_epochs;

-- The plugins that turned most nodes down in live attempts, hour by hour; rank 1 is the first.
-- A node counts once in each attempt, in the record that began it.
CREATE VIEW top_rejecting_plugins AS
SELECT d.cluster,
       strftime('%Y-%m-%dT%H:00:00Z', d.created_at / 1000000, 'unixepoch') AS hour,
       rank() OVER (PARTITION BY d.cluster, strftime('%Y-%m-%dT%H:00:00Z', d.created_at / 1000000, 'unixepoch') ORDER BY sum(json_extract(f.value, '$[3]')) DESC) AS rank,
       json_extract(f.value, '$[0]') AS plugin,
       sum(json_extract(f.value, '$[3]')) AS nodes,
       count(DISTINCT d.id) AS decisions,
       count(DISTINCT d.namespace || '/' || d.pod) AS pods,
       unixepoch(strftime('%Y-%m-%dT%H:00:00Z', d.created_at / 1000000, 'unixepoch')) * 1000000 AS hour_at
FROM decisions d, json_each(d.failures) f
WHERE coalesce(d.attempt, d.id) = d.id
  AND (d.purpose = 'live' OR d.purpose IS NULL AND d.mode <> 'shadow' AND (d.bound_revision > 0 OR d.verb <> 'decide'))
GROUP BY d.cluster, strftime('%Y-%m-%dT%H:00:00Z', d.created_at / 1000000, 'unixepoch'), json_extract(f.value, '$[0]');

-- How often each node was where a live attempt ended, one of its recorded best, or named among the
-- rejected by the record that began it, day by day (UTC). A node that no record names is not here: a
-- record names the answer, the best few, and the rejected of a reason that
-- rejected few.
CREATE VIEW node_choices AS
SELECT u.cluster, strftime('%Y-%m-%d', u.created_at / 1000000, 'unixepoch') AS day, u.node,
       sum(u.chosen) AS chosen, sum(u.scored) AS scored, sum(u.rejected) AS rejected,
       unixepoch(strftime('%Y-%m-%d', u.created_at / 1000000, 'unixepoch')) * 1000000 AS day_at
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
GROUP BY u.cluster, strftime('%Y-%m-%d', u.created_at / 1000000, 'unixepoch'), u.node;

-- Nodes that live attempts looked at and that were never the answer, in all that is kept.
CREATE VIEW nodes_never_chosen AS
SELECT cluster, node, sum(scored) AS scored, sum(rejected) AS rejected, min(day) AS first_day, max(day) AS last_day
FROM node_choices
GROUP BY cluster, node
HAVING sum(chosen) = 0;

-- Decisions on a revision that was no longer the newest when the answer was
-- recorded: how many revisions behind, and for how many seconds it had been
-- outdated. A question about a named old snapshot is one of them.
CREATE VIEW stale_decisions AS
SELECT d.cluster, d.id AS decision_id,
       strftime('%Y-%m-%dT%H:%M:%S', d.created_at / 1000000, 'unixepoch') || printf('.%06dZ', d.created_at % 1000000) AS time,
       d.verb, d.namespace, d.pod, d.outcome, d.node,
       d.cluster || '@' || d.revision AS snapshot,
       d.cluster || '@' || n.number AS newest_snapshot,
       n.number - d.revision AS revisions_behind,
       (d.created_at - o.created_at) / 1e6 AS stale_seconds,
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
CREATE VIEW scheduling_latency AS
SELECT d.cluster, d.namespace, d.pod, CASE length(d.pod_uid) WHEN 16 THEN lower(substr(hex(d.pod_uid), 1, 8) || '-' || substr(hex(d.pod_uid), 9, 4) || '-' || substr(hex(d.pod_uid), 13, 4) || '-' || substr(hex(d.pod_uid), 17, 4) || '-' || substr(hex(d.pod_uid), 21)) ELSE CAST(d.pod_uid AS TEXT) END AS pod_uid,
       count(*) AS decisions,
       count(DISTINCT CASE WHEN d.outcome IN ('Unschedulable', 'Preempting') THEN coalesce(d.attempt, d.id) END) AS unschedulable,
       strftime('%Y-%m-%dT%H:%M:%S', min(d.created_at) / 1000000, 'unixepoch') || printf('.%06dZ', min(d.created_at) % 1000000) AS first_decided,
       strftime('%Y-%m-%dT%H:%M:%S', min(CASE WHEN d.bound_revision > 0 AND d.outcome = 'Scheduled' THEN d.created_at END) / 1000000, 'unixepoch') || printf('.%06dZ', min(CASE WHEN d.bound_revision > 0 AND d.outcome = 'Scheduled' THEN d.created_at END) % 1000000) AS bound,
       min(CASE WHEN d.bound_revision > 0 AND d.outcome = 'Scheduled' THEN d.node END) AS node,
       (min(CASE WHEN d.bound_revision > 0 AND d.outcome = 'Scheduled' THEN d.created_at END) - min(d.created_at)) / 1e6 AS wait_seconds,
       min(d.created_at) AS first_decided_at,
       min(CASE WHEN d.bound_revision > 0 AND d.outcome = 'Scheduled' THEN d.created_at END) AS bound_at
FROM decisions d
WHERE (d.purpose = 'live' OR d.purpose IS NULL AND d.mode <> 'shadow' AND (d.bound_revision > 0 OR d.verb <> 'decide'))
GROUP BY d.cluster, d.namespace, d.pod, d.pod_uid;

-- Pods whose live attempts ended with another node than the one before, and how often. decisions
-- counts attempts.
CREATE VIEW flapping_pods AS
SELECT d.cluster, d.namespace, d.pod, count(*) AS decisions, count(DISTINCT d.node) AS nodes,
       count(CASE WHEN d.node <> (
         SELECT b.node FROM decisions b
         WHERE b.cluster = d.cluster AND b.pod = d.pod AND b.namespace = d.namespace AND b.node <> '' AND b.outcome = 'Scheduled'
           AND coalesce(b.attempt, b.id) <> coalesce(d.attempt, d.id) AND (b.purpose = 'live' OR b.purpose IS NULL AND b.mode <> 'shadow' AND (b.bound_revision > 0 OR b.verb <> 'decide'))
           AND (b.created_at, b.id) < (d.created_at, d.id)
         ORDER BY b.created_at DESC, b.id DESC LIMIT 1) THEN 1 END) AS changes,
       strftime('%Y-%m-%dT%H:%M:%S', min(d.created_at) / 1000000, 'unixepoch') || printf('.%06dZ', min(d.created_at) % 1000000) AS first_decided,
       strftime('%Y-%m-%dT%H:%M:%S', max(d.created_at) / 1000000, 'unixepoch') || printf('.%06dZ', max(d.created_at) % 1000000) AS last_decided
FROM decisions d
WHERE d.node <> '' AND d.outcome = 'Scheduled' AND (d.purpose = 'live' OR d.purpose IS NULL AND d.mode <> 'shadow' AND (d.bound_revision > 0 OR d.verb <> 'decide'))
  AND NOT (d.verb <> 'decide' AND EXISTS (
    SELECT 1 FROM decisions b
    WHERE b.cluster = d.cluster AND b.pod = d.pod AND b.created_at >= d.created_at AND b.namespace = d.namespace
      AND b.attempt = d.attempt AND b.seq + 0 > d.seq AND b.outcome = 'Scheduled' AND b.node <> ''))
GROUP BY d.cluster, d.namespace, d.pod
HAVING count(DISTINCT d.node) > 1;

-- What share of a cluster's decisions each verb and profile had, day by day (UTC).
CREATE VIEW decision_shares AS
SELECT d.cluster, strftime('%Y-%m-%d', d.created_at / 1000000, 'unixepoch') AS day, d.verb, t.profile, count(*) AS decisions,
       round(1.0 * count(*) / sum(count(*)) OVER (PARTITION BY d.cluster, strftime('%Y-%m-%d', d.created_at / 1000000, 'unixepoch')), 6) AS share,
       unixepoch(strftime('%Y-%m-%d', d.created_at / 1000000, 'unixepoch')) * 1000000 AS day_at
FROM decisions d LEFT JOIN stamps t ON t.id = d.stamp
GROUP BY d.cluster, strftime('%Y-%m-%d', d.created_at / 1000000, 'unixepoch'), d.verb, t.profile;

-- How long decisions took, hour by hour: the smallest duration that half of
-- them, or 99 in 100, did not exceed.
CREATE VIEW decision_durations AS
SELECT r.cluster, r.hour, r.verb, count(*) AS decisions,
       min(CASE WHEN r.place * 2 >= r.total THEN r.duration_micros END) / 1000.0 AS p50_ms,
       min(CASE WHEN r.place * 100 >= r.total * 99 THEN r.duration_micros END) / 1000.0 AS p99_ms,
       max(r.duration_micros) / 1000.0 AS max_ms,
       unixepoch(r.hour) * 1000000 AS hour_at
FROM (
  SELECT d.cluster, strftime('%Y-%m-%dT%H:00:00Z', d.created_at / 1000000, 'unixepoch') AS hour, d.verb, d.duration_micros,
         row_number() OVER (PARTITION BY d.cluster, strftime('%Y-%m-%dT%H:00:00Z', d.created_at / 1000000, 'unixepoch'), d.verb ORDER BY d.duration_micros) AS place,
         count(*) OVER (PARTITION BY d.cluster, strftime('%Y-%m-%dT%H:00:00Z', d.created_at / 1000000, 'unixepoch'), d.verb) AS total
  FROM decisions d
) r
GROUP BY r.cluster, r.hour, r.verb;

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

-- Batch replays: the jobs that are kept, and what is left of those that are not. overrides names what
-- was not as recorded; through_seq is the last place in the log when the batch was made.
CREATE VIEW replay_runs_log AS
SELECT j.cluster, strftime('%Y-%m-%dT%H:%M:%S', j.created_at / 1000000, 'unixepoch') || printf('.%06dZ', j.created_at % 1000000) AS time,
       j.id, j.state, j.since, j.until, j.overrides, j.total, j.identical, j.different, j.errors,
       (j.ended_at - j.created_at) / 1000000.0 AS seconds, j.semantics, j.through_seq,
       nullif(j.asked_by, '') AS asked_by, j.created_at, j.ended_at
FROM (
  SELECT r.cluster, r.id, r.state, r.since, r.until, r.through_seq,
         trim(CASE WHEN r.profile <> '' THEN 'profile ' ELSE '' END || CASE WHEN length(r.config) > 0 THEN 'config ' ELSE '' END
           || CASE WHEN r.release <> '' THEN 'semantics' ELSE '' END) AS overrides,
         r.semantics,
         (SELECT coalesce(sum(p.total), 0) FROM replay_parts p WHERE p.cluster = r.cluster AND p.replay = r.id) AS total,
         (SELECT coalesce(sum(p.identical), 0) FROM replay_parts p WHERE p.cluster = r.cluster AND p.replay = r.id) AS identical,
         (SELECT coalesce(sum(p.different), 0) FROM replay_parts p WHERE p.cluster = r.cluster AND p.replay = r.id) AS different,
         (SELECT coalesce(sum(p.errors), 0) FROM replay_parts p WHERE p.cluster = r.cluster AND p.replay = r.id) AS errors,
         r.asked_by, r.created_at, r.ended_at
  FROM replays r
  UNION ALL
  SELECT cluster, id, state, since, until, through_seq, overrides, semantics, total, identical, different, errors, asked_by, created_at, ended_at
  FROM replay_runs
) j;

-- Decisions that were answered again: each alone, those of a batch that differed or failed, and of a
-- batch that is done all others that were on record when it was made.
CREATE VIEW replay_log AS
SELECT r.cluster, strftime('%Y-%m-%dT%H:%M:%S', r.created_at / 1000000, 'unixepoch') || printf('.%06dZ', r.created_at % 1000000) AS time,
       r.decision_id, r.seq, r.identical, r.differences, r.overrides, r.semantics, r.profile_digest,
       r.replay, r.batch, r.asked_by, r.peer, r.request_id, r.created_at
FROM replay_results r
UNION ALL
SELECT x.cluster, strftime('%Y-%m-%dT%H:%M:%S', coalesce(j.ended_at, j.created_at) / 1000000, 'unixepoch') || printf('.%06dZ', coalesce(j.ended_at, j.created_at) % 1000000), x.decision_id, d.seq, FALSE,
       CASE WHEN json_extract(x.payload, '$.error') IS NULL THEN
         coalesce(json_array_length(x.payload, '$.differences'), 0) + coalesce(json_extract(x.payload, '$.differencesOmitted'), 0) END, j.overrides, j.semantics, CASE WHEN j.overrides = '' THEN t.profile_digest END,
       j.id, TRUE, j.asked_by, NULL, NULL, coalesce(j.ended_at, j.created_at)
FROM replay_runs_log j
JOIN replay_differences x ON x.cluster = j.cluster AND x.replay = j.id
LEFT JOIN decisions d ON d.cluster = x.cluster AND d.created_at = x.created_at AND d.id = x.decision_id
LEFT JOIN stamps t ON t.id = d.stamp
UNION ALL
SELECT d.cluster, strftime('%Y-%m-%dT%H:%M:%S', j.ended_at / 1000000, 'unixepoch') || printf('.%06dZ', j.ended_at % 1000000), d.id, d.seq, TRUE,
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
CREATE VIEW never_replayed AS
SELECT d.cluster, strftime('%Y-%m-%dT%H:%M:%S', d.created_at / 1000000, 'unixepoch') || printf('.%06dZ', d.created_at % 1000000) AS time,
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
CREATE VIEW denied_calls AS
SELECT cluster, strftime('%Y-%m-%dT%H:%M:%S', minute / 1000000, 'unixepoch') || printf('.%06dZ', minute % 1000000) AS time,
       asked_by, peer, route, status, reason, count, first_at, last_at, instance, minute AS created_at
FROM denials;

-- The hash chains, a row a seal. created_at is beside the chain: no hash covers it.
CREATE VIEW seal_log AS
SELECT s.cluster, strftime('%Y-%m-%dT%H:%M:%S', s.created_at / 1000000, 'unixepoch') || printf('.%06dZ', s.created_at % 1000000) AS time,
       s.number, s.kind, s.format, s.after_seq, s.seq, s.after_revision, s.revision,
       length(s.row_hashes) / 32 AS decisions, 'sha256:' || lower(hex(s.hash)) AS hash,
       CASE WHEN length(s.previous) > 0 THEN 'sha256:' || lower(hex(s.previous)) END AS previous,
       coalesce((SELECT max(json_extract(e.items, '$.epoch.number')) FROM seals e
         WHERE e.cluster = s.cluster AND e.kind <> 'rows' AND e.kind = 'epoch' AND e.number <= s.number), 0) AS epoch,
       s.items, s.created_at
FROM seals s;

-- What was taken away on purpose, by ranges that are inclusive at both ends. time and setting are
-- sealed; they are NULL in removals by earlier releases.
CREATE VIEW retention_log AS
SELECT s.cluster, json_extract(s.items, '$.removed.at') AS time, 'decisions' AS removed,
       json_extract(r.value, '$[0]') AS from_seq, json_extract(r.value, '$[1]') AS to_seq, NULL AS from_revision, NULL AS to_revision, NULL AS gap,
       json_extract(s.items, '$.removed.setting') AS setting, json_extract(s.items, '$.removed.askedBy') AS asked_by, s.number AS seal, s.created_at, json_extract(r.value, '$[1]') - json_extract(r.value, '$[0]') + 1 AS rows_removed
FROM seals s, json_each(s.items, '$.removed.decisions') r
WHERE s.kind <> 'rows' AND s.kind = 'removal'
UNION ALL
SELECT s.cluster, json_extract(s.items, '$.removed.at'), 'revisions', NULL, NULL, json_extract(r.value, '$[0]'), json_extract(r.value, '$[1]'), NULL,
       json_extract(s.items, '$.removed.setting'), json_extract(s.items, '$.removed.askedBy'), s.number, s.created_at, json_extract(r.value, '$[1]') - json_extract(r.value, '$[0]') + 1
FROM seals s, json_each(s.items, '$.removed.revisions') r
WHERE s.kind <> 'rows' AND s.kind = 'removal'
UNION ALL
SELECT s.cluster, json_extract(s.items, '$.removed.at'), 'gaps', NULL, NULL, NULL, NULL, r.value,
       json_extract(s.items, '$.removed.setting'), json_extract(s.items, '$.removed.askedBy'), s.number, s.created_at, 1
FROM seals s, json_each(s.items, '$.removed.gaps') r
WHERE s.kind <> 'rows' AND s.kind = 'removal'
UNION ALL
SELECT s.cluster, json_extract(s.items, '$.removed.at'), 'revision_objects', NULL, NULL, json_extract(r.value, '$[0]'), json_extract(r.value, '$[1]'), NULL,
       json_extract(s.items, '$.removed.setting'), json_extract(s.items, '$.removed.askedBy'), s.number, s.created_at, NULL
FROM seals s, json_each(s.items, '$.removed.rows.revision_changes') r
WHERE s.kind <> 'rows' AND s.kind = 'removal'
UNION ALL
SELECT s.cluster, json_extract(s.items, '$.removed.at'), 'cluster', NULL, s.seq, NULL, NULL, NULL,
       json_extract(s.items, '$.removed.setting'), json_extract(s.items, '$.removed.askedBy'), s.number, s.created_at, NULL
FROM seals s
WHERE s.kind <> 'rows' AND s.kind = 'deletion';

-- What API tokens may do, a row a role, pattern of clusters and pattern of namespaces.
CREATE VIEW token_grants AS
SELECT c.value AS cluster, t.name AS token, json_extract(g.value, '$.role') AS role, n.value AS namespace,
       t.id, t.created_at, t.expires_at, t.revoked_at, t.used_at,
       strftime('%Y-%m-%dT%H:%M:%S', t.created_at / 1000000, 'unixepoch') || printf('.%06dZ', t.created_at % 1000000) AS created,
       strftime('%Y-%m-%dT%H:%M:%S', t.expires_at / 1000000, 'unixepoch') || printf('.%06dZ', t.expires_at % 1000000) AS expires,
       strftime('%Y-%m-%dT%H:%M:%S', t.revoked_at / 1000000, 'unixepoch') || printf('.%06dZ', t.revoked_at % 1000000) AS revoked,
       strftime('%Y-%m-%dT%H:%M:%S', t.used_at / 1000000, 'unixepoch') || printf('.%06dZ', t.used_at % 1000000) AS used
FROM tokens t, json_each(t.grants) g, json_each(g.value, '$.clusters') c, json_each(g.value, '$.namespaces') n;

-- The decisions of an hour by what they were of: a roll-up, which a server keeps up a few seconds
-- behind the log.
CREATE VIEW decisions_by_hour AS
SELECT h.cluster, strftime('%Y-%m-%dT%H:00:00Z', h.hour / 1000000, 'unixepoch') AS hour,
       h.verb, h.outcome, nullif(h.purpose, '') AS purpose, h.namespace,
       t.profile, t.profile_digest, t.engine, t.semantics,
       h.decisions, h.bound, h.first_at, h.last_at, h.stamp, h.hour AS hour_at
FROM hourly_decisions h LEFT JOIN stamps t ON t.id = h.stamp;

-- The configurations that decided, by the roll-up. A payload that is damaged is shown as NULL.
CREATE VIEW profile_log AS
SELECT u.cluster, u.profile_digest, u.profile,
       strftime('%Y-%m-%dT%H:%M:%S', u.first_at / 1000000, 'unixepoch') || printf('.%06dZ', u.first_at % 1000000) AS first,
       strftime('%Y-%m-%dT%H:%M:%S', u.last_at / 1000000, 'unixepoch') || printf('.%06dZ', u.last_at % 1000000) AS last,
       u.decisions,
       CASE WHEN json_valid(CAST(p.payload AS TEXT)) THEN CAST(p.payload AS TEXT) END AS configuration,
       u.first_at, u.last_at
FROM (
  SELECT h.cluster, t.profile_digest, max(t.profile) AS profile, min(h.first_at) AS first_at, max(h.last_at) AS last_at, sum(h.decisions) AS decisions
  FROM hourly_decisions h JOIN stamps t ON t.id = h.stamp
  WHERE t.profile_digest <> ''
  GROUP BY h.cluster, t.profile_digest
) u LEFT JOIN profiles p ON p.digest = u.profile_digest;

-- Why nodes were rejected in an hour, of live attempts alone: a roll-up.
CREATE VIEW failures_by_hour AS
SELECT cluster, strftime('%Y-%m-%dT%H:00:00Z', hour / 1000000, 'unixepoch') AS hour,
       namespace, plugin, code, reason, decisions, nodes, unplaced, unplaced_nodes, hour AS hour_at
FROM hourly_failures WHERE pool = '(all)';

-- The same by the pool of the nodes; NULL: the records do not count by pool. A decision is counted in
-- each pool in which it rejected nodes.
CREATE VIEW pool_failures_by_hour AS
SELECT cluster, strftime('%Y-%m-%dT%H:00:00Z', hour / 1000000, 'unixepoch') AS hour,
       namespace, nullif(pool, '(unknown)') AS pool, plugin, code, reason, decisions, nodes, unplaced, unplaced_nodes, hour AS hour_at
FROM hourly_failures WHERE pool <> '(all)';

-- How many pods each node got in an hour: a roll-up.
CREATE VIEW placements_by_hour AS
SELECT cluster, strftime('%Y-%m-%dT%H:00:00Z', hour / 1000000, 'unixepoch') AS hour,
       node, namespace, placements, hour AS hour_at
FROM hourly_placements;

-- How long decisions took, hour by hour, as a histogram: a roll-up.
CREATE VIEW durations_by_hour AS
SELECT cluster, strftime('%Y-%m-%dT%H:00:00Z', hour / 1000000, 'unixepoch') AS hour,
       verb, over_micros / 1000.0 AS over_ms, upto_micros / 1000.0 AS upto_ms, decisions,
       total_micros / 1000.0 AS total_ms, max_micros / 1000.0 AS max_ms, hour AS hour_at
FROM hourly_durations;

-- The stretches of time in which a pod waited for one cause: from the first attempt that found it to
-- the first one that found another or a node, its bind or its deletion. A point is a full 5 minutes:
-- since_point is the first of them at which it waited, until_point the first at which it did not.
CREATE VIEW pod_waits AS
SELECT cluster,
       strftime('%Y-%m-%dT%H:%M:%S', since / 1000000, 'unixepoch') || printf('.%06dZ', since % 1000000) AS time,
       strftime('%Y-%m-%dT%H:%M:%S', until / 1000000, 'unixepoch') || printf('.%06dZ', until % 1000000) AS until_time,
       namespace, pod, pod_uid, cause,
       (coalesce(until, (julianday('now') - 2440587.5) * 86400000000) - since) / 1000000.0 AS seconds,
       since, until,
       strftime('%Y-%m-%dT%H:%M:%SZ', (since + 299999999) / 300000000 * 300, 'unixepoch') AS since_point,
       strftime('%Y-%m-%dT%H:%M:%SZ', (until + 299999999) / 300000000 * 300, 'unixepoch') AS until_point,
       (since + 299999999) / 300000000 * 300000000 AS since_point_at,
       (until + 299999999) / 300000000 * 300000000 AS until_point_at
FROM waits;

-- The pods that waited in an hour, by cause. A stretch is in each hour that it touches. Those that it
-- fills are counted by where stretches begin and end, so that long ones cost no more than short ones.
CREATE VIEW waiting_by_hour AS
WITH RECURSIVE stretches AS (
  SELECT cluster, namespace, cause, pod, since, until, since - since % 3600000000 AS first, until - until % 3600000000 AS last
  FROM (
    SELECT cluster, namespace, cause, pod || '/' || pod_uid AS pod, since,
           coalesce(until, CAST((julianday('now') - 2440587.5) * 86400000000 AS INTEGER)) AS until
    FROM waits
  ) w
), steps AS (
  SELECT cluster, namespace, cause, hour, sum(n) AS n
  FROM (
    SELECT cluster, namespace, cause, first + 3600000000 AS hour, 1 AS n FROM stretches WHERE first + 3600000000 < last
    UNION ALL
    SELECT cluster, namespace, cause, last, -1 FROM stretches WHERE first + 3600000000 < last
  ) u
  GROUP BY cluster, namespace, cause, hour
), filled AS (
  SELECT cluster, namespace, cause, hour, next, pods
  FROM (
    SELECT cluster, namespace, cause, hour, lead(hour) OVER w AS next, sum(n) OVER w AS pods
    FROM steps WINDOW w AS (PARTITION BY cluster, namespace, cause ORDER BY hour)
  ) r
  WHERE pods > 0
  UNION ALL
  SELECT cluster, namespace, cause, hour + 3600000000, next, pods FROM filled WHERE hour + 3600000000 < next
)
SELECT cluster, strftime('%Y-%m-%dT%H:00:00Z', hour / 1000000, 'unixepoch') AS hour,
       namespace, cause, sum(pods) AS pods, sum(micros) / 1000000.0 AS seconds, hour AS hour_at
FROM (
  SELECT cluster, namespace, cause, hour, pods, pods * 3600000000 AS micros FROM filled
  UNION ALL
  SELECT cluster, namespace, cause, hour, count(DISTINCT pod), sum(micros)
  FROM (
    SELECT cluster, namespace, cause, pod, first AS hour, min(until, first + 3600000000) - since AS micros FROM stretches
    UNION ALL
    SELECT cluster, namespace, cause, pod, last, until - last FROM stretches WHERE last > first AND until > last
  ) e
  GROUP BY cluster, namespace, cause, hour
) u
GROUP BY cluster, u.hour, namespace, cause;
