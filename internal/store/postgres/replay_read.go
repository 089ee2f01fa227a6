package postgres

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
	"time"

	"berth/internal/memory"
	"berth/internal/store"
	"berth/internal/store/lists"

	"github.com/jackc/pgx/v5"
)

// planned are the decisions to plan with, which an index has in the order of revisions.
const planned = ` FROM decisions WHERE cluster = $1 AND revision > $2 AND revision <= $3 AND created_at >= $4 AND created_at < $5`

// PlanReplay implements store.Replays.
func (s *Store) PlanReplay(ctx context.Context, cluster string, since, until time.Time, size int64) ([]*store.ReplayPart, error) {
	ctx, done, err := s.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	row := func(query string, after, last int64, more ...any) pgx.Row {
		return s.pool.QueryRow(ctx, query, append([]any{cluster, after, last, ceilMicro(since), ceilMicro(until)}, more...)...)
	}
	parts, err := store.CutReplay(cluster, func(after int64) (last int64, err error) {
		last = math.MaxInt64
		err = row(`SELECT revision`+planned+` ORDER BY revision LIMIT 1 OFFSET $6`, after, last, size-1).Scan(&last)
		if errors.Is(err, pgx.ErrNoRows) {
			return last, nil
		}
		return last, err
	}, func(after, last int64) (first, end, n int64, err error) {
		err = row(`SELECT coalesce(min(revision), 0), coalesce(max(revision), 0), count(*)`+planned, after, last).Scan(&first, &end, &n)
		return first, end, n, err
	})
	return parts, s.toStoreErr(ctx, err)
}

// sqlReplayDecisions reads the stamps' numbers only: the stamps themselves are a handful.
var sqlReplayDecisions = `SELECT ` + lists.ReplayedOwn.Select() + `, d.stamp FROM decisions d
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
	list, stamped := make([]*store.Decision, 0, limit), make([]int32, 0, limit)
	var room lists.Room[store.Decision]
	row, stamp, size := store.Decision{Cluster: q.Cluster}, int32(0), 0
	targets := append(lists.ReplayedOwn.Targets(&row), &stamp)
	err = each(rows, func() error {
		if size > store.PageBytes {
			return errEnough
		}
		if err := rows.Scan(targets...); err != nil {
			return err
		}
		list, stamped = append(list, room.Keep(&row)), append(stamped, stamp)
		size += len(row.Input)
		return nil
	})
	if err != nil && !errors.Is(err, errEnough) {
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
	var room lists.Room[store.ReplayChange]
	var row store.ReplayChange
	targets := []any{&row.Number, &row.Digest, &row.Change}
	err = each(rows, func() error {
		if size > store.PageBytes {
			return errEnough
		}
		err := rows.Scan(targets...)
		list = append(list, room.Keep(&row))
		size += len(row.Change)
		return err
	})
	if errors.Is(err, errEnough) {
		return list, nil
	}
	return list, s.toStoreErr(ctx, err)
}
