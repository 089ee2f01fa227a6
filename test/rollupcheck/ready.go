package rollupcheck

// Ready returns ready queries that read roll-ups, by name, as plain queries of the log alone.
func Ready() map[string]string {
	const within = `d.cluster = @cluster AND d.created_at >= @since AND d.created_at < @until
  AND (@namespace = '' OR d.namespace = @namespace) AND ` + attempt
	const failures = `(SELECT f.*, f.decision_id AS id FROM decision_failures f) d WHERE ` + within
	return map[string]string{
		"top-reasons": `SELECT d.plugin, d.reason, sum(d.nodes) AS nodes, count(*) AS decisions FROM ` + failures + `
GROUP BY d.plugin, d.reason ORDER BY nodes DESC, d.plugin, d.reason LIMIT @limit`,
		"rejections-by-pool": `SELECT substr(d.time, 1, 10) AS day, d.plugin, d.reason, d.pool, sum(d.nodes) AS nodes, count(*) AS attempts, d.code
FROM (SELECT p.*, p.decision_id AS id FROM decision_pool_rejections p) d WHERE ` + within + `
GROUP BY 1, 2, 3, 4, 7 ORDER BY day DESC, nodes DESC, plugin, reason, pool, code LIMIT @limit`,
		"nodes-rejecting-most": `SELECT r.node, r.plugin, r.reason, r.rejections, r.pods,
  CAST(round(1.0 * r.named / nullif((SELECT sum(d.nodes) FROM ` + failures + ` AND d.plugin = r.plugin AND d.reason = r.reason), 0), 4)
    AS double precision) AS named_share
FROM (
  SELECT d.node, d.plugin, d.reason, count(*) AS rejections, count(DISTINCT d.pod) AS pods, sum(count(*)) OVER (PARTITION BY d.plugin, d.reason) AS named
  FROM (SELECT n.*, n.decision_id AS id FROM decision_rejected_nodes n) d WHERE ` + within + `
  GROUP BY 1, 2, 3
) r ORDER BY r.rejections DESC, r.node, r.plugin, r.reason LIMIT @limit`,
	}
}
