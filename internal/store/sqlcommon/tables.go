package sqlcommon

import (
	"context"
	"errors"
	"math"
	"strings"

	"berth/internal/memory"
	"berth/internal/store"
	"berth/internal/store/lists"
)

// Tables implements the part of store.Revisions that reads, store.Profiles and store.Keys.
type Tables struct {
	db DB
	d  *Dialect
}

// NewTables returns the tables of a database.
func NewTables(db DB, d *Dialect) Tables { return Tables{db, d} }

const (
	sqlClusters = `SELECT c.cluster, c.newest, c.revisions, c.decisions, r.created_at
FROM clusters c JOIN revisions r ON r.cluster = c.cluster AND r.number = c.newest
WHERE %s AND ($3 = '' OR $3 = (SELECT o.asked_by FROM revisions o WHERE o.cluster = c.cluster ORDER BY o.number LIMIT 1))
ORDER BY c.cluster LIMIT $2`
	sqlProfile   = `SELECT name, payload FROM profiles WHERE digest = $1`
	sqlPutKey    = `INSERT INTO keys (name, value) VALUES ($1, $2) ON CONFLICT DO NOTHING`
	sqlKey       = `SELECT value FROM keys WHERE name = $1`
	sqlRevisions = `SELECT r.cluster, r.number, r.token, r.parent_token, r.created_at, r.digest, r.cause,
  r.change, r.change IS NULL, r.woken, r.summary, r.asked_by, r.peer, r.request_id,
  EXISTS (SELECT 1 FROM checkpoints c WHERE c.cluster = r.cluster AND c.number = r.number)
FROM revisions r WHERE r.cluster = $1`
)

// sqlRevisionHeads is sqlRevisions without the change.
var sqlRevisionHeads = strings.Replace(sqlRevisions, "r.change, r.change IS NULL, r.woken,", "NULL, TRUE, NULL,", 1)

// Clusters implements store.Revisions.
func (s Tables) Clusters(ctx context.Context, f store.ClusterFilter) (list []store.ClusterInfo, err error) {
	which, name := `c.cluster > $1`, f.After
	if f.Name != "" {
		which, name = `c.cluster = $1`, f.Name
	}
	query := s.d.Text(strings.Replace(sqlClusters, "%s", which, 1))
	err = s.db.Read(ctx, query, []any{name, most(f.Limit), f.CreatedBy}, func(scan func(into ...any) error) error {
		var c store.ClusterInfo
		err := scan(&c.Name, &c.Newest, &c.Revisions, &c.Decisions, Time{&c.CreatedAt})
		list = append(list, c)
		return err
	})
	return list, err
}

// Newest implements store.Revisions.
func (s Tables) Newest(ctx context.Context, cluster string) (*store.Revision, error) {
	return s.revision(ctx, sqlRevisionHeads+` ORDER BY r.number DESC LIMIT 1`, cluster)
}

// Revision implements store.Revisions.
func (s Tables) Revision(ctx context.Context, cluster string, number int64) (*store.Revision, error) {
	return s.revision(ctx, sqlRevisions+` AND r.number = $2`, cluster, number)
}

// RevisionsAfter implements store.Revisions.
func (s Tables) RevisionsAfter(ctx context.Context, cluster string, after int64, limit int) ([]*store.Revision, error) {
	return s.revisions(ctx, sqlRevisions+` AND r.number > $2 ORDER BY r.number LIMIT $3`, cluster, after, most(limit))
}

// ListRevisions implements store.Revisions.
func (s Tables) ListRevisions(ctx context.Context, cluster string, before int64, limit int) ([]*store.Revision, error) {
	if before <= 0 {
		before = math.MaxInt64
	}
	return s.revisions(ctx, sqlRevisionHeads+` AND r.number < $2 ORDER BY r.number DESC LIMIT $3`, cluster, before, most(limit))
}

func (s Tables) revision(ctx context.Context, query string, args ...any) (*store.Revision, error) {
	list, err := s.revisions(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	if len(list) == 0 {
		return nil, store.ErrNotFound
	}
	return list[0], nil
}

// revisions reads a page. It has two revisions at least, however large they are.
func (s Tables) revisions(ctx context.Context, query string, args ...any) (list []*store.Revision, err error) {
	size := 0
	err = s.db.Read(ctx, s.d.Text(query), args, func(scan func(into ...any) error) error {
		if len(list) >= 2 && size > store.PageBytes {
			return ErrEnough
		}
		r := &store.Revision{}
		var whole bool
		var summary string
		if err := scan(&r.Cluster, &r.Number, &r.Token, &r.ParentToken, Time{&r.CreatedAt}, &r.Digest, &r.Cause,
			&r.Change, &whole, &r.Woken, lists.TextOrNull(&summary), lists.TextOrNull(&r.Asked.By),
			lists.TextOrNull(&r.Asked.Peer), lists.TextOrNull(&r.Asked.RequestID), &r.Checkpointed); err != nil {
			return err
		}
		if !whole && r.Change == nil {
			r.Change = []byte{} // SQLite's driver reads an empty blob as nil, which means something else here
		}
		if summary != "" { // JSON, so that an empty text stands for NULL
			r.Summary = []byte(summary)
		}
		list, size = append(list, r), size+len(r.Change)
		return memory.Take(ctx, r.Footprint())
	})
	if err != nil {
		return nil, err
	}
	return list, nil
}

// Profile implements store.Profiles.
func (s Tables) Profile(ctx context.Context, digest string) (*store.Profile, error) {
	p := &store.Profile{Digest: digest}
	return found(p, one(ctx, s.db, s.d.Text(sqlProfile), []any{digest}, &p.Name, &p.Payload))
}

// Key implements store.Keys.
func (s Tables) Key(ctx context.Context, name string, fresh []byte) (key []byte, err error) {
	err = s.db.Write(ctx, func(x Tx) error {
		if _, err := x.Exec(s.d.Text(sqlPutKey), name, fresh); err != nil {
			return err
		}
		return x.Row(s.d.Text(sqlKey), []any{name}, &key)
	})
	return key, err
}

// FailedAttempts reads the rows of store.Attempts by a query of the backend's.
func FailedAttempts(ctx context.Context, db DB, query string, args ...any) (list []store.FailedAttempts, err error) {
	err = db.Read(ctx, query, args, func(scan func(into ...any) error) error {
		var a store.FailedAttempts
		var uid []byte
		if err := scan(&a.Namespace, &a.Pod, &uid, &a.Count, Time{&a.Last}, &a.Revision, lists.TextOrNull(&a.RejectedBy)); err != nil {
			return err
		}
		a.UID = lists.UnpackUID(uid)
		list = append(list, a)
		return memory.Take(ctx, a.Footprint())
	})
	if err != nil {
		return nil, err
	}
	return list, nil
}

// ErrEnough ends a read before the last row, and is no error to who reads.
var ErrEnough = errors.New("enough rows")

// one reads the one row of a query.
func one(ctx context.Context, db DB, query string, args []any, into ...any) error {
	there := false
	err := db.Read(ctx, query, args, func(scan func(into ...any) error) error {
		there = true
		return scan(into...)
	})
	if err == nil && !there {
		err = store.ErrNotFound
	}
	return err
}

// found returns what was read, or nil with the error.
func found[T any](v *T, err error) (*T, error) {
	if err != nil {
		return nil, err
	}
	return v, nil
}
