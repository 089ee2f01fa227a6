package postgres

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"berth/internal/store"
	"berth/internal/store/seal"
)

const (
	sqlStoredIDs = `SELECT id FROM decisions WHERE id = ANY ($1)`
	// Nothing is known of what was answered after the newest record that is there.
	sqlLastTimes = `SELECT c.cluster, greatest(r.created_at,
  (SELECT d.created_at FROM decisions d WHERE d.cluster = c.cluster ORDER BY d.created_at DESC LIMIT 1))
FROM clusters c LEFT JOIN LATERAL (SELECT o.created_at FROM revisions o WHERE o.cluster = c.cluster AND o.cause <> 'epoch'
  ORDER BY o.number DESC LIMIT 1) r ON true ORDER BY c.cluster`
)

// report finds what of this server's answers is missing, and writes it down.
func (x *examination) report(ctx context.Context) error {
	if x.have.epoch == x.to.Number {
		return nil
	}
	var err error
	switch {
	case !x.mem.empty():
		err = x.compare(ctx)
	case x.begins:
		err = x.unknown(ctx)
	}
	if err != nil {
		return err
	}
	if x.mem.empty() && x.to.Number == x.before.Number {
		return nil // others have told what they know
	}
	return x.write(ctx)
}

// compare finds what is remembered and not stored.
func (x *examination) compare(ctx context.Context) error {
	turns, err := x.turns(ctx)
	if err != nil {
		return err
	}
	a, err := x.stored(ctx)
	if err != nil {
		return err
	}
	x.heads, x.missing = map[string]store.SealHead{}, map[uuid.UUID]bool{}
	for _, cluster := range x.mem.clusters() {
		t := turns[cluster]
		if t != nil && t.epoch != nil {
			e := t.epoch
			x.heads[cluster] = store.SealHead{Cluster: cluster, Number: e.Number, Hash: e.Hash, Seq: e.Seq, Newest: e.Revision}
		}
		common, first, lost := x.lost(cluster, t, a)
		if !lost {
			continue
		}
		l := store.EpochLoss{Cluster: cluster, FirstRevision: first}
		if first > 0 {
			_, l.LastRevision = x.mem.last(cluster)
		}
		if err := x.name(ctx, &l, common); err != nil {
			return err
		}
		x.losses = append(x.losses, l)
	}
	return nil
}

// name finds the decisions of a loss.
func (x *examination) name(ctx context.Context, l *store.EpochLoss, common int64) error {
	m := x.mem.of[l.Cluster]
	l.Since, l.Until = m.at, x.now
	if m.seal == 0 {
		l.Since = x.now // it only followed the cluster
	}
	var behind []acknowledged
	for _, r := range x.mem.records[l.Cluster] {
		if r.seal > common {
			behind = append(behind, r)
		}
	}
	var first, last int64
	for part := range slices.Chunk(behind, 5000) {
		there, err := x.there(ctx, part)
		if err != nil {
			return err
		}
		for _, r := range part {
			if there[r.id] {
				continue
			}
			if l.IDs = append(l.IDs, r.id.String()); first == 0 {
				first = r.at
			}
			last = r.at
			x.missing[r.id] = true
		}
	}
	if l.Lost = int64(len(l.IDs)); first > 0 {
		l.Since, l.Until = time.UnixMicro(first).UTC(), time.UnixMicro(last).UTC()
	}
	if m.dropped > common || l.Lost == 0 { // more than is remembered, or no decision of this server
		l.Lost = store.UnknownLoss
	}
	return nil
}

// there returns which decisions are stored.
func (x *examination) there(ctx context.Context, list []acknowledged) (map[uuid.UUID]bool, error) {
	ids := make([]string, len(list))
	for i, r := range list {
		ids[i] = r.id.String()
	}
	rows, err := x.tx.Query(ctx, sqlStoredIDs, ids)
	if err != nil {
		return nil, err
	}
	stored, err := pgx.CollectRows(rows, pgx.RowTo[string])
	there := map[uuid.UUID]bool{}
	for _, id := range stored {
		if id, err := uuid.Parse(id); err == nil {
			there[id] = true
		}
	}
	return there, err
}

