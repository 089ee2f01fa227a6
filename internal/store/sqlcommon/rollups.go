package sqlcommon

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"berth/internal/store"
	"berth/internal/store/lists"
	"berth/internal/store/rollup"
)

// Rollups implements store.Rollups. What is added is worked out of what was read before the
// transaction, which compares where it began: so it is short, and nothing is counted twice.
type Rollups struct {
	db DB
	d  *Dialect
}

// NewRollups returns the roll-ups in a database.
func NewRollups(db DB, d *Dialect) Rollups { return Rollups{db, d} }

// A step reads so many places of the log at most, and ends early where it would change more rows: a
// writer waits for some milliseconds.
const (
	rollupPlaces = 5000
	rollupRows   = 400
)

const (
	sqlRollupStates = `SELECT c.cluster, coalesce(r.seq, 0), c.last_seq, coalesce(r.revision, 0), c.newest,
  CASE WHEN r.seq < r.skip_to THEN r.skip_to ELSE 0 END
FROM clusters c LEFT JOIN rollups r ON r.cluster = c.cluster WHERE c.last_seq > 0 ORDER BY c.cluster`
	sqlRollup = `SELECT coalesce(r.seq, 0), c.last_seq, coalesce(r.revision, 0), coalesce(r.built, 0), coalesce(r.skip_to, 0), r.skip_before, c.newest
FROM clusters c LEFT JOIN rollups r ON r.cluster = c.cluster WHERE c.cluster = $1`
	// The row is the lock of the sums.
	sqlMoveRollup = `INSERT INTO rollups AS r (cluster, seq, revision) VALUES ($1, $2, $3)
ON CONFLICT (cluster) DO UPDATE SET seq = excluded.seq, revision = excluded.revision
WHERE r.seq = $4 AND r.revision = $5 AND r.built = $6`
	sqlAddDecisions = `INSERT INTO hourly_decisions AS h (cluster, hour, verb, outcome, purpose, namespace, stamp, decisions, bound, first_at, last_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
ON CONFLICT (cluster, hour, verb, outcome, purpose, namespace, stamp) DO UPDATE SET
  decisions = h.decisions + excluded.decisions, bound = h.bound + excluded.bound,
  first_at = CASE WHEN excluded.first_at < h.first_at THEN excluded.first_at ELSE h.first_at END,
  last_at = CASE WHEN excluded.last_at > h.last_at THEN excluded.last_at ELSE h.last_at END`
	sqlAddFailures = `INSERT INTO hourly_failures AS h (cluster, hour, namespace, plugin, code, reason_key, pool, reason, decisions, nodes, unplaced, unplaced_nodes)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
ON CONFLICT (cluster, hour, namespace, plugin, code, reason_key, pool) DO UPDATE SET
  decisions = h.decisions + excluded.decisions, nodes = h.nodes + excluded.nodes,
  unplaced = h.unplaced + excluded.unplaced, unplaced_nodes = h.unplaced_nodes + excluded.unplaced_nodes`
	sqlAddPlacements = `INSERT INTO hourly_placements AS h (cluster, hour, node, namespace, placements) VALUES ($1, $2, $3, $4, $5)
ON CONFLICT (cluster, hour, node, namespace) DO UPDATE SET placements = h.placements + excluded.placements`
	sqlAddDurations = `INSERT INTO hourly_durations AS h (cluster, hour, verb, over_micros, upto_micros, decisions, total_micros, max_micros)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
ON CONFLICT (cluster, hour, verb, upto_micros) DO UPDATE SET
  decisions = h.decisions + excluded.decisions, total_micros = h.total_micros + excluded.total_micros,
  max_micros = CASE WHEN excluded.max_micros > h.max_micros THEN excluded.max_micros ELSE h.max_micros END`
)

var sqlRollupDecisions = `SELECT d.stamp, ` + lists.RolledUp.Select() + ` FROM decisions d
WHERE d.cluster = $1 AND d.seq > $2 AND d.seq <= $3 ORDER BY d.seq LIMIT $4`

// RollupStates implements store.Rollups.
func (s Rollups) RollupStates(ctx context.Context) (list []store.RollupState, err error) {
	err = s.db.Read(ctx, s.d.Text(sqlRollupStates), nil, func(scan func(into ...any) error) error {
		var r store.RollupState
		err := scan(&r.Cluster, &r.Seq, &r.Last, &r.Revision, &r.Newest, &r.Rebuilding)
		list = append(list, r)
		return err
	})
	return list, err
}

// rollupCursor is where a step begins.
type rollupCursor struct {
	seq, last, revision, built, skipTo, newest int64
	skipBefore                                 time.Time
}

// targets are where sqlRollup's columns go.
func (c *rollupCursor) targets() []any {
	return []any{&c.seq, &c.last, &c.revision, &c.built, &c.skipTo, Time{&c.skipBefore}, &c.newest}
}

func (c *rollupCursor) skips(d *store.Decision) bool {
	return d.Seq <= c.skipTo && d.CreatedAt.Before(c.skipBefore)
}

// rollupStep is what a step adds.
type rollupStep struct {
	cluster string
	from    rollupCursor
	seq     int64 // the last place that it adds
	// revision is the last revision whose changes it adds: those up to the states that its
	// decisions know, so that changes of pods are met behind the decisions before them.
	revision int64
	sums     *rollup.Sums
	facts    [][]any                       // of pods, as lists.PutFacts takes them
	events   map[rollup.Pod][]rollup.Event // of pods, as the step found them
	waiting  int                           // how many of the events are of pods that wait
	waits    []changedWaits
}

