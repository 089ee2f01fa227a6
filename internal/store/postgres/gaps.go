package postgres

import (
	"context"

	"berth/internal/store"
)

const (
	sqlPutGap = `INSERT INTO decision_gaps (cluster, id, since, until, lost, cause, instance)
VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT DO NOTHING`
	sqlDropGaps   = `DELETE FROM decision_gaps WHERE cluster = $1`
	sqlRetainGaps = `DELETE FROM decision_gaps WHERE until < $1 RETURNING cluster, id`
)

// ListGaps implements store.Gaps.
func (s *Store) ListGaps(ctx context.Context, cluster string) ([]*store.Gap, error) {
	ctx, done, err := s.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	const query = `SELECT cluster, id, since, until, coalesce(lost, -1), cause, instance FROM decision_gaps
WHERE $1 = '' OR cluster = $1 ORDER BY until DESC, id DESC`
	rows, err := s.pool.Query(ctx, query, cluster)
	if err != nil {
		return nil, s.toStoreErr(ctx, err)
	}
	var gaps []*store.Gap
	err = each(rows, func() error {
		var g store.Gap
		err := rows.Scan(&g.Cluster, &g.ID, &g.Since, &g.Until, &g.Lost, &g.Cause, &g.Instance)
		g.Since, g.Until = g.Since.UTC(), g.Until.UTC()
		gaps = append(gaps, &g)
		return err
	})
	return gaps, s.toStoreErr(ctx, err)
}

func gapValues(g *store.Gap) []any {
	var lost *int64
	if g.Lost != store.UnknownLoss {
		lost = &g.Lost
	}
	return []any{g.Cluster, g.ID, g.Since, g.Until, lost, g.Cause, g.Instance}
}
