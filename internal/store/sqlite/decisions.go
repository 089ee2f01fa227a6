package sqlite

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"berth/internal/memory"
	"berth/internal/store"
	"berth/internal/store/lists"
)

var (
	sqlListed   = `SELECT ` + lists.Listed.Select() + fromDecisions
	sqlDecision = `SELECT ` + lists.Whole.Select() + fromDecisions + ` WHERE d.id = ?`
)

// Decision implements store.Decisions.
func (s *Store) Decision(ctx context.Context, id string) (*store.Decision, error) {
	if err := s.usable(); err != nil {
		return nil, err
	}
	d := &store.Decision{}
	if err := s.reads.QueryRowContext(ctx, sqlDecision, id).Scan(lists.Whole.Targets(d)...); err != nil {
		return nil, s.toStoreErr(fmt.Errorf("decision %s: %w", id, err))
	}
	if err := memory.Take(ctx, d.Footprint()); err != nil {
		return nil, err
	}
	return d, nil
}

// ListDecisions implements store.Decisions.
func (s *Store) ListDecisions(ctx context.Context, f store.DecisionFilter) ([]*store.Decision, error) {
	if err := s.usable(); err != nil {
		return nil, err
	}
	if f.Cluster != "" {
		return s.listDecisions(ctx, f)
	}
	// Every index is led by the cluster: a list over all of them is a merge of
	// one list each.
	names, err := s.clusterNames(ctx)
	if err != nil {
		return nil, err
	}
	// Those of one cluster are counted while they are read, and then those that stay.
	var all []*store.Decision
	claim := int64(0)
	keep := func() error {
		all = firstOf(all, f.Limit)
		need := int64(0)
		for _, d := range all {
			need += d.Footprint()
		}
		more := need - claim
		claim = max(claim, need)
		return memory.Take(ctx, more)
	}
	for _, f.Cluster = range names {
		reading, end := memory.Within(ctx)
		part, err := s.listDecisions(reading, f)
		if all = append(all, part...); err == nil {
			err = keep()
		}
		end()
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}

// firstOf sorts decisions, newest first, and keeps the first limit; 0: all.
func firstOf(all []*store.Decision, limit int) []*store.Decision {
	slices.SortFunc(all, func(a, b *store.Decision) int {
		return cmp.Or(b.CreatedAt.Compare(a.CreatedAt), strings.Compare(b.ID, a.ID))
	})
	if limit > 0 && len(all) > limit {
		clear(all[limit:])
		all = all[:limit]
	}
	return all
}

func (s *Store) listDecisions(ctx context.Context, f store.DecisionFilter) ([]*store.Decision, error) {
	query, args := listSQL(f)
	return s.decisions(ctx, query, args...)
}

// FollowDecisions implements store.Decisions.
func (s *Store) FollowDecisions(ctx context.Context, cluster string, after int64, limit int) ([]*store.Decision, error) {
	if err := s.usable(); err != nil {
		return nil, err
	}
	return s.decisions(ctx, sqlListed+` WHERE d.cluster = ? AND d.seq > ? ORDER BY d.seq LIMIT ?`, cluster, after, orAll(limit))
}

func (s *Store) decisions(ctx context.Context, query string, args ...any) ([]*store.Decision, error) {
	rows, err := s.reads.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, s.toStoreErr(err)
	}
	defer func() { _ = rows.Close() }() // its errors come through rows.Err
	var ds []*store.Decision
	for rows.Next() {
		d := &store.Decision{}
		if err := rows.Scan(lists.Listed.Targets(d)...); err != nil {
			return nil, s.toStoreErr(err)
		}
		if err := memory.Take(ctx, d.Footprint()); err != nil {
			return nil, err
		}
		ds = append(ds, d)
	}
	return ds, s.toStoreErr(rows.Err())
}

// listSQL builds the list's query; only our own constants become SQL.
func listSQL(f store.DecisionFilter) (string, []any) {
	var q strings.Builder
	q.WriteString(sqlListed + ` WHERE d.cluster = ?`)
	args := []any{f.Cluster}
	and := func(condition string, values ...any) {
		q.WriteString(" AND " + condition)
		args = append(args, values...)
	}
	if f.Namespace != "" {
		and("d.namespace = ?", f.Namespace)
	}
	if f.Pod != "" {
		and("d.pod = ?", f.Pod)
	}
	if f.Node != "" {
		and("d.node = ? AND d.node <> ''", f.Node) // the second lets the partial index serve
	}
	if f.Outcome != "" {
		and("d.outcome = ?", f.Outcome)
	}
	if f.Verb != "" {
		and("d.verb = ?", f.Verb)
	}
	if f.AskedBy != "" {
		and("d.asked_by = ?", f.AskedBy)
	}
	if f.Placement != "" {
		and("d.placement = ?", f.Placement)
	}
	if !f.Since.IsZero() {
		and("d.created_at >= ?", ceilMicro(f.Since))
	}
	if !f.Until.IsZero() {
		and("d.created_at < ?", ceilMicro(f.Until))
	}
	if !f.AsOf.IsZero() {
		and("coalesce(d.asked_as_of, d.created_at) <= ?", f.AsOf.UnixMicro())
	}
	if !f.BeforeTime.IsZero() || f.BeforeID != "" {
		and("(d.created_at, d.id) < (?, ?)", f.BeforeTime.UnixMicro(), f.BeforeID)
	}
	q.WriteString(" ORDER BY d.created_at DESC, d.id DESC")
	if f.Limit > 0 {
		q.WriteString(" LIMIT ?")
		args = append(args, f.Limit)
	}
	return q.String(), args
}

func fromMicro(us int64) time.Time { return time.UnixMicro(us).UTC() }

// ceilMicro rounds a bound up: stored times are whole microseconds, so t >= x
// holds exactly where t >= ⌈x⌉ does.
func ceilMicro(t time.Time) int64 {
	us := t.UnixMicro()
	if t.Nanosecond()%1000 != 0 {
		us++
	}
	return us
}
