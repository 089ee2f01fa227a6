package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"

	"berth/internal/store"
)

const sqlPutCapacity = `INSERT INTO capacities (cluster, revision, resource, measured_at, allocatable, requested, free, stranded, fragmentation, nodes, nodes_in_use, nodes_bound)
SELECT cluster, number, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12 FROM revisions WHERE cluster = $1 AND number = $2
ON CONFLICT DO NOTHING`

// PutCapacities implements store.Capacities.
func (s *Store) PutCapacities(ctx context.Context, rows []store.Capacity) error {
	return s.inTx(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		for i := range rows {
			c := &rows[i]
			if _, err := conn.Exec(ctx, sqlPutCapacity, c.Cluster, c.Revision, c.Resource, c.MeasuredAt, c.Allocatable, c.Requested, c.Free, c.Stranded, c.Fragmentation, c.Nodes, c.NodesInUse, c.NodesBound); err != nil {
				return err
			}
		}
		return nil
	})
}
