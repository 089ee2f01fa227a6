package sqlite

import (
	"context"
	"fmt"
	"time"

	"berth/internal/store"
	"berth/internal/store/batch"
	"berth/internal/store/seal"
)

// sqlPrune deletes the end of a run of revisions that begins with a checkpoint
// (?2) and ends before the next one (?3): what comes after the last one of the
// run that stays is needed by none. The newest deleted first, so that what a
// part of the work leaves is whole.
const sqlPrune = `WITH run AS (
  SELECT number, lead(created_at) OVER (ORDER BY number) AS superseded
  FROM revisions WHERE cluster = ?1 AND number >= ?2 AND number <= ?3
), stays AS MATERIALIZED ( -- else it is worked out again for each row of the run
  SELECT coalesce(max(number), 0) AS last FROM run r
  WHERE r.number < ?3 AND (r.superseded IS NULL OR r.superseded >= ?4
    OR EXISTS (SELECT 1 FROM decisions d WHERE d.cluster = ?1 AND d.revision = r.number)
    OR EXISTS (SELECT 1 FROM decisions d WHERE d.cluster = ?1 AND d.bound_revision = r.number AND d.bound_revision > 0)
    OR EXISTS (SELECT 1 FROM simulations s WHERE s.cluster = ?1 AND s.revision = r.number)
    OR EXISTS (SELECT 1 FROM origins o WHERE o.source = ?1 AND o.source_number = r.number))
)
DELETE FROM revisions WHERE cluster = ?1 AND number IN (
  SELECT r.number FROM run r, stays s WHERE r.number > s.last AND r.number < ?3 ORDER BY r.number DESC LIMIT ?5)
RETURNING number`

const sqlCountRevisionsDown = `UPDATE clusters SET revisions = revisions - ? WHERE cluster = ?`

// sqlStarts are the revisions that are read without those before them.
const sqlStarts = `SELECT number FROM checkpoints WHERE cluster = ?1 UNION SELECT number FROM origins WHERE cluster = ?1 ORDER BY number`

// Prune implements store.Pruner.
func (s *Store) Prune(ctx context.Context, before time.Time) (deleted int64, err error) {
	if err := s.usable(); err != nil {
		return 0, err
	}
	if err := ctx.Err(); err != nil || before.IsZero() {
		return 0, err
	}
	unlock, ok, err := s.TryLock(ctx, "prune revisions")
	if err != nil || !ok {
		return 0, err
	}
	defer unlock()
	names, err := s.clusterNames(ctx)
	if err != nil {
		return 0, err
	}
	for _, cluster := range names {
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
		return 0, err
	}
	return batch.PruneRuns(starts, func(first, next int64) (n int64, err error) {
		err = s.write(ctx, func(w *writer) error {
			gone, err := w.numbers(sqlPrune, cluster, first, next, ceilMicro(before), batch.PruneChunk)
			if n = int64(len(gone)); err != nil || n == 0 {
				return err
			}
			if _, err = w.exec(sqlCountRevisionsDown, n, cluster); err != nil {
				return err
			}
			return sealRemoval(ctx, w, cluster, &store.Removed{Revisions: seal.Runs(gone)})
		})
		return n, err
	})
}

func (s *Store) checkpoints(ctx context.Context, cluster string) (numbers []int64, err error) {
	rows, err := s.reads.QueryContext(ctx, sqlStarts, cluster)
	if err != nil {
		return nil, s.toStoreErr(err)
	}
	defer func() { _ = rows.Close() }() // its errors come through rows.Err
	for rows.Next() {
		var n int64
		if err := rows.Scan(&n); err != nil {
			return nil, s.toStoreErr(err)
		}
		numbers = append(numbers, n)
	}
	return numbers, s.toStoreErr(rows.Err())
}

// Usage implements store.Keeper.
func (s *Store) Usage(ctx context.Context) (usage store.Usage, err error) {
	if usage.Bytes, err = s.Sizes(ctx); err != nil {
		return usage, err
	}
	names, err := s.clusterNames(ctx)
	if err != nil {
		return usage, err
	}
	for _, cluster := range names {
		var oldest *int64
		if err := s.reads.QueryRowContext(ctx, `SELECT min(created_at) FROM decisions WHERE cluster = ?`, cluster).Scan(&oldest); err != nil {
			return usage, s.toStoreErr(err)
		}
		if oldest != nil {
			if at := fromMicro(*oldest); usage.Oldest.IsZero() || at.Before(usage.Oldest) {
				usage.Oldest = at
			}
		}
	}
	return usage, nil
}
