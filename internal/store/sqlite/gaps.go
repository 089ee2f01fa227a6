package sqlite

import (
	"berth/internal/store"
)

const (
	sqlPutGap = `INSERT INTO decision_gaps (cluster, id, since, until, lost, cause, instance)
VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`
	sqlGap        = `SELECT id FROM decision_gaps WHERE cluster = ? AND id = ?`
	sqlDropGaps   = `DELETE FROM decision_gaps WHERE cluster = ?`
	sqlDropEpochs = `DELETE FROM chain_epochs WHERE cluster = ?`
	sqlRetainGaps = `DELETE FROM decision_gaps WHERE until < ? RETURNING cluster, id`
)

func gapValues(g *store.Gap) []any {
	var lost any
	if g.Lost != store.UnknownLoss {
		lost = g.Lost
	}
	return []any{g.Cluster, g.ID, g.Since.UnixMicro(), g.Until.UnixMicro(), lost, g.Cause, g.Instance}
}
