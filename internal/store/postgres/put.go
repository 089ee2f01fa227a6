package postgres

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"berth/internal/store/lists"
	"berth/internal/store/seal"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// copyFrom is from how many decisions on COPY is used: below, its own round trip
// costs more than it saves (BenchmarkWays).
const copyFrom = 16

// write puts what the judge left of the batch into the tables and commits.
func (a *appending) write(ctx context.Context, conn *pgx.Conn, stored *sync.Map) error {
	for _, d := range a.Decisions {
		if d.StampID == 0 {
			if d.StampID = a.Stamps[d.Stamp]; d.StampID == 0 {
				return fmt.Errorf("decision %s: its stamp has no number", d.ID)
			}
		}
	}
	p := &pgx.Batch{}
	one := func(what, query string, args ...any) {
		p.Queue(query, args...).Exec(func(ct pgconn.CommandTag) error { return expectOne(what, ct.RowsAffected()) })
	}
	if len(a.Decisions) >= copyFrom {
		if err := copyDecisions(ctx, conn, "decisions", a.Decisions, a.SealDecision); err != nil {
			return err
		}
	} else {
		for _, d := range a.Decisions {
			values := decisionValues(d)
			one("write decision", sqlPutDecision, values...)
			if err := a.SealDecision(d, values); err != nil {
				return err
			}
		}
	}
	for _, r := range a.Revisions {
		values := []any{
			r.Cluster, r.Number, r.Token, r.ParentToken,
			r.CreatedAt, r.Digest, r.Cause, r.Change, text(r.Summary),
			lists.OrNull(r.Asked.By), lists.OrNull(r.Asked.Peer), lists.OrNull(r.Asked.RequestID),
		}
		one("write revision", sqlPutRevision, values...)
		if err := a.SealRevision(r, values); err != nil {
			return err
		}
	}
	for _, c := range a.Checkpoints {
		values := []any{c.Cluster, c.Number, notNull(c.Payload)}
		one("write checkpoint", sqlPutCheckpoint, values...)
		if err := a.SealCheckpoint(c, values); err != nil {
			return err
		}
	}
	for _, pr := range a.Profiles {
		if _, ok := stored.Load(pr.Digest); !ok {
			p.Queue(sqlPutProfile, pr.Digest, pr.Name, notNull(pr.Payload))
		}
	}
	for _, g := range a.Gaps {
		values := gapValues(g)
		p.Queue(sqlPutGap, values...)
		if err := a.SealGap(g, values); err != nil {
			return err
		}
	}
	seals, err := a.Seals()
	if err != nil {
		return err
	}
	for _, s := range seals {
		one("write seal of "+s.Cluster, sqlPutSeal, seal.Values(s)...)
	}
	for _, cluster := range a.Changed() {
		h := a.Heads[cluster]
		one("write head of "+cluster, sqlPutHead, cluster, h.Newest, h.Token, h.Revisions, h.Decisions, h.Seal, notNull(h.SealHash))
	}
	for _, cluster := range slices.Sorted(maps.Keys(a.made)) {
		if !a.Heads[cluster].Changed() {
			one("drop head of "+cluster, sqlDropHead, cluster) // nothing of it came to be stored
		}
	}
	p.Queue("commit").Exec(func(ct pgconn.CommandTag) error {
		if ct.String() != "COMMIT" {
			return fmt.Errorf("commit: the database answered %s", ct)
		}
		return nil
	})
	if err := conn.SendBatch(ctx, p).Close(); err != nil {
		return fmt.Errorf("write and commit: %w", err)
	}
	return nil
}

// copyDecisions writes rows and hands their values to seen.
func copyDecisions(ctx context.Context, conn *pgx.Conn, table string, rows []*lists.Row, seen func(*lists.Row, []any) error) error {
	n, err := conn.CopyFrom(ctx, pgx.Identifier{table}, lists.Stored.Names(), pgx.CopyFromSlice(len(rows), func(i int) ([]any, error) {
		values := decisionValues(rows[i])
		return values, seen(rows[i], values)
	}))
	if err == nil && n != int64(len(rows)) {
		err = fmt.Errorf("%d rows added", n)
	}
	if err != nil {
		return fmt.Errorf("copy %d decisions: %w", len(rows), err)
	}
	return nil
}

func decisionValues(d *lists.Row) []any {
	return d.Written(instant)
}

func instant(t time.Time) any { return t }

// text keeps nil apart from empty.
func text(b []byte) *string {
	if b == nil {
		return nil
	}
	s := string(b)
	return &s
}

func notNull(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}

func expectOne(what string, n int64) error {
	if n != 1 {
		return fmt.Errorf("%s: %d rows changed, not 1", what, n)
	}
	return nil
}
