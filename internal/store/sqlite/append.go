package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"berth/internal/store"
	"berth/internal/store/batch"
	"berth/internal/store/lists"
	"berth/internal/store/seal"
	"berth/internal/store/sqlcommon"
)

// Append implements store.Writer.
func (s *Store) Append(ctx context.Context, entries []*store.Entry) error {
	if len(entries) == 0 {
		return s.usable()
	}
	err := s.append(ctx, entries, false)
	if taken(err) || errors.Is(err, errRemembered) {
		err = s.append(ctx, entries, true)
	}
	return err
}

// append writes entries in one transaction. Unless all is to be read, ids and parents count as new:
// they are random, and one that is stored already is refused by its index. And remembered heads are
// not read: the update of a head compares it.
func (s *Store) append(ctx context.Context, entries []*store.Entry, all bool) error {
	var b *batch.Batch
	err := s.transact(ctx, func(w *writer) error {
		b = batch.New(entries, &s.stamps)
		before, err := readFacts(w, b, all)
		if err != nil {
			return fmt.Errorf("append %d entries: %w", len(entries), err)
		}
		b.Judge()
		if !all && refuses(entries) {
			return errRemembered
		}
		if err := writeBatch(ctx, w, b, before); err != nil {
			return fmt.Errorf("append %d entries: %w", len(entries), err)
		}
		w.remember(b)
		return nil
	})
	if err == nil {
		s.stamps.Put(b.Stamps)
	}
	return err
}

// readFacts reads what the judge needs, and returns the heads that are stored. There is one writer,
// so that nothing changes until the commit.
func readFacts(w *writer, b *batch.Batch, all bool) (before map[string]batch.Head, err error) {
	reads := b.Reads()
	if before, err = w.readHeads(reads.Clusters, all); err != nil {
		return nil, err
	}
	for _, cluster := range reads.Clusters {
		h := before[cluster]
		b.Heads[cluster] = &h
	}
	for i, cluster := range reads.NumberClusters {
		// Most decisions are on the head, and no revision is above it.
		switch h := b.Heads[cluster]; {
		case h.Newest > 0 && h.Newest == reads.Numbers[i]:
			b.Tokens[batch.RevisionKey{Cluster: cluster, Number: h.Newest}] = h.Token
			continue
		case h.Newest < reads.Numbers[i]:
			continue
		}
		var token string
		found, err := w.maybe(sqlToken, []any{cluster, reads.Numbers[i]}, &token)
		if err != nil {
			return nil, err
		}
		if found {
			b.Tokens[batch.RevisionKey{Cluster: cluster, Number: reads.Numbers[i]}] = token
		}
	}
	for _, g := range reads.Gaps {
		var id string
		found, err := w.maybe(sqlGap, []any{g.Cluster, g.ID}, &id)
		if err != nil {
			return nil, err
		}
		b.StoredGaps[g] = found
	}
	for _, c := range reads.Calls {
		var token string
		if _, err := w.maybe(sqlCallToken, []any{c.Caller, c.Key}, &token); err != nil {
			return nil, err
		}
		b.Calls[c] = token
	}
	for _, cluster := range reads.Classes {
		if err := w.row(sqlLastClassSeq, []any{cluster}, &b.Heads[cluster].Classes); err != nil {
			return nil, err
		}
	}
	if !all {
		return before, nil
	}
	for i, cluster := range reads.ParentClusters {
		var child int64
		found, err := w.maybe(sqlChild, []any{cluster, reads.Parents[i]}, &child)
		if err != nil {
			return nil, err
		}
		if found {
			b.Parents[batch.ParentKey{Cluster: cluster, Token: reads.Parents[i]}] = true
		}
	}
	return before, readIDs(w, b, reads.IDs)
}

// readIDs reads which decisions are stored, all in one statement.
func readIDs(w *writer, b *batch.Batch, ids []string) error {
	if len(ids) == 0 {
		return nil
	}
	list, err := json.Marshal(ids)
	if err != nil {
		return fmt.Errorf("encode ids: %w", err)
	}
	return w.each(sqlIDs, []any{string(list)}, func(rows *sql.Rows) error {
		var id, cluster string
		err := rows.Scan(&id, &cluster)
		b.Clusters[id] = cluster
		return err
	})
}

