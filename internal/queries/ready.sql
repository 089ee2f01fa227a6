-- The ready queries about the log's views: the only place where they stand. A query begins with its
-- name and the question that it answers. Lines of comment describe it, the last one has values for
-- its parameters, which are those of the examples in ready.md. Lines before it may list texts that may
-- be empty (optional), say that the query is about access (right: admin), and of a time series which
-- columns a chart draws (chart). Both backends run the same text; @since and @until are times, @limit
-- is a number, and all others are texts. What several queries have in common is a part, which stands
-- as {its name} in them.

-- part edges: The time as roll-ups have it: the hours from early_until to hours_until are whole, and
-- rolled up. What is before them, and behind late_since, is read from the records: where nothing is
-- rolled up yet, all of it. The newest hour of the roll-ups is one that they may not have whole.
WITH edges AS (
  SELECT early_until, hours_until, CASE WHEN early_until < hours_until THEN hours_until ELSE early_until END AS late_since
  FROM (
    SELECT coalesce((SELECT min(hour_at) FROM decisions_by_hour WHERE cluster = @cluster AND hour_at >= @since AND hour_at < @until), @until) AS early_until,
      coalesce((SELECT max(hour_at) FROM decisions_by_hour WHERE cluster = @cluster AND hour_at <= @until), @since) AS hours_until
  ) h
)

-- part began: Of records, those that began an attempt, as roll-ups count them.
purpose IN ('live', 'watched') AND (verb IN ('decide', 'filter') AND coalesce(attempt, decision_id) = decision_id OR verb = 'preempt' AND attempt = decision_id)

-- part failures: Rejections by plugin and reason.
  SELECT plugin, reason, decisions, nodes
  FROM failures_by_hour
  WHERE cluster = @cluster AND (@namespace = '' OR namespace = @namespace) AND hour_at >= @since AND hour_at < (SELECT hours_until FROM edges)
  UNION ALL
  SELECT plugin, reason, 1, nodes
  FROM decision_failures
  WHERE cluster = @cluster AND (@namespace = '' OR namespace = @namespace) AND {began}
    AND created_at >= @since AND created_at < (SELECT early_until FROM edges)
  UNION ALL
  SELECT plugin, reason, 1, nodes
  FROM decision_failures
  WHERE cluster = @cluster AND (@namespace = '' OR namespace = @namespace) AND {began}
    AND created_at >= (SELECT late_since FROM edges) AND created_at < @until

-- unschedulable-pods: Which pods could not be scheduled, and what is kube-scheduler's message?
-- Each pod that live attempts found no node for, by message. `tries` counts records: filter and
-- preempt of one attempt have messages of their own. A pod that was only asked about, without
-- `bind`, waits for nothing and is not here: the query `decisions` shows such questions too.
-- optional: namespace
-- example: cluster=demo since=2026-01-02T09:00:00Z until=2026-01-02T12:00:00Z limit=100
SELECT max(time) AS last, namespace, pod, count(*) AS tries, message
FROM decision_log
WHERE cluster = @cluster AND created_at >= @since AND created_at < @until
  AND outcome = 'Unschedulable' AND purpose = 'live' AND (@namespace = '' OR namespace = @namespace)
GROUP BY namespace, pod, message
ORDER BY last DESC, pod, message
LIMIT @limit

-- decisions: Which decisions are on record, newest first?
-- What is left empty filters nothing: the page of decisions asks this with its own filters.
-- optional: namespace pod node outcome verb
-- example: cluster=demo since=2026-01-02T09:00:00Z until=2026-01-02T12:00:00Z namespace=shop outcome=Unschedulable limit=3
SELECT time, id AS decision_id, namespace, pod, outcome, node, nominated_node, nodes_feasible, nodes_total, verb, profile, snapshot
FROM decision_log
WHERE cluster = @cluster AND created_at >= @since AND created_at < @until
  AND (@namespace = '' OR namespace = @namespace) AND (@pod = '' OR pod = @pod)
  AND (@node = '' OR node = @node) AND (@outcome = '' OR outcome = @outcome)
  AND (@verb = '' OR verb = @verb)
ORDER BY created_at DESC, id DESC
LIMIT @limit

-- top-reasons: Which reasons rejected the most nodes?
-- Of live attempts: a node counts once for each attempt that it was rejected in, by the record that
-- began it. Whole hours are from the roll-up.
-- optional: namespace
-- example: cluster=demo since=2026-01-02T00:00:00Z until=2026-01-03T00:00:00Z limit=10
{edges}
SELECT plugin, reason, sum(nodes) AS nodes, sum(decisions) AS decisions
FROM (
{failures}
) f
GROUP BY plugin, reason
ORDER BY nodes DESC, plugin, reason
LIMIT @limit

-- top-blockers: Which pods and other objects are in the way most often?
-- Of live attempts that placed no pod, by the record that began them: pods by what they belong to,
-- others by name. `pods` counts the pods that they kept waiting, `objects` of how many objects the
-- row is. A record names at most ten; those of releases up to v0.3.0 name none.
-- optional: namespace
-- example: cluster=demo since=2026-01-02T00:00:00Z until=2026-01-03T00:00:00Z limit=10
SELECT kind, blocker_namespace, name, plugin, count(DISTINCT decision_id) AS attempts, count(DISTINCT pod) AS pods, count(DISTINCT blocker) AS objects
FROM (
  SELECT coalesce(blocker_owner_kind, kind) AS kind, blocker_namespace, coalesce(blocker_owner, blocker) AS name, plugin, decision_id, namespace || '/' || pod AS pod, blocker
  FROM decision_blockers
  WHERE cluster = @cluster AND created_at >= @since AND created_at < @until AND (@namespace = '' OR namespace = @namespace)
    AND outcome <> 'Scheduled'
    AND purpose = 'live' AND coalesce(attempt, decision_id) = decision_id
) b
GROUP BY kind, blocker_namespace, name, plugin
ORDER BY attempts DESC, pods DESC, kind, coalesce(blocker_namespace, ''), name, plugin
LIMIT @limit

-- top-plugins-by-hour: Which plugin rejects most, hour by hour?
-- Rank 1 is the plugin that rejected most nodes in that hour, of live attempts. Start here when a
-- cluster seems full. The newest hour is first.
-- chart: time=hour series=plugin value=nodes
-- optional: namespace
-- example: cluster=demo since=2026-01-02T00:00:00Z until=2026-01-03T00:00:00Z limit=100
SELECT hour, rank, plugin, nodes, decisions, pods
FROM (
  SELECT substr(time, 1, 13) || ':00:00Z' AS hour, plugin,
    rank() OVER (PARTITION BY substr(time, 1, 13) ORDER BY sum(nodes) DESC) AS rank,
    sum(nodes) AS nodes, count(DISTINCT decision_id) AS decisions, count(DISTINCT namespace || '/' || pod) AS pods
  FROM decision_failures
  WHERE cluster = @cluster AND created_at >= @since AND created_at < @until
    AND (@namespace = '' OR namespace = @namespace)
    AND purpose = 'live' AND coalesce(attempt, decision_id) = decision_id
  GROUP BY substr(time, 1, 13), plugin
) r
WHERE rank <= 2
ORDER BY hour DESC, rank, plugin
LIMIT @limit

-- pending-reasons-by-hour: Why did pods wait, hour by hour?
-- Of live attempts that placed no pod: those that evicted others for it, and those of pods with
-- scheduling gates, too. Each pod counts once an hour and reason.
-- chart: time=hour series=reason value=pods
-- optional: namespace
-- example: cluster=demo since=2026-01-02T00:00:00Z until=2026-01-03T00:00:00Z limit=20
SELECT hour, plugin, reason, count(DISTINCT pod) AS pods, count(DISTINCT decision_id) AS decisions, sum(nodes) AS nodes
FROM (
  SELECT substr(time, 1, 13) || ':00:00Z' AS hour, plugin, reason, namespace || '/' || pod AS pod, decision_id, nodes
  FROM decision_failures
  WHERE cluster = @cluster AND created_at >= @since AND created_at < @until
    AND (@namespace = '' OR namespace = @namespace) AND outcome IN ('Unschedulable', 'Preempting')
    AND purpose = 'live' AND coalesce(attempt, decision_id) = decision_id
  UNION ALL
  SELECT substr(time, 1, 13) || ':00:00Z', 'SchedulingGates', message, namespace || '/' || pod, id, 0
  FROM decision_log
  WHERE cluster = @cluster AND created_at >= @since AND created_at < @until
    AND (@namespace = '' OR namespace = @namespace) AND outcome = 'Gated'
    AND purpose = 'live' AND coalesce(attempt, id) = id
) w
GROUP BY hour, plugin, reason
ORDER BY hour DESC, nodes DESC, plugin, reason
LIMIT @limit

