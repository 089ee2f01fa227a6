package postgres

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"berth/internal/store"
	"berth/internal/store/seal"
	"berth/internal/store/sqlcommon"
)

const (
	sqlSealHead  = `UPDATE clusters SET seals = $1, seal_hash = $2 WHERE cluster = $3`
	sqlDropSeals = `DELETE FROM seals WHERE cluster = $1 AND number < (SELECT seals FROM clusters WHERE cluster = $1)`

	// Names that only tampering leaves without books are found by their rows, each by one look into
	// an index.
	sqlSealHeads = `WITH RECURSIVE d AS (
  (SELECT cluster FROM decisions ORDER BY cluster LIMIT 1)
  UNION ALL
  SELECT (SELECT cluster FROM decisions x WHERE x.cluster > d.cluster ORDER BY cluster LIMIT 1) FROM d WHERE cluster IS NOT NULL
), s AS (
  (SELECT cluster FROM seals ORDER BY cluster LIMIT 1)
  UNION ALL
  SELECT (SELECT cluster FROM seals x WHERE x.cluster > s.cluster ORDER BY cluster LIMIT 1) FROM s WHERE cluster IS NOT NULL
), r AS (
  (SELECT cluster FROM revisions ORDER BY cluster LIMIT 1)
  UNION ALL
  SELECT (SELECT cluster FROM revisions x WHERE x.cluster > r.cluster ORDER BY cluster LIMIT 1) FROM r WHERE cluster IS NOT NULL
), n AS (
  SELECT cluster FROM d UNION SELECT cluster FROM s UNION SELECT cluster FROM r UNION SELECT cluster FROM clusters
)
SELECT n.cluster, coalesce(c.seals, 0), coalesce(c.seal_hash, ''), coalesce(c.last_seq, 0), coalesce(c.newest, 0), ` + sqlBeginning + `
FROM n LEFT JOIN clusters c ON c.cluster = n.cluster WHERE n.cluster IS NOT NULL ORDER BY n.cluster`
	sqlOneSealHead = `SELECT n.cluster, seals, seal_hash, last_seq, newest, ` + sqlBeginning + ` FROM clusters n WHERE n.cluster = $1`
	sqlBeginning   = `coalesce((SELECT min(s.number) FROM seals s WHERE s.cluster = n.cluster AND s.kind IN ('beginning', 'deletion')), 0)`
)

var (
	sqlPutSeal = `INSERT INTO seals (` + seal.Columns + `, created_at) VALUES (` + placeholders(1, 12) + `, clock_timestamp())`
	// Before the migration of its number there is no created_at.
	sqlPutSealBare = `INSERT INTO seals (` + seal.Columns + `) VALUES (` + placeholders(1, 12) + `)`
)

// querier is a connection, a pool or a transaction.
type querier interface {
	Begin(ctx context.Context) (pgx.Tx, error)
	SendBatch(ctx context.Context, b *pgx.Batch) pgx.BatchResults
	Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

// addSeal writes the seal that next returns for a cluster's head, whose row it locks.
func addSeal(ctx context.Context, q querier, cluster string, next func(*store.SealHead) (*store.Seal, error)) error {
	return sqlcommon.AddSeal(commonTx{ctx, q}, sqlcommon.Postgres, cluster, next)
}

func sealRemoval(ctx context.Context, q querier, cluster string, removed *store.Removed) error {
	return addSeal(ctx, q, cluster, func(h *store.SealHead) (*store.Seal, error) { return seal.Removal(ctx, h, removed) })
}

// sealDeletion replaces a cluster's seals by one that its deletion leaves.
func sealDeletion(ctx context.Context, q querier, cluster string) error {
	stays, err := seal.Staying(ctx, sealReader{q}, cluster)
	if err != nil {
		return err
	}
	err = addSeal(ctx, q, cluster, func(h *store.SealHead) (*store.Seal, error) { return seal.Deletion(ctx, h, stays) })
	if err != nil {
		return err
	}
	_, err = q.Exec(ctx, sqlDropSeals, cluster)
	return err
}

// migrating are the chains within the transaction of a migration.
type migrating struct{ sealReader }

// PutSeal implements seal.Chains.
func (c migrating) PutSeal(ctx context.Context, s *store.Seal) (bool, error) {
	ct, err := c.Exec(ctx, sqlSealHead, s.Number, s.Hash, s.Cluster)
	if err != nil || ct.RowsAffected() == 0 {
		return false, err
	}
	_, err = c.Exec(ctx, sqlPutSealBare, seal.Values(s)...)
	return err == nil, err
}

// WriteBeginning writes a seal of beginning for a chain that has none: what is stored of the
// cluster is taken as it is. Servers wait meanwhile.
func WriteBeginning(ctx context.Context, url, cluster string) error {
	cfg, err := parse(url)
	if err != nil {
		return fmt.Errorf("open postgres: %w", err)
	}
	cfg.DefaultQueryExecMode = pgx.QueryExecModeExec // no named statement, which a pooler may lose
	conn, err := pgx.ConnectConfig(ctx, cfg)
	if err != nil {
		return fmt.Errorf("open postgres: %w", err)
	}
	defer hangUp(conn)
	if err := checkSchema(ctx, conn); err != nil {
		return fmt.Errorf("open postgres %s: %w", place(cfg), err)
	}
	return MigrateOptions{}.withDefaults().writeBeginnings(ctx, conn, store.SealFormat, cluster)
}

// writeBeginnings gives each chain that has none its seal of beginning, or that of a cluster.
// Servers that still write wait for it.
func (o MigrateOptions) writeBeginnings(ctx context.Context, conn *pgx.Conn, format int64, cluster string) error {
	if err := o.boundLocks(ctx, conn); err != nil {
		return err
	}
	return pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `LOCK TABLE clusters IN EXCLUSIVE MODE`); err != nil {
			return err
		}
		return seal.WriteBeginnings(ctx, migrating{sealReader{tx}}, format, cluster)
	})
}

