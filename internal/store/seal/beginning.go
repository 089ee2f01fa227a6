package seal

import (
	"context"
	"crypto/sha256"
	"math"

	"berth/internal/store"
)

// Chains are the chains of a store within the one transaction of a migration.
type Chains interface {
	store.Seals
	// PutSeal writes a seal and moves the head behind it. It returns false, and writes nothing,
	// where the cluster has no books.
	PutSeal(ctx context.Context, s *store.Seal) (bool, error)
}

// numberedSince is the first schema with Tables.
const numberedSince = 25

// beforeRows is how many decisions a seal of beginning is of at most: a check by HTTP reads up to
// 256 seals a call.
const beforeRows = 512

// WriteBeginnings writes a seal of beginning for each chain that has none, or for that of a
// cluster, behind its other seals: it is of the rows that are older than the chain, as the format
// hashes them. What an older program does not know of such a seal it does not look at.
func WriteBeginnings(ctx context.Context, c Chains, format int64, cluster string) error {
	heads, err := c.SealHeads(ctx, cluster)
	if err != nil {
		return err
	}
	for _, h := range heads {
		// A cluster without rows gets its beginning with the first.
		if h.Beginning > 0 || h.Number == 0 && h.Seq == 0 && h.Newest == 0 {
			continue
		}
		b := &beginning{Chains: c, head: h, format: min(format, store.SealFormat)}
		if err := b.write(ctx); err != nil {
			return err
		}
	}
	return nil
}

// beginning writes the seals of one chain's beginning.
type beginning struct {
	Chains
	head   store.SealHead
	format int64
}

func (b *beginning) write(ctx context.Context) error {
	seq, newest := b.head.Seq, b.head.Newest
	first, err := b.ListSeals(ctx, b.head.Cluster, 0, 1, false)
	if err != nil {
		return err
	}
	if len(first) > 0 { // where seals are missing before it, a check names them
		seq, newest = first[0].AfterSeq, first[0].AfterRevision
		if first[0].Number > 1 {
			seq, newest = 0, 0
		}
	}
	last := &store.SealItems{}
	if err := b.numbered(ctx); err != nil {
		return err
	}
	if seq > 0 || newest > 0 {
		if err := b.checkpointed(ctx, newest); err != nil {
			return err
		}
		gaps, err := b.SealRows(ctx, store.SealGaps, b.format, b.head.Cluster, 0, 0, 0)
		if err != nil {
			return err
		}
		for _, row := range gaps {
			set(&last.Gaps, row.ID, row.Hash)
		}
		if last.Before, err = b.decisions(ctx, seq); err != nil {
			return err
		}
	}
	return b.put(ctx, last)
}

// checkpointed seals revisions and checkpoints up to newest.
func (b *beginning) checkpointed(ctx context.Context, newest int64) error {
	for _, table := range []store.SealTable{store.SealRevisions, store.SealCheckpoints} {
		if err := pages(ctx, b, table, b.format, b.head.Cluster, 0, newest, func(rows []store.SealRow) error {
			items := &store.SealItems{}
			into := &items.Revisions
			if table == store.SealCheckpoints {
				into = &items.Checkpoints
			}
			for _, row := range rows {
				set(into, row.Place, row.Hash)
			}
			return b.put(ctx, items)
		}); err != nil {
			return err
		}
	}
	return nil
}

// numbered seals the rows of Tables, where the schema has them by now.
func (b *beginning) numbered(ctx context.Context) error {
	if b.format < numberedSince {
		return nil
	}
	for _, t := range Tables {
		if err := pages(ctx, b, t.Name, b.format, b.head.Cluster, 0, math.MaxInt64, func(rows []store.SealRow) error {
			items := &store.SealItems{}
			for _, row := range rows {
				items.Put(t.Name, row.Place, whole(row.Hash))
			}
			return b.put(ctx, items)
		}); err != nil {
			return err
		}
	}
	return nil
}

// decisions seals those up to seq, and returns the part that the last seal is of.
func (b *beginning) decisions(ctx context.Context, seq int64) (*store.Before, error) {
	part := &store.Before{Seq: seq}
	for {
		rows, err := b.SealRows(ctx, store.SealDecisions, b.format, b.head.Cluster, part.AfterSeq+1, seq, beforeRows)
		if err != nil || len(rows) == 0 {
			return part, err
		}
		var places []int64
		for _, row := range rows {
			if n := len(places); n > 0 && places[n-1] == row.Place {
				continue // a second row at one place, which a check names
			}
			places = append(places, row.Place)
			part.Hashes = append(part.Hashes, whole(row.Hash)...)
		}
		part.Decisions, part.Seq = Runs(places), places[len(places)-1]
		if part.Seq >= seq {
			return part, nil
		}
		if err := b.put(ctx, &store.SealItems{Before: part}); err != nil {
			return nil, err
		}
		part = &store.Before{AfterSeq: part.Seq, Seq: seq}
	}
}

// put writes a seal of items behind the chain.
func (b *beginning) put(ctx context.Context, items *store.SealItems) error {
	s := &store.Seal{
		Kind: store.SealedBeginning, Format: b.format,
		AfterSeq: b.head.Seq, Seq: b.head.Seq, AfterRevision: b.head.Newest, Revision: b.head.Newest,
	}
	if err := finish(new(Hasher), s, items, &b.head); err != nil {
		return err
	}
	_, err := b.PutSeal(ctx, s)
	return err
}

// whole returns a hash; zeros for a row that could not be hashed, so that it fits none.
func whole(hash []byte) []byte {
	if len(hash) != sha256.Size {
		return make([]byte, sha256.Size)
	}
	return hash
}

func set[K comparable](into *map[K][]byte, key K, hash []byte) {
	if *into == nil {
		*into = map[K][]byte{}
	}
	(*into)[key] = whole(hash)
}