-- scores-of-a-pod: How did each plugin score the best nodes for one pod, the last time that it was scored?
-- Raw and normalised score, the profile's weight, and their product. A single feasible node is not
-- scored.
-- example: cluster=demo namespace=shop pod=api since=2026-01-02T00:00:00Z until=2026-01-03T00:00:00Z limit=100
SELECT rank, node, plugin, raw, normalized, weight, weighted
FROM decision_plugin_scores
WHERE cluster = @cluster AND pod = @pod AND created_at >= @since AND created_at < @until AND decision_id = (
  SELECT decision_id FROM decision_scores
  WHERE cluster = @cluster AND namespace = @namespace AND pod = @pod AND created_at >= @since AND created_at < @until
  ORDER BY created_at DESC LIMIT 1)
ORDER BY rank, weighted DESC, plugin
LIMIT @limit

-- close-choices: Which choices were close, or tied?
-- Margin 0 is a tie, which a hash of pod and node resolved. A small change of weights would change
-- these choices. Questions are included: `purpose` says which.
-- optional: namespace
-- example: cluster=demo since=2026-01-02T00:00:00Z until=2026-01-03T00:00:00Z limit=20
SELECT time, namespace, pod, first, second, margin, tied, purpose
FROM decision_margins
WHERE cluster = @cluster AND created_at >= @since AND created_at < @until
  AND (@namespace = '' OR namespace = @namespace) AND margin < 20
ORDER BY margin, created_at DESC
LIMIT @limit

-- nodes-never-chosen: Which nodes are judged and never chosen?
-- Nodes that records of the time name, but never as the answer of a live attempt. A node that no
-- record names is missing: one that is feasible but never among the three best, or always rejected
-- together with more than seven others.
-- optional: namespace
-- example: cluster=demo since=2026-01-02T00:00:00Z until=2026-01-03T00:00:00Z limit=100
SELECT node, sum(scored) AS scored, sum(rejected) AS rejected, min(day) AS first_day, max(day) AS last_day
FROM (
  SELECT node, 1 AS chosen, 0 AS scored, 0 AS rejected, substr(time, 1, 10) AS day
  FROM decision_log
  WHERE cluster = @cluster AND created_at >= @since AND created_at < @until
    AND (@namespace = '' OR namespace = @namespace) AND node <> '' AND outcome = 'Scheduled' AND purpose = 'live'
  UNION ALL
  SELECT node, 0, 1, 0, substr(time, 1, 10)
  FROM decision_scores
  WHERE cluster = @cluster AND created_at >= @since AND created_at < @until
    AND (@namespace = '' OR namespace = @namespace)
  UNION ALL
  SELECT node, 0, 0, 1, substr(time, 1, 10)
  FROM decision_rejected_nodes
  WHERE cluster = @cluster AND created_at >= @since AND created_at < @until
    AND (@namespace = '' OR namespace = @namespace)
) n
GROUP BY node
HAVING sum(chosen) = 0
ORDER BY rejected DESC, node
LIMIT @limit

-- node-choices-by-day: How often was each node the answer, day by day?
-- Of live attempts: `chosen` counts those that ended with the node, `scored` how often it was among
-- the recorded best, `rejected` how often the record that began an attempt names it as rejected.
-- chart: time=day series=node value=chosen
-- optional: namespace
-- example: cluster=demo since=2026-01-02T00:00:00Z until=2026-01-03T00:00:00Z limit=100
SELECT day, node, sum(chosen) AS chosen, sum(scored) AS scored, sum(rejected) AS rejected
FROM (
  SELECT substr(time, 1, 10) AS day, node, 1 AS chosen, 0 AS scored, 0 AS rejected
  FROM decision_log d
  WHERE cluster = @cluster AND created_at >= @since AND created_at < @until
    AND (@namespace = '' OR namespace = @namespace) AND purpose = 'live' AND outcome = 'Scheduled' AND node <> ''
    AND NOT (verb <> 'decide' AND EXISTS (
      SELECT 1 FROM decision_log b
      WHERE b.cluster = @cluster AND b.pod = d.pod AND b.created_at >= d.created_at AND b.created_at >= @since
        AND b.namespace = d.namespace AND b.attempt = d.attempt AND b.seq + 0 > d.seq AND b.outcome = 'Scheduled' AND b.node <> ''))
  UNION ALL
  SELECT substr(time, 1, 10), node, 0, 1, 0
  FROM decision_scores
  WHERE cluster = @cluster AND created_at >= @since AND created_at < @until
    AND (@namespace = '' OR namespace = @namespace) AND purpose = 'live'
  UNION ALL
  SELECT substr(time, 1, 10), node, 0, 0, 1
  FROM decision_rejected_nodes
  WHERE cluster = @cluster AND created_at >= @since AND created_at < @until
    AND (@namespace = '' OR namespace = @namespace)
    AND purpose = 'live' AND coalesce(attempt, decision_id) = decision_id
) n
GROUP BY day, node
ORDER BY day DESC, chosen DESC, node
LIMIT @limit

-- rejections-on-a-node: Which pods were rejected on one node, and why?
-- The decisions that name the node among the rejected. A record names the nodes of a reason that
-- rejected at most eight.
-- optional: namespace
-- example: cluster=demo node=web-1 since=2026-01-02T00:00:00Z until=2026-01-03T00:00:00Z limit=20
SELECT time, verb, pod, plugin, reason, namespace, purpose
FROM decision_rejected_nodes
WHERE cluster = @cluster AND created_at >= @since AND created_at < @until
  AND (@namespace = '' OR namespace = @namespace) AND node = @node
ORDER BY created_at DESC, plugin
LIMIT @limit

-- stale-decisions: Which decisions were made on a snapshot that was no longer the newest?
-- How many revisions behind, and for how many seconds the snapshot had been outdated. Questions
-- about a named old snapshot are included: `purpose` says which.
-- optional: namespace
-- example: cluster=demo since=2026-01-02T00:00:00Z until=2026-01-03T00:00:00Z limit=20
SELECT time, verb, pod, snapshot, newest_snapshot, revisions_behind, stale_seconds, namespace, purpose
FROM stale_decisions
WHERE cluster = @cluster AND created_at >= @since AND created_at < @until
  AND (@namespace = '' OR namespace = @namespace)
ORDER BY revisions_behind DESC, created_at DESC
LIMIT @limit

-- time-to-bind: How long did pods wait from their first decision to their bind?
-- Of live attempts of the time, for pods that berth bound within it; `unschedulable` counts the
-- attempts that found no node, those that evicted others included. What was before `since` is not
-- counted, nor are pods that still wait: see `longest-waits`.
-- optional: namespace
-- example: cluster=demo since=2026-01-02T00:00:00Z until=2026-01-03T00:00:00Z limit=20
SELECT namespace, pod, count(*) AS decisions,
  count(DISTINCT CASE WHEN outcome IN ('Unschedulable', 'Preempting') THEN coalesce(attempt, id) END) AS unschedulable,
  min(time) AS first_decided, min(CASE WHEN bound_revision > 0 AND outcome = 'Scheduled' THEN time END) AS bound,
  min(CASE WHEN bound_revision > 0 AND outcome = 'Scheduled' THEN node END) AS node,
  (min(CASE WHEN bound_revision > 0 AND outcome = 'Scheduled' THEN unix_micros END) - min(unix_micros)) / CAST(1000000 AS double precision) AS wait_seconds
FROM decision_log
WHERE cluster = @cluster AND created_at >= @since AND created_at < @until
  AND (@namespace = '' OR namespace = @namespace) AND purpose = 'live'
