// Package rollupcheck has the plain queries that roll-ups have to be equal to, in SQL that both
// databases read alike.
package rollupcheck

// Pair is a roll-up and the query of the log that it stands for.
type Pair struct{ Name, Rollup, Plain string }

// live is which records of decision_log d are live, hour the hour of one.
const (
	live    = `d.purpose IN ('live', 'watched')`
	attempt = live + ` AND (d.verb IN ('decide', 'filter') AND coalesce(d.attempt, d.id) = d.id
  OR d.verb = 'preempt' AND d.attempt = d.id)`
	hour = `substr(d.time, 1, 13) || ':00:00Z'`
)

// Pairs returns the queries. A row of decisions_by_hour is of the plugins too whose scores counted,
// which the log does not show.
func Pairs() []Pair {
	return []Pair{
		{
			"decisions_by_hour",
			`SELECT h.cluster, h.hour, h.verb, h.outcome, coalesce(h.purpose, ''), h.namespace, h.profile_digest, h.engine,
  sum(h.decisions), sum(h.bound), min(h.first_at), max(h.last_at)
FROM decisions_by_hour h GROUP BY 1, 2, 3, 4, 5, 6, 7, 8`,
			`SELECT d.cluster, ` + hour + `, d.verb, d.outcome,
  coalesce(d.purpose, ''), d.namespace, d.profile_digest, d.engine, count(*), sum(CASE WHEN d.bound_revision > 0 THEN 1 ELSE 0 END), min(d.created_at), max(d.created_at)
FROM decision_log d GROUP BY 1, 2, 3, 4, 5, 6, 7, 8`,
		},
		{
			"profile_log",
			`SELECT p.cluster, p.profile_digest, p.profile, p.decisions, p.first, p.last FROM profile_log p`,
			`SELECT d.cluster, d.profile_digest, max(d.profile), count(*), min(d.time), max(d.time) FROM decision_log d
WHERE d.profile_digest <> '' GROUP BY 1, 2`,
		},
		{
			"failures_by_hour",
			`SELECT h.cluster, h.hour, h.namespace, h.plugin, h.code, h.reason, h.decisions, h.nodes, h.unplaced, h.unplaced_nodes FROM failures_by_hour h`,
			`SELECT d.cluster, ` + hour + `, d.namespace, d.plugin, d.code, d.reason, count(*), sum(d.nodes),
  sum(CASE WHEN d.outcome IN ('Unschedulable', 'Preempting') THEN 1 ELSE 0 END),
  sum(CASE WHEN d.outcome IN ('Unschedulable', 'Preempting') THEN d.nodes ELSE 0 END)
FROM (SELECT f.*, f.decision_id AS id FROM decision_failures f) d WHERE ` + attempt + ` GROUP BY 1, 2, 3, 4, 5, 6`,
		},
		{
			"pool_failures_by_hour",
			`SELECT h.cluster, h.hour, h.namespace, h.plugin, h.code, h.reason, coalesce(h.pool, '?'), h.decisions, h.nodes, h.unplaced, h.unplaced_nodes
FROM pool_failures_by_hour h`,
			`SELECT d.cluster, ` + hour + `, d.namespace, d.plugin, d.code, d.reason, coalesce(d.pool, '?'), count(*), sum(d.nodes),
  sum(CASE WHEN d.outcome IN ('Unschedulable', 'Preempting') THEN 1 ELSE 0 END),
  sum(CASE WHEN d.outcome IN ('Unschedulable', 'Preempting') THEN d.nodes ELSE 0 END)
FROM (SELECT p.*, p.decision_id AS id FROM decision_pool_rejections p) d WHERE ` + attempt + ` GROUP BY 1, 2, 3, 4, 5, 6, 7`,
		},
		{
			"placements_by_hour",
			`SELECT h.cluster, h.hour, h.node, h.namespace, h.placements FROM placements_by_hour h`,
			`SELECT d.cluster, ` + hour + `, d.node, d.namespace, count(*) FROM decision_log d
WHERE d.bound_revision > 0 AND d.outcome = 'Scheduled' AND ` + live + ` GROUP BY 1, 2, 3, 4`,
		},
		{
			"durations_by_hour",
			`SELECT h.cluster, h.hour, h.verb, h.upto_ms, h.decisions, h.total_ms, h.max_ms FROM durations_by_hour h`,
			`SELECT d.cluster, ` + hour + `, d.verb, h.upto_ms, count(*), sum(round(d.duration_ms * 1000)) / 1000.0, max(d.duration_ms)
FROM decision_log d JOIN durations_by_hour h ON h.cluster = d.cluster AND h.hour = ` + hour + ` AND h.verb = d.verb
  AND h.over_ms < d.duration_ms AND d.duration_ms <= h.upto_ms GROUP BY 1, 2, 3, 4`,
		},
		{
			"durations_by_hour whole",
			`SELECT h.cluster, h.hour, h.verb, sum(h.decisions) FROM durations_by_hour h GROUP BY 1, 2, 3`,
			`SELECT d.cluster, ` + hour + `, d.verb, count(*) FROM decision_log d GROUP BY 1, 2, 3`,
		},
		{
			"pod_waits",
			`SELECT w.cluster, w.namespace, w.pod, w.pod_uid, w.cause, w.since, coalesce(w.until_time, '') FROM pod_waits w`,
			plainWaits,
		},
	}
}