// writeBatch writes what the judge left. before has the heads that are stored.
func writeBatch(ctx context.Context, w *writer, b *batch.Batch, before map[string]batch.Head) error {
	for _, p := range b.Profiles {
		if _, err := w.exec(sqlPutProfile, p.Digest, p.Name, notNull(p.Payload)); err != nil {
			return err
		}
	}
	for _, g := range b.Gaps {
		values := gapValues(g)
		if _, err := w.exec(sqlPutGap, values...); err != nil {
			return err
		}
		if err := b.SealGap(g, values); err != nil {
			return err
		}
	}
	one := func(what, query string, args ...any) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		n, err := w.exec(query, args...)
		if err != nil {
			return err
		}
		return sqlcommon.ExpectOne(what, n)
	}
	if err := putDecisions(ctx, w, b); err != nil {
		return err
	}
	for _, r := range b.Revisions {
		values := []any{
			r.Cluster, r.Number, r.Token, r.ParentToken,
			r.CreatedAt.UnixMicro(), r.Digest, r.Cause, blob(r.Change), text(r.Summary),
			lists.OrNull(r.Asked.By), lists.OrNull(r.Asked.Peer), lists.OrNull(r.Asked.RequestID),
		}
		if err := one("write revision", sqlPutRevision, append(values, blob(r.Woken))...); err != nil {
			return err
		}
		if err := b.SealRevision(r, values); err != nil {
			return err
		}
	}
	if err := putChanges(b, one); err != nil {
		return err
	}
	for _, c := range b.Checkpoints {
		values := []any{c.Cluster, c.Number, notNull(c.Payload)}
		if err := one("write checkpoint", sqlPutCheckpoint, append(values, blob(c.Woken))...); err != nil {
			return err
		}
		if err := b.SealCheckpoint(c, values); err != nil {
			return err
		}
	}
	for _, o := range b.Origins {
		if err := one("write origin", sqlPutOrigin, sqlcommon.OriginValues(o)...); err != nil {
			return err
		}
	}
	for _, h := range b.Holds {
		if err := one("write hold", sqlcommon.SQLite.Text(sqlcommon.PutHold), inMicros(sqlcommon.HoldValues(h))...); err != nil {
			return err
		}
	}
	for _, c := range b.Marks {
		if err := one("mark the call of an entry", sqlMarkCall, sqlcommon.MarkCall(c)...); err != nil {
			return err
		}
	}
	seals, err := b.Seals()
	if err != nil {
		return err
	}
	for _, s := range seals {
		if err := one("write seal of "+s.Cluster, sqlPutSeal, seal.Values(s)...); err != nil {
			return err
		}
	}
	for _, cluster := range b.Changed() {
		if err := w.moveHead(cluster, b.Heads[cluster], before); err != nil {
			return err
		}
	}
	return nil
}

// putChanges writes what the revisions changed, and seals it.
func putChanges(b *batch.Batch, one func(what, query string, args ...any) error) error {
	for _, r := range b.Revisions {
		rows := r.ObjectValues(instant)
		if len(rows) == 0 {
			continue
		}
		for _, values := range rows {
			if err := one("write what a revision changed", sqlPutObject, values...); err != nil {
				return err
			}
		}
		if err := b.SealObjects(r, rows); err != nil {
			return err
		}
	}
	for _, c := range b.Classes {
		values := c.Values(instant)
		if err := one("write the change of a priority class", sqlPutClassLog, values...); err != nil {
			return err
		}
		if err := b.SealClass(c, values); err != nil {
			return err
		}
	}
	return nil
}

// putDecisions writes a batch's decisions, some to a statement.
func putDecisions(ctx context.Context, w *writer, b *batch.Batch) error {
	var all []any
	for some := range slices.Chunk(b.Decisions, rowsAtOnce) {
		if err := ctx.Err(); err != nil {
			return err
		}
		all = all[:0]
		for _, d := range some {
			if err := putStamp(w, b, d); err != nil {
				return err
			}
			values := decisionValues(d)
			if err := b.SealDecision(d, values); err != nil {
				return err
			}
			all = append(all, values...)
		}
		written, err := w.exec(sqlPutDecisions[len(some)], all...)
		if err != nil {
			return err
		}
		if written != int64(len(some)) {
			return fmt.Errorf("write decision %s: %d rows changed, not %d", some[0].ID, written, len(some))
		}
	}
	return nil
}

// putStamp sets the number of a row's stamp, which it writes where it is new.
func putStamp(w *writer, b *batch.Batch, d *lists.Row) error {
	if d.StampID != 0 {
		return nil
	}
	if d.StampID = b.Stamps[d.Stamp]; d.StampID != 0 {
		return nil
	}
	var columns []any
	for _, c := range d.Stamp.Columns() {
		columns = append(columns, c)
	}
	if _, err := w.exec(sqlPutStamp, columns...); err != nil {
		return err
	}
	if err := w.row(sqlStamp, columns, &d.StampID); err != nil {
		return err
	}
	b.Stamps[d.Stamp] = d.StampID
	return nil
}

func decisionValues(d *lists.Row) []any { return lists.Stored.Values(d, instant) }

func instant(t time.Time) any { return t.UnixMicro() }

// blob, text and notNull keep nil apart from empty: a nil []byte inside an any
// is not a nil any.
func blob(b []byte) any {
	if b == nil {
		return nil
	}
	return b
}

func text(b []byte) any {
	if b == nil {
		return nil
	}
	return string(b)
}

func notNull(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}