GROUP BY namespace, pod, pod_uid
HAVING min(CASE WHEN bound_revision > 0 AND outcome = 'Scheduled' THEN 1 END) = 1
ORDER BY wait_seconds DESC, namespace, pod
LIMIT @limit

-- flapping-pods: Which pods get one node today and another tomorrow?
-- Live attempts that ended with another node than the one before of the same name, as a
-- StatefulSet's pods have it that come back. `decisions` counts attempts, `changes` those with
-- another node. Records of releases up to v0.3.0 are of no attempt.
-- optional: namespace
-- example: cluster=audit since=2026-01-02T00:00:00Z until=2026-01-03T00:00:00Z limit=100
SELECT namespace, pod, count(*) AS decisions, count(DISTINCT node) AS nodes, sum(change) AS changes,
  min(time) AS first_decided, max(time) AS last_decided
FROM (
  SELECT namespace, pod, node, time,
    CASE WHEN node <> lag(node) OVER (PARTITION BY namespace, pod ORDER BY created_at, attempt) THEN 1 ELSE 0 END AS change
  FROM attempts
  WHERE cluster = @cluster AND created_at >= @since AND created_at < @until
    AND (@namespace = '' OR namespace = @namespace) AND purpose = 'live' AND outcome = 'Scheduled' AND node <> ''
) b
GROUP BY namespace, pod
HAVING sum(change) > 0
ORDER BY changes DESC, namespace, pod
LIMIT @limit

-- verbs-and-profiles: Which verbs and profiles are used?
-- The share of a day's decisions by verb and profile, questions and shadows included. Binds by the
-- ledger use no profile.
-- chart: time=day series=verb value=decisions
-- optional: namespace
-- example: cluster=demo since=2026-01-02T00:00:00Z until=2026-01-03T00:00:00Z limit=100
SELECT day, verb, profile, decisions, CAST(round(1.0 * decisions / sum(decisions) OVER (PARTITION BY day), 6) AS double precision) AS share
FROM (
  SELECT substr(time, 1, 10) AS day, verb, profile, count(*) AS decisions
  FROM decision_log
  WHERE cluster = @cluster AND created_at >= @since AND created_at < @until
    AND (@namespace = '' OR namespace = @namespace)
  GROUP BY substr(time, 1, 10), verb, profile
) d
ORDER BY day DESC, decisions DESC, verb, profile
LIMIT @limit

-- decision-durations: How long do decisions take?
-- Median and 99th percentile by verb and hour, by nearest rank, without the wait for the disk.
-- chart: time=hour series=verb value=p99_ms
-- optional: namespace
-- example: cluster=demo since=2026-01-02T00:00:00Z until=2026-01-03T00:00:00Z limit=100
SELECT hour, verb, count(*) AS decisions,
  min(CASE WHEN place * 2 >= total THEN duration_ms END) AS p50_ms,
  min(CASE WHEN place * 100 >= total * 99 THEN duration_ms END) AS p99_ms, max(duration_ms) AS max_ms
FROM (
  SELECT substr(time, 1, 13) || ':00:00Z' AS hour, verb, duration_ms,
    row_number() OVER (PARTITION BY substr(time, 1, 13), verb ORDER BY duration_ms) AS place,
    count(*) OVER (PARTITION BY substr(time, 1, 13), verb) AS total
  FROM decision_log
  WHERE cluster = @cluster AND created_at >= @since AND created_at < @until
    AND (@namespace = '' OR namespace = @namespace)
) r
GROUP BY hour, verb
ORDER BY hour DESC, verb
LIMIT @limit

-- bound-decisions: Which decisions were bound, and what was the cluster's state before and after?
-- Each bind makes a revision.
-- optional: namespace
-- example: cluster=demo since=2026-01-02T00:00:00Z until=2026-01-03T00:00:00Z limit=20
SELECT time, verb, namespace, pod, node, snapshot, bound_snapshot
FROM decision_log
WHERE cluster = @cluster AND created_at >= @since AND created_at < @until
  AND (@namespace = '' OR namespace = @namespace) AND outcome = 'Scheduled' AND bound_revision > 0
ORDER BY created_at DESC
LIMIT @limit

-- history-of-a-pod: What happened to one pod, the newest first?
-- All verbs, with the index by pod. `purpose` tells questions and shadows, which changed nothing;
-- the records of one attempt have one `attempt`.
-- example: cluster=demo namespace=shop pod=cart since=2026-01-02T00:00:00Z until=2026-01-03T00:00:00Z limit=100
SELECT time, verb, outcome, node, nodes_feasible, nodes_total, profile, snapshot, purpose, attempt
FROM decision_log
WHERE cluster = @cluster AND created_at >= @since AND created_at < @until
  AND namespace = @namespace AND pod = @pod
ORDER BY created_at DESC
LIMIT @limit

-- versions: Which versions and profiles decided, and on how many snapshots?
-- Check this after an upgrade: every decision records its engine, semantics and profile. Two
-- configurations of a profile have two digests, and a row each.
-- optional: namespace
-- example: cluster=demo since=2026-01-02T00:00:00Z until=2026-01-03T00:00:00Z limit=100
SELECT engine, semantics, profile, count(*) AS decisions, count(DISTINCT snapshot_digest) AS snapshots,
  profile_digest, min(time) AS first, max(time) AS last
FROM decision_log
WHERE cluster = @cluster AND created_at >= @since AND created_at < @until
  AND (@namespace = '' OR namespace = @namespace)
GROUP BY engine, semantics, profile, profile_digest
ORDER BY decisions DESC, profile, profile_digest
LIMIT @limit

-- revisions: What made the cluster's revisions?
-- Uploads, changes and binds, how each was stored, and who asked for it.
-- example: cluster=demo since=2026-01-02T00:00:00Z until=2026-01-03T00:00:00Z limit=100
SELECT snapshot, time, cause, CASE WHEN checkpoint_bytes > 0 THEN 'whole' ELSE 'change' END AS stored, asked_by
FROM revision_log
WHERE cluster = @cluster AND created_at >= @since AND created_at < @until
ORDER BY number DESC
LIMIT @limit

-- capacity: How full was the cluster, revision by revision?
-- Each time that `/metrics` was scraped and a cluster had changed, at most once in
-- `--capacity-interval`.
-- chart: time=time value=used_percent
-- example: cluster=demo resource=cpu since=2026-01-02T00:00:00Z until=2026-01-03T00:00:00Z limit=100
SELECT time, snapshot, 100 * requested / nullif(allocatable, 0) AS used_percent, free, stranded, nodes_in_use, nodes_bound
FROM capacity
WHERE cluster = @cluster AND measured_at >= @since AND measured_at < @until AND resource = @resource
ORDER BY revision DESC
LIMIT @limit

-- simulation-jobs: Which questions about what comes next wait, or failed?
-- Jobs that were cancelled and those that run are listed, too. Jobs that ended 7 days ago are
-- deleted.
-- example: cluster=demo since=2026-01-02T00:00:00Z until=2026-01-03T00:00:00Z limit=20
SELECT time, snapshot, kind, state, reason
FROM simulation_log
WHERE cluster = @cluster AND created_at >= @since AND created_at < @until AND state <> 'done'
ORDER BY id
LIMIT @limit

-- preemption-pairs: Which pods evict the same victims again and again?
-- `evictions` counts the victims of that name by UID: the victim came back in between. Only
-- nominations of live attempts count, not questions and not the candidates of the verb `preempt`.
-- optional: namespace
-- example: cluster=demo since=2026-01-02T00:00:00Z until=2026-01-03T00:00:00Z limit=20
SELECT v.namespace, v.pod, v.victim_namespace, v.victim, count(DISTINCT v.victim_uid) AS evictions, min(v.time) AS first, max(v.time) AS last
FROM decision_log d JOIN decision_victims v ON v.cluster = d.cluster AND v.created_at = d.created_at AND v.decision_id = d.id
WHERE d.cluster = @cluster AND d.created_at >= @since AND d.created_at < @until
  AND v.cluster = @cluster AND v.created_at >= @since AND v.created_at < @until
  AND (@namespace = '' OR d.namespace = @namespace)
  AND d.outcome = 'Preempting' AND d.purpose = 'live' AND d.nominated_node = v.node