// SealHeads implements store.Seals.
func (s *Store) SealHeads(ctx context.Context, cluster string) ([]store.SealHead, error) {
	ctx, done, err := s.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	heads, err := sealReader{s.pool}.SealHeads(ctx, cluster)
	return heads, s.toStoreErr(ctx, err)
}

// sealReader reads chains within a transaction, or beside others.
type sealReader struct{ querier }

// SealHeads implements store.Seals.
func (r sealReader) SealHeads(ctx context.Context, cluster string) ([]store.SealHead, error) {
	query, args := sqlSealHeads, []any(nil)
	if cluster != "" {
		query, args = sqlOneSealHead, []any{cluster}
	}
	rows, err := r.Query(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	var heads []store.SealHead
	err = each(rows, func() error {
		var h store.SealHead
		err := rows.Scan(&h.Cluster, &h.Number, &h.Hash, &h.Seq, &h.Newest, &h.Beginning)
		heads = append(heads, h)
		return err
	})
	return heads, err
}

// Books implements store.Seals.
func (s *Store) Books(ctx context.Context, cluster string, count bool) ([]store.Books, error) {
	ctx, done, err := s.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	list, err := sealReader{s.pool}.Books(ctx, cluster, count)
	return list, s.toStoreErr(ctx, err)
}

// Books implements store.Seals. Partitions that retention has taken out and not dropped yet are
// still counted by the books.
func (r sealReader) Books(ctx context.Context, cluster string, count bool) (list []store.Books, err error) {
	for range attempts {
		var out []string
		if count {
			partitions, err := partitions(ctx, r)
			if err != nil {
				return nil, err
			}
			out = slices.DeleteFunc(slices.Sorted(maps.Keys(partitions)), func(name string) bool { return partitions[name] })
		}
		if list, err = r.books(ctx, cluster, count, out); sqlState(err) != stateUndefinedTable { // else one was dropped
			break
		}
	}
	return list, err
}

func (r sealReader) books(ctx context.Context, cluster string, count bool, out []string) ([]store.Books, error) {
	rows, err := r.Query(ctx, seal.BooksQuery(count, out...)+` WHERE $1 IN ('', c.cluster) ORDER BY c.cluster`, cluster)
	if err != nil {
		return nil, err
	}
	var list []store.Books
	err = each(rows, func() error {
		var b store.Books
		err := rows.Scan(seal.BooksTargets(&b)...)
		list = append(list, b)
		return err
	})
	return list, err
}

// ListSeals implements store.Seals.
func (s *Store) ListSeals(ctx context.Context, cluster string, after int64, limit int, removals bool) ([]*store.Seal, error) {
	ctx, done, err := s.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	seals, err := sealReader{s.pool}.ListSeals(ctx, cluster, after, limit, removals)
	return seals, s.toStoreErr(ctx, err)
}

// ListSeals implements store.Seals.
func (r sealReader) ListSeals(ctx context.Context, cluster string, after int64, limit int, removals bool) ([]*store.Seal, error) {
	query := `SELECT ` + seal.Columns + ` FROM seals WHERE cluster = $1 AND number > $2`
	if removals {
		query += ` AND kind <> 'rows'`
	}
	rows, err := r.Query(ctx, query+` ORDER BY number LIMIT $3`, cluster, after, orAll(limit))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var seals []*store.Seal
	for size := 0; size <= store.PageBytes && rows.Next(); {
		x := &store.Seal{}
		if err := rows.Scan(seal.Targets(x)...); err != nil {
			return nil, err
		}
		size += len(x.RowHashes) + len(x.Items)
		seals = append(seals, x)
	}
	rows.Close()
	return seals, rows.Err()
}

// SealRows implements store.Seals.
func (s *Store) SealRows(ctx context.Context, table store.SealTable, format int64, cluster string, from, to int64, limit int) ([]store.SealRow, error) {
	ctx, done, err := s.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	rows, err := sealReader{s.pool}.SealRows(ctx, table, format, cluster, from, to, limit)
	return rows, s.toStoreErr(ctx, err)
}

// SealRows implements store.Seals.
func (r sealReader) SealRows(ctx context.Context, table store.SealTable, format int64, cluster string, from, to int64, limit int) ([]store.SealRow, error) {
	q := seal.QueryOf(table, format)
	rows, err := r.Query(ctx, q.Select+q.Where(), cluster, orAll(limit), from, to)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	hashed := seal.Reader{Query: q, Format: format}
	for !hashed.Full() && rows.Next() {
		values, err := rows.Values()
		if err != nil {
			return nil, err
		}
		hashed.Add(values)
	}
	rows.Close()
	return hashed.List, rows.Err()
}
