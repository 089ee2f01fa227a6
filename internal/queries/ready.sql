-- The ready queries about the log's views: the only place where they stand. A query begins with its
-- name and the question that it answers. Lines of comment describe it, the last one has values for
-- its parameters, which are those of the examples in ready.md; one before it may list texts that
-- may be empty. Both backends run the same text;
-- @since and @until are times, @limit is a number, and all others are texts.

-- unschedulable-pods: Which pods could not be scheduled, and what is kube-scheduler's message?
-- The newest message of each pod that found no node from one time to another.
-- example: cluster=demo since=2026-01-02T09:00:00Z until=2026-01-02T12:00:00Z limit=100
SELECT max(time) AS last, namespace, pod, count(*) AS tries, message
FROM decision_log
WHERE cluster = @cluster AND outcome = 'Unschedulable'
  AND created_at >= @since AND created_at < @until
GROUP BY namespace, pod, message
ORDER BY last DESC
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

-- top-reasons: Which reasons rejected the most nodes since a time?
-- A node counts once for each decision that rejected it.
-- example: cluster=demo since=2026-01-02T00:00:00Z limit=10
SELECT plugin, reason, sum(nodes) AS nodes, count(*) AS decisions
FROM decision_failures
WHERE cluster = @cluster AND created_at >= @since
GROUP BY plugin, reason
ORDER BY nodes DESC, plugin, reason
LIMIT @limit

-- top-plugins-by-hour: Which plugin rejects most, hour by hour?
-- Rank 1 is the plugin that rejected most nodes in that hour. Start here when a cluster seems
-- full. The newest hour is first.
-- example: cluster=demo limit=100
SELECT hour, rank, plugin, nodes, decisions, pods
FROM top_rejecting_plugins
WHERE cluster = @cluster AND rank <= 2
ORDER BY hour DESC, rank, plugin
LIMIT @limit

-- pending-reasons-by-hour: Why did pods wait, hour by hour?
-- Each pod counts once an hour, and only decisions that found no node count.
-- example: cluster=demo limit=20
SELECT hour, plugin, reason, pods, decisions, nodes
FROM pending_reasons
WHERE cluster = @cluster
ORDER BY hour DESC, nodes DESC, plugin, reason
LIMIT @limit

-- scores-of-a-pod: How did each plugin score the best nodes for one pod, the last time that it was scored?
-- Raw and normalised score, the profile's weight, and their product. A single feasible node is not
-- scored.
-- example: cluster=demo namespace=shop pod=api limit=100
SELECT rank, node, plugin, raw, normalized, weight, weighted
FROM decision_plugin_scores
WHERE cluster = @cluster AND pod = @pod AND decision_id = (
  SELECT decision_id FROM decision_scores
  WHERE cluster = @cluster AND namespace = @namespace AND pod = @pod
  ORDER BY created_at DESC LIMIT 1)
ORDER BY rank, weighted DESC, plugin
LIMIT @limit

-- close-choices: Which choices were close, or tied?
-- Margin 0 is a tie, which a hash of pod and node resolved. A small change of weights would change
-- these choices.
-- example: cluster=demo since=2026-01-02T00:00:00Z limit=20
SELECT time, namespace, pod, first, second, margin, tied
FROM decision_margins
WHERE cluster = @cluster AND created_at >= @since AND margin < 20
ORDER BY margin, created_at DESC
LIMIT @limit

-- nodes-never-chosen: Which nodes are judged and never chosen?
-- Nodes that records name, but never as the answer. A node that no record names is missing:
-- one that is feasible but never among the three best, or always rejected together with more than
-- seven others.
-- example: cluster=demo limit=100
SELECT node, scored, rejected, first_day, last_day
FROM nodes_never_chosen
WHERE cluster = @cluster
ORDER BY rejected DESC, node
LIMIT @limit