GROUP BY v.namespace, v.pod, v.victim_namespace, v.victim
HAVING count(DISTINCT v.victim_uid) > 1
ORDER BY evictions DESC, v.namespace, v.pod, v.victim
LIMIT @limit

-- nominations-never-bound: Which pods were nominated to a node and never bound?
-- Nominations of the time that no bind of the pod has followed until now. The victims did not end,
-- or a pod of higher priority took their place.
-- optional: namespace
-- example: cluster=demo since=2026-01-02T00:00:00Z until=2026-01-03T00:00:00Z limit=20
SELECT namespace, pod, nominated_node AS node, count(*) AS nominations, min(time) AS first, max(time) AS last
FROM decision_log n
WHERE cluster = @cluster AND created_at >= @since AND created_at < @until
  AND (@namespace = '' OR namespace = @namespace) AND outcome = 'Preempting' AND bound_revision > 0
  AND NOT EXISTS (
    SELECT 1 FROM decision_log b
    WHERE b.cluster = @cluster AND b.pod = n.pod AND b.created_at >= n.created_at AND b.created_at >= @since
      AND b.namespace = n.namespace AND b.outcome = 'Scheduled' AND b.bound_revision > 0)
GROUP BY namespace, pod, nominated_node
ORDER BY first, namespace, pod
LIMIT @limit

-- shadow-disagreements: Where would berth have decided otherwise than the scheduler, in shadow mode?
-- kube-scheduler sends nodes that passed its own filters, so every node that a shadow's record
-- rejects is a disagreement. `stale_seconds` and `snapshot` show whether an outdated state is the
-- cause.
-- optional: namespace
-- example: cluster=live since=2026-01-02T00:00:00Z until=2026-01-03T00:00:00Z limit=20
SELECT l.time, l.namespace, l.pod, f.plugin, f.reason, f.nodes, l.nodes_total, l.stale_seconds
FROM decision_log l JOIN decision_failures f ON f.cluster = l.cluster AND f.created_at = l.created_at AND f.decision_id = l.id
WHERE l.cluster = @cluster AND l.created_at >= @since AND l.created_at < @until
  AND f.cluster = @cluster AND f.created_at >= @since AND f.created_at < @until
  AND (@namespace = '' OR l.namespace = @namespace)
  AND l.mode = 'shadow' AND l.verb = 'filter' AND l.nodes_feasible < l.nodes_total
ORDER BY l.created_at DESC, f.nodes DESC
LIMIT @limit

-- failed-binds: Which binds did not take place, and who refused them?
-- `bind` is berth's own check before it calls the API server, `bind-result` the API server's
-- answer. The outcome `Unknown` means that the answer was lost; the pod later shows whether the
-- bind took place.
-- optional: namespace
-- example: cluster=live since=2026-01-02T00:00:00Z until=2026-01-03T00:00:00Z limit=20
SELECT time, verb, namespace, pod, outcome, message
FROM decision_log
WHERE cluster = @cluster AND created_at >= @since AND created_at < @until
  AND (@namespace = '' OR namespace = @namespace) AND verb IN ('bind', 'bind-result') AND outcome <> 'Scheduled'
ORDER BY created_at DESC
LIMIT @limit

-- outdated-answers: Which answers were based on a state that may have been outdated?
-- While a watch is down or the API server is silent, berth continues to answer unless
-- `--max-staleness` forbids it. Each record has the time for which events may have been missed.
-- optional: namespace
-- example: cluster=live since=2026-01-02T00:00:00Z until=2026-01-03T00:00:00Z limit=20
SELECT time, verb, mode, namespace, pod, outcome, snapshot, stale_seconds
FROM decision_log
WHERE cluster = @cluster AND created_at >= @since AND created_at < @until
  AND (@namespace = '' OR namespace = @namespace) AND stale_seconds > 5
ORDER BY stale_seconds DESC, created_at DESC
LIMIT @limit

-- decisions-by-caller: Who asked for decisions, and what came of them?
-- By caller, verb and purpose; NULL is an anonymous caller. Compare it with the identities of
-- tokens and certificates to find one that should not ask.
-- optional: namespace
-- example: cluster=demo since=2026-01-02T00:00:00Z until=2026-01-03T00:00:00Z limit=100
SELECT asked_by, verb, purpose, count(*) AS decisions, sum(CASE WHEN bound_revision > 0 AND outcome = 'Scheduled' THEN 1 ELSE 0 END) AS bound,
  min(time) AS first, max(time) AS last
FROM decision_log
WHERE cluster = @cluster AND created_at >= @since AND created_at < @until
  AND (@namespace = '' OR namespace = @namespace)
GROUP BY asked_by, verb, purpose
ORDER BY decisions DESC, verb
LIMIT @limit

-- nodes-rejecting-most: Which nodes reject most pods?
-- Of live attempts, by the nodes that records name: a record names the nodes of a reason that
-- rejected at most eight, so that `named_share`, of all rejections for that reason, may be small,
-- and the order is then that of a sample.
-- optional: namespace
-- example: cluster=demo since=2026-01-02T00:00:00Z until=2026-01-03T00:00:00Z limit=20
{edges}
SELECT r.node, r.plugin, r.reason, r.rejections, r.pods, CAST(round(1.0 * r.named / nullif(a.nodes, 0), 4) AS double precision) AS named_share
FROM (
  SELECT node, plugin, reason, count(*) AS rejections, count(DISTINCT pod) AS pods, sum(count(*)) OVER (PARTITION BY plugin, reason) AS named
  FROM decision_rejected_nodes
  WHERE cluster = @cluster AND created_at >= @since AND created_at < @until
    AND (@namespace = '' OR namespace = @namespace)
    AND {began}
  GROUP BY node, plugin, reason
) r JOIN (
  SELECT plugin, reason, sum(nodes) AS nodes
  FROM (
{failures}
  ) f
  GROUP BY plugin, reason
) a ON a.plugin = r.plugin AND a.reason = r.reason
ORDER BY r.rejections DESC, r.node, r.plugin, r.reason
LIMIT @limit

-- fairness-by-namespace: How are namespaces served?
-- Live attempts by namespace, how many of them placed their pod, and the share of all placements.
-- What a namespace may have, its quota, is not in the log.
-- optional: namespace
-- example: cluster=demo since=2026-01-02T00:00:00Z until=2026-01-03T00:00:00Z limit=100
SELECT namespace, attempts, placed, unschedulable, gated, CAST(round(1.0 * placed / nullif(attempts, 0), 4) AS double precision) AS placed_share,
  CAST(round(1.0 * placed / nullif(sum(placed) OVER (), 0), 4) AS double precision) AS share_of_placements
FROM (
  SELECT namespace, count(DISTINCT coalesce(attempt, id)) AS attempts,
    count(DISTINCT CASE WHEN outcome = 'Scheduled' AND bound_revision > 0 THEN coalesce(attempt, id) END) AS placed,
    count(DISTINCT CASE WHEN outcome = 'Unschedulable' THEN coalesce(attempt, id) END) AS unschedulable,
    count(DISTINCT CASE WHEN outcome = 'Gated' THEN coalesce(attempt, id) END) AS gated
  FROM decision_log
  WHERE cluster = @cluster AND created_at >= @since AND created_at < @until
    AND purpose = 'live' AND (@namespace = '' OR namespace = @namespace)
  GROUP BY namespace
) n
ORDER BY attempts DESC, namespace
LIMIT @limit

-- binds-against-scores: Which binds went to another node than the best of their attempt's scores?
-- kube-scheduler adds its own scores to those of an extender, so that a difference need not be a
-- fault; `best` is the first of the newest prioritize before the bind. Records from before attempts
-- were recorded are not in it.
-- optional: namespace
-- example: cluster=audit since=2026-01-02T00:00:00Z until=2026-01-03T00:00:00Z limit=20
SELECT b.time, b.namespace, b.pod, b.node, s.node AS best, b.id AS decision_id
FROM decision_log b
JOIN decision_log p ON p.cluster = @cluster AND p.created_at >= @since AND p.created_at < @until AND p.verb = 'prioritize'
  AND p.pod = b.pod AND p.namespace = b.namespace AND p.attempt = b.attempt
