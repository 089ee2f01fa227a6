package postgres

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"berth/internal/store"
	"berth/internal/store/sqlcommon"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// chunk is how many decisions one DELETE of Retain takes, so that no lock and
// no transaction lasts.
const chunk = 5000

// Retain implements store.Keeper. Months that are over before the given time go
// as whole partitions, without a row being touched; the rest goes row by row. It
// also makes the partitions of the months to come, so a server that runs for
// long calls it every day or so, with a zero time where nothing is to go.
func (s *Store) Retain(ctx context.Context, before time.Time) (deleted int64, err error) {
	ctx, done, err := s.enter(ctx)
	if err != nil {
		return 0, err
	}
	defer done()
	deleted, err = s.retain(ctx, before)
	return deleted, s.toStoreErr(ctx, err)
}

func (s *Store) retain(ctx context.Context, before time.Time) (deleted int64, err error) {
	// The lock belongs to a connection of its own and ends with it at the latest.
	keeper, err := s.pool.Acquire(ctx)
	if err != nil {
		return 0, err
	}
	defer giveBack(keeper)
	var mine bool
	if err := keeper.QueryRow(ctx, `SELECT pg_try_advisory_lock(`+keeperLock+`, 1)`).Scan(&mine); err != nil || !mine {
		return 0, err
	}
	defer unlock(keeper)
	if err := s.partitionsAhead(ctx, time.Now()); err != nil || before.IsZero() {
		return 0, err
	}
	if err := errors.Join(s.retainGaps(ctx, before), s.RetainLogs(ctx, before)); err != nil {
		return 0, err
	}
	if err := sqlcommon.RetainObjects(ctx, common{s}, sqlcommon.Postgres, before, chunk); err != nil {
		return 0, err
	}
	for n := int64(chunk); n == chunk; {
		ct, err := s.pool.Exec(ctx, sqlRetainFacts, ceilMicro(before.Add(-store.FactsStay)), chunk)
		if err != nil {
			return 0, err
		}
		n = ct.RowsAffected()
	}
	partitions, err := partitions(ctx, s.pool)
	if err != nil {
		return 0, err
	}
	for _, name := range slices.Sorted(maps.Keys(partitions)) {
		month, err := time.Parse("decisions_p200601", name)
		if err != nil {
			return deleted, fmt.Errorf("partition %s: %w", name, err)
		}
		if month.AddDate(0, 1, 0).After(before) && partitions[name] {
			continue
		}
		n, err := s.dropPartition(ctx, name, partitions[name])
		deleted += n
		if err != nil {
			return deleted, fmt.Errorf("drop partition %s: %w", name, err)
		}
	}
	for {
		n, err := s.deleteChunk(ctx, before)
		deleted += n
		if err != nil || n < chunk {
			return deleted, err
		}
	}
}

func unlock(keeper *pgxpool.Conn) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if _, err := keeper.Exec(ctx, `SELECT pg_advisory_unlock(`+keeperLock+`, 1)`); err != nil {
		_ = keeper.Conn().Close(ctx) // and the lock goes with it
	}
}

// sqlRuns sums the rows of a table up as ranges of places in the logs: places that follow one
// another have the same distance from their rank.
const sqlRuns = `SELECT cluster, min(seq), max(seq), count(*)
FROM (SELECT cluster, seq, seq - row_number() OVER (PARTITION BY cluster ORDER BY seq) AS run FROM %s) r
GROUP BY cluster, run ORDER BY cluster, min(seq)`

// dropPartition seals that a partition goes, takes it out, which needs a moment without readers,
// and then counts and drops it, which may take its time. A kill in between leaves a table that the
// next Retain finds by its name.
func (s *Store) dropPartition(ctx context.Context, name string, attached bool) (deleted int64, err error) {
	query, known := fmt.Sprintf(sqlRuns, name), int64(-1)
	if attached {
		err := pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
			gone, err := takeRuns(ctx, tx, query)
			known = gone.total
			return errors.Join(err, gone.seal(ctx, tx))
		})
		if err != nil {
			return 0, err
		}
		err = pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
			// All reads and writes queue up behind a lock that waits: give up soon.
			if _, err := tx.Exec(ctx, `SET LOCAL lock_timeout = '2s'`); err != nil {
				return err
			}
			_, err := tx.Exec(ctx, `ALTER TABLE decisions DETACH PARTITION `+name)
			return err
		})
		if err != nil {
			return 0, err
		}
	}
	err = pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		gone, err := takeRuns(ctx, tx, query)
		if err != nil {
			return err
		}
		if err := gone.countDown(ctx, tx); err != nil {
			return err
		}
		if gone.total != known { // some came in after they were sealed, or a kill came between
			if err := gone.seal(ctx, tx); err != nil {
				return err
			}
		}
		deleted = gone.total
		_, err = tx.Exec(ctx, `DROP TABLE `+name)
		return err
	})
	if err != nil {
		return 0, err
	}
	return deleted, nil
}

