package postgres

import (
	"context"
	"errors"
	"slices"
	"time"

	"berth/internal/store"
	"berth/internal/store/lists"
	"berth/internal/store/sqlcommon"
)

// cursorTime is a cursor's time; one before all others for the zero cursor.
func cursorTime(c store.ReplayCursor) time.Time {
	if c.ID == "" {
		return time.Unix(0, 0)
	}
	return c.CreatedAt
}

// sqlReplayDecisions reads the stamps' numbers only: the stamps themselves are a handful.
var sqlReplayDecisions = `SELECT ` + lists.ReplayedOwn.Select() + `, d.stamp FROM decisions d
WHERE d.cluster = $1 AND d.revision >= $2 AND d.revision <= $3 AND d.created_at >= $4 AND d.created_at < $5
  AND (d.revision, d.created_at, d.id) > ($6, $7, $8)
ORDER BY d.revision, d.created_at, d.id LIMIT $9`

// ReplayDecisions implements store.Jobs.
func (s *Store) ReplayDecisions(ctx context.Context, q store.ReplayRange, after store.ReplayCursor, limit int, f func(*store.Decision) error) error {
	ctx, done, err := s.enter(ctx)
	if err != nil {
		return err
	}
	defer done()
	rows, err := s.pool.Query(ctx, sqlReplayDecisions, q.Cluster, max(q.First, after.Revision), q.Last, ceilMicro(q.Since), ceilMicro(q.Until),
		after.Revision, cursorTime(after), after.ID, limit)
	if err != nil {
		return s.toStoreErr(ctx, err)
	}
	list, stamped := make([]*store.Decision, 0, limit), make([]int32, 0, limit)
	var room lists.Room[store.Decision]
	row, stamp, size := store.Decision{Cluster: q.Cluster}, int32(0), 0
	targets := append(lists.ReplayedOwn.Targets(&row), &stamp)
	err = each(rows, func() error {
		if size > store.PageBytes {
			return sqlcommon.ErrEnough
		}
		if err := rows.Scan(targets...); err != nil {
			return err
		}
		list, stamped = append(list, room.Keep(&row)), append(stamped, stamp)
		size += len(row.Input)
		return nil
	})
	if err != nil && !errors.Is(err, sqlcommon.ErrEnough) {
		return s.toStoreErr(ctx, err)
	}
	stamps, err := s.stampsOf(ctx, stamped)
	if err != nil {
		return s.toStoreErr(ctx, err)
	}
	for i, d := range list {
		t := stamps[stamped[i]]
		d.ProfileDigest, d.Engine, d.Semantics = t[0], t[1], t[2]
		if err := f(d); err != nil {
			return s.toStoreErr(ctx, err)
		}
	}
	return nil
}

// stampsOf reads which profile, engine and semantics answered, by the stamps' numbers. One that is
// missing hides no decision.
func (s *Store) stampsOf(ctx context.Context, numbers []int32) (map[int32][3]string, error) {
	numbers = slices.Compact(slices.Sorted(slices.Values(numbers)))
	stamps := make(map[int32][3]string, len(numbers))
	if len(numbers) == 0 {
		return stamps, nil
	}
	rows, err := s.pool.Query(ctx, `SELECT id, profile_digest, engine, semantics FROM stamps WHERE id = ANY ($1)`, numbers)
	if err != nil {
		return nil, err
	}
	return stamps, each(rows, func() error {
		var id int32
		var t [3]string
		err := rows.Scan(&id, &t[0], &t[1], &t[2])
		stamps[id] = t
		return err
	})
}

// ReplayChanges implements store.Jobs.
func (s *Store) ReplayChanges(ctx context.Context, cluster string, after int64, limit int) ([]*store.ReplayChange, error) {
	ctx, done, err := s.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	const query = `SELECT number, digest, change FROM revisions WHERE cluster = $1 AND number > $2 ORDER BY number LIMIT $3`
	rows, err := s.pool.Query(ctx, query, cluster, after, limit)
	if err != nil {
		return nil, s.toStoreErr(ctx, err)
	}
	list, size := make([]*store.ReplayChange, 0, limit), 0
	var room lists.Room[store.ReplayChange]
	var row store.ReplayChange
	targets := []any{&row.Number, &row.Digest, &row.Change}
	err = each(rows, func() error {
		if size > store.PageBytes {
			return sqlcommon.ErrEnough
		}
		err := rows.Scan(targets...)
		list = append(list, room.Keep(&row))
		size += len(row.Change)
		return err
	})
	if errors.Is(err, sqlcommon.ErrEnough) {
		return list, nil
	}
	return list, s.toStoreErr(ctx, err)
}