// plainWaits makes stretches of a pod's events: of each time the last one counts, a change of the
// cause begins a stretch, and the next change ends it.
const plainWaits = `WITH causes AS (
  SELECT cluster, decision_id, plugin, row_number() OVER (PARTITION BY cluster, decision_id ORDER BY nodes DESC, plugin) AS place
  FROM (SELECT cluster, decision_id, plugin, sum(nodes) AS nodes FROM decision_failures GROUP BY 1, 2, 3) f
), said AS (
  SELECT d.cluster, d.namespace, d.pod, d.pod_uid, d.created_at, d.time,
    CASE WHEN d.outcome = 'Gated' THEN 'SchedulingGates'
      WHEN d.outcome IN ('Unschedulable', 'Preempting') THEN coalesce(c.plugin, d.outcome) ELSE '' END AS cause,
    row_number() OVER (PARTITION BY d.cluster, d.namespace, d.pod, d.pod_uid, d.created_at ORDER BY d.id DESC) AS place
  FROM decision_log d LEFT JOIN causes c ON c.cluster = d.cluster AND c.decision_id = d.id AND c.place = 1
  WHERE (` + attempt + `) OR (d.bound_revision > 0 AND d.outcome = 'Scheduled' AND ` + live + `)
), known AS (
  SELECT cluster, namespace, pod, pod_uid, created_at, time, cause, 0 AS later FROM said WHERE place = 1
  UNION ALL
  SELECT o.cluster, o.namespace, o.name, u.pod_uid, o.created_at, o.time, '', 1 FROM revision_objects o
  JOIN (SELECT DISTINCT cluster, namespace, pod, pod_uid FROM said) u
    ON u.cluster = o.cluster AND u.namespace = o.namespace AND u.pod = o.name AND (u.pod_uid = o.uid OR u.pod_uid = '')
  WHERE o.kind = 'Pod' AND (o.action = 'delete' OR o.node <> '') AND o.place > 0
  UNION ALL
  SELECT d.cluster, d.namespace, d.pod, '', d.created_at, d.time, '', 1 FROM decision_log d
  JOIN (SELECT DISTINCT cluster, namespace, pod FROM said WHERE pod_uid = '') u
    ON u.cluster = d.cluster AND u.namespace = d.namespace AND u.pod = d.pod
  WHERE d.pod_uid <> '' AND d.bound_revision > 0 AND d.outcome = 'Scheduled' AND ` + live + `
), latest AS (
  SELECT k.*, row_number() OVER (PARTITION BY k.cluster, k.namespace, k.pod, k.pod_uid, k.created_at ORDER BY k.later) AS place FROM known k
), turned AS (
  SELECT s.*, coalesce(lag(s.cause) OVER (PARTITION BY s.cluster, s.namespace, s.pod, s.pod_uid ORDER BY s.created_at), '') AS before
  FROM latest s WHERE s.place = 1
), stretches AS (
  SELECT t.*, coalesce(lead(t.time) OVER (PARTITION BY t.cluster, t.namespace, t.pod, t.pod_uid ORDER BY t.created_at), '') AS until
  FROM turned t WHERE t.cause <> t.before
)
SELECT cluster, namespace, pod, pod_uid, cause, created_at, until FROM stretches WHERE cause <> ''`