// deleteChunk deletes some of the old rows that share a partition with newer ones.
func (s *Store) deleteChunk(ctx context.Context, before time.Time) (deleted int64, err error) {
	err = pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		gone, err := takeRuns(ctx, tx, `WITH old AS (
  SELECT cluster, created_at, id FROM decisions WHERE created_at < $1 LIMIT $2
), gone AS (
  DELETE FROM decisions d USING old WHERE d.cluster = old.cluster AND d.created_at = old.created_at AND d.id = old.id
  RETURNING d.cluster, d.seq
) `+fmt.Sprintf(sqlRuns, "gone"), ceilMicro(before), chunk)
		if err != nil {
			return err
		}
		deleted = gone.total
		return errors.Join(gone.countDown(ctx, tx), gone.seal(ctx, tx))
	})
	if err != nil {
		return 0, err
	}
	return deleted, nil
}

// removals are decisions that a transaction takes away, by cluster.
type removals struct {
	counts map[string]int64
	runs   map[string][][2]int64 // of places in the log
	total  int64
}

// takeRuns runs a query for sqlRuns's columns, however long it takes.
func takeRuns(ctx context.Context, tx pgx.Tx, query string, args ...any) (*removals, error) {
	r := &removals{counts: map[string]int64{}, runs: map[string][][2]int64{}}
	if _, err := tx.Exec(ctx, `SET LOCAL statement_timeout = 0`); err != nil {
		return r, err
	}
	rows, err := tx.Query(ctx, query, args...)
	if err != nil {
		return r, err
	}
	return r, each(rows, func() error {
		var cluster string
		var run [2]int64
		var n int64
		err := rows.Scan(&cluster, &run[0], &run[1], &n)
		r.counts[cluster] += n
		r.runs[cluster] = append(r.runs[cluster], run)
		r.total += n
		return err
	})
}

// countDown takes the decisions off the clusters' books, in the order in which all others lock
// them.
func (r *removals) countDown(ctx context.Context, tx pgx.Tx) error {
	for _, cluster := range slices.Sorted(maps.Keys(r.counts)) {
		// A cluster may have been deleted since, and its rows counted with it.
		const query = `UPDATE clusters SET decisions = greatest(decisions - $2, 0) WHERE cluster = $1`
		if _, err := tx.Exec(ctx, query, cluster, r.counts[cluster]); err != nil {
			return err
		}
	}
	return nil
}

// seal writes into the clusters' hash chains that the decisions are gone.
func (r *removals) seal(ctx context.Context, tx pgx.Tx) error {
	for _, cluster := range slices.Sorted(maps.Keys(r.runs)) {
		if err := sealRemoval(ctx, tx, cluster, &store.Removed{Decisions: r.runs[cluster]}); err != nil {
			return err
		}
	}
	return nil
}

// retainGaps deletes the gaps that ended before a time.
func (s *Store) retainGaps(ctx context.Context, before time.Time) error {
	return pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, sqlRetainGaps, ceilMicro(before))
		if err != nil {
			return err
		}
		gone := map[string][]string{}
		err = each(rows, func() error {
			var cluster, id string
			err := rows.Scan(&cluster, &id)
			gone[cluster] = append(gone[cluster], id)
			return err
		})
		if err != nil {
			return err
		}
		for _, cluster := range slices.Sorted(maps.Keys(gone)) {
			if err := sealRemoval(ctx, tx, cluster, &store.Removed{Gaps: gone[cluster]}); err != nil {
				return err
			}
		}
		return nil
	})
}

// Sizes implements store.Keeper; decisions counts all its partitions.
func (s *Store) Sizes(ctx context.Context) (map[string]int64, error) {
	ctx, done, err := s.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	const query = `SELECT c.relname, pg_total_relation_size(c.oid) +
  coalesce((SELECT sum(pg_total_relation_size(t.relid)) FROM pg_partition_tree(c.oid) t WHERE t.isleaf), 0)::bigint
FROM pg_class c WHERE c.relnamespace = current_schema()::regnamespace
AND c.relkind IN ('r', 'p') AND NOT c.relispartition AND c.relname NOT IN ('berth_migrations', 'schema_migrations')`
	rows, err := s.pool.Query(ctx, query)
	if err != nil {
		return nil, s.toStoreErr(ctx, err)
	}
	sizes := map[string]int64{}
	err = each(rows, func() error {
		var name string
		var size int64
		err := rows.Scan(&name, &size)
		sizes[name] = size
		return err
	})
	return sizes, s.toStoreErr(ctx, err)
}
