package seal

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"

	"berth/internal/store"
	"berth/internal/store/lists"
)

// Columns of the table seals, in the order of Values and Targets.
const Columns = "cluster, number, kind, format, after_seq, seq, after_revision, revision, previous, hash, row_hashes, items"

// Values returns what the columns of a seal hold.
func Values(s *store.Seal) []any {
	var items any
	if s.Items != nil {
		items = string(s.Items)
	}
	return []any{
		s.Cluster, s.Number, string(s.Kind), s.Format, s.AfterSeq, s.Seq, s.AfterRevision, s.Revision,
		notNil(s.Previous), s.Hash, notNil(s.RowHashes), items,
	}
}

// Targets returns where a row of the table seals goes.
func Targets(s *store.Seal) []any {
	return []any{
		&s.Cluster, &s.Number, &s.Kind, &s.Format, &s.AfterSeq, &s.Seq, &s.AfterRevision, &s.Revision,
		&s.Previous, &s.Hash, &s.RowHashes, &s.Items,
	}
}

func notNil(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}

// Hash returns the hash of a seal's content: its columns but for the hash.
func Hash(s *store.Seal) []byte { return new(Hasher).seal(s) }

func (h *Hasher) seal(s *store.Seal) []byte {
	h.begin("seal")
	h.text(s.Cluster)
	h.number(s.Number)
	h.text(string(s.Kind))
	for _, n := range [...]int64{s.Format, s.AfterSeq, s.Seq, s.AfterRevision, s.Revision} {
		h.number(n)
	}
	h.blob(s.Previous)
	h.blob(s.RowHashes)
	if s.Items == nil {
		h.buf = append(h.buf, null)
	} else {
		h.text(string(s.Items))
	}
	sum := h.end()
	return sum[:]
}

// finish sets a seal's place behind a head, and moves the head.
func finish(h *Hasher, s *store.Seal, items *store.SealItems, head *store.SealHead) (err error) {
	if items.Revisions != nil || items.Checkpoints != nil || items.Gaps != nil || items.Removed != nil || items.Before != nil || items.Epoch != nil || items.Rows != nil {
		if s.Items, err = json.Marshal(items); err != nil {
			return fmt.Errorf("encode a seal: %w", err)
		}
	}
	if s.Cluster = head.Cluster; s.Format == 0 {
		s.Format = store.SealFormat
	}
	s.Number, s.Previous = head.Number+1, bytes.Clone(head.Hash)
	s.Hash = h.seal(s)
	head.Number, head.Hash, head.Seq, head.Newest = s.Number, s.Hash, s.Seq, s.Revision
	return nil
}

// Removal returns the seal of rows that are taken away, and moves the head. ctx has the reason.
func Removal(ctx context.Context, head *store.SealHead, removed *store.Removed) (*store.Seal, error) {
	removed.Explain(ctx)
	s := &store.Seal{Kind: store.SealedRemoval, AfterSeq: head.Seq, Seq: head.Seq, AfterRevision: head.Newest, Revision: head.Newest}
	return s, finish(new(Hasher), s, &store.SealItems{Removed: removed}, head)
}

// Deletion returns the seal of a cluster's deletion, and moves the head. The seals before it go;
// items has the rows that stay, and ctx the reason.
func Deletion(
	ctx context.Context, head *store.SealHead, items *store.SealItems,
) (*store.Seal, error) {
	s := &store.Seal{Kind: store.SealedDeletion, AfterSeq: head.Seq, Seq: head.Seq}
	items.Removed = &store.Removed{}
	items.Removed.Explain(ctx)
	return s, finish(new(Hasher), s, items, head)
}

// Staying returns the rows that outlive a cluster.
func Staying(ctx context.Context, from RowReader, cluster string) (*store.SealItems, error) {
	items := &store.SealItems{}
	for _, t := range Tables {
		if !t.Stays {
			continue
		}
		if err := pages(ctx, from, t.Name, store.SealFormat, cluster, 0, math.MaxInt64, func(rows []store.SealRow) error {
			for _, row := range rows {
				items.Put(t.Name, row.Place, whole(row.Hash))
			}
			return nil
		}); err != nil {
			return nil, err
		}
	}
	return items, nil
}