JOIN decision_scores s ON s.cluster = @cluster AND s.created_at = p.created_at AND s.decision_id = p.id AND s.rank = 1
WHERE b.cluster = @cluster AND b.created_at >= @since AND b.created_at < @until
  AND (@namespace = '' OR b.namespace = @namespace) AND b.verb = 'bind' AND b.outcome = 'Scheduled' AND s.node <> b.node
ORDER BY b.created_at DESC
LIMIT @limit

-- capacity-by-hour: How does the use of the cluster go, hour by hour?
-- The mean of the measurements of an hour, in percent of what can be allocated. Measurements are
-- made while `/metrics` is scraped; an hour without one has no row.
-- chart: time=hour series=resource value=used_percent
-- example: cluster=demo since=2026-01-02T00:00:00Z until=2026-01-03T00:00:00Z limit=100
SELECT hour, resource, CAST(round(avg(used_percent), 2) AS double precision) AS used_percent, min(free) AS least_free, max(stranded) AS most_stranded, count(*) AS measurements
FROM (
  SELECT substr(time, 1, 13) || ':00:00Z' AS hour, resource, 100.0 * requested / nullif(allocatable, 0) AS used_percent, free, stranded
  FROM capacity
  WHERE cluster = @cluster AND measured_at >= @since AND measured_at < @until
) m
GROUP BY hour, resource
ORDER BY hour DESC, resource
LIMIT @limit

-- gaps: Where does the log have gaps?
-- What the log says of its own gaps, and what a failover lost. An auditor reads it with
-- `retention`, which lists what was removed on purpose, and with `server audit verify`, which finds
-- what was changed.
-- example: cluster=audit since=2026-01-02T00:00:00Z until=2026-01-03T00:00:00Z limit=100
SELECT time, until_time, cause, lost, instance
FROM decision_gaps_log
WHERE cluster = @cluster AND until >= @since AND since < @until
ORDER BY since DESC
LIMIT @limit

-- changes-by-caller: Who changed the state, day by day?
-- Revisions by their cause and caller. `changed-objects` has what each changed.
-- chart: time=day series=asked_by value=revisions
-- example: cluster=demo since=2026-01-02T00:00:00Z until=2026-01-03T00:00:00Z limit=100
SELECT substr(time, 1, 10) AS day, cause, asked_by, count(*) AS revisions, min(snapshot) AS example
FROM revision_log
WHERE cluster = @cluster AND created_at >= @since AND created_at < @until
GROUP BY substr(time, 1, 10), cause, asked_by
ORDER BY day DESC, revisions DESC, cause, asked_by
LIMIT @limit

-- ties-by-day: How often are the best nodes tied, day by day?
-- Decisions with a second node, and how many of them had the same total for both: a hash of pod and
-- node chose. Questions and shadows are not counted.
-- chart: time=day value=share
-- optional: namespace
-- example: cluster=demo since=2026-01-02T00:00:00Z until=2026-01-03T00:00:00Z limit=100
SELECT substr(time, 1, 10) AS day, count(*) AS decisions, sum(CASE WHEN margin = 0 THEN 1 ELSE 0 END) AS ties,
  CAST(round(1.0 * sum(CASE WHEN margin = 0 THEN 1 ELSE 0 END) / count(*), 4) AS double precision) AS share
FROM decision_margins
WHERE cluster = @cluster AND created_at >= @since AND created_at < @until
  AND (@namespace = '' OR namespace = @namespace) AND purpose = 'live'
GROUP BY substr(time, 1, 10)
ORDER BY day DESC
LIMIT @limit

-- shadow-disagreements-by-day: How often would berth have rejected what the scheduler's filters passed?
-- Of shadows' filter calls, day by day: those in which berth rejected a node, or all of them.
-- chart: time=day value=share
-- optional: namespace
-- example: cluster=live since=2026-01-02T00:00:00Z until=2026-01-03T00:00:00Z limit=100
SELECT substr(time, 1, 10) AS day, count(*) AS decisions,
  sum(CASE WHEN nodes_feasible < nodes_total THEN 1 ELSE 0 END) AS disagreements,
  sum(CASE WHEN nodes_feasible = 0 AND nodes_total > 0 THEN 1 ELSE 0 END) AS all_rejected,
  CAST(round(1.0 * sum(CASE WHEN nodes_feasible < nodes_total THEN 1 ELSE 0 END) / count(*), 4) AS double precision) AS share
FROM decision_log
WHERE cluster = @cluster AND created_at >= @since AND created_at < @until
  AND (@namespace = '' OR namespace = @namespace) AND mode = 'shadow' AND verb = 'filter'
GROUP BY substr(time, 1, 10)
ORDER BY day DESC
LIMIT @limit

-- binds-without-filter: Which binds did no filter come before?
-- Binds over the extender that began their own attempt: the scheduler asked for no filter, or berth
-- does not know of it. A bind whose filter came before `attempt` was recorded has none and is not
-- in it.
-- optional: namespace
-- example: cluster=audit since=2026-01-02T00:00:00Z until=2026-01-03T00:00:00Z limit=100
SELECT time, namespace, pod, node, asked_by, peer, id AS decision_id
FROM decision_log
WHERE cluster = @cluster AND created_at >= @since AND created_at < @until
  AND (@namespace = '' OR namespace = @namespace) AND verb = 'bind' AND attempt = id
ORDER BY created_at DESC
LIMIT @limit

-- pods-on-two-nodes: Which pods were bound to two nodes?
-- One UID, bound more than once. berth refuses it, so that a row is a fault or a change behind its
-- back.
-- optional: namespace
-- example: cluster=audit since=2026-01-02T00:00:00Z until=2026-01-03T00:00:00Z limit=100
SELECT namespace, pod, pod_uid, count(DISTINCT node) AS nodes, min(node) AS one, max(node) AS another, min(time) AS first, max(time) AS last
FROM decision_log
WHERE cluster = @cluster AND created_at >= @since AND created_at < @until
  AND (@namespace = '' OR namespace = @namespace) AND outcome = 'Scheduled' AND bound_revision > 0
GROUP BY namespace, pod, pod_uid
HAVING count(DISTINCT node) > 1
ORDER BY last DESC, namespace, pod
LIMIT @limit

-- by-request: What is on record for a request id, such as one of a log line?
-- The header `X-Request-Id` of an answer, or `requestId` of a problem, has it. A call that was
-- refused left no record.
-- example: cluster=audit request=request-2 since=2026-01-02T00:00:00Z until=2026-01-03T00:00:00Z limit=100
SELECT time, id AS decision_id, verb, namespace, pod, outcome, node, asked_by, snapshot
FROM decision_log
WHERE cluster = @cluster AND created_at >= @since AND created_at < @until AND request_id = @request
ORDER BY created_at DESC
LIMIT @limit

-- longest-waits: Which pods waited longest, and why?
-- Live attempts of the time by pod: `wait_seconds` until the bind or, without one, the last
-- attempt. `gone` is when a pod was deleted; without `bound` and `gone` it still waits, or its
-- deletion is not on record. What was before `since` is not counted: the view `pods_over_time` has
-- the whole time of a pod, and takes four times as long.
-- optional: namespace
-- example: cluster=demo since=2026-01-02T00:00:00Z until=2026-01-03T00:00:00Z limit=5
SELECT w.namespace, w.pod, w.attempts, w.first, w.last, w.bound, (
    SELECT min(o.time) FROM pod_deletions o
    WHERE o.cluster = @cluster AND o.namespace = w.namespace AND o.pod = w.pod AND o.pod_uid = w.pod_uid AND o.revision > w.revision
  ) AS gone, w.wait_seconds, (
    SELECT l.message FROM decision_log l
    WHERE l.cluster = @cluster AND l.pod = w.pod AND l.created_at >= @since AND l.created_at < @until AND l.namespace = w.namespace AND l.message <> ''
    ORDER BY l.created_at DESC LIMIT 1
  ) AS message
