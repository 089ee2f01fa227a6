package postgres

import (
	"context"
	"errors"
	"fmt"

	"berth/internal/store"
	"berth/internal/store/seal"
	"berth/internal/store/sqlcommon"

	"github.com/jackc/pgx/v5"
)

// CheckpointAt implements store.Revisions.
func (s *Store) CheckpointAt(ctx context.Context, cluster string, number int64, admit func(size int) error) (*store.Checkpoint, error) {
	ctx, done, err := s.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	c := store.Checkpoint{Cluster: cluster}
	const from = ` FROM checkpoints WHERE cluster = $1 AND number <= $2 ORDER BY number DESC LIMIT 1`
	if admit != nil {
		var size int
		if err := s.pool.QueryRow(ctx, `SELECT octet_length(payload)`+from, cluster, number).Scan(&size); err != nil {
			return nil, s.toStoreErr(ctx, err)
		}
		if err := admit(size); err != nil {
			return nil, err
		}
	}
	if err := s.pool.QueryRow(ctx, `SELECT number, payload, woken`+from, cluster, number).Scan(&c.Number, &c.Payload, &c.Woken); err != nil {
		return nil, s.toStoreErr(ctx, err)
	}
	return &c, nil
}

// PutCheckpoint implements store.Revisions.
func (s *Store) PutCheckpoint(ctx context.Context, c *store.Checkpoint) error {
	return s.locked(ctx, c.Cluster, func(ctx context.Context, conn *pgx.Conn) error {
		var token string
		if err := conn.QueryRow(ctx, sqlToken, c.Cluster, c.Number).Scan(&token); err != nil {
			return err
		}
		values := []any{c.Cluster, c.Number, notNull(c.Payload)}
		if ct, err := conn.Exec(ctx, sqlPutCheckpoint, append(values, c.Woken)...); err != nil || ct.RowsAffected() == 0 {
			return err
		}
		return addSeal(ctx, conn, c.Cluster, func(h *store.SealHead) (*store.Seal, error) {
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
	return mayDelete(s.locked(ctx, cluster, func(ctx context.Context, conn *pgx.Conn) error {
		var token string
		if err := conn.QueryRow(ctx, sqlToken, cluster, number).Scan(&token); err != nil {
			return err
		}
		var checkpointed, referred bool
		err := conn.QueryRow(ctx, sqlNextCheckpoint, cluster, number).Scan(&checkpointed)
		if errors.Is(err, pgx.ErrNoRows) {
			return fmt.Errorf("%s@%d is the newest revision: %w", cluster, number, store.ErrConflict)
		}
		if err != nil {
			return err
		}
		if err := conn.QueryRow(ctx, sqlReferred, cluster, number).Scan(&referred); err != nil {
			return err
		}
		if referred {
			return fmt.Errorf("%s@%d: %w", cluster, number, store.ErrInUse)
		}
		if !checkpointed {
			return fmt.Errorf("%s@%d: the next revision has no checkpoint of its own: %w", cluster, number, store.ErrInUse)
		}
		if err := dropOrigins(ctx, conn, cluster, number); err != nil {
			return err
		}
		ct, err := conn.Exec(ctx, sqlDropRevision, cluster, number)
		if err := errors.Join(err, sqlcommon.ExpectOne("delete revision", ct.RowsAffected())); err != nil {
			return err
		}
		ct, err = conn.Exec(ctx, sqlCountDown, cluster)
		if err := errors.Join(err, sqlcommon.ExpectOne("count revisions", ct.RowsAffected())); err != nil {
			return err
		}
		return sealRemoval(ctx, conn, cluster, &store.Removed{Revisions: [][2]int64{{number, number}}})
	}))
}

// DeleteCluster implements store.Revisions. It is one transaction, and so holds
// up other writes to the cluster while it runs; Options.WriteTimeout bounds it,
// so a cluster with millions of decisions is emptied by Retain first.
func (s *Store) DeleteCluster(ctx context.Context, cluster string) error {
	err := s.locked(ctx, cluster, func(ctx context.Context, conn *pgx.Conn) error {
		if err := dropOrigins(ctx, conn, cluster, 0); err != nil {
			return err
		}
		gone, err := s.DropClasses(ctx, commonTx{ctx, conn}, cluster)
		if err != nil {
			return err
		}
		for _, query := range []string{sqlDropReplays, sqlDropResults, sqlDropRuns, sqlDropDecisions, sqlDropRevisions, sqlDropObjects, sqlDropGaps, sqlDropEpochs, sqlDropFacts, sqlDropHolds, sqlEmptyHead} {
			ct, err := conn.Exec(ctx, query, cluster)
			if err != nil {
				return err
			}
			gone += ct.RowsAffected()
		}
		if gone == 0 {
			return fmt.Errorf("cluster %s: %w", cluster, store.ErrNotFound)
		}
		if err := s.DropRollups(commonTx{ctx, conn}, cluster); err != nil {
			return err
		}
		return sealDeletion(ctx, conn, cluster)
	})
	if err == nil && s.epochs != nil {
		s.epochs.mem.forget(cluster)
	}
	return mayDelete(err)
}

// mayDelete explains the error of a role that has no right to delete records.
func mayDelete(err error) error {
	if sqlState(err) == statePrivilege {
		return fmt.Errorf("%w: the server's role in the database may not delete records; the role that owns the tables can: %w", store.ErrConflict, err)
	}
	return err
}

// locked runs fn in a transaction that holds the cluster's lock.
func (s *Store) locked(ctx context.Context, cluster string, fn func(context.Context, *pgx.Conn) error) error {
	ctx, done, err := s.enter(ctx)
	if err != nil {
		return err
	}
	defer done()
	begin := func(ctx context.Context, conn *pgx.Conn) error {
		p := &pgx.Batch{}
		p.Queue("begin")
		p.Queue(sqlLock, []string{cluster})
		if err := conn.SendBatch(ctx, p).Close(); err != nil {
			return err
		}
		return fn(ctx, conn)
	}
	return s.transact(ctx, begin, commitTx, func() {})
}

func commitTx(ctx context.Context, conn *pgx.Conn) error {
	ct, err := conn.Exec(ctx, "commit")
	if err == nil && ct.String() != "COMMIT" {
		err = fmt.Errorf("commit: the database answered %s", ct)
	}
	return err
}

// dropOrigins removes the origins of copies of a cluster, or of one revision of it, that have
// checkpoints instead; ErrInUse where one has none. A new one waits for the cluster's lock.
func dropOrigins(ctx context.Context, conn *pgx.Conn, cluster string, number int64) error {
	var o store.Origin
	err := conn.QueryRow(ctx, sqlcommon.SQLCopy, cluster, number).Scan(&o.Cluster, &o.Number, &o.Source, &o.SourceNumber)
	switch {
	case err == nil:
		return sqlcommon.CopyNeeds(cluster, o.Cluster)
	case !errors.Is(err, pgx.ErrNoRows):
		return err
	}
	_, err = conn.Exec(ctx, sqlcommon.DropOrigins, cluster, number)
	return err
}