-- node-choices-by-day: How often was each node the answer, day by day?
-- `scored` counts how often the node was among the recorded best, `rejected` how often a record
-- names it as rejected.
-- example: cluster=demo limit=100
SELECT day, node, chosen, scored, rejected
FROM node_choices
WHERE cluster = @cluster
ORDER BY day DESC, chosen DESC, node
LIMIT @limit

-- rejections-on-a-node: Which pods were rejected on one node, and why?
-- The decisions that name the node among the rejected.
-- example: cluster=demo node=web-1 limit=20
SELECT time, verb, pod, plugin, reason
FROM decision_rejected_nodes
WHERE cluster = @cluster AND node = @node
ORDER BY created_at DESC
LIMIT @limit

-- stale-decisions: Which decisions were made on a snapshot that was no longer the newest?
-- How many revisions behind, and for how many seconds the snapshot had been outdated. Questions
-- about a named old snapshot are included.
-- example: cluster=demo since=2026-01-02T00:00:00Z limit=20
SELECT time, verb, pod, snapshot, newest_snapshot, revisions_behind, stale_seconds
FROM stale_decisions
WHERE cluster = @cluster AND created_at >= @since
ORDER BY revisions_behind DESC, created_at DESC
LIMIT @limit

-- time-to-bind: How long did pods wait from their first decision to their bind?
-- Only for pods that berth bound itself; `unschedulable` counts the failed attempts.
-- example: cluster=demo limit=20
SELECT namespace, pod, decisions, unschedulable, first_decided, bound, node, wait_seconds
FROM scheduling_latency
WHERE cluster = @cluster AND bound IS NOT NULL
ORDER BY wait_seconds DESC
LIMIT @limit

-- flapping-pods: Which pods get one node today and another tomorrow?
-- `changes` counts the answers that differ from the previous one.
-- example: cluster=demo limit=100
SELECT namespace, pod, decisions, nodes, changes, first_decided, last_decided
FROM flapping_pods
WHERE cluster = @cluster
ORDER BY changes DESC, pod
LIMIT @limit

-- verbs-and-profiles: Which verbs and profiles are used?
-- The share of a day's decisions by verb and profile. Binds by the ledger use no profile.
-- example: cluster=demo limit=100
SELECT day, verb, profile, decisions, share
FROM decision_shares
WHERE cluster = @cluster
ORDER BY day DESC, decisions DESC, verb, profile
LIMIT @limit

-- decision-durations: How long do decisions take?
-- Median and 99th percentile by verb and hour, without the wait for the disk.
-- example: cluster=demo limit=100
SELECT hour, verb, decisions, p50_ms, p99_ms, max_ms
FROM decision_durations
WHERE cluster = @cluster
ORDER BY hour DESC, verb
LIMIT @limit

-- bound-decisions: Which decisions were bound, and what was the cluster's state before and after?
-- Each bind makes a revision.
-- example: cluster=demo limit=20
SELECT time, verb, namespace, pod, node, snapshot, bound_snapshot
FROM decision_log
WHERE cluster = @cluster AND outcome = 'Scheduled' AND bound_snapshot IS NOT NULL
ORDER BY created_at DESC
LIMIT @limit

-- history-of-a-pod: What happened to one pod, the newest first?
-- All verbs, with the index by pod.
-- example: cluster=demo namespace=shop pod=cart limit=100
SELECT time, verb, outcome, node, nodes_feasible, nodes_total, profile, snapshot
FROM decision_log
WHERE cluster = @cluster AND namespace = @namespace AND pod = @pod
ORDER BY created_at DESC
LIMIT @limit

-- versions: Which versions and profiles decided, and on how many snapshots?
-- Check this after an upgrade: every decision records its engine, semantics and profile.
-- example: cluster=demo limit=100
SELECT engine, semantics, profile, count(*) AS decisions, count(DISTINCT snapshot_digest) AS snapshots
FROM decision_log
WHERE cluster = @cluster
GROUP BY engine, semantics, profile
ORDER BY decisions DESC, profile
LIMIT @limit

