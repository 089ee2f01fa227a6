package sqlite

import (
	"context"
	"time"

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

// ListGaps implements store.Gaps.
func (s *Store) ListGaps(ctx context.Context, cluster string) ([]*store.Gap, error) {
	if err := s.usable(); err != nil {
		return nil, err
	}
	const query = `SELECT cluster, id, since, until, coalesce(lost, -1), cause, instance FROM decision_gaps
WHERE ?1 = '' OR cluster = ?1 ORDER BY until DESC, id DESC`
	rows, err := s.reads.QueryContext(ctx, query, cluster)
	if err != nil {
		return nil, s.toStoreErr(err)
	}
	defer func() { _ = rows.Close() }() // its errors come through rows.Err
	var gaps []*store.Gap
	for rows.Next() {
		var g store.Gap
		var since, until int64
		if err := rows.Scan(&g.Cluster, &g.ID, &since, &until, &g.Lost, &g.Cause, &g.Instance); err != nil {
			return nil, s.toStoreErr(err)
		}
		g.Since, g.Until = time.UnixMicro(since).UTC(), time.UnixMicro(until).UTC()
		gaps = append(gaps, &g)
	}
	return gaps, s.toStoreErr(rows.Err())
}

func gapValues(g *store.Gap) []any {
	var lost any
	if g.Lost != store.UnknownLoss {
		lost = g.Lost
	}
	return []any{g.Cluster, g.ID, g.Since.UnixMicro(), g.Until.UnixMicro(), lost, g.Cause, g.Instance}
}