FROM (
  SELECT namespace, pod, pod_uid, count(DISTINCT coalesce(attempt, id)) AS attempts, min(time) AS first, max(time) AS last, min(revision) AS revision,
    min(CASE WHEN bound_revision > 0 AND outcome = 'Scheduled' THEN time END) AS bound,
    (coalesce(min(CASE WHEN bound_revision > 0 AND outcome = 'Scheduled' THEN unix_micros END), max(unix_micros)) - min(unix_micros)) / CAST(1000000 AS double precision) AS wait_seconds
  FROM decision_log
  WHERE cluster = @cluster AND created_at >= @since AND created_at < @until
    AND (@namespace = '' OR namespace = @namespace) AND purpose = 'live'
  GROUP BY namespace, pod, pod_uid
  ORDER BY wait_seconds DESC, namespace, pod
  LIMIT @limit
) w
ORDER BY w.wait_seconds DESC, w.namespace, w.pod
LIMIT @limit

-- time-to-placement: How long do pods take to be placed, by namespace and priority class?
-- From the first live attempt of the time to the bind, in seconds, by nearest rank, of pods that
-- were bound within it: pods that still wait, or were given up, are not in it. `priority_class` is
-- NULL for pods without one, and where an older release kept no facts of the pod.
-- optional: namespace
-- example: cluster=audit since=2026-01-02T00:00:00Z until=2026-01-03T00:00:00Z limit=100
SELECT namespace, priority_class, priority, count(*) AS pods,
  min(CASE WHEN place * 2 >= total THEN wait_seconds END) AS p50_seconds,
  min(CASE WHEN place * 20 >= total * 19 THEN wait_seconds END) AS p95_seconds, max(wait_seconds) AS longest_seconds
FROM (
  SELECT w.namespace, f.priority_class, w.priority, w.wait_seconds,
    row_number() OVER (PARTITION BY w.namespace, f.priority_class, w.priority ORDER BY w.wait_seconds) AS place,
    count(*) OVER (PARTITION BY w.namespace, f.priority_class, w.priority) AS total
  FROM (
    SELECT namespace, max(priority) AS priority, max(pod_digest) AS pod_digest,
      (min(CASE WHEN bound_revision > 0 AND outcome = 'Scheduled' THEN unix_micros END) - min(unix_micros)) / CAST(1000000 AS double precision) AS wait_seconds
    FROM decision_log
    WHERE cluster = @cluster AND created_at >= @since AND created_at < @until
      AND (@namespace = '' OR namespace = @namespace) AND purpose = 'live'
    GROUP BY namespace, pod, pod_uid
    HAVING min(CASE WHEN bound_revision > 0 AND outcome = 'Scheduled' THEN 1 END) = 1
  ) w LEFT JOIN pod_facts f ON f.cluster = @cluster AND f.pod_digest = w.pod_digest
) r
GROUP BY namespace, priority_class, priority
ORDER BY p95_seconds DESC, namespace, priority, coalesce(priority_class, '')
LIMIT @limit

-- rejections-by-pool: Which rules reject nodes of which pool, day by day?
-- Of live attempts, by the pool of the nodes, which is the value of the label that `--pool-label`
-- names. `pool` is NULL where the record does not count by pool: those of before the setting, and
-- `nodes` are of all pools then. No eviction helps where `code` is UnschedulableAndUnresolvable.
-- Whole hours are from the roll-up.
-- chart: time=day series=pool value=nodes
-- optional: namespace
-- example: cluster=demo since=2026-01-02T00:00:00Z until=2026-01-03T00:00:00Z limit=20
{edges}
SELECT day, plugin, reason, pool, sum(nodes) AS nodes, sum(decisions) AS attempts, code
FROM (
  SELECT substr(hour, 1, 10) AS day, plugin, reason, pool, nodes, decisions, code
  FROM pool_failures_by_hour
  WHERE cluster = @cluster AND (@namespace = '' OR namespace = @namespace) AND hour_at >= @since AND hour_at < (SELECT hours_until FROM edges)
  UNION ALL
  SELECT substr(time, 1, 10), plugin, reason, pool, nodes, 1, code
  FROM decision_pool_rejections
  WHERE cluster = @cluster AND (@namespace = '' OR namespace = @namespace) AND {began}
    AND created_at >= @since AND created_at < (SELECT early_until FROM edges)
  UNION ALL
  SELECT substr(time, 1, 10), plugin, reason, pool, nodes, 1, code
  FROM decision_pool_rejections
  WHERE cluster = @cluster AND (@namespace = '' OR namespace = @namespace) AND {began}
    AND created_at >= (SELECT late_since FROM edges) AND created_at < @until
) p
GROUP BY day, plugin, reason, pool, code
ORDER BY day DESC, nodes DESC, plugin, reason, pool, code
LIMIT @limit

-- configurations: Which configurations decided, when did each begin and end, and what are they?
-- A digest names a configuration of a profile. Whether a change of it moved decisions, a batch
-- replay under the other configuration shows: see `replay-differences`. Its text is NULL in the
-- first seconds after its first decision. The file that `--config` named is not kept.
-- optional: namespace
-- example: cluster=audit since=2026-01-02T00:00:00Z until=2026-01-03T00:00:00Z limit=100
SELECT d.profile, d.profile_digest, d.engine, d.semantics, d.first, d.last, d.decisions, d.live, p.configuration
FROM (
  SELECT profile, profile_digest, engine, semantics, min(time) AS first, max(time) AS last, count(*) AS decisions,
    sum(CASE WHEN purpose = 'live' THEN 1 ELSE 0 END) AS live
  FROM decision_log
  WHERE cluster = @cluster AND created_at >= @since AND created_at < @until
    AND (@namespace = '' OR namespace = @namespace)
  GROUP BY profile, profile_digest, engine, semantics
) d LEFT JOIN profile_log p ON p.cluster = @cluster AND p.profile_digest = d.profile_digest
ORDER BY d.first DESC, d.profile, d.profile_digest
LIMIT @limit

-- replay-differences: Which decisions came out otherwise when they were replayed?
-- `overrides` says what was not as recorded: with a config these are the decisions that another
-- configuration moves, without one a record or a program was changed. `differences` is NULL where
-- there was no answer.
-- example: cluster=audit since=2026-01-02T00:00:00Z until=2026-01-03T00:00:00Z limit=100
SELECT time, decision_id, seq, overrides, differences, semantics, replay, asked_by
FROM replay_log
WHERE cluster = @cluster AND created_at >= @since AND created_at < @until AND NOT identical
ORDER BY created_at DESC, seq
LIMIT @limit

-- priority-class-changes: Who changed which PriorityClass, and how?
-- Those of the API's own classes and those that a snapshot brought, since the release that records
-- them. A change behind the API's back is not in it: `server audit verify` finds it.
-- example: cluster=audit since=2026-01-02T00:00:00Z until=2026-01-03T00:00:00Z limit=100
SELECT time, action, name, old_value, new_value, old_policy, new_policy, source, revision, asked_by, peer, request_id
FROM priority_class_log
WHERE cluster = @cluster AND created_at >= @since AND created_at < @until
ORDER BY seq DESC
LIMIT @limit

-- evidence: What is on record for one decision, from the question to its seal and replays?
-- Who asked, on which state and under which configuration, what the answer was, the seal that
-- covers it, and how often it was replayed and came out the same. The pod and the state themselves
-- are in `GET /v1/decisions/{id}`; `server audit verify` proves the chain.
-- example: cluster=audit id=01a204ef-0000-7000-8000-000000000002 since=2026-01-02T00:00:00Z until=2026-01-03T00:00:00Z limit=10
SELECT l.id AS decision_id, l.time, l.verb, l.purpose, l.namespace, l.pod, l.pod_uid, l.outcome, l.node, l.nominated_node, l.message,
  l.asked_by, l.peer, l.request_id, l.snapshot, l.snapshot_digest,
  (SELECT r.cause FROM revision_log r WHERE r.cluster = @cluster AND r.number = l.revision) AS snapshot_cause,
  (SELECT r.asked_by FROM revision_log r WHERE r.cluster = @cluster AND r.number = l.revision) AS snapshot_by,
  l.pod_digest, l.answer_digest, l.profile, l.profile_digest, l.engine, l.semantics, l.bound_snapshot, l.seq,
  s.number AS seal, s.hash AS seal_hash, s.epoch,
  (SELECT count(*) FROM replay_log p WHERE p.cluster = @cluster AND p.decision_id = @id AND p.overrides = '') AS replays,
  (SELECT count(*) FROM replay_log p WHERE p.cluster = @cluster AND p.decision_id = @id AND p.overrides = '' AND p.identical) AS identical
