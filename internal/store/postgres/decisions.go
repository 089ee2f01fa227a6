package postgres

import (
	"context"
	"fmt"
	"strings"
	"time"

	"berth/internal/store"
	"berth/internal/store/lists"
)

// Decision implements store.Decisions.
func (s *Store) Decision(ctx context.Context, id string) (*store.Decision, error) {
	if err := s.usable(ctx); err != nil {
		return nil, err
	}
	var row decisionRow
	var failures, scores, victims *string
	var plugins string
	into := append(row.targets(), &failures, &scores, &victims, &row.d.Input, &plugins)
	const query = `SELECT ` + decisionColumns + `, d.failures, d.scores, d.victims, d.input, coalesce(t.plugins, '')
FROM decisions d` + withStamp + ` WHERE d.id = $1`
	if err := s.pool.QueryRow(ctx, query, id).Scan(into...); err != nil {
		return nil, s.toStoreErr(ctx, err)
	}
	d := row.decision()
	var err error
	if d.Failures, err = lists.DecodeFailures(failures); err != nil {
		return nil, fmt.Errorf("decision %s: %w", id, err)
	}
	if d.Scores, err = lists.UnpackScores(scores, plugins); err != nil {
		return nil, fmt.Errorf("decision %s: %w", id, err)
	}
	if d.Victims, err = lists.DecodeVictims(victims); err != nil {
		return nil, fmt.Errorf("decision %s: %w", id, err)
	}
	return d, nil
}

// ListDecisions implements store.Decisions.
func (s *Store) ListDecisions(ctx context.Context, f store.DecisionFilter) ([]*store.Decision, error) {
	if err := s.usable(ctx); err != nil {
		return nil, err
	}
	query, args := listSQL(f)
	return s.decisions(ctx, query, args...)
}

// FollowDecisions implements store.Decisions.
func (s *Store) FollowDecisions(ctx context.Context, cluster string, after int64, limit int) ([]*store.Decision, error) {
	if err := s.usable(ctx); err != nil {
		return nil, err
	}
	return s.decisions(ctx, sqlFollow, cluster, after, orAll(limit))
}

const sqlFollow = `SELECT ` + decisionColumns + ` FROM (SELECT * FROM decisions WHERE cluster = $1 AND seq > $2 ORDER BY seq LIMIT $3) d` + withStamp + ` ORDER BY d.seq`

func (s *Store) decisions(ctx context.Context, query string, args ...any) ([]*store.Decision, error) {
	rows, err := s.pool.Query(ctx, query, args...)
	if err != nil {
		return nil, s.toStoreErr(ctx, err)
	}
	defer rows.Close()
	var ds []*store.Decision
	for rows.Next() {
		var row decisionRow
		if err := rows.Scan(row.targets()...); err != nil {
			return nil, s.toStoreErr(ctx, err)
		}
		ds = append(ds, row.decision())
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
		q.WriteString(`SELECT ` + decisionColumns + ` FROM (SELECT * FROM decisions WHERE cluster = ` + value(f.Cluster))
	} else {
		q.WriteString(`SELECT ` + decisionColumns + ` FROM clusters c CROSS JOIN LATERAL (SELECT * FROM decisions WHERE cluster = c.cluster`)
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
	if !f.Since.IsZero() {
		q.WriteString(" AND created_at >= " + value(ceilMicro(f.Since)))
	}
	if !f.Until.IsZero() {
		q.WriteString(" AND created_at < " + value(ceilMicro(f.Until)))
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

// decisionRow is a row of decisionColumns on its way to a decision.
type decisionRow struct {
	d                         store.Decision
	uid, snapshot, pod, given []byte
}

func (r *decisionRow) targets() []any {
	d := &r.d
	return []any{
		&d.Cluster, &d.ID,
		moment{&d.CreatedAt},
		moment{&d.Now},
		&d.Revision, &d.BoundRevision, &d.Verb, &d.Outcome,
		&d.Namespace, &d.Pod, &r.uid, &d.Node, &d.NominatedNode, &d.Priority,
		&d.NodesTotal, &d.NodesFeasible, &d.Message,
		&d.Profile, &d.ProfileDigest, &d.Engine, &d.Semantics, &r.snapshot, &r.pod, &r.given, &d.DurationMicros, &d.Seq, &d.Mode, &d.StaleMillis,
	}
}

func (r *decisionRow) decision() *store.Decision {
	d := &r.d
	d.CreatedAt, d.Now = d.CreatedAt.UTC(), d.Now.UTC()
	d.PodUID, d.SnapshotDigest = lists.UnpackUID(r.uid), lists.UnpackDigest(r.snapshot)
	d.PodDigest, d.AnswerDigest = lists.UnpackDigest(r.pod), lists.UnpackDigest(r.given)
	return d
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