// RowReader is the part of store.Seals that reads rows.
type RowReader interface {
	SealRows(ctx context.Context, table store.SealTable, format int64, cluster string, from, to int64, limit int) ([]store.SealRow, error)
}

// pages calls f for the rows of a table in turn, some at a time.
func pages(ctx context.Context, r RowReader, table store.SealTable, format int64, cluster string, from, to int64, f func([]store.SealRow) error) error {
	for next := from; next <= to; {
		rows, err := r.SealRows(ctx, table, format, cluster, next, to, beforeRows)
		if err != nil || len(rows) == 0 {
			return err
		}
		if err := f(rows); err != nil {
			return err
		}
		next = rows[len(rows)-1].Place + 1
	}
	return nil
}

// Rows gathers the hashes of the rows that a transaction adds to one cluster.
type Rows struct {
	hasher Hasher
	hashes []byte
	items  store.SealItems
}

// Decision adds a row by the values of its columns. Decisions come in the order of their Seq.
func (r *Rows) Decision(values []any, stamp lists.Stamp) error {
	sum, err := r.hasher.decision(store.SealFormat, values, stamp)
	r.hashes = append(r.hashes, sum[:]...)
	return err
}

// Revision adds the values of RevisionColumns.
func (r *Rows) Revision(number int64, values []any) error {
	return add(r, store.SealRevisions, &r.items.Revisions, number, values)
}

// Checkpoint adds the values of CheckpointColumns.
func (r *Rows) Checkpoint(number int64, values []any) error {
	return add(r, store.SealCheckpoints, &r.items.Checkpoints, number, values)
}

// Gap adds the values of GapColumns.
func (r *Rows) Gap(id string, values []any) error {
	return add(r, store.SealGaps, &r.items.Gaps, id, values)
}

// Numbered adds the rows of one of Tables that share a number, each by the values of its columns.
func (r *Rows) Numbered(table store.SealTable, number int64, rows ...[]any) error {
	r.hasher.begin(string(table))
	for _, values := range rows {
		for i, v := range values {
			if !r.hasher.add(v) {
				return fmt.Errorf("%s: value %d is %T", table, i, v)
			}
		}
	}
	sum := r.hasher.end()
	r.items.Put(table, number, sum[:])
	return nil
}

func add[K comparable](r *Rows, table store.SealTable, into *map[K][]byte, key K, values []any) error {
	sum, err := r.hasher.Sum(string(table), values...)
	if err != nil {
		return err
	}
	if *into == nil {
		*into = map[K][]byte{}
	}
	(*into)[key] = sum
	return nil
}

// Seal returns the seal of the rows, which bring a cluster from its head to seq and newest, and
// moves the head.
func (r *Rows) Seal(head *store.SealHead, seq, newest int64) (*store.Seal, error) {
	s := &store.Seal{
		Kind: store.SealedRows, AfterSeq: head.Seq, Seq: seq, AfterRevision: head.Newest, Revision: newest, RowHashes: r.hashes,
	}
	if head.Number == 0 && head.Seq == 0 && head.Newest == 0 { // else the chain has lost its beginning
		s.Kind = store.SealedBeginning
	}
	return s, finish(&r.hasher, s, &r.items, head)
}

// Epoch returns the seal with which a chain goes on in another epoch, and moves the head: the next
// decision gets the place behind seq. The rows are at most the revision that begins the epoch.
func (r *Rows) Epoch(head *store.SealHead, e store.Epoch, seq, newest int64) (*store.Seal, error) {
	r.items.Epoch = &e
	s := &store.Seal{Kind: store.SealedEpoch, AfterSeq: head.Seq, Seq: seq, AfterRevision: head.Newest, Revision: newest}
	return s, finish(&r.hasher, s, &r.items, head)
}
