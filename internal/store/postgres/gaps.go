package postgres

import (
	"berth/internal/store"
)

const (
	sqlPutGap = `INSERT INTO decision_gaps (cluster, id, since, until, lost, cause, instance)
VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT DO NOTHING`
	sqlDropGaps   = `DELETE FROM decision_gaps WHERE cluster = $1`
	sqlRetainGaps = `DELETE FROM decision_gaps WHERE until < $1 RETURNING cluster, id`
)

func gapValues(g *store.Gap) []any {
	var lost *int64
	if g.Lost != store.UnknownLoss {
		lost = &g.Lost
	}
	return []any{g.Cluster, g.ID, g.Since, g.Until, lost, g.Cause, g.Instance}
}
