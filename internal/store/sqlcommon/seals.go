package sqlcommon

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"berth/internal/store"
	"berth/internal/store/seal"
)

const (
	sqlSealPlace = `SELECT newest, last_seq, seals, seal_hash FROM clusters WHERE cluster = $1{update}`
	sqlSealHead  = `UPDATE clusters SET seals = $1, seal_hash = $2 WHERE cluster = $3`
	sqlPutSeal   = `INSERT INTO seals (` + seal.Columns + `, created_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, {now})`
)

// AddSeal writes the seal that next returns for a cluster's head, whose row it locks.
func AddSeal(t Tx, d *Dialect, cluster string, next func(*store.SealHead) (*store.Seal, error)) error {
	head := store.SealHead{Cluster: cluster}
	err := t.Row(d.Text(sqlSealPlace), []any{cluster}, &head.Newest, &head.Seq, &head.Number, &head.Hash)
	if errors.Is(err, sql.ErrNoRows) { // rows without books are older than the chains
		return nil
	}
	if err != nil {
		return err
	}
	s, err := next(&head)
	if err != nil {
		return err
	}
	if _, err := t.Exec(d.Text(sqlPutSeal), seal.Values(s)...); err != nil {
		return fmt.Errorf("write seal of %s: %w", cluster, err)
	}
	n, err := t.Exec(d.Text(sqlSealHead), head.Number, head.Hash, cluster)
	return errors.Join(err, ExpectOne("write head of "+cluster, n))
}

const (
	sqlBookNames = `SELECT cluster FROM clusters ORDER BY cluster`
	// Numbers and times of revisions grow together: up to the first that stays, all go.
	sqlObjectsStay = `SELECT coalesce((SELECT revision FROM revision_changes WHERE cluster = $1 AND created_at >= $2 ORDER BY revision, place LIMIT 1), 9223372036854775807)`
	sqlObjectsGo   = `SELECT coalesce(min(revision), 0), coalesce(max(revision), 0) FROM (
  SELECT revision FROM revision_changes WHERE cluster = $1 AND revision < $2 ORDER BY revision, place LIMIT $3) o`
	sqlRetainObjects = `DELETE FROM revision_changes WHERE cluster = $1 AND revision BETWEEN $2 AND $3`
)

// RetainObjects removes what is kept of revisions that were made before a time, up to about a chunk
// of rows in a transaction, and seals that it did.
func RetainObjects(ctx context.Context, db DB, d *Dialect, before time.Time, chunk int) error {
	var names []string
	err := db.Read(ctx, d.Text(sqlBookNames), nil, func(scan func(into ...any) error) error {
		var name string
		err := scan(&name)
		names = append(names, name)
		return err
	})
	if err != nil {
		return err
	}
	for _, cluster := range names {
		var stay int64
		if err := one(ctx, db, d.Text(sqlObjectsStay), []any{cluster, ceil(before)}, &stay); err != nil {
			return err
		}
		for more := true; more; {
			err := db.Write(ctx, func(t Tx) error {
				var run [2]int64
				if err := t.Row(d.Text(sqlObjectsGo), []any{cluster, stay, chunk}, &run[0], &run[1]); err != nil {
					return err
				}
				if more = run[1] > 0; !more {
					return nil
				}
				if _, err := t.Exec(d.Text(sqlRetainObjects), cluster, run[0], run[1]); err != nil {
					return err
				}
				removed := &store.Removed{Rows: map[store.SealTable][][2]int64{store.SealObjects: {run}}}
				return AddSeal(t, d, cluster, func(h *store.SealHead) (*store.Seal, error) { return seal.Removal(ctx, h, removed) })
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}
