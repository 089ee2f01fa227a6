//go:build linux

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"berth/test/rollupcheck"
)

// placement is a row of the view placements, tried one of attempts.
type (
	placement struct {
		Cluster, Pod, Node string
		Bound              int64
	}
	tried struct{ Cluster, Attempt, Decisions string }
)

// readTables reads the views that stand on the log.
func (b *books) readTables(ctx context.Context, conn *pgx.Conn) error {
	rows, err := conn.Query(ctx, `SELECT cluster, pod, node, bound_revision FROM placements`)
	if err != nil {
		return err
	}
	if b.placements, err = pgx.CollectRows(rows, pgx.RowToStructByPos[placement]); err != nil {
		return fmt.Errorf("read placements: %w", err)
	}
	if rows, err = conn.Query(ctx, `SELECT cluster, attempt, coalesce(decisions, '[]') FROM attempts`); err != nil {
		return err
	}
	if b.attempts, err = pgx.CollectRows(rows, pgx.RowToStructByPos[tried]); err != nil {
		return fmt.Errorf("read attempts: %w", err)
	}
	if b.holds, err = readHolds(ctx, conn); err != nil {
		return err
	}
	return conn.QueryRow(ctx, `SELECT count(*) FROM evictions`).Scan(&b.evictions)
}

// tables: each bind is one placement, each record of a cycle is in one attempt, and no pod is
// evicted, since none has a priority here.
func (c *checker) tables() {
	type place struct {
		cluster string
		bound   int64
		pod     string
	}
	rows := map[place]int{}
	for _, p := range c.kept.placements {
		rows[place{p.Cluster, p.Bound, p.Pod}]++
		if r := c.revision(p.Cluster, p.Bound); !r.bound(p.Pod, p.Node) {
			c.violate("placement of no bind", "%s on %s in %s, which says otherwise", p.Pod, p.Node, idOf(p.Cluster, p.Bound))
		}
	}
	for name, list := range c.kept.revisions {
		for _, r := range list {
			for pod := range r.binds {
				if n := rows[place{name, r.Number, pod}]; n != 1 {
					c.violate("bind and placements", "%s binds %s, and placements has %d rows of it", idOf(name, r.Number), pod, n)
				}
			}
		}
	}
	in := map[string]int{}
	for _, a := range c.kept.attempts {
		var ids []string
		if err := json.Unmarshal([]byte(a.Decisions), &ids); err != nil || !slices.Contains(ids, a.Attempt) {
			c.violate("attempt of others", "attempt %s lists %s", a.Attempt, a.Decisions)
		}
		for _, id := range ids {
			in[id]++
		}
	}
	for i := range c.kept.records {
		r := &c.kept.records[i]
		if n := in[r.ID]; r.Purpose == "live" && n != 1 || r.Purpose != "live" && n > 0 {
			c.violate("record and attempts", "decision %s (%s of %s/%s, %q) is in %d attempts", r.ID, r.Verb, r.Cluster, r.Pod, r.Purpose, n)
		}
	}
	if c.kept.evictions > 0 {
		c.violate("eviction of no preemption", "evictions has %d rows", c.kept.evictions)
	}
}

// sqlLagging are the clusters whose roll-ups are behind the log.
const sqlLagging = `SELECT c.cluster || ' at ' || coalesce(r.seq, 0) || ' of ' || c.last_seq || ', revision ' || coalesce(r.revision, 0) || ' of ' || c.newest
FROM clusters c LEFT JOIN rollups r ON r.cluster = c.cluster
WHERE c.last_seq > 0 AND (coalesce(r.seq, 0) < c.last_seq OR coalesce(r.revision, 0) < c.newest) ORDER BY 1`

// rollups waits until a server has brought the roll-ups up to the log, and compares each of them
// with the plain query that it stands for.
func (r *report) rollups(ctx context.Context, url string, patience time.Duration) {
	began := time.Now()
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		r.violate("harness", "look at the roll-ups: %v", err)
		return
	}
	defer func() { _ = conn.Close(ctx) }()
	for {
		rows, err := conn.Query(ctx, sqlLagging)
		var late []string
		if err == nil {
			late, err = pgx.CollectRows(rows, pgx.RowTo[string])
		}
		switch {
		case err != nil:
			r.violate("harness", "look at the roll-ups: %v", err)
			return
		case len(late) > 0 && time.Since(began) > patience:
			r.violate("roll-ups lag", "after %s: %s", patience, strings.Join(late, "; "))
			return
		}
		if len(late) == 0 {
			break
		}
		pause(ctx, 200*time.Millisecond)
	}
	caught, sums := time.Since(began), 0
	for _, p := range rollupcheck.Pairs() {
		kept, err := lines(ctx, conn, p.Rollup)
		plain, bad := lines(ctx, conn, p.Plain)
		if err != nil || bad != nil {
			r.violate("harness", "compare the roll-up %s: %v %v", p.Name, err, bad)
			continue
		}
		sums += len(plain)
		for line, n := range plain {
			if kept[line] != n {
				r.violate("roll-up of "+p.Name, "the log has %d times %s, and the roll-up %d times", n, line, kept[line])
			}
		}
		for line, n := range kept {
			if plain[line] == 0 {
				r.violate("roll-up of "+p.Name, "the roll-up has %d times %s, and the log has not", n, line)
			}
		}
	}
	r.say("roll-ups equal to the log", "%d rows, up to date after %s", sums, caught.Round(time.Millisecond))
}

// lines counts a query's rows, each as a line.
func lines(ctx context.Context, conn *pgx.Conn, query string) (map[string]int, error) {
	rows, err := conn.Query(ctx, query)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	found := map[string]int{}
	for rows.Next() {
		values, err := rows.Values()
		if err != nil {
			return nil, err
		}
		cells := make([]string, len(values))
		for i, v := range values {
			switch n := v.(type) { // the types of sums differ from those of what is kept
			case pgtype.Numeric:
				f, err := n.Float64Value()
				if err != nil {
					return nil, err
				}
				v = strconv.FormatFloat(f.Float64, 'f', 3, 64)
			case float64:
				v = strconv.FormatFloat(n, 'f', 3, 64)
			case int64:
				v = strconv.FormatFloat(float64(n), 'f', 3, 64)
			}
			cells[i] = fmt.Sprint(v)
		}
		found[strings.Join(cells, "|")]++
	}
	return found, rows.Err()
}
