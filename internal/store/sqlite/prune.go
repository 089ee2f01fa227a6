package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"berth/internal/store"
	"berth/internal/store/seal"
	"berth/internal/store/sqlcommon"
)

// CheckpointAt implements store.Revisions.
func (s *Store) CheckpointAt(ctx context.Context, cluster string, number int64, admit func(size int) error) (*store.Checkpoint, error) {
	if err := s.usable(); err != nil {
		return nil, err
	}
	c := store.Checkpoint{Cluster: cluster}
	const from = ` FROM checkpoints WHERE cluster = ? AND number <= ? ORDER BY number DESC LIMIT 1`
	if admit != nil {
		var size int
		if err := s.reads.QueryRowContext(ctx, `SELECT length(payload)`+from, cluster, number).Scan(&size); err != nil {
			return nil, s.toStoreErr(err)
		}
		if err := admit(size); err != nil {
			return nil, err
		}
	}
	if err := s.reads.QueryRowContext(ctx, `SELECT number, payload, woken`+from, cluster, number).Scan(&c.Number, &c.Payload, &c.Woken); err != nil {
		return nil, s.toStoreErr(err)
	}
	return &c, nil
}

// PutCheckpoint implements store.Revisions.
func (s *Store) PutCheckpoint(ctx context.Context, c *store.Checkpoint) error {
	return s.write(ctx, func(w *writer) error {
		var token string
		if err := w.row(sqlToken, []any{c.Cluster, c.Number}, &token); err != nil {
			return err
		}
		values := []any{c.Cluster, c.Number, notNull(c.Payload)}
		if n, err := w.exec(sqlPutCheckpoint, append(values, blob(c.Woken))...); err != nil || n == 0 {
			return err
		}
		return addSeal(w, c.Cluster, func(h *store.SealHead) (*store.Seal, error) {
			var rows seal.Rows
			if err := rows.Checkpoint(c.Number, values); err != nil {
				return nil, err
			}
			return rows.Seal(h, h.Seq, h.Newest)
		})
	})
}

// DeleteRevision implements store.Revisions.
func (s *Store) DeleteRevision(ctx context.Context, cluster string, number int64) error {
	return s.write(ctx, func(w *writer) error {
		var token string
		if err := w.row(sqlToken, []any{cluster, number}, &token); err != nil {
			return err
		}
		var checkpointed, referred bool
		err := w.row(sqlNextCheckpoint, []any{cluster, number}, &checkpointed)
		if errors.Is(err, sql.ErrNoRows) {
			return fmt.Errorf("%s@%d is the newest revision: %w", cluster, number, store.ErrConflict)
		}
		if err != nil {
			return err
		}
		if err := w.row(sqlReferred, []any{cluster, number}, &referred); err != nil {
			return err
		}
		if referred {
			return fmt.Errorf("%s@%d: %w", cluster, number, store.ErrInUse)
		}
		if !checkpointed {
			return fmt.Errorf("%s@%d: the next revision has no checkpoint of its own: %w", cluster, number, store.ErrInUse)
		}
		if err := dropOrigins(w, cluster, number); err != nil {
			return err
		}
		if n, err := w.exec(sqlDropRevision, cluster, number); err != nil || n != 1 {
			return errors.Join(err, sqlcommon.ExpectOne("delete revision", n))
		}
		n, err := w.exec(sqlCountDown, cluster)
		if err := errors.Join(err, sqlcommon.ExpectOne("count revisions", n)); err != nil {
			return err
		}
		return sealRemoval(ctx, w, cluster, &store.Removed{Revisions: [][2]int64{{number, number}}})
	})
}

// DeleteCluster implements store.Revisions. It is one transaction, and so
// holds up other writes while it runs: about a second for each 100,000
// decisions.
func (s *Store) DeleteCluster(ctx context.Context, cluster string) error {
	return s.write(ctx, func(w *writer) error {
		if err := dropOrigins(w, cluster, 0); err != nil {
			return err
		}
		gone, err := s.DropClasses(ctx, commonTx{w}, cluster)
		if err != nil {
			return err
		}
		for _, query := range []string{sqlDropReplays, sqlDropResults, sqlDropRuns, sqlDropDecisions, sqlDropRevisions, sqlDropObjects, sqlDropGaps, sqlDropEpochs, sqlDropFacts, sqlDropHolds, sqlEmptyHead} {
			if err := ctx.Err(); err != nil {
				return err
			}
			n, err := w.exec(query, cluster)
			if err != nil {
				return err
			}
			gone += n
		}
		if gone == 0 {
			return fmt.Errorf("cluster %s: %w", cluster, store.ErrNotFound)
		}
		if err := s.DropRollups(commonTx{w}, cluster); err != nil {
			return err
		}
		return sealDeletion(ctx, w, cluster)
	})
}

// dropOrigins removes the origins of copies of a cluster, or of one revision of it, that have
// checkpoints instead; ErrInUse where one has none.
func dropOrigins(w *writer, cluster string, number int64) error {
	var o store.Origin
	needed, err := w.maybe(sqlCopy, []any{cluster, number}, &o.Cluster, &o.Number, &o.Source, &o.SourceNumber)
	if err == nil && needed {
		err = sqlcommon.CopyNeeds(cluster, o.Cluster)
	}
	if err != nil {
		return err
	}
	_, err = w.exec(sqlDropOrigins, cluster, number)
	return err
}
