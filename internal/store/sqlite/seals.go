package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"berth/internal/store"
	"berth/internal/store/seal"
	"berth/internal/store/sqlcommon"
	"berth/migrations"
)

const (
	sqlSealHead = `UPDATE clusters SET seals = ?, seal_hash = ? WHERE cluster = ?`
	sqlPutSeal  = `INSERT INTO seals (` + seal.Columns + `, created_at)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, CAST(unixepoch('subsec') * 1000000 AS INTEGER))`
	// Before the migration of its number there is no created_at.
	sqlPutSealBare = `INSERT INTO seals (` + seal.Columns + `) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
	sqlDropSeals   = `DELETE FROM seals WHERE cluster = ?1 AND number < (SELECT seals FROM clusters WHERE cluster = ?1)`

	// Names that only tampering leaves without books are found by their rows.
	sqlSealHeads = `SELECT n.cluster, coalesce(c.seals, 0), coalesce(c.seal_hash, x''), coalesce(c.last_seq, 0), coalesce(c.newest, 0), ` + sqlBeginning + `
FROM (SELECT cluster FROM clusters UNION SELECT DISTINCT cluster FROM decisions UNION SELECT DISTINCT cluster FROM revisions
UNION SELECT DISTINCT cluster FROM seals) n LEFT JOIN clusters c ON c.cluster = n.cluster ORDER BY n.cluster`
	sqlOneSealHead = `SELECT n.cluster, seals, seal_hash, last_seq, newest, ` + sqlBeginning + ` FROM clusters n WHERE n.cluster = ?`
	sqlBeginning   = `coalesce((SELECT min(s.number) FROM seals s WHERE s.cluster = n.cluster AND s.kind IN ('beginning', 'deletion')), 0)`
)

// addSeal writes the seal that next returns for a cluster's head, in the writer's transaction.
func addSeal(w *writer, cluster string, next func(*store.SealHead) (*store.Seal, error)) error {
	return sqlcommon.AddSeal(commonTx{w}, sqlcommon.SQLite, cluster, next)
}

func sealRemoval(ctx context.Context, w *writer, cluster string, removed *store.Removed) error {
	return addSeal(w, cluster, func(h *store.SealHead) (*store.Seal, error) { return seal.Removal(ctx, h, removed) })
}

// sealDeletion replaces a cluster's seals by one that its deletion leaves.
func sealDeletion(ctx context.Context, w *writer, cluster string) error {
	stays, err := seal.Staying(ctx, sealReader{w.conn}, cluster)
	if err != nil {
		return err
	}
	err = addSeal(w, cluster, func(h *store.SealHead) (*store.Seal, error) { return seal.Deletion(ctx, h, stays) })
	if err != nil {
		return err
	}
	_, err = w.exec(sqlDropSeals, cluster)
	return err
}

// migrating are the chains within the transaction of a migration.
type migrating struct {
	sealReader
	tx *sql.Tx
}

// PutSeal implements seal.Chains.
func (c migrating) PutSeal(ctx context.Context, s *store.Seal) (bool, error) {
	res, err := c.tx.ExecContext(ctx, sqlSealHead, s.Number, s.Hash, s.Cluster)
	if err != nil {
		return false, err
	}
	if n, err := res.RowsAffected(); err != nil || n == 0 {
		return false, err
	}
	_, err = c.tx.ExecContext(ctx, sqlPutSealBare, seal.Values(s)...)
	return err == nil, err
}

// WriteBeginning writes a seal of beginning for a chain that has none: what is stored of the
// cluster is taken as it is. The store must not be open.
func WriteBeginning(ctx context.Context, dir, cluster string) (err error) {
	path, lock, err := claim(dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	if err := migrateTo(ctx, path, Options{}.withDefaults(), migrations.Latest); err != nil {
		return err
	}
	db, err := sql.Open("sqlite", dsn(path, Options{}.withDefaults(), writing))
	if err != nil {
		return fmt.Errorf("open sqlite %s: %w", path, err)
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	return writeBeginnings(ctx, db, store.SealFormat, cluster)
}

// writeBeginnings gives each chain that has none its seal of beginning, or that of a cluster.
func writeBeginnings(ctx context.Context, db *sql.DB, format int64, cluster string) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	err = seal.WriteBeginnings(ctx, migrating{sealReader{tx}, tx}, format, cluster)
	if err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
}

// SealHeads implements store.Seals.
func (s *Store) SealHeads(ctx context.Context, cluster string) ([]store.SealHead, error) {
	if err := s.usable(); err != nil {
		return nil, err
	}
	heads, err := sealReader{s.reads}.SealHeads(ctx, cluster)
	return heads, s.toStoreErr(err)
}

// sealReader reads chains within a transaction, or beside others.
type sealReader struct {
	q interface {
		QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	}
}

// SealHeads implements store.Seals.
func (r sealReader) SealHeads(ctx context.Context, cluster string) ([]store.SealHead, error) {
	query, args := sqlSealHeads, []any(nil)
	if cluster != "" {
		query, args = sqlOneSealHead, []any{cluster}
	}
	rows, err := r.q.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }() // its errors come through rows.Err
	var heads []store.SealHead
	for rows.Next() {
		var h store.SealHead
		if err := rows.Scan(&h.Cluster, &h.Number, &h.Hash, &h.Seq, &h.Newest, &h.Beginning); err != nil {
			return nil, err
		}
		heads = append(heads, h)
	}
	return heads, rows.Err()
}

// Books implements store.Seals.
func (s *Store) Books(ctx context.Context, cluster string, count bool) ([]store.Books, error) {
	if err := s.usable(); err != nil {
		return nil, err
	}
	list, err := sealReader{s.reads}.Books(ctx, cluster, count)
	return list, s.toStoreErr(err)
}

// Books implements store.Seals.
func (r sealReader) Books(ctx context.Context, cluster string, count bool) ([]store.Books, error) {
	rows, err := r.q.QueryContext(ctx, seal.BooksQuery(count)+` WHERE ?1 IN ('', c.cluster) ORDER BY c.cluster`, cluster)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }() // its errors come through rows.Err
	var list []store.Books
	for rows.Next() {
		var b store.Books
		if err := rows.Scan(seal.BooksTargets(&b)...); err != nil {
			return nil, err
		}
		list = append(list, b)
	}
	return list, rows.Err()
}

// ListSeals implements store.Seals.
func (s *Store) ListSeals(ctx context.Context, cluster string, after int64, limit int, removals bool) ([]*store.Seal, error) {
	if err := s.usable(); err != nil {
		return nil, err
	}
	seals, err := sealReader{s.reads}.ListSeals(ctx, cluster, after, limit, removals)
	return seals, s.toStoreErr(err)
}

// ListSeals implements store.Seals.
func (r sealReader) ListSeals(ctx context.Context, cluster string, after int64, limit int, removals bool) ([]*store.Seal, error) {
	query := `SELECT ` + seal.Columns + ` FROM seals WHERE cluster = ? AND number > ?`
	if removals {
		query += ` AND kind <> 'rows'`
	}
	rows, err := r.q.QueryContext(ctx, query+` ORDER BY number LIMIT ?`, cluster, after, orAll(limit))
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }() // its errors come through rows.Err
	var seals []*store.Seal
	for size := 0; size <= store.PageBytes && rows.Next(); {
		x := &store.Seal{}
		if err := rows.Scan(seal.Targets(x)...); err != nil {
			return nil, err
		}
		size += len(x.RowHashes) + len(x.Items)
		seals = append(seals, x)
	}
	return seals, rows.Err()
}

// SealRows implements store.Seals.
func (s *Store) SealRows(ctx context.Context, table store.SealTable, format int64, cluster string, from, to int64, limit int) ([]store.SealRow, error) {
	if err := s.usable(); err != nil {
		return nil, err
	}
	rows, err := sealReader{s.reads}.SealRows(ctx, table, format, cluster, from, to, limit)
	return rows, s.toStoreErr(err)
}

// SealRows implements store.Seals.
func (r sealReader) SealRows(ctx context.Context, table store.SealTable, format int64, cluster string, from, to int64, limit int) ([]store.SealRow, error) {
	q := seal.QueryOf(table, format)
	query := sqlcommon.SQLite.Text(q.Select + q.Where())
	rows, err := r.q.QueryContext(ctx, query, cluster, orAll(limit), from, to)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }() // its errors come through rows.Err
	names, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	values, into := make([]any, len(names)), make([]any, len(names))
	for i := range values {
		into[i] = &values[i]
	}
	hashed := seal.Reader{Query: q, Format: format}
	for !hashed.Full() && rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return nil, err
		}
		hashed.Add(values)
	}
	return hashed.List, rows.Err()
}
