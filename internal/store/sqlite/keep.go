package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"berth/internal/store"
	"berth/internal/store/seal"
	"berth/internal/store/sqlcommon"
)

// chunk is how many decisions one transaction of Retain deletes, so that other
// writes wait for tens of milliseconds and no longer.
const chunk = 5000

// Retain implements store.Keeper. The file keeps its size: what is free in it is
// used again.
func (s *Store) Retain(ctx context.Context, before time.Time) (deleted int64, err error) {
	if err := s.usable(); err != nil {
		return 0, err
	}
	if err := ctx.Err(); err != nil || before.IsZero() {
		return 0, err
	}
	err = s.write(ctx, func(w *writer) error {
		gone := map[string][]string{}
		err := w.each(sqlRetainGaps, []any{ceilMicro(before)}, func(rows *sql.Rows) error {
			var cluster, id string
			err := rows.Scan(&cluster, &id)
			gone[cluster] = append(gone[cluster], id)
			return err
		})
		for cluster, ids := range gone {
			err = errors.Join(err, sealRemoval(ctx, w, cluster, &store.Removed{Gaps: ids}))
		}
		return err
	})
	if err = errors.Join(err, s.RetainLogs(ctx, before)); err != nil {
		return 0, err
	}
	if err := sqlcommon.RetainObjects(ctx, common{s}, sqlcommon.SQLite, before, chunk); err != nil {
		return 0, err
	}
	for n := int64(chunk); n == chunk; {
		err := s.write(ctx, func(w *writer) (err error) {
			n, err = w.exec(sqlRetainFacts, ceilMicro(before.Add(-store.FactsStay)), chunk)
			return err
		})
		if err != nil {
			return 0, err
		}
	}
	names, err := s.clusterNames(ctx)
	if err != nil {
		return 0, err
	}
	for _, cluster := range names {
		for {
			var n int64
			err := s.write(ctx, func(w *writer) error {
				places, err := w.numbers(sqlRetain, cluster, ceilMicro(before), chunk)
				if n = int64(len(places)); err != nil || n == 0 {
					return err
				}
				if _, err = w.exec(sqlCountDecisionsDown, n, cluster); err != nil {
					return err
				}
				return sealRemoval(ctx, w, cluster, &store.Removed{Decisions: seal.Runs(places)})
			})
			if err != nil {
				return deleted, err
			}
			deleted += n
			if n < chunk {
				break
			}
		}
	}
	return deleted, nil
}

// Sizes implements store.Keeper. It looks at every page of the file, so it is
// for a metric that is read now and then.
func (s *Store) Sizes(ctx context.Context) (map[string]int64, error) {
	if err := s.usable(); err != nil {
		return nil, err
	}
	const query = `SELECT o.tbl_name, sum(p.pgsize) FROM dbstat p JOIN sqlite_schema o ON o.name = p.name
WHERE p.aggregate = TRUE AND o.tbl_name <> 'schema_migrations' GROUP BY o.tbl_name`
	rows, err := s.reads.QueryContext(ctx, query)
	if err != nil {
		return nil, s.toStoreErr(err)
	}
	defer func() { _ = rows.Close() }() // its errors come through rows.Err
	sizes := map[string]int64{}
	for rows.Next() {
		var name string
		var size int64
		if err := rows.Scan(&name, &size); err != nil {
			return nil, s.toStoreErr(err)
		}
		sizes[name] = size
	}
	return sizes, s.toStoreErr(rows.Err())
}

var _ store.Keeper = (*Store)(nil)
