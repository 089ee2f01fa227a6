package sqlite

import (
	"context"
	"sync"

	"berth/internal/store"
)

// Heads implements store.Sharing.
func (s *Store) Heads(ctx context.Context) (map[string]store.Head, error) {
	if err := s.usable(); err != nil {
		return nil, err
	}
	const query = `SELECT c.cluster, c.newest, c.token,
coalesce((SELECT max(k.number) FROM checkpoints k WHERE k.cluster = c.cluster), 0) FROM clusters c WHERE c.newest > 0`
	rows, err := s.reads.QueryContext(ctx, query)
	if err != nil {
		return nil, s.toStoreErr(err)
	}
	defer func() { _ = rows.Close() }() // its errors come through rows.Err
	heads := map[string]store.Head{}
	for rows.Next() {
		var name string
		var h store.Head
		if err := rows.Scan(&name, &h.Number, &h.Token, &h.Checkpoint); err != nil {
			return nil, s.toStoreErr(err)
		}
		heads[name] = h
	}
	return heads, s.toStoreErr(rows.Err())
}

// TryLock implements store.Sharing: no other process has the file open.
func (s *Store) TryLock(ctx context.Context, name string) (unlock func(), ok bool, err error) {
	if err := s.usable(); err != nil {
		return nil, false, err
	}
	if err := ctx.Err(); err != nil {
		return nil, false, err
	}
	if _, taken := s.locks.LoadOrStore(name, true); taken {
		return nil, false, nil
	}
	return sync.OnceFunc(func() { s.locks.Delete(name) }), true, nil
}

// LockChain implements store.Sharing: there is no other process to wait for.
func (s *Store) LockChain(ctx context.Context, _ string) (end func(), err error) {
	if err := s.usable(); err != nil {
		return nil, err
	}
	return func() {}, ctx.Err()
}
