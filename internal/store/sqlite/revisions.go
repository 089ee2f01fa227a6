package sqlite

import (
	"context"
	"math"
	"strings"

	"berth/internal/memory"
	"berth/internal/store"
	"berth/internal/store/lists"
)

const revisionColumns = `SELECT r.cluster, r.number, r.token, r.parent_token, r.created_at, r.digest, r.cause, r.change, r.change IS NULL, r.woken, r.summary, r.asked_by, r.peer, r.request_id,
EXISTS (SELECT 1 FROM checkpoints c WHERE c.cluster = r.cluster AND c.number = r.number)
FROM revisions r WHERE r.cluster = ?`

// headColumns are revisionColumns without the change.
var headColumns = strings.Replace(revisionColumns, "r.change, r.change IS NULL, r.woken,", "NULL, TRUE, NULL,", 1)

// Newest implements store.Revisions.
func (s *Store) Newest(ctx context.Context, cluster string) (*store.Revision, error) {
	return s.oneRevision(ctx, headColumns+` ORDER BY r.number DESC LIMIT 1`, cluster)
}

// Revision implements store.Revisions.
func (s *Store) Revision(ctx context.Context, cluster string, number int64) (*store.Revision, error) {
	return s.oneRevision(ctx, revisionColumns+` AND r.number = ?`, cluster, number)
}

// RevisionsAfter implements store.Revisions.
func (s *Store) RevisionsAfter(ctx context.Context, cluster string, after int64, limit int) ([]*store.Revision, error) {
	return s.revisions(ctx, revisionColumns+` AND r.number > ? ORDER BY r.number LIMIT ?`, cluster, after, orAll(limit))
}

// ListRevisions implements store.Revisions.
func (s *Store) ListRevisions(ctx context.Context, cluster string, before int64, limit int) ([]*store.Revision, error) {
	if before <= 0 {
		before = math.MaxInt64
	}
	return s.revisions(ctx, headColumns+` AND r.number < ? ORDER BY r.number DESC LIMIT ?`, cluster, before, orAll(limit))
}

func (s *Store) oneRevision(ctx context.Context, query string, args ...any) (*store.Revision, error) {
	rs, err := s.revisions(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	if len(rs) == 0 {
		return nil, store.ErrNotFound
	}
	return rs[0], nil
}

func (s *Store) revisions(ctx context.Context, query string, args ...any) ([]*store.Revision, error) {
	if err := s.usable(); err != nil {
		return nil, err
	}
	rows, err := s.reads.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, s.toStoreErr(err)
	}
	defer func() { _ = rows.Close() }() // its errors come through rows.Err
	var rs []*store.Revision
	for size := 0; (len(rs) < 2 || size <= store.PageBytes) && rows.Next(); {
		var r store.Revision
		var created int64
		var whole bool
		if err := rows.Scan(&r.Cluster, &r.Number, &r.Token, &r.ParentToken, &created, &r.Digest, &r.Cause,
			&r.Change, &whole, &r.Woken, &r.Summary, lists.TextOrNull(&r.Asked.By), lists.TextOrNull(&r.Asked.Peer), lists.TextOrNull(&r.Asked.RequestID), &r.Checkpointed); err != nil {
			return nil, s.toStoreErr(err)
		}
		if !whole && r.Change == nil {
			r.Change = []byte{} // the driver reads an empty blob as nil, which means something else here
		}
		r.CreatedAt = fromMicro(created)
		if err := memory.Take(ctx, r.Footprint()); err != nil {
			return nil, err
		}
		rs = append(rs, &r)
		size += len(r.Change)
	}
	return rs, s.toStoreErr(rows.Err())
}

// orAll turns "no limit" into SQLite's word for it.
func orAll(limit int) int {
	if limit <= 0 {
		return -1
	}
	return limit
}