-- revisions: What made the cluster's revisions?
-- Uploads, changes and binds, and how each was stored.
-- example: cluster=demo limit=100
SELECT snapshot, time, cause, CASE WHEN checkpoint_bytes > 0 THEN 'whole' ELSE 'change' END AS stored
FROM revision_log
WHERE cluster = @cluster
ORDER BY number DESC
LIMIT @limit

-- capacity: How full was the cluster, revision by revision?
-- Each time that `/metrics` was scraped and a cluster had changed, at most once in
-- `--capacity-interval`.
-- example: cluster=demo resource=cpu limit=100
SELECT time, snapshot, 100 * requested / nullif(allocatable, 0) AS used_percent, free, stranded, nodes_in_use, nodes_bound
FROM capacity
WHERE cluster = @cluster AND resource = @resource
ORDER BY revision DESC
LIMIT @limit

-- simulation-jobs: Which questions about what comes next wait, or failed?
-- Jobs that were cancelled and those that run are listed, too.
-- example: cluster=demo limit=20
SELECT time, snapshot, kind, state, reason
FROM simulation_log
WHERE cluster = @cluster AND state <> 'done'
ORDER BY id
LIMIT @limit

-- preemption-pairs: Which pods evict the same victims again and again?
-- `evictions` counts the victims of that name by UID: the victim came back in between. A
-- `Preempting` decision with a `bound_snapshot` wrote a nomination, in that revision. An
-- `Unschedulable` one with a `bound_snapshot` wrote the reason why the pod waits.
-- example: cluster=demo limit=20
SELECT namespace, pod, victim_namespace, victim, evictions, first, last
FROM preemption_pairs
WHERE cluster = @cluster
ORDER BY evictions DESC
LIMIT @limit

-- nominations-never-bound: Which pods were nominated to a node and never bound?
-- The victims did not end, or a pod of higher priority took their place.
-- example: cluster=demo limit=20
SELECT namespace, pod, node, nominations, first, last
FROM nominations_never_bound
WHERE cluster = @cluster
ORDER BY first_at
LIMIT @limit

-- shadow-disagreements: Where would berth have decided otherwise than the scheduler, in shadow mode?
-- kube-scheduler sends nodes that passed its own filters, so every node that a shadow's record
-- rejects is a disagreement. `stale_seconds` and `snapshot` show whether an outdated state is the
-- cause.
-- example: cluster=live limit=20
SELECT l.time, l.namespace, l.pod, f.plugin, f.reason, f.nodes, l.nodes_total, l.stale_seconds
FROM decision_log l JOIN decision_failures f ON f.cluster = l.cluster AND f.created_at = l.created_at AND f.decision_id = l.id
WHERE l.cluster = @cluster AND l.mode = 'shadow' AND l.verb = 'filter' AND l.nodes_feasible < l.nodes_total
ORDER BY l.created_at DESC, f.nodes DESC
LIMIT @limit

-- failed-binds: Which binds did not take place, and who refused them?
-- `bind` is berth's own check before it calls the API server, `bind-result` the API server's
-- answer. The outcome `Unknown` means that the answer was lost; the pod later shows whether the
-- bind took place.
-- example: cluster=live limit=20
SELECT time, verb, namespace, pod, outcome, message
FROM decision_log
WHERE cluster = @cluster AND verb IN ('bind', 'bind-result') AND outcome <> 'Scheduled'
ORDER BY created_at DESC
LIMIT @limit

-- outdated-answers: Which answers were based on a state that may have been outdated?
-- While a watch is down or the API server is silent, berth continues to answer unless
-- `--max-staleness` forbids it. Each record has the time for which events may have been missed.
-- example: cluster=live since=2026-01-02T00:00:00Z limit=20
SELECT time, verb, mode, namespace, pod, outcome, snapshot, stale_seconds
FROM decision_log
WHERE cluster = @cluster AND created_at >= @since AND stale_seconds > 5
ORDER BY stale_seconds DESC
LIMIT @limit
