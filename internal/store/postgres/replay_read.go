package postgres

import (
	"cmp"
	"context"
	"errors"
	"time"

	"berth/internal/memory"
	"berth/internal/store"
	"berth/internal/store/lists"
)

// PlanReplay implements store.Replays.
func (s *Store) PlanReplay(ctx context.Context, cluster string, since, until time.Time, size int64) ([]*store.ReplayPart, error) {
	ctx, done, err := s.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	const query = `SELECT revision, count(*) FROM decisions WHERE cluster = $1 AND created_at >= $2 AND created_at < $3 GROUP BY revision ORDER BY revision`
	rows, err := s.pool.Query(ctx, query, cluster, ceilMicro(since), ceilMicro(until))
	if err != nil {
		return nil, s.toStoreErr(ctx, err)
	}
	c := store.Cutter{Cluster: cluster, Size: size}
	err = each(rows, func() error {
		var revision, n int64
		if err := rows.Scan(&revision, &n); err != nil {
			return err
		}
		c.Add(revision, n)
		return nil
	})
	if err != nil {
		return nil, s.toStoreErr(ctx, err)
	}
	return c.Parts, nil
}

var sqlReplayDecisions = `SELECT ` + lists.Replayed.Select() + ` FROM decisions d` + withStamp + `
WHERE d.cluster = $1 AND d.revision >= $2 AND d.revision <= $3 AND d.created_at >= $4 AND d.created_at < $5
  AND (d.revision, d.created_at, d.id) > ($6, $7, $8)
ORDER BY d.revision, d.created_at, d.id LIMIT $9`

// ReplayDecisions implements store.Replays.
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
	size := 0
	var room lists.Room[store.Decision]
	var row store.Decision
	targets := lists.Replayed.Targets(&row)
	err = each(rows, func() error {
		if size > store.PageBytes {
			return errEnough
		}
		row = store.Decision{Cluster: q.Cluster}
		if err := rows.Scan(targets...); err != nil {
			return err
		}
		d := room.Keep(&row)
		size += len(d.Input)
		return f(d)
	})
	if errors.Is(err, errEnough) {
		return nil
	}
	return s.toStoreErr(ctx, err)
}

// ReplayDifferences implements store.Replays.
func (s *Store) ReplayDifferences(ctx context.Context, id string, after store.ReplayCursor, limit int) ([]*store.ReplayDifference, error) {
	ctx, done, err := s.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	var cluster string
	if err := s.pool.QueryRow(ctx, `SELECT cluster FROM replays WHERE id = $1`, id).Scan(&cluster); err != nil {
		return nil, s.toStoreErr(ctx, err)
	}
	const query = `SELECT revision, created_at, decision_id, payload FROM replay_differences
WHERE cluster = $1 AND replay = $2 AND (revision, created_at, decision_id) > ($3, $4, $5)
ORDER BY revision, created_at, decision_id LIMIT $6`
	rows, err := s.pool.Query(ctx, query, cluster, id, after.Revision, cursorTime(after), after.ID, limit)
	if err != nil {
		return nil, s.toStoreErr(ctx, err)
	}
	var list []*store.ReplayDifference
	err = each(rows, func() error {
		var d store.ReplayDifference
		var payload string
		err := rows.Scan(&d.Revision, &d.CreatedAt, &d.ID, &payload)
		d.CreatedAt, d.Payload = d.CreatedAt.UTC(), []byte(payload)
		list = append(list, &d)
		return cmp.Or(err, memory.Take(ctx, d.Footprint()))
	})
	return list, s.toStoreErr(ctx, err)
}

// ReplayChanges implements store.Replays.
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
	err = each(rows, func() error {
		if size > store.PageBytes {
			return errEnough
		}
		var c store.ReplayChange
		list = append(list, &c)
		err := rows.Scan(&c.Number, &c.Digest, &c.Change)
		size += len(c.Change)
		return err
	})
	if errors.Is(err, errEnough) {
		return list, nil
	}
	return list, s.toStoreErr(ctx, err)
}
