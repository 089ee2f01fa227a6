package sqlcommon

import (
	"context"
	"time"

	"berth/internal/store"
)

// Logs implements store.Access, store.Gaps and store.Capacities: what is written now and then, and
// read by people.
type Logs struct {
	db DB
	d  *Dialect
}

// NewLogs returns the logs in a database.
func NewLogs(db DB, d *Dialect) Logs { return Logs{db, d} }

const (
	sqlTokens   = `SELECT id, name, hash, grants, created_at, expires_at, revoked_at, used_at FROM tokens ORDER BY id`
	sqlPutToken = `INSERT INTO tokens (id, name, hash, grants, created_at, expires_at, revoked_at) VALUES ($1, $2, $3, $4, $5, $6, $7)
ON CONFLICT (id) DO UPDATE SET expires_at = excluded.expires_at, revoked_at = excluded.revoked_at`
	sqlUseToken = `UPDATE tokens SET used_at = $2 WHERE id = $1 AND (used_at IS NULL OR used_at < $2)`

	sqlAccessChanges = `SELECT id, created_at, action, object, detail, coalesce(asked_by, ''), coalesce(peer, ''), coalesce(request_id, '')
FROM access_log WHERE $1 = '' OR id < $1 ORDER BY id DESC LIMIT $2`
	sqlPutAccessChange = `INSERT INTO access_log (id, created_at, action, object, detail, asked_by, peer, request_id)
VALUES ($1, $2, $3, $4, $5, nullif($6, ''), nullif($7, ''), nullif($8, '')) ON CONFLICT DO NOTHING`

	sqlGaps = `SELECT cluster, id, since, until, coalesce(lost, -1), cause, instance FROM decision_gaps
WHERE $1 = '' OR cluster = $1 ORDER BY until DESC, id DESC`

	sqlPutCapacity = `INSERT INTO capacities (cluster, revision, resource, measured_at, allocatable, requested, free, stranded, fragmentation, nodes, nodes_in_use, nodes_bound)
SELECT cluster, number, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12 FROM revisions WHERE cluster = $1 AND number = $2
ON CONFLICT DO NOTHING`
)

// orNull is a time as a column holds it that has NULL for none.
func orNull(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.Truncate(time.Microsecond)
}

// Tokens implements store.Access.
func (l Logs) Tokens(ctx context.Context) (list []*store.Token, err error) {
	err = l.db.Read(ctx, l.d.Text(sqlTokens), nil, func(scan func(into ...any) error) error {
		t, grants := &store.Token{}, ""
		err := scan(&t.ID, &t.Name, &t.Hash, &grants, Time{&t.CreatedAt}, Time{&t.ExpiresAt}, Time{&t.RevokedAt}, Time{&t.UsedAt})
		t.Grants = []byte(grants)
		list = append(list, t)
		return err
	})
	return list, err
}

// PutToken implements store.Access.
func (l Logs) PutToken(ctx context.Context, t *store.Token, c *store.AccessChange) error {
	if err := t.Validate(); err != nil {
		return err
	}
	if err := c.Validate(); err != nil {
		return err
	}
	return l.db.Write(ctx, func(x Tx) error {
		if _, err := x.Exec(l.d.Text(sqlPutToken), t.ID, t.Name, t.Hash, string(t.Grants), orNull(t.CreatedAt), orNull(t.ExpiresAt), orNull(t.RevokedAt)); err != nil {
			return err
		}
		if err := mark(ctx, x, l.d, "/v1/tokens/"+t.ID); err != nil {
			return err
		}
		return l.put(x, c)
	})
}

// UseTokens implements store.Access.
func (l Logs) UseTokens(ctx context.Context, used map[string]time.Time) error {
	return l.db.Write(ctx, func(x Tx) error {
		for id, at := range used {
			if _, err := x.Exec(l.d.Text(sqlUseToken), id, orNull(at)); err != nil {
				return err
			}
		}
		return nil
	})
}

// PutAccessChange implements store.Access.
func (l Logs) PutAccessChange(ctx context.Context, c *store.AccessChange) error {
	if err := c.Validate(); err != nil {
		return err
	}
	return l.db.Write(ctx, func(x Tx) error { return l.put(x, c) })
}

func (l Logs) put(x Tx, c *store.AccessChange) error {
	_, err := x.Exec(l.d.Text(sqlPutAccessChange), c.ID, orNull(c.CreatedAt), c.Action, c.Object, string(c.Detail), c.Asked.By, c.Asked.Peer, c.Asked.RequestID)
	return err
}

// AccessChanges implements store.Access.
func (l Logs) AccessChanges(ctx context.Context, before string, limit int) (list []*store.AccessChange, err error) {
	err = l.db.Read(ctx, l.d.Text(sqlAccessChanges), []any{before, most(limit)}, func(scan func(into ...any) error) error {
		c, detail := &store.AccessChange{}, ""
		err := scan(&c.ID, Time{&c.CreatedAt}, &c.Action, &c.Object, &detail, &c.Asked.By, &c.Asked.Peer, &c.Asked.RequestID)
		c.Detail = []byte(detail)
		list = append(list, c)
		return err
	})
	return list, err
}

// ListGaps implements store.Gaps.
func (l Logs) ListGaps(ctx context.Context, cluster string) (list []*store.Gap, err error) {
	err = l.db.Read(ctx, l.d.Text(sqlGaps), []any{cluster}, func(scan func(into ...any) error) error {
		g := &store.Gap{}
		list = append(list, g)
		return scan(&g.Cluster, &g.ID, Time{&g.Since}, Time{&g.Until}, &g.Lost, &g.Cause, &g.Instance)
	})
	return list, err
}

// PutCapacities implements store.Capacities.
func (l Logs) PutCapacities(ctx context.Context, rows []store.Capacity) error {
	return l.db.Write(ctx, func(x Tx) error {
		for i := range rows {
			c := &rows[i]
			if _, err := x.Exec(l.d.Text(sqlPutCapacity), c.Cluster, c.Revision, c.Resource, c.MeasuredAt, c.Allocatable, c.Requested, c.Free, c.Stranded, c.Fragmentation, c.Nodes, c.NodesInUse, c.NodesBound); err != nil {
				return err
			}
		}
		return nil
	})
}
