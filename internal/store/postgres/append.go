package postgres

import (
	"context"
	"errors"
	"slices"
	"time"

	"berth/internal/store"
	"berth/internal/store/batch"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// attempts is how often a batch is tried: writing one again is a no-op where
// the first time took effect and its answer was lost.
const attempts = 3

// Append implements store.Writer. An ErrUnavailable says nothing about the
// batch, which may be handed over again.
func (s *Store) Append(ctx context.Context, entries []*store.Entry) error {
	if err := s.usable(ctx); err != nil || len(entries) == 0 {
		return err
	}
	chain := s.chainLocks.others(chains(entries))
	begin := func() *appending {
		a := &appending{
			Batch: batch.New(entries, &s.stamps), chain: chain, made: map[string]bool{}, left: map[string]end{},
			from: map[string]store.SealHead{},
		}
		return a
	}
	fresh := !slices.ContainsFunc(entries, func(e *store.Entry) bool { return (e.Decision != nil || e.Placed != nil) && !e.Fresh })
	var a *appending
	return s.transact(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		first := a == nil
		if a = begin(); first && fresh && s.ends.take(a) {
			if a.Judge(); len(a.Changed()) == len(a.Heads) {
				return nil // what was judged by is checked as it is written
			}
			a = begin()
		}
		if err := a.lockAndRead(ctx, conn); err != nil {
			return err
		}
		a.Judge()
		return nil
	}, func(limited context.Context, conn *pgx.Conn) error {
		if len(a.left) > 0 { // it waits for others only here
			stop := context.AfterFunc(ctx, func() { cancelRequest(conn.PgConn()) })
			defer func() {
				if !stop() {
					abandon(conn.PgConn()) // or the request ends what comes next
				}
			}()
		}
		if err := a.write(limited, conn, s); err != nil {
			return err
		}
		if s.epochs != nil && !s.epochs.mem.add(generationOf(conn), a, entries, time.Now()) {
			return errMoved
		}
		return nil
	}, func() {
		s.ends.put(a)
		s.stamps.Put(a.Stamps)
		for _, p := range a.Profiles {
			s.profiles.Store(p.Digest, true)
		}
	})
}

// transact runs prepare, which begins a transaction, and finish, which commits
// it, on one connection; both again where the connection was lost or another
// writer came between. ctx no longer counts once finish has begun, so that its
// end cannot leave a commit of unknown outcome.
func (s *Store) transact(ctx context.Context, prepare, finish func(context.Context, *pgx.Conn) error, done func()) error {
	var err error
	for n := range attempts {
		if n > 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err = s.attempt(ctx, prepare, finish); err == nil {
			done()
			return nil
		}
		if !worthAnother(err) {
			break
		}
	}
	return s.toStoreErr(ctx, err)
}

// worthAnother reports whether trying at once may help.
func worthAnother(err error) bool {
	var ce *pgconn.ConnectError
	if errors.Is(err, errMoved) || errors.Is(err, errOvertaken) {
		return true
	}
	switch state := sqlState(err); state {
	case stateSerialization, stateDeadlock, stateUniqueViolation:
		return true
	case "":
		// Not after a wait of ours, and not where not even a connection could be had.
		return lost(err) && !errors.As(err, &ce) && !errors.Is(err, store.ErrUnavailable) &&
			!errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, context.Canceled)
	default:
		return len(state) > 3 && state[:3] == classOperator // the server goes down, or comes up again
	}
}

func (s *Store) attempt(ctx context.Context, prepare, finish func(context.Context, *pgx.Conn) error) error {
	limited, cancel := context.WithTimeout(ctx, s.opts.WriteTimeout)
	defer cancel()
	conn, err := s.pool.Acquire(limited)
	if err != nil {
		return err
	}
	defer giveBack(conn)
	if err := prepare(limited, conn.Conn()); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	limited, cancel = context.WithTimeout(context.WithoutCancel(ctx), s.opts.WriteTimeout)
	defer cancel()
	return finish(limited, conn.Conn())
}

// giveBack undoes a transaction that is still open; the pool throws away a
// connection for which that fails.
func giveBack(conn *pgxpool.Conn) {
	if pc := conn.Conn().PgConn(); !pc.IsClosed() && pc.TxStatus() != 'I' {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		_, _ = conn.Exec(ctx, "rollback")
		cancel()
	}
	conn.Release()
}
