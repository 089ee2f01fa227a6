package sqlite

import (
	"errors"
	"fmt"
	"slices"

	"berth/internal/store"
	"berth/internal/store/batch"
)

// maxHeads bounds the heads that a writer remembers.
const maxHeads = 1000

// errRemembered is of an append that is to be tried again with heads that are read: with remembered
// ones an entry was refused, or a head is not as it was remembered, since another program changed
// the file.
var errRemembered = errors.New("a remembered head may be outdated")

// readHeads returns the heads of clusters that are stored. Unless all are to be read, remembered
// ones are not.
func (w *writer) readHeads(clusters []string, all bool) (map[string]batch.Head, error) {
	heads := make(map[string]batch.Head, len(clusters))
	for _, cluster := range clusters {
		h, found := w.heads[cluster]
		if !found || all {
			var err error
			found, err = w.maybe(sqlHead, []any{cluster}, &h.Newest, &h.Token, &h.Seq, &h.Seal, &h.SealHash)
			if err != nil {
				return nil, err
			}
		}
		if found {
			heads[cluster] = h
		}
	}
	return heads, nil
}

// moveHead writes the head of a cluster that a batch adds to.
func (w *writer) moveHead(cluster string, h *batch.Head, before map[string]batch.Head) error {
	values := []any{cluster, h.Newest, h.Token, h.Revisions, h.Decisions, h.Seal, notNull(h.SealHash)}
	query := sqlNewHead
	was, stored := before[cluster]
	if stored {
		query = sqlMoveHead
		values = append(values, was.Newest, was.Token, was.Seq, was.Seal, notNull(was.SealHash))
	}
	n, err := w.exec(query, values...)
	if err == nil && n == 0 {
		return fmt.Errorf("write head of %s: %w", cluster, errRemembered)
	}
	return err
}

// remember keeps the heads that a batch has written, until the transaction is undone.
func (w *writer) remember(b *batch.Batch) {
	if len(w.heads)+len(b.Heads) > maxHeads {
		clear(w.heads)
	}
	for _, cluster := range b.Changed() {
		h := b.Heads[cluster]
		w.heads[cluster] = batch.Head{Newest: h.Newest, Token: h.Token, Seq: h.Seq + h.Decisions, Seal: h.Seal, SealHash: h.SealHash}
	}
}

// refuses reports whether the judge has refused an entry.
func refuses(entries []*store.Entry) bool {
	return slices.ContainsFunc(entries, func(e *store.Entry) bool { return e.Err != nil })
}
