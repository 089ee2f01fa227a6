package batch

import (
	"berth/internal/store"
	"berth/internal/store/lists"
	"berth/internal/store/seal"
)

// rowsOf returns what the batch adds to a cluster, to be sealed.
func (b *Batch) rowsOf(cluster string) *seal.Rows {
	r := b.added[cluster]
	if r == nil {
		r = &seal.Rows{}
		b.added[cluster] = r
	}
	return r
}

// The backend hands over the values that it writes, so that they are made once.

// SealDecision adds a decision's values to its cluster's seal.
func (b *Batch) SealDecision(d *lists.Row, values []any) error {
	return b.rowsOf(d.Cluster).Decision(values, d.Stamp)
}

// SealRevision adds a revision's values to its cluster's seal.
func (b *Batch) SealRevision(r *store.Revision, values []any) error {
	return b.rowsOf(r.Cluster).Revision(r.Number, values)
}

// SealCheckpoint adds a checkpoint's values to its cluster's seal.
func (b *Batch) SealCheckpoint(c *store.Checkpoint, values []any) error {
	return b.rowsOf(c.Cluster).Checkpoint(c.Number, values)
}

// SealGap adds a gap's values to its cluster's seal.
func (b *Batch) SealGap(g *store.Gap, values []any) error {
	return b.rowsOf(g.Cluster).Gap(g.ID, values)
}

// SealObjects adds the values of what a revision changed to its cluster's seal.
func (b *Batch) SealObjects(r *store.Revision, rows [][]any) error {
	return b.rowsOf(r.Cluster).Numbered(store.SealObjects, r.Number, rows...)
}

// SealClass adds the values of a change of a priority class to its cluster's seal.
func (b *Batch) SealClass(c *store.ClassRecord, values []any) error {
	return b.rowsOf(c.Cluster).Numbered(store.SealClasses, c.Seq, values)
}

// Seals returns the seals of what was added, by cluster, and moves the heads behind them.
func (b *Batch) Seals() ([]*store.Seal, error) {
	var seals []*store.Seal
	for _, cluster := range b.Changed() {
		h := b.Heads[cluster]
		head := store.SealHead{Cluster: cluster, Number: h.Seal, Hash: h.SealHash, Seq: h.Seq, Newest: h.Newest - h.Revisions}
		s, err := b.rowsOf(cluster).Seal(&head, h.Seq+h.Decisions, h.Newest)
		if err != nil {
			return nil, err
		}
		h.Seal, h.SealHash = head.Number, head.Hash
		seals = append(seals, s)
	}
	return seals, nil
}
