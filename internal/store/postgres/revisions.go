package postgres

import (
	"context"
	"math"
	"strings"

	"berth/internal/memory"
	"berth/internal/store"
	"berth/internal/store/lists"
)

const revisionColumns = `SELECT r.cluster, r.number, r.token, r.parent_token, r.created_at, r.digest, r.cause, r.change, r.woken, r.summary, r.asked_by, r.peer, r.request_id,
EXISTS (SELECT 1 FROM checkpoints c WHERE c.cluster = r.cluster AND c.number = r.number)
FROM revisions r WHERE r.cluster = $1`

// headColumns are revisionColumns without the change.
var headColumns = strings.Replace(revisionColumns, "r.change, r.woken,", "NULL::bytea, NULL::bytea,", 1)

// Newest implements store.Revisions.
func (s *Store) Newest(ctx context.Context, cluster string) (*store.Revision, error) {
	return s.oneRevision(ctx, headColumns+` ORDER BY r.number DESC LIMIT 1`, cluster)
}

// Revision implements store.Revisions.
func (s *Store) Revision(ctx context.Context, cluster string, number int64) (*store.Revision, error) {
	return s.oneRevision(ctx, revisionColumns+` AND r.number = $2`, cluster, number)
}

// RevisionsAfter implements store.Revisions.
func (s *Store) RevisionsAfter(ctx context.Context, cluster string, after int64, limit int) ([]*store.Revision, error) {
	return s.revisions(ctx, revisionColumns+` AND r.number > $2 ORDER BY r.number LIMIT $3`, cluster, after, orAll(limit))
}

// ListRevisions implements store.Revisions.
func (s *Store) ListRevisions(ctx context.Context, cluster string, before int64, limit int) ([]*store.Revision, error) {
	if before <= 0 {
		before = math.MaxInt64
	}
	return s.revisions(ctx, headColumns+` AND r.number < $2 ORDER BY r.number DESC LIMIT $3`, cluster, before, orAll(limit))
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
	ctx, done, err := s.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	rows, err := s.pool.Query(ctx, query, args...)
	if err != nil {
		return nil, s.toStoreErr(ctx, err)
	}
	defer rows.Close()
	var rs []*store.Revision
	for size := 0; (len(rs) < 2 || size <= store.PageBytes) && rows.Next(); {
		var r store.Revision
		var summary *string
		if err := rows.Scan(&r.Cluster, &r.Number, &r.Token, &r.ParentToken, moment{&r.CreatedAt}, &r.Digest, &r.Cause,
			&r.Change, &r.Woken, &summary, lists.TextOrNull(&r.Asked.By), lists.TextOrNull(&r.Asked.Peer), lists.TextOrNull(&r.Asked.RequestID), &r.Checkpointed); err != nil {
			return nil, s.toStoreErr(ctx, err)
		}
		if summary != nil {
			r.Summary = []byte(*summary)
		}
		if err := memory.Take(ctx, r.Footprint()); err != nil {
			return nil, err
		}
		rs = append(rs, &r)
		size += len(r.Change)
	}
	return rs, s.toStoreErr(ctx, rows.Err())
}

// orAll turns "no limit" into SQL's word for it, which is NULL.
func orAll(limit int) *int {
	if limit <= 0 {
		return nil
	}
	return &limit
}
