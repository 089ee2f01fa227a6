package postgres

import (
	"bytes"
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"berth/internal/store"
	"berth/internal/store/lists"
	"berth/internal/store/seal"
)

const (
	sqlEpochHeads = `SELECT c.cluster, c.newest, c.token, c.last_seq, c.seals, c.seal_hash, coalesce(r.digest, ''), r.summary
FROM clusters c LEFT JOIN revisions r ON r.cluster = c.cluster AND r.number = c.newest ORDER BY c.cluster FOR UPDATE OF c`
	sqlEpochHead = `UPDATE clusters SET newest = $2, token = $3, revisions = revisions + $4, last_seq = $5, seals = $6, seal_hash = $7
WHERE cluster = $1`
)

// epochHead is the end of a chain that goes on in another epoch.
type epochHead struct {
	store.SealHead
	token, digest string
	summary       *string
}

// begin has every chain go on in the epoch: its numbers begin where none was given out before, and
// a seal has the epoch. All writers wait meanwhile.
func (x *examination) begin(ctx context.Context) error {
	// What is remembered of a cluster that the database does not have begins where its numbers end.
	if _, err := x.tx.Exec(ctx, sqlNewHeads, x.mem.clusters()); err != nil {
		return err
	}
	rows, err := x.tx.Query(ctx, sqlEpochHeads)
	if err != nil {
		return err
	}
	heads, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (h *epochHead, err error) {
		h = &epochHead{}
		return h, row.Scan(&h.Cluster, &h.Newest, &h.token, &h.Seq, &h.Number, &h.Hash, &h.digest, &h.summary)
	})
	if err != nil {
		return err
	}
	p := &pgx.Batch{}
	for _, h := range heads {
		if err := x.goOn(p, h); err != nil {
			return fmt.Errorf("begin epoch %d of cluster %s: %w", x.to.Number, h.Cluster, err)
		}
	}
	if err := x.tx.SendBatch(ctx, p).Close(); err != nil {
		return fmt.Errorf("begin epoch %d: %w", x.to.Number, err)
	}
	return nil
}

// goOn adds to a batch what brings a chain into the epoch.
func (x *examination) goOn(p *pgx.Batch, h *epochHead) error {
	seq, newest := x.mem.last(h.Cluster)
	first, err := store.EpochStart(max(seq, h.Seq))
	if err != nil {
		return err
	}
	var rows seal.Rows
	number, token, made := h.Newest, h.token, 0
	if h.Newest > 0 {
		if number, err = store.EpochStart(max(newest, h.Newest)); err != nil {
			return err
		}
		token, made = store.NewToken(number), 1
		values := []any{
			h.Cluster, number, token, h.token, x.now, h.digest, store.CauseEpoch, x.g.o.Change, h.summary,
			lists.OrNull(""), lists.OrNull(""), lists.OrNull(""),
		}
		if err := rows.Revision(number, values); err != nil {
			return err
		}
		p.Queue(sqlPutRevision, append(values, x.g.o.Woken)...)
	}
	if h.Number == 0 && h.Seq == 0 && h.Newest == 0 {
		var none seal.Rows // a chain has its beginning
		first, err := none.Seal(&h.SealHead, 0, 0)
		if err != nil {
			return err
		}
		p.Queue(sqlPutSeal, seal.Values(first)...)
	}
	s, err := rows.Epoch(&h.SealHead, x.to, first-1, number)
	if err != nil {
		return err
	}
	p.Queue(sqlPutSeal, seal.Values(s)...)
	p.Queue(sqlEpochHead, h.Cluster, number, token, made, s.Seq, s.Number, bytes.Clone(s.Hash))
	return nil
}
