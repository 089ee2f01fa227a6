package postgres

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"berth/internal/store"
	"berth/internal/store/lists"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// copyFrom is from how many decisions on COPY is used: below, its own round trip
// costs more than it saves (BenchmarkWays).
const copyFrom = 16

// write puts the batch into the tables and commits.
func (b *batch) write(ctx context.Context, conn *pgx.Conn) error {
	for _, d := range b.decisions {
		if d.id == 0 {
			if d.id = b.stamps[d.stamp]; d.id == 0 {
				return fmt.Errorf("decision %s: its stamp has no number", d.ID)
			}
		}
	}
	p := &pgx.Batch{}
	one := func(what, query string, args ...any) {
		p.Queue(query, args...).Exec(func(ct pgconn.CommandTag) error { return expectOne(what, ct.RowsAffected()) })
	}
	if len(b.decisions) >= copyFrom {
		ct, err := conn.PgConn().CopyFrom(ctx, &copyRows{decisions: b.decisions}, sqlCopyDecisions)
		if err != nil {
			return fmt.Errorf("copy %d decisions: %w", len(b.decisions), err)
		}
		if ct.RowsAffected() != int64(len(b.decisions)) {
			return fmt.Errorf("copy %d decisions: %d rows added", len(b.decisions), ct.RowsAffected())
		}
	} else {
		for _, d := range b.decisions {
			one("write decision", sqlPutDecision, decisionValues(d)...)
		}
	}
	for _, r := range b.revisions {
		one("write revision", sqlPutRevision, r.Cluster, r.Number, r.Token, r.ParentToken,
			r.CreatedAt, r.Digest, r.Cause, r.Change, text(r.Summary))
	}
	for _, c := range b.checkpoints {
		one("write checkpoint", sqlPutCheckpoint, c.Cluster, c.Number, notNull(c.Payload))
	}
	slices.SortFunc(b.added, func(x, y *store.Profile) int { return strings.Compare(x.Digest, y.Digest) })
	for _, pr := range b.added {
		p.Queue(sqlPutProfile, pr.Digest, pr.Name, notNull(pr.Payload))
	}
	for _, g := range b.gaps {
		p.Queue(sqlPutGap, gapValues(g)...)
	}
	for _, cluster := range slices.Sorted(maps.Keys(b.heads)) {
		switch h := b.heads[cluster]; {
		case h.revisions != 0 || h.decisions != 0:
			one("write head of "+cluster, sqlPutHead, cluster, h.newest, h.token, h.revisions, h.decisions)
		case h.made:
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

func decisionValues(d *stamped) []any {
	return []any{
		d.Cluster, d.ID, d.CreatedAt, d.Now, d.Revision, d.BoundRevision, d.Verb, d.Outcome,
		d.Namespace, d.Pod, lists.PackUID(d.PodUID), d.Node, d.NominatedNode, d.Priority,
		int64(d.NodesTotal), int64(d.NodesFeasible), d.Message, d.id,
		lists.PackDigest(d.SnapshotDigest), lists.PackDigest(d.PodDigest), lists.PackDigest(d.AnswerDigest), d.DurationMicros,
		text(lists.EncodeFailures(d.Failures)), text(d.scores), text(lists.EncodeVictims(d.Victims)), d.Input, d.seq, d.Mode, d.StaleMillis,
	}
}

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
