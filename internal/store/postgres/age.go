package postgres

import (
	"context"
	"fmt"
	"time"

	"berth/internal/store"
	"berth/internal/store/batch"
	"berth/internal/store/seal"

	"github.com/jackc/pgx/v5"
)

// sqlPrune deletes the end of a run of revisions that begins with a checkpoint
// ($2) and ends before the next one ($3): what comes after the last one of the
// run that stays is needed by none. The newest deleted first, so that what a
// part of the work leaves is whole.
const sqlPrune = `WITH run AS (
  SELECT number, lead(created_at) OVER (ORDER BY number) AS superseded
  FROM revisions WHERE cluster = $1 AND number >= $2 AND number <= $3
), stays AS MATERIALIZED ( -- else it is worked out again for each row of the run
  SELECT coalesce(max(number), 0) AS last FROM run r
  WHERE r.number < $3 AND (r.superseded IS NULL OR r.superseded >= $4
    OR EXISTS (SELECT 1 FROM decisions d WHERE d.cluster = $1 AND d.revision = r.number)
    OR EXISTS (SELECT 1 FROM decisions d WHERE d.cluster = $1 AND d.bound_revision = r.number AND d.bound_revision > 0)
    OR EXISTS (SELECT 1 FROM simulations s WHERE s.cluster = $1 AND s.revision = r.number)
    OR EXISTS (SELECT 1 FROM origins o WHERE o.source = $1 AND o.source_number = r.number))
)
DELETE FROM revisions v WHERE v.cluster = $1 AND v.number IN (
  SELECT r.number FROM run r, stays s WHERE r.number > s.last AND r.number < $3 ORDER BY r.number DESC LIMIT $5)
RETURNING v.number`

// sqlStarts are the revisions that are read without those before them.
const sqlStarts = `SELECT number FROM checkpoints WHERE cluster = $1 UNION SELECT number FROM origins WHERE cluster = $1 ORDER BY number`

// Prune implements store.Pruner.
func (s *Store) Prune(ctx context.Context, before time.Time) (deleted int64, err error) {
	ctx, done, err := s.enter(ctx)
	if err != nil {
		return 0, err
	}
	defer done()
	if before.IsZero() {
		return 0, nil
	}
	unlock, ok, err := s.TryLock(ctx, "prune revisions")
	if err != nil || !ok {
		return 0, err
	}
	defer unlock()
	heads, err := s.Heads(ctx)
	if err != nil {
		return 0, err
	}
	for cluster := range heads {
		n, err := s.pruneCluster(ctx, cluster, before)
		deleted += n
		if err != nil {
			return deleted, fmt.Errorf("prune %s: %w", cluster, err)
		}
	}
	return deleted, nil
}

func (s *Store) pruneCluster(ctx context.Context, cluster string, before time.Time) (deleted int64, err error) {
	starts, err := s.checkpoints(ctx, cluster)
	if err != nil {
		return 0, s.toStoreErr(ctx, err)
	}
	return batch.PruneRuns(starts, func(first, next int64) (int64, error) {
		return s.pruneRun(ctx, cluster, first, next, before)
	})
}

// pruneRun does one transaction's part of a run.
func (s *Store) pruneRun(ctx context.Context, cluster string, first, next int64, before time.Time) (deleted int64, err error) {
	err = s.locked(ctx, cluster, func(ctx context.Context, conn *pgx.Conn) error {
		rows, err := conn.Query(ctx, sqlPrune, cluster, first, next, ceilMicro(before), batch.PruneChunk)
		if err != nil {
			return err
		}
		gone, err := pgx.CollectRows(rows, pgx.RowTo[int64])
		if deleted = int64(len(gone)); err != nil || deleted == 0 {
			return err
		}
		if _, err = conn.Exec(ctx, `UPDATE clusters SET revisions = revisions - $2 WHERE cluster = $1`, cluster, deleted); err != nil {
			return err
		}
		return sealRemoval(ctx, conn, cluster, &store.Removed{Revisions: seal.Runs(gone)})
	})
	if err != nil {
		return 0, err
	}
	return deleted, nil
}

func (s *Store) checkpoints(ctx context.Context, cluster string) (numbers []int64, err error) {
	rows, err := s.pool.Query(ctx, sqlStarts, cluster)
	if err != nil {
		return nil, err
	}
	err = each(rows, func() error {
		var n int64
		err := rows.Scan(&n)
		numbers = append(numbers, n)
		return err
	})
	return numbers, err
}

// Usage implements store.Keeper.
func (s *Store) Usage(ctx context.Context) (usage store.Usage, err error) {
	if usage.Bytes, err = s.Sizes(ctx); err != nil {
		return usage, err
	}
	attached, err := partitions(ctx, s.pool)
	if err != nil {
		return usage, s.toStoreErr(ctx, err)
	}
	for _, is := range attached {
		if is {
			usage.Partitions++
		}
	}
	usage.Partitions++ // the default one
	const query = `SELECT min(first) FROM clusters c CROSS JOIN LATERAL
(SELECT created_at AS first FROM decisions d WHERE d.cluster = c.cluster AND isfinite(created_at) ORDER BY created_at LIMIT 1) f`
	var oldest *time.Time
	if err := s.pool.QueryRow(ctx, query).Scan(&oldest); err != nil {
		return usage, s.toStoreErr(ctx, err)
	}
	if oldest != nil {
		usage.Oldest = oldest.UTC()
	}
	return usage, nil
}
