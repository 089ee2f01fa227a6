package sqlite

import (
	"context"
	"time"

	"berth/internal/store"
	"berth/internal/store/lists"
)

const (
	sqlPutToken = `INSERT INTO tokens (id, name, hash, grants, created_at, expires_at, revoked_at) VALUES (?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (id) DO UPDATE SET expires_at = excluded.expires_at, revoked_at = excluded.revoked_at`
	sqlUseToken        = `UPDATE tokens SET used_at = ?2 WHERE id = ?1 AND coalesce(used_at, 0) < ?2`
	sqlPutAccessChange = `INSERT INTO access_log (id, created_at, action, object, detail, asked_by, peer, request_id) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT DO NOTHING`
)

// microOrNull is a time as a column holds it that has NULL for none.
func microOrNull(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UnixMicro()
}

// Tokens implements store.Access.
func (s *Store) Tokens(ctx context.Context) ([]*store.Token, error) {
	if err := s.usable(); err != nil {
		return nil, err
	}
	rows, err := s.reads.QueryContext(ctx, `SELECT id, name, hash, grants, created_at, expires_at, revoked_at, used_at FROM tokens ORDER BY id`)
	if err != nil {
		return nil, s.toStoreErr(err)
	}
	defer func() { _ = rows.Close() }() // its errors come through rows.Err
	var list []*store.Token
	for rows.Next() {
		t := &store.Token{}
		if err := rows.Scan(&t.ID, &t.Name, &t.Hash, &t.Grants, lists.Instant(&t.CreatedAt), lists.InstantOrNull(&t.ExpiresAt), lists.InstantOrNull(&t.RevokedAt), lists.InstantOrNull(&t.UsedAt)); err != nil {
			return nil, s.toStoreErr(err)
		}
		list = append(list, t)
	}
	return list, s.toStoreErr(rows.Err())
}

// PutToken implements store.Access.
func (s *Store) PutToken(ctx context.Context, t *store.Token, c *store.AccessChange) error {
	if err := t.Validate(); err != nil {
		return err
	}
	if err := c.Validate(); err != nil {
		return err
	}
	return s.write(ctx, func(w *writer) error {
		if _, err := w.exec(sqlPutToken, t.ID, t.Name, t.Hash, string(t.Grants), t.CreatedAt.UnixMicro(), microOrNull(t.ExpiresAt), microOrNull(t.RevokedAt)); err != nil {
			return err
		}
		return putAccessChange(w, c)
	})
}

// UseTokens implements store.Access.
func (s *Store) UseTokens(ctx context.Context, used map[string]time.Time) error {
	return s.write(ctx, func(w *writer) error {
		for id, at := range used {
			if _, err := w.exec(sqlUseToken, id, at.UnixMicro()); err != nil {
				return err
			}
		}
		return nil
	})
}

// PutAccessChange implements store.Access.
func (s *Store) PutAccessChange(ctx context.Context, c *store.AccessChange) error {
	if err := c.Validate(); err != nil {
		return err
	}
	return s.write(ctx, func(w *writer) error { return putAccessChange(w, c) })
}

func putAccessChange(w *writer, c *store.AccessChange) error {
	_, err := w.exec(sqlPutAccessChange, c.ID, c.CreatedAt.UnixMicro(), c.Action, c.Object, string(c.Detail), lists.OrNull(c.Asked.By), lists.OrNull(c.Asked.Peer), lists.OrNull(c.Asked.RequestID))
	return err
}

// AccessChanges implements store.Access.
func (s *Store) AccessChanges(ctx context.Context, before string, limit int) ([]*store.AccessChange, error) {
	if err := s.usable(); err != nil {
		return nil, err
	}
	rows, err := s.reads.QueryContext(ctx, `SELECT id, created_at, action, object, detail, asked_by, peer, request_id FROM access_log
WHERE ?1 = '' OR id < ?1 ORDER BY id DESC LIMIT ?2`, before, orAll(limit))
	if err != nil {
		return nil, s.toStoreErr(err)
	}
	defer func() { _ = rows.Close() }() // its errors come through rows.Err
	var list []*store.AccessChange
	for rows.Next() {
		c := &store.AccessChange{}
		if err := rows.Scan(&c.ID, lists.Instant(&c.CreatedAt), &c.Action, &c.Object, &c.Detail, lists.TextOrNull(&c.Asked.By), lists.TextOrNull(&c.Asked.Peer), lists.TextOrNull(&c.Asked.RequestID)); err != nil {
			return nil, s.toStoreErr(err)
		}
		list = append(list, c)
	}
	return list, s.toStoreErr(rows.Err())
}
