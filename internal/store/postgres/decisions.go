package postgres

import (
	"context"
	"fmt"
	"strings"
	"time"

	"berth/internal/memory"
	"berth/internal/store"
	"berth/internal/store/lists"
)

// Decision implements store.Decisions.
func (s *Store) Decision(ctx context.Context, id string) (*store.Decision, error) {
	ctx, done, err := s.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	d := &store.Decision{}
	if err := s.pool.QueryRow(ctx, sqlDecision, id).Scan(lists.Whole.Targets(d)...); err != nil {
		return nil, s.toStoreErr(ctx, fmt.Errorf("decision %s: %w", id, err))
	}
	if err := memory.Take(ctx, d.Footprint()); err != nil {
		return nil, err
	}
	return d, nil
}

// ListDecisions implements store.Decisions.
func (s *Store) ListDecisions(ctx context.Context, f store.DecisionFilter) ([]*store.Decision, error) {
	ctx, done, err := s.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	query, args := listSQL(f)
	return s.decisions(ctx, query, args...)
}

// FollowDecisions implements store.Decisions.
func (s *Store) FollowDecisions(ctx context.Context, cluster string, after int64, limit int) ([]*store.Decision, error) {
	ctx, done, err := s.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	return s.decisions(ctx, sqlFollow, cluster, after, orAll(limit))
}

var (
	sqlListed   = `SELECT ` + lists.Listed.Select()
	sqlDecision = `SELECT ` + lists.Whole.Select() + ` FROM decisions d` + withStamp + ` WHERE d.id = $1`
	sqlFollow   = sqlListed + ` FROM (SELECT * FROM decisions WHERE cluster = $1 AND seq > $2 ORDER BY seq LIMIT $3) d` + withStamp + ` ORDER BY d.seq`
)

func (s *Store) decisions(ctx context.Context, query string, args ...any) ([]*store.Decision, error) {
	rows, err := s.pool.Query(ctx, query, args...)
	if err != nil {
		return nil, s.toStoreErr(ctx, err)
	}
	defer rows.Close()
	var ds []*store.Decision
	for rows.Next() {
		d := &store.Decision{}
		if err := rows.Scan(lists.Listed.Targets(d)...); err != nil {
			return nil, s.toStoreErr(ctx, err)
		}
		if err := memory.Take(ctx, d.Footprint()); err != nil {
			return nil, err
		}
		ds = append(ds, d)
	}
	return ds, s.toStoreErr(ctx, rows.Err())
}

// listSQL builds the list's query; only our own constants become SQL. Every
// index is led by the cluster, so a list over all clusters takes the first of
// each.
func listSQL(f store.DecisionFilter) (string, []any) {
	var q strings.Builder
	var args []any
	value := func(v any) string {
		args = append(args, v)
		return fmt.Sprint("$", len(args))
	}
	if f.Cluster != "" {
		q.WriteString(sqlListed + ` FROM (SELECT * FROM decisions WHERE cluster = ` + value(f.Cluster))
	} else {
		q.WriteString(sqlListed + ` FROM clusters c CROSS JOIN LATERAL (SELECT * FROM decisions WHERE cluster = c.cluster`)
	}
	equal := func(column, v string) {
		if v != "" {
			q.WriteString(" AND " + column + " = " + value(v))
		}
	}
	equal("namespace", f.Namespace)
	equal("pod", f.Pod)
	equal("node", f.Node)
	if f.Node != "" {
		q.WriteString(" AND node <> ''") // lets the partial index serve
	}
	equal("outcome", f.Outcome)
	equal("verb", f.Verb)
	equal("asked_by", f.AskedBy)
	equal("placement", f.Placement)
	if !f.Since.IsZero() {
		q.WriteString(" AND created_at >= " + value(ceilMicro(f.Since)))
	}
	if !f.Until.IsZero() {
		q.WriteString(" AND created_at < " + value(ceilMicro(f.Until)))
	}
	if !f.AsOf.IsZero() {
		q.WriteString(" AND coalesce(asked_as_of, created_at) <= " + value(f.AsOf.Truncate(time.Microsecond)))
	}
	if !f.BeforeTime.IsZero() || f.BeforeID != "" {
		// The first says nothing more than the second, but it is what shows the
		// planner which partitions to leave out.
		at := value(f.BeforeTime.Truncate(time.Microsecond))
		q.WriteString(" AND created_at <= " + at + " AND (created_at, id) < (" + at + ", " + value(f.BeforeID) + ")")
	}
	end := " ORDER BY created_at DESC, id DESC"
	if f.Limit > 0 {
		end += " LIMIT " + value(f.Limit)
	}
	q.WriteString(end + ") d" + withStamp + end)
	return q.String(), args
}

// ceilMicro rounds a bound up: stored times are whole microseconds, so t >= x
// holds exactly where t >= ⌈x⌉ does.
func ceilMicro(t time.Time) time.Time {
	cut := t.Truncate(time.Microsecond)
	if cut.Before(t) {
		cut = cut.Add(time.Microsecond)
	}
	return cut
}
