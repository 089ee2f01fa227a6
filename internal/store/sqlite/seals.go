package sqlite

import (
	"context"
	"fmt"

	"berth/internal/store"
	"berth/internal/store/seal"
)

const (
	sqlSealPlace = `SELECT newest, last_seq, seals, seal_hash FROM clusters WHERE cluster = ?`
	sqlSealHead  = `UPDATE clusters SET seals = ?, seal_hash = ? WHERE cluster = ?`
	sqlPutSeal   = `INSERT INTO seals (` + seal.Columns + `) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
	sqlDropSeals = `DELETE FROM seals WHERE cluster = ?1 AND number < (SELECT seals FROM clusters WHERE cluster = ?1)`

	// Names that only tampering leaves without books are found by their rows.
	sqlSealHeads = `SELECT n.cluster, coalesce(c.seals, 0), coalesce(c.seal_hash, x''), coalesce(c.last_seq, 0), coalesce(c.newest, 0)
FROM (SELECT cluster FROM clusters UNION SELECT DISTINCT cluster FROM decisions UNION SELECT DISTINCT cluster FROM revisions
UNION SELECT DISTINCT cluster FROM seals) n LEFT JOIN clusters c ON c.cluster = n.cluster ORDER BY n.cluster`
	sqlOneSealHead = `SELECT cluster, seals, seal_hash, last_seq, newest FROM clusters WHERE cluster = ?`
)

// addSeal writes the seal that next returns for a cluster's head, in the writer's transaction.
func addSeal(w *writer, cluster string, next func(*store.SealHead) (*store.Seal, error)) error {
	head := store.SealHead{Cluster: cluster}
	found, err := w.maybe(sqlSealPlace, []any{cluster}, &head.Newest, &head.Seq, &head.Number, &head.Hash)
	if err != nil || !found { // rows without books are older than the chains
		return err
	}
	s, err := next(&head)
	if err != nil {
		return err
	}
	if _, err := w.exec(sqlPutSeal, seal.Values(s)...); err != nil {
		return fmt.Errorf("write seal of %s: %w", cluster, err)
	}
	n, err := w.exec(sqlSealHead, head.Number, head.Hash, cluster)
	if err != nil {
		return err
	}
	return expectOne("write head of "+cluster, n)
}

func sealRemoval(w *writer, cluster string, removed *store.Removed) error {
	return addSeal(w, cluster, func(h *store.SealHead) (*store.Seal, error) { return seal.Removal(h, removed) })
}

// sealDeletion replaces a cluster's seals by one that its deletion leaves.
func sealDeletion(w *writer, cluster string) error {
	if err := addSeal(w, cluster, seal.Deletion); err != nil {
		return err
	}
	_, err := w.exec(sqlDropSeals, cluster)
	return err
}

// SealHeads implements store.Seals.
func (s *Store) SealHeads(ctx context.Context, cluster string) ([]store.SealHead, error) {
	if err := s.usable(); err != nil {
		return nil, err
	}
	query, args := sqlSealHeads, []any(nil)
	if cluster != "" {
		query, args = sqlOneSealHead, []any{cluster}
	}
	rows, err := s.reads.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, s.toStoreErr(err)
	}
	defer func() { _ = rows.Close() }() // its errors come through rows.Err
	var heads []store.SealHead
	for rows.Next() {
		var h store.SealHead
		if err := rows.Scan(&h.Cluster, &h.Number, &h.Hash, &h.Seq, &h.Newest); err != nil {
			return nil, s.toStoreErr(err)
		}
		heads = append(heads, h)
	}
	return heads, s.toStoreErr(rows.Err())
}

// ListSeals implements store.Seals.
func (s *Store) ListSeals(ctx context.Context, cluster string, after int64, limit int, removals bool) ([]*store.Seal, error) {
	if err := s.usable(); err != nil {
		return nil, err
	}
	query := `SELECT ` + seal.Columns + ` FROM seals WHERE cluster = ? AND number > ?`
	if removals {
		query += ` AND kind <> 'rows'`
	}
	rows, err := s.reads.QueryContext(ctx, query+` ORDER BY number LIMIT ?`, cluster, after, orAll(limit))
	if err != nil {
		return nil, s.toStoreErr(err)
	}
	defer func() { _ = rows.Close() }() // its errors come through rows.Err
	var seals []*store.Seal
	for size := 0; size <= store.PageBytes && rows.Next(); {
		x := &store.Seal{}
		if err := rows.Scan(seal.Targets(x)...); err != nil {
			return nil, s.toStoreErr(err)
		}
		size += len(x.RowHashes) + len(x.Items)
		seals = append(seals, x)
	}
	return seals, s.toStoreErr(rows.Err())
}

// SealRows implements store.Seals.
func (s *Store) SealRows(ctx context.Context, table store.SealTable, format int64, cluster string, from, to int64, limit int) ([]store.SealRow, error) {
	if err := s.usable(); err != nil {
		return nil, err
	}
	q := seal.QueryOf(table)
	query, args := q.Select+` WHERE d.cluster = ?`, []any{cluster}
	if table != store.SealGaps {
		query, args = query+` AND `+q.Place+` BETWEEN ? AND ?`, append(args, from, to)
	}
	rows, err := s.reads.QueryContext(ctx, query+` ORDER BY `+q.Place+` LIMIT ?`, append(args, orAll(limit))...)
	if err != nil {
		return nil, s.toStoreErr(err)
	}
	defer func() { _ = rows.Close() }() // its errors come through rows.Err
	names, err := rows.Columns()
	if err != nil {
		return nil, s.toStoreErr(err)
	}
	values, into := make([]any, len(names)), make([]any, len(names))
	for i := range values {
		into[i] = &values[i]
	}
	var h seal.Hasher
	var out []store.SealRow
	for size := 0; size <= store.PageBytes && rows.Next(); {
		if err := rows.Scan(into...); err != nil {
			return nil, s.toStoreErr(err)
		}
		row, n := q.Row(&h, format, values)
		if table != store.SealGaps {
			size += n
		}
		out = append(out, row)
	}
	return out, s.toStoreErr(rows.Err())
}
