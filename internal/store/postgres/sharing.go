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

	// Locks for work and for turns are of a transaction that does nothing else,
	// so that they end with it, behind a pooler too. The schema is part of the
	// name: several berths may share a server.
	sqlTryLock = `SELECT pg_try_advisory_xact_lock(hashtext('berth lock ' || current_schema()), hashtext($1))`
	sqlTurn    = `SELECT pg_advisory_xact_lock(` + turnKey + `, hashtext($1))`
	// What takes no turn of its own waits for those of others.
	sqlAwaitTurns = `SELECT pg_advisory_xact_lock_shared(` + turnKey + `, hashtext(c)) FROM unnest($1::text[]) c`
	turnKey       = `hashtext('berth turn ' || current_schema())`

	// A holder works elsewhere while its transaction idles: let it, but not for
	// good. Others wait for a turn, so one that a frozen process has ends soon.
	sqlHold     = `SET LOCAL idle_in_transaction_session_timeout = '10min'`
	sqlHoldTurn = `SET LOCAL idle_in_transaction_session_timeout = '2s'`
)

// maxTurns is how many turns a process has at once, since each holds a
// connection.
const maxTurns = 2

// Heads implements store.Sharing.
func (s *Store) Heads(ctx context.Context) (map[string]store.Head, error) {
	ctx, done, err := s.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
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

// Turn implements store.Sharing. Appends of this process do not wait for its
// own turns.
func (s *Store) Turn(ctx context.Context, cluster string) (end func(), err error) {
	ctx, done, err := s.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	select {
	case s.turns.free <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	free := func() { <-s.turns.free }
	release, err := s.hold(ctx, sqlHoldTurn, func(conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, sqlTurn, cluster)
		return err
	})
	if err != nil {
		free()
		return nil, err
	}
	s.turns.add(cluster, 1)
	return sync.OnceFunc(func() {
		s.turns.add(cluster, -1)
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

// turns knows which clusters' turns this process has.
type turns struct {
	free chan struct{}
	mu   sync.Mutex
	have map[string]int
}

func (t *turns) add(cluster string, n int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.have[cluster] += n; t.have[cluster] == 0 {
		delete(t.have, cluster)
	}
}

// others leaves out the clusters whose turn this process has.
func (t *turns) others(clusters []string) []string {
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