FROM decision_log l
LEFT JOIN seal_log s ON s.cluster = @cluster AND s.kind = 'rows' AND s.after_seq < l.seq AND s.seq >= l.seq
WHERE l.cluster = @cluster AND l.created_at >= @since AND l.created_at < @until AND l.id = @id
ORDER BY l.seq
LIMIT @limit

-- retention: What was removed from the log on purpose, when, and by which setting?
-- Removals are sealed, and `audit verify` knows them: a hole in `seq` that is not here is a fault.
-- Those of before the release that records it have no time.
-- example: cluster=audit since=2026-01-02T00:00:00Z until=2026-01-03T00:00:00Z limit=100
SELECT time, removed, from_seq, to_seq, from_revision, to_revision, rows_removed, gap, setting, asked_by, seal
FROM retention_log
WHERE cluster = @cluster AND (created_at IS NULL OR created_at >= @since AND created_at < @until)
ORDER BY seal DESC
LIMIT @limit

-- denied-calls: Which calls were refused, and to whom?
-- Counted by caller, route and reason a minute. A call that named no cluster is not one of a
-- cluster's. Rows whose reason is `cut` count those that did not fit.
-- example: cluster=audit since=2026-01-02T00:00:00Z until=2026-01-03T00:00:00Z limit=100
SELECT asked_by, peer, route, status, reason, sum(count) AS calls, min(time) AS first, max(time) AS last
FROM denied_calls
WHERE cluster = @cluster AND created_at >= @since AND created_at < @until
GROUP BY asked_by, peer, route, status, reason
ORDER BY calls DESC, route, status, reason
LIMIT @limit

-- never-replayed: Which decisions did no replay answer again?
-- By a replay as recorded, alone or in a batch that is done. A batch under another configuration
-- does not count. The newest are first.
-- optional: namespace
-- example: cluster=audit since=2026-01-02T00:00:00Z until=2026-01-03T00:00:00Z limit=100
SELECT time, decision_id, verb, namespace, pod, outcome, node, seq
FROM never_replayed
WHERE cluster = @cluster AND created_at >= @since AND created_at < @until
  AND (@namespace = '' OR namespace = @namespace)
ORDER BY created_at DESC, seq DESC
LIMIT @limit

-- fullness-at-failure: How full was the cluster when a pod found no node?
-- The newest live attempts without a node, with the last measurement of a resource on the same or
-- an older state. Measurements are made while `/metrics` is scraped.
-- optional: namespace
-- example: cluster=demo resource=cpu since=2026-01-02T00:00:00Z until=2026-01-03T00:00:00Z limit=20
SELECT d.time, d.namespace, d.pod, d.rejected_by, c.snapshot AS measured, 100 * c.requested / nullif(c.allocatable, 0) AS used_percent, c.free, c.stranded
FROM (
  SELECT time, namespace, pod, rejected_by, revision, created_at
  FROM decision_log
  WHERE cluster = @cluster AND created_at >= @since AND created_at < @until
    AND (@namespace = '' OR namespace = @namespace) AND outcome = 'Unschedulable' AND purpose = 'live' AND coalesce(attempt, id) = id
  ORDER BY created_at DESC
  LIMIT @limit
) d JOIN capacity c ON c.cluster = @cluster AND c.resource = @resource AND c.revision = (
  SELECT max(m.revision) FROM capacity m WHERE m.cluster = @cluster AND m.resource = @resource AND m.revision <= d.revision)
ORDER BY d.created_at DESC, d.pod
LIMIT @limit

-- changed-objects: Which objects did the revisions change, and who asked for it?
-- At most 1,000 objects a revision: `objects` says how many it changed. `changed` has the paths, at
-- most 10. Binds have `node`.
-- optional: namespace
-- example: cluster=demo since=2026-01-02T00:00:00Z until=2026-01-03T00:00:00Z limit=5
SELECT time, snapshot, action, kind, namespace, name, node, changed, cause, asked_by, objects
FROM revision_objects
WHERE cluster = @cluster AND created_at >= @since AND created_at < @until
  AND (@namespace = '' OR namespace = @namespace)
ORDER BY revision DESC, place
LIMIT @limit

-- nomination-to-bind: How long did pods wait from their nomination to their bind?
-- Pods that live attempts of the time nominated to a node. `seconds` is NULL where no bind has
-- followed within it.
-- optional: namespace
-- example: cluster=demo since=2026-01-02T00:00:00Z until=2026-01-03T00:00:00Z limit=20
SELECT namespace, pod, pod_uid, count(DISTINCT CASE WHEN outcome = 'Preempting' THEN coalesce(attempt, id) END) AS nominations,
  min(CASE WHEN outcome = 'Preempting' THEN time END) AS nominated, max(CASE WHEN outcome = 'Preempting' THEN nominated_node END) AS nominated_node,
  min(CASE WHEN bound_revision > 0 AND outcome = 'Scheduled' THEN time END) AS bound, min(CASE WHEN bound_revision > 0 AND outcome = 'Scheduled' THEN node END) AS node,
  (min(CASE WHEN bound_revision > 0 AND outcome = 'Scheduled' THEN unix_micros END) - min(CASE WHEN outcome = 'Preempting' THEN unix_micros END)) / CAST(1000000 AS double precision) AS seconds
FROM decision_log
WHERE cluster = @cluster AND created_at >= @since AND created_at < @until
  AND (@namespace = '' OR namespace = @namespace) AND purpose = 'live' AND (outcome = 'Preempting' OR bound_revision > 0 AND outcome = 'Scheduled')
GROUP BY namespace, pod, pod_uid
HAVING min(CASE WHEN outcome = 'Preempting' THEN 1 END) = 1
ORDER BY nominated DESC, namespace, pod
LIMIT @limit

-- evictions: Who evicts whom, and on whose authority?
-- Victims on the nominated node of live attempts, with the caller that asked. `written` is the
-- state that has the nomination: NULL where an attempt repeats one that is written, which the view
-- `evictions` leaves out with what came to the node since. `budget_violated` names
-- PodDisruptionBudgets. `gone` is when the victim was deleted, which berth does not do itself: NULL
-- where it was not, or before changes of objects were recorded.
-- optional: namespace
-- example: cluster=demo since=2026-01-02T00:00:00Z until=2026-01-03T00:00:00Z limit=20
SELECT d.time, d.namespace, d.pod, d.priority, v.victim_namespace, v.victim, v.victim_uid, v.victim_priority, v.victim_owner_kind, v.victim_owner,
  v.node, d.verb, d.asked_by, v.budget_violated, d.bound_snapshot AS written, (
    SELECT min(o.time) FROM pod_deletions o
    WHERE o.cluster = @cluster AND o.namespace = v.victim_namespace AND o.pod = v.victim AND o.pod_uid = v.victim_uid AND o.revision > d.revision
  ) AS gone, d.id AS decision_id
FROM decision_log d JOIN decision_victims v ON v.cluster = d.cluster AND v.created_at = d.created_at AND v.decision_id = d.id
WHERE d.cluster = @cluster AND d.created_at >= @since AND d.created_at < @until
  AND v.cluster = @cluster AND v.created_at >= @since AND v.created_at < @until
  AND (@namespace = '' OR d.namespace = @namespace)
  AND d.outcome = 'Preempting' AND d.purpose = 'live' AND d.nominated_node = v.node
ORDER BY d.created_at DESC, v.victim_namespace, v.victim
LIMIT @limit

-- preempting-workloads: Which workloads preempt most, and whose pods do they evict?
-- Victims on the nominated node of live attempts by the owner of both pods, each victim once. A NULL
-- in `owner_kind` or `victim_owner_kind`: the pod has no owner, or an older release judged it.
-- `against_budget` counts those that a PodDisruptionBudget protects.
-- optional: namespace
-- example: cluster=audit since=2026-01-02T00:00:00Z until=2026-01-03T00:00:00Z limit=20
SELECT e.namespace, f.owner_kind, f.owner_name, f.priority_class, e.victim_namespace, e.victim_owner_kind, e.victim_owner,
  count(DISTINCT e.preemptor) AS pods, count(DISTINCT e.victim_pod) AS victims, count(DISTINCT CASE WHEN e.budget_violated <> '' THEN e.victim_pod END) AS against_budget