// unknown makes the losses of a server that remembers nothing: whatever was answered since the
// newest record may be missing.
func (x *examination) unknown(ctx context.Context) error {
	rows, err := x.tx.Query(ctx, sqlLastTimes)
	if err != nil {
		return err
	}
	return each(rows, func() error {
		l := store.EpochLoss{Lost: store.UnknownLoss, Until: x.now}
		var since *time.Time
		if err := rows.Scan(&l.Cluster, &since); err != nil || since == nil {
			return err
		}
		if l.Since = since.UTC(); l.Since.After(l.Until) { // the clocks differ
			l.Since = l.Until
		}
		x.losses = append(x.losses, l)
		return nil
	})
}

const sqlSealPlaces = `SELECT cluster, newest, last_seq, seals, seal_hash FROM clusters WHERE cluster = ANY ($1)
ORDER BY cluster FOR UPDATE`

// write puts the losses on record, all at once: for each a gap with its seal, and what is known of
// it; and their sum.
func (x *examination) write(ctx context.Context) error {
	names := make([]string, len(x.losses))
	for i := range x.losses {
		names[i] = x.losses[i].Cluster
	}
	if _, err := x.tx.Exec(ctx, sqlNewHeads, names); err != nil { // nothing of one may be left
		return err
	}
	rows, err := x.tx.Query(ctx, sqlSealPlaces, names)
	if err != nil {
		return err
	}
	heads := map[string]*store.SealHead{}
	err = each(rows, func() error {
		h := &store.SealHead{}
		err := rows.Scan(&h.Cluster, &h.Newest, &h.Seq, &h.Number, &h.Hash)
		heads[h.Cluster] = h
		return err
	})
	if err != nil {
		return err
	}
	p := &pgx.Batch{}
	total := &store.EpochLoss{}
	for i := range x.losses {
		l := &x.losses[i]
		if l.Lost == store.UnknownLoss || total.Lost == store.UnknownLoss {
			total.Lost = store.UnknownLoss
		} else {
			total.Lost += l.Lost
		}
		if err := x.putGap(p, x.gap(l), heads[l.Cluster]); err != nil {
			return err
		}
		if err := x.putEpoch(p, l); err != nil {
			return err
		}
	}
	if err := x.putEpoch(p, total); err != nil {
		return err
	}
	return x.tx.SendBatch(ctx, p).Close()
}

// putGap adds a gap and its seal to a batch.
func (x *examination) putGap(p *pgx.Batch, g *store.Gap, head *store.SealHead) error {
	values := gapValues(g)
	var rows seal.Rows
	if err := rows.Gap(g.ID, values); err != nil {
		return fmt.Errorf("write gap of %s: %w", g.Cluster, err)
	}
	s, err := rows.Seal(head, head.Seq, head.Newest)
	if err != nil {
		return fmt.Errorf("write gap of %s: %w", g.Cluster, err)
	}
	p.Queue(sqlPutGap, values...)
	p.Queue(sqlPutSeal, seal.Values(s)...)
	p.Queue(sqlSealHead, s.Number, s.Hash, g.Cluster)
	return nil
}

// putEpoch adds a row of chain_epochs to a batch: of a cluster's loss, or of the sum.
func (x *examination) putEpoch(p *pgx.Batch, l *store.EpochLoss) error {
	count := func(n int64, none int64) *int64 {
		if n == none {
			return nil
		}
		return &n
	}
	var since, until *time.Time
	if !l.Until.IsZero() {
		since, until = &l.Since, &l.Until
	}
	var ids *string
	if len(l.IDs) > 0 {
		js, err := json.Marshal(l.IDs)
		if err != nil {
			return err
		}
		s := string(js)
		ids = &s
	}
	p.Queue(sqlPutEpoch, x.to.Number, l.Cluster, x.g.o.Instance, x.to.System, x.to.Timeline, x.now,
		count(l.Lost, store.UnknownLoss), since, until, count(l.FirstRevision, 0), count(l.LastRevision, 0), ids)
	return nil
}
