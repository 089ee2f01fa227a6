package postgres

import (
	"context"
	"fmt"
	"sync"

	"berth/internal/store"

	"github.com/jackc/pgx/v5"
)

const (
	sqlHeads = `SELECT c.cluster, c.newest, c.token,
coalesce((SELECT max(k.number) FROM checkpoints k WHERE k.cluster = c.cluster), 0) FROM clusters c WHERE c.newest > 0`

	// Locks for work and of chains belong to a transaction that does nothing else,
	// so that they end with it, behind a pooler too. The schema is part of the
	// name: several berths may share a server.
	sqlTryLock   = `SELECT pg_try_advisory_xact_lock(hashtext('berth lock ' || current_schema()), hashtext($1))`
	sqlLockChain = `SELECT pg_advisory_xact_lock(` + chainLockKey + `, hashtext($1))`
	// An append to a chain that this process has not locked has to lose against those that have. It
	// must not wait for them: a batch holds revisions of several chains, and two processes would
	// wait for one another.
	sqlBusyChains = `SELECT c FROM unnest($1::text[]) c WHERE NOT pg_try_advisory_xact_lock_shared(` + chainLockKey + `, hashtext(c))`
	sqlLoseBusy   = `SELECT set_config('berth.busy', 'yes', true) FROM (` + sqlBusyChains + `) b`
	// The text is what older replicas lock, too.
	chainLockKey = `hashtext('berth turn ' || current_schema())`

	// A holder works elsewhere while its transaction idles: let it, but not for
	// good. Others wait for a chain, so the lock of a frozen process ends soon.
	sqlHold      = `SET LOCAL idle_in_transaction_session_timeout = '10min'`
	sqlHoldChain = `SET LOCAL idle_in_transaction_session_timeout = '2s'`
)

// maxChainLocks is how many chains a process locks at once, since each lock holds a
// connection.
const maxChainLocks = 2

// Heads implements store.Sharing.
func (s *Store) Heads(ctx context.Context) (map[string]store.Head, error) {
	ctx, done, err := s.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	generation := s.epochs.generation()
	rows, err := s.pool.Query(ctx, sqlHeads)
	if err != nil {
		return nil, s.toStoreErr(ctx, err)
	}
	heads := map[string]store.Head{}
	err = each(rows, func() error {
		var name string
		var h store.Head
		err := rows.Scan(&name, &h.Number, &h.Token, &h.Checkpoint)
		heads[name] = h
		return err
	})
	if err != nil {
		return nil, s.toStoreErr(ctx, err)
	}
	s.epochs.saw(generation, heads)
	return heads, nil
}

// TryLock implements store.Sharing.
func (s *Store) TryLock(ctx context.Context, name string) (unlock func(), ok bool, err error) {
	unlock, err = s.hold(ctx, sqlHold, func(conn *pgx.Conn) error {
		return conn.QueryRow(ctx, sqlTryLock, name).Scan(&ok)
	})
	if err == nil && !ok {
		unlock()
		unlock = nil
	}
	return unlock, ok, err
}

// LockChain implements store.Sharing. Appends of this process do not wait for its
// own locks.
func (s *Store) LockChain(ctx context.Context, cluster string) (end func(), err error) {
	outer, done, err := s.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	select {
	case s.chainLocks.free <- struct{}{}:
	case <-outer.Done():
		return nil, s.toStoreErr(outer, outer.Err())
	}
	free := func() { <-s.chainLocks.free }
	// A caller who goes away leaves the wait to its end: to cancel the statement would be an ERROR
	// in PostgreSQL's log.
	got := make(chan error, 1)
	var release func()
	go func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*s.opts.WriteTimeout)
		defer cancel()
		var err error
		release, err = s.hold(ctx, sqlHoldChain, func(conn *pgx.Conn) error {
			_, err := conn.Exec(ctx, sqlLockChain, cluster)
			return err
		})
		got <- err
	}()
	select {
	case err = <-got:
	case <-outer.Done():
		go func() {
			if <-got == nil {
				release()
			}
			free()
		}()
		return nil, s.toStoreErr(outer, outer.Err())
	}
	if err != nil {
		free()
		return nil, err
	}
	s.chainLocks.add(cluster, 1)
	return sync.OnceFunc(func() {
		s.chainLocks.add(cluster, -1)
		release()
		free()
	}), nil
}

// hold takes a lock in a transaction of its own, which release ends.
func (s *Store) hold(ctx context.Context, patience string, lock func(*pgx.Conn) error) (release func(), err error) {
	ctx, done, err := s.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	limited, cancel := context.WithTimeout(ctx, s.opts.WriteTimeout)
	defer cancel()
	conn, err := s.pool.Acquire(limited)
	if err != nil {
		return nil, s.toStoreErr(ctx, err)
	}
	p := &pgx.Batch{}
	p.Queue("begin")
	p.Queue(patience)
	if err = conn.SendBatch(limited, p).Close(); err == nil {
		err = lock(conn.Conn())
	}
	if err != nil {
		giveBack(conn)
		return nil, s.toStoreErr(ctx, fmt.Errorf("take a lock: %w", err))
	}
	return sync.OnceFunc(func() { giveBack(conn) }), nil
}

// chainLocks counts the chains that this process has locked, by cluster.
type chainLocks struct {
	free chan struct{}
	mu   sync.Mutex
	have map[string]int
}

func (t *chainLocks) add(cluster string, n int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.have[cluster] += n; t.have[cluster] == 0 {
		delete(t.have, cluster)
	}
}

// others leaves out the clusters whose chains this process has locked.
func (t *chainLocks) others(clusters []string) []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	out := make([]string, 0, len(clusters))
	for _, c := range clusters {
		if t.have[c] == 0 {
			out = append(out, c)
		}
	}
	return out
}