FROM (
  SELECT d.namespace, d.pod || '/' || d.pod_uid AS preemptor, d.pod_digest, v.victim_namespace, v.victim_owner_kind, v.victim_owner, v.victim || '/' || v.victim_uid AS victim_pod, v.budget_violated
  FROM decision_log d JOIN decision_victims v ON v.cluster = d.cluster AND v.created_at = d.created_at AND v.decision_id = d.id
  WHERE d.cluster = @cluster AND d.created_at >= @since AND d.created_at < @until
    AND v.cluster = @cluster AND v.created_at >= @since AND v.created_at < @until
    AND (@namespace = '' OR d.namespace = @namespace)
    AND d.outcome = 'Preempting' AND d.purpose = 'live' AND d.nominated_node = v.node
) e LEFT JOIN pod_facts f ON f.cluster = @cluster AND f.pod_digest = e.pod_digest
GROUP BY e.namespace, f.owner_kind, f.owner_name, f.priority_class, e.victim_namespace, e.victim_owner_kind, e.victim_owner
ORDER BY victims DESC, e.namespace, coalesce(f.owner_name, ''), e.victim_namespace, coalesce(e.victim_owner, '')
LIMIT @limit

-- judged-pods: Whose are the pods that were tried, what do they request, how are they labelled?
-- The newest live attempts, with the facts of each pod as it was judged; `outcome` is that of the
-- record that began the attempt. Facts are NULL in records of releases that kept none. Labels of
-- nodes are not kept: `rejections-by-pool` has their pools, `changed-objects` what was changed.
-- optional: namespace pod
-- example: cluster=audit since=2026-01-02T00:00:00Z until=2026-01-03T00:00:00Z limit=5
SELECT a.time, a.namespace, a.pod, a.outcome, f.owner_kind, f.owner_name, f.priority_class, f.cpu_milli, f.memory_bytes, f.requests, f.labels, a.id AS decision_id
FROM (
  SELECT time, namespace, pod, outcome, pod_digest, id, created_at
  FROM decision_log
  WHERE cluster = @cluster AND created_at >= @since AND created_at < @until
    AND (@namespace = '' OR namespace = @namespace) AND (@pod = '' OR pod = @pod)
    AND purpose = 'live' AND coalesce(attempt, id) = id
  ORDER BY created_at DESC, id DESC
  LIMIT @limit
) a LEFT JOIN pod_facts f ON f.cluster = @cluster AND f.pod_digest = a.pod_digest
ORDER BY a.created_at DESC, a.id DESC
LIMIT @limit

-- cost-by-label: What do the pods of each value of a label cost, such as those of a team?
-- Of the pods that berth bound in the time: what they request, and that times the hours from the
-- bind to their deletion, or to the last record of the time. NULL: pods without the label, or of
-- which older releases kept no facts. What pods used, and what was bound before `since` or by
-- others, is not in it; nor are prices.
-- optional: namespace
-- example: cluster=audit label=team since=2026-01-02T00:00:00Z until=2026-01-03T00:00:00Z limit=20
SELECT value, count(*) AS pods, sum(cpu_milli) AS cpu_milli, sum(memory_bytes) AS memory_bytes,
  CAST(round(CAST(sum(cpu_milli * seconds) / 3600000 AS numeric), 3) AS double precision) AS cpu_hours,
  CAST(round(CAST(sum(memory_bytes * seconds) / 3865470566400 AS numeric), 3) AS double precision) AS memory_gib_hours
FROM (
  SELECT f.cpu_milli, f.memory_bytes, (CASE WHEN b.gone < b.last THEN b.gone ELSE b.last END - b.unix_micros) / CAST(1000000 AS double precision) AS seconds, (
      SELECT l.value FROM pod_labels l WHERE l.cluster = @cluster AND l.pod_digest = b.pod_digest AND l.label = @label
    ) AS value
  FROM (
    SELECT p.pod_digest, p.unix_micros, (
        SELECT min(o.unix_micros) FROM pod_deletions o
        WHERE o.cluster = @cluster AND o.namespace = p.namespace AND o.pod = p.pod AND o.pod_uid = p.pod_uid AND o.revision > p.bound_revision
      ) AS gone, (
        SELECT l.unix_micros FROM decision_log l WHERE l.cluster = @cluster AND l.created_at >= @since AND l.created_at < @until
        ORDER BY l.created_at DESC LIMIT 1
      ) AS last
    FROM placements p
    WHERE p.cluster = @cluster AND p.created_at >= @since AND p.created_at < @until AND (@namespace = '' OR p.namespace = @namespace)
  ) b LEFT JOIN pod_facts f ON f.cluster = @cluster AND f.pod_digest = b.pod_digest
) c
GROUP BY value
ORDER BY value IS NULL, cpu_hours DESC, value
LIMIT @limit

-- waiting-pods: How many pods wait, by cause, hour by hour?
-- From the roll-ups, which a server keeps up behind the log, or `server rollup rebuild` makes: each
-- pod counts in every hour in which it waited for the cause, gated ones too. A pod that was deleted
-- behind berth's back waits for ever.
-- chart: time=hour series=cause value=pods
-- optional: namespace
-- example: cluster=audit since=2026-01-02T00:00:00Z until=2026-01-03T00:00:00Z limit=100
SELECT hour, cause, namespace, pods, seconds
FROM waiting_by_hour
WHERE cluster = @cluster AND hour_at >= @since AND hour_at < @until AND (@namespace = '' OR namespace = @namespace)
ORDER BY hour DESC, pods DESC, cause, namespace
LIMIT @limit

-- waiting-pods-by-5-minutes: How many pods wait, by cause, at each full 5 minutes?
-- From the roll-ups. `pods` waited from `time` on, until `until`: a row is a change, so that the
-- first of a cause may lie before `since`. A wait between two full 5 minutes is in none, and a pod
-- that was deleted behind berth's back waits for ever.
-- chart: time=time series=cause value=pods
-- optional: namespace
-- example: cluster=audit since=2026-01-02T00:00:00Z until=2026-01-03T00:00:00Z limit=100
SELECT time, until, cause, pods
FROM (
  SELECT time, at, cause, lead(time) OVER w AS until, lead(at) OVER w AS next, sum(change) OVER w AS pods
  FROM (
    SELECT time, at, cause, sum(change) AS change
    FROM (
      SELECT since_point AS time, since_point_at AS at, cause, 1 AS change
      FROM pod_waits
      WHERE cluster = @cluster AND since < @until AND (until IS NULL OR until >= @since) AND (@namespace = '' OR namespace = @namespace)
      UNION ALL
      SELECT until_point, until_point_at, cause, -1
      FROM pod_waits
      WHERE cluster = @cluster AND since < @until AND until >= @since AND (@namespace = '' OR namespace = @namespace)
    ) e
    GROUP BY time, at, cause
    HAVING sum(change) <> 0
  ) c
  WINDOW w AS (PARTITION BY cause ORDER BY at)
) s
WHERE at < @until AND (next IS NULL OR next > @since)
ORDER BY at DESC, pods DESC, cause
LIMIT @limit

-- token-rights: Which API tokens may do what in the cluster, and are they used?
-- Tokens that were in force at some time of it, for admins of all clusters. `for_clusters` and
-- `for_namespaces` are the patterns of the grant that fit, and a role includes those before it:
-- viewer, decider, binder, admin. `used` is exact to some minutes. Certificates, identities of an
-- issuer and the access file are not in the database: `decisions-by-caller` shows who asked.
-- optional: namespace
-- right: admin
-- example: cluster=audit since=2026-01-02T00:00:00Z until=2026-01-03T00:00:00Z limit=100
SELECT token, role, cluster AS for_clusters, namespace AS for_namespaces, created, expires, revoked, used, id
FROM token_grants
WHERE @cluster LIKE replace(replace(cluster, '_', '!_'), '*', '%') ESCAPE '!'
  AND (@namespace = '' OR @namespace LIKE replace(replace(namespace, '_', '!_'), '*', '%') ESCAPE '!')
  AND created_at < @until AND (expires_at IS NULL OR expires_at >= @since) AND (revoked_at IS NULL OR revoked_at >= @since)
ORDER BY token, role, cluster, namespace
LIMIT @limit