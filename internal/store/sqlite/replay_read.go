package sqlite

import (
	"context"
	"fmt"

	"berth/internal/store"
	"berth/internal/store/lists"
)

// replayTexts are read as one column: each one costs more than the text itself.
var replayTexts, replayOthers = lists.ReplayedOwn.Texts()

// sqlReplayDecisions reads the stamps' numbers only: see allStamps. A cursor that is zero stands
// before every decision. The rows come in the index's order, and only those of the window are
// looked up. A parameter that is the limit has SQLite prepare the statement again whenever it is
// bound; one in an expression does not.
var sqlReplayDecisions = `SELECT ` + replayOthers.Select() + `, ` + replayTexts.Joined() + `, coalesce(d.stamp, 0) FROM decisions d INDEXED BY decisions_by_revision
WHERE d.cluster = ?1 AND d.revision >= ?2 AND d.revision <= ?3 AND d.created_at >= ?4 AND d.created_at < ?5
  AND (d.revision, d.created_at, d.id) > (?6, ?7, ?8)
ORDER BY d.revision, d.created_at, d.id LIMIT +?9`

// ReplayDecisions implements store.Jobs.
func (s *Store) ReplayDecisions(ctx context.Context, q store.ReplayRange, after store.ReplayCursor, limit int, f func(*store.Decision) error) error {
	if err := s.usable(); err != nil {
		return err
	}
	var at int64
	if after.ID != "" {
		at = after.CreatedAt.UnixMicro()
	}
	rows, err := s.decisionsAgain.QueryContext(ctx, q.Cluster, max(q.First, after.Revision), q.Last, ceilMicro(q.Since), ceilMicro(q.Until),
		after.Revision, at, after.ID, limit)
	if err != nil {
		return s.toStoreErr(err)
	}
	defer func() { _ = rows.Close() }() // its errors come through rows.Err
	list, stamped := make([]*store.Decision, 0, limit), make([]int64, 0, limit)
	var room lists.Room[store.Decision]
	var row store.Decision
	var texts string
	var stamp int64
	targets := append(replayOthers.Targets(&row), &texts, &stamp)
	for i, into := range targets {
		if b, ok := into.(*[]byte); ok {
			targets[i] = kept{b}
		}
	}
	for size := 0; size <= store.PageBytes && rows.Next(); {
		row = store.Decision{Cluster: q.Cluster}
		if err := rows.Scan(targets...); err != nil {
			return s.toStoreErr(err)
		}
		d := room.Keep(&row)
		replayTexts.Cut(texts, d)
		list, stamped = append(list, d), append(stamped, stamp)
		size += len(d.Input)
	}
	if err := rows.Err(); err != nil {
		return s.toStoreErr(err)
	}
	// Read after the decisions, so that none is newer than its stamp.
	stamps, err := s.allStamps(ctx)
	if err != nil {
		return err
	}
	for i, d := range list {
		if t := stamps[stamped[i]]; t != nil {
			d.ProfileDigest, d.Engine, d.Semantics = t[0], t[1], t[2]
		}
		if err := f(d); err != nil {
			return err
		}
	}
	return nil
}

// kept reads bytes without a copy: the driver makes them anew for each value. Nil stands for NULL.
type kept struct{ into *[]byte }

// Scan implements sql.Scanner. A text, which berth never writes there, is read as its bytes.
func (k kept) Scan(src any) error {
	switch v := src.(type) {
	case nil:
		*k.into = nil
	case []byte:
		if *k.into = v; v == nil {
			*k.into = []byte{} // of an empty blob, which is not NULL
		}
	case string:
		*k.into = []byte(v)
	default:
		return fmt.Errorf("read bytes: the column has a %T", src)
	}
	return nil
}

// allStamps reads which profile, engine and semantics answered: a handful for any
// number of decisions, which each name one by its id.
func (s *Store) allStamps(ctx context.Context) (map[int64]*[3]string, error) {
	rows, err := s.reads.QueryContext(ctx, `SELECT id, profile_digest, engine, semantics FROM stamps`)
	if err != nil {
		return nil, s.toStoreErr(err)
	}
	defer func() { _ = rows.Close() }() // its errors come through rows.Err
	out := map[int64]*[3]string{}
	for rows.Next() {
		var id int64
		var t [3]string
		if err := rows.Scan(&id, &t[0], &t[1], &t[2]); err != nil {
			return nil, s.toStoreErr(err)
		}
		out[id] = &t
	}
	return out, s.toStoreErr(rows.Err())
}

const sqlReplayChanges = `SELECT number, digest, change FROM revisions WHERE cluster = ? AND number > ? ORDER BY number LIMIT +?`

// ReplayChanges implements store.Jobs.
func (s *Store) ReplayChanges(ctx context.Context, cluster string, after int64, limit int) ([]*store.ReplayChange, error) {
	if err := s.usable(); err != nil {
		return nil, err
	}
	rows, err := s.changesAgain.QueryContext(ctx, cluster, after, limit)
	if err != nil {
		return nil, s.toStoreErr(err)
	}
	defer func() { _ = rows.Close() }() // its errors come through rows.Err
	list := make([]*store.ReplayChange, 0, limit)
	var room lists.Room[store.ReplayChange]
	var row store.ReplayChange
	targets := []any{&row.Number, &row.Digest, kept{&row.Change}}
	for size := 0; size <= store.PageBytes && rows.Next(); {
		if err := rows.Scan(targets...); err != nil {
			return nil, s.toStoreErr(err)
		}
		list = append(list, room.Keep(&row))
		size += len(row.Change)
	}
	return list, s.toStoreErr(rows.Err())
}