// RollUp implements store.Rollups.
func (s Rollups) RollUp(ctx context.Context, cluster string) (done store.RollupStep, err error) {
	step := &rollupStep{cluster: cluster, sums: rollup.NewSums(), events: map[rollup.Pod][]rollup.Event{}}
	c := &step.from
	if err := one(ctx, s.db, s.d.Text(sqlRollup), []any{cluster}, c.targets()...); err != nil {
		return done, fmt.Errorf("roll up %s: %w", cluster, err)
	}
	if c.seq == c.last && c.revision >= c.newest {
		return done, nil
	}
	if err := s.readStep(ctx, step); err != nil {
		return done, fmt.Errorf("roll up %s: %w", cluster, err)
	}
	if err := s.readChanges(ctx, step); err != nil {
		return done, fmt.Errorf("roll up %s: %w", cluster, err)
	}
	if err := s.workOutWaits(ctx, step); err != nil {
		return done, fmt.Errorf("roll up %s: %w", cluster, err)
	}
	if err := s.db.Write(ctx, func(x Tx) error { return s.write(x, step) }); err != nil {
		return done, fmt.Errorf("roll up %s: %w", cluster, err)
	}
	return store.RollupStep{Records: step.seq - c.seq, More: step.seq < c.last || step.revision < c.newest}, nil
}

// readStep reads what the step adds.
func (s Rollups) readStep(ctx context.Context, step *rollupStep) error {
	c := &step.from
	if step.seq, step.revision = c.seq, c.revision; c.seq == c.last {
		step.revision = c.newest
		return nil
	}
	n := 0
	// One record after the other goes through the same targets: the sums keep none.
	d, stamp := &store.Decision{}, int64(0)
	targets := append([]any{&stamp}, lists.RolledUp.Targets(d)...)
	err := s.db.Read(ctx, s.d.Text(sqlRollupDecisions), []any{step.cluster, c.seq, c.last, int64(rollupPlaces)}, func(scan func(into ...any) error) error {
		if step.sums.Rows()+step.waiting+len(step.facts) >= rollupRows {
			n = rollupPlaces // there may be more
			return ErrEnough
		}
		*d = store.Decision{}
		if err := scan(targets...); err != nil {
			return err
		}
		n++
		step.seq = d.Seq
		step.revision = max(step.revision, min(max(d.Revision, d.BoundRevision), c.newest))
		if !c.skips(d) {
			step.add(d, stamp)
		}
		d.Cluster = step.cluster
		facts, err := lists.FactValues(d)
		if facts != nil {
			step.facts = append(step.facts, facts)
		}
		return err
	})
	if n < rollupPlaces {
		step.seq, step.revision = c.last, c.newest // what is missing at the end was deleted
	}
	return err
}

func (step *rollupStep) add(d *store.Decision, stamp int64) {
	step.sums.Add(d, stamp)
	e, ok := rollup.EventOf(d)
	if !ok {
		return
	}
	if e.Cause != "" {
		step.waiting++
	}
	pod := rollup.Pod{Namespace: d.Namespace, Name: d.Pod, UID: d.PodUID}
	step.events[pod] = append(step.events[pod], e)
	if rollup.Placed(d) && pod.UID != "" {
		step.nameless(pod, d.CreatedAt)
	}
}

// write adds the step in a transaction.
func (s Rollups) write(x Tx, step *rollupStep) error {
	c := &step.from
	n, err := x.Exec(s.d.Text(sqlMoveRollup), step.cluster, step.seq, step.revision, c.seq, c.revision, c.built)
	if err != nil {
		return err
	}
	if n == 0 {
		return fmt.Errorf("%w: another process moved the roll-ups on", store.ErrConflict)
	}
	var decisions, failures, placements, durations [][]any
	for k, v := range step.sums.Decisions {
		decisions = append(decisions, []any{step.cluster, k.Hour, k.Verb, k.Outcome, k.Purpose, k.Namespace, k.Stamp, v.Count, v.Bound, v.First, v.Last})
	}
	for k, v := range step.sums.Failures {
		failures = append(failures, []any{step.cluster, k.Hour, k.Namespace, k.Plugin, k.Code, rollup.ReasonKey(k.Reason), k.Pool, k.Reason, v.Decisions, v.Nodes, v.Unplaced, v.UnplacedNodes})
	}
	for k, v := range step.sums.Placements {
		placements = append(placements, []any{step.cluster, k.Hour, k.Node, k.Namespace, v})
	}
	for k, v := range step.sums.Durations {
		durations = append(durations, []any{step.cluster, k.Hour, k.Verb, k.Over, k.Upto, v.Count, v.Total, v.Max})
	}
	for _, add := range []struct {
		query string
		rows  [][]any
	}{{sqlAddDecisions, decisions}, {sqlAddFailures, failures}, {sqlAddPlacements, placements}, {sqlAddDurations, durations}, {lists.PutFacts, step.facts}} {
		if err := x.Many(s.d.Text(add.query), add.rows); err != nil {
			return err
		}
	}
	return s.writeWaits(x, step)
}

// names passes a list of names as one parameter, for {names} in a query.
func names(list []string) (string, error) {
	js, err := json.Marshal(slices.Compact(slices.Sorted(slices.Values(list))))
	return string(js), err
}
