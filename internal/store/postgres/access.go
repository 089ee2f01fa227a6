package postgres

import (
	"context"
	"time"

	"berth/internal/store"
	"berth/internal/store/lists"

	"github.com/jackc/pgx/v5"
)

const (
	sqlPutToken = `INSERT INTO tokens (id, name, hash, grants, created_at, expires_at, revoked_at) VALUES ($1, $2, $3, $4, $5, $6, $7)
ON CONFLICT (id) DO UPDATE SET expires_at = excluded.expires_at, revoked_at = excluded.revoked_at`
	sqlUseToken        = `UPDATE tokens SET used_at = $2 WHERE id = $1 AND (used_at IS NULL OR used_at < $2)`
	sqlPutAccessChange = `INSERT INTO access_log (id, created_at, action, object, detail, asked_by, peer, request_id) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
ON CONFLICT DO NOTHING`
)

// timeOrNull is a time as a column holds it that has NULL for none.
func timeOrNull(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.Truncate(time.Microsecond)
}

// Tokens implements store.Access.
func (s *Store) Tokens(ctx context.Context) ([]*store.Token, error) {
	ctx, done, err := s.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	rows, err := s.pool.Query(ctx, `SELECT id, name, hash, grants, created_at, expires_at, revoked_at, used_at FROM tokens ORDER BY id`)
	if err != nil {
		return nil, s.toStoreErr(ctx, err)
	}
	var list []*store.Token
	err = each(rows, func() error {
		t := &store.Token{}
		var grants string
		if err := rows.Scan(&t.ID, &t.Name, &t.Hash, &grants, lists.Instant(&t.CreatedAt), lists.InstantOrNull(&t.ExpiresAt), lists.InstantOrNull(&t.RevokedAt), lists.InstantOrNull(&t.UsedAt)); err != nil {
			return err
		}
		t.Grants = []byte(grants)
		list = append(list, t)
		return nil
	})
	return list, s.toStoreErr(ctx, err)
}

// PutToken implements store.Access.
func (s *Store) PutToken(ctx context.Context, t *store.Token, c *store.AccessChange) error {
	if err := t.Validate(); err != nil {
		return err
	}
	if err := c.Validate(); err != nil {
		return err
	}
	return s.inTx(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		if _, err := conn.Exec(ctx, sqlPutToken, t.ID, t.Name, t.Hash, string(t.Grants), timeOrNull(t.CreatedAt), timeOrNull(t.ExpiresAt), timeOrNull(t.RevokedAt)); err != nil {
			return err
		}
		return putAccessChange(ctx, conn, c)
	})
}

// UseTokens implements store.Access.
func (s *Store) UseTokens(ctx context.Context, used map[string]time.Time) error {
	return s.inTx(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		for id, at := range used {
			if _, err := conn.Exec(ctx, sqlUseToken, id, timeOrNull(at)); err != nil {
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
	return s.inTx(ctx, func(ctx context.Context, conn *pgx.Conn) error { return putAccessChange(ctx, conn, c) })
}

func putAccessChange(ctx context.Context, conn *pgx.Conn, c *store.AccessChange) error {
	_, err := conn.Exec(ctx, sqlPutAccessChange, c.ID, timeOrNull(c.CreatedAt), c.Action, c.Object, string(c.Detail), lists.OrNull(c.Asked.By), lists.OrNull(c.Asked.Peer), lists.OrNull(c.Asked.RequestID))
	return err
}

// AccessChanges implements store.Access.
func (s *Store) AccessChanges(ctx context.Context, before string, limit int) ([]*store.AccessChange, error) {
	ctx, done, err := s.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	rows, err := s.pool.Query(ctx, `SELECT id, created_at, action, object, detail, asked_by, peer, request_id FROM access_log
WHERE $1 = '' OR id < $1 ORDER BY id DESC LIMIT $2`, before, orAll(limit))
	if err != nil {
		return nil, s.toStoreErr(ctx, err)
	}
	var list []*store.AccessChange
	err = each(rows, func() error {
		c := &store.AccessChange{}
		var detail string
		if err := rows.Scan(&c.ID, lists.Instant(&c.CreatedAt), &c.Action, &c.Object, &detail, lists.TextOrNull(&c.Asked.By), lists.TextOrNull(&c.Asked.Peer), lists.TextOrNull(&c.Asked.RequestID)); err != nil {
			return err
		}
		c.Detail = []byte(detail)
		list = append(list, c)
		return nil
	})
	return list, s.toStoreErr(ctx, err)
}
