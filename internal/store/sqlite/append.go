package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"berth/internal/store"
	"berth/internal/store/lists"
)

// Append implements store.Writer.
func (s *Store) Append(ctx context.Context, entries []*store.Entry) error {
	if len(entries) == 0 {
		return s.usable()
	}
	b := &batch{}
	err := s.write(ctx, func(w *writer) error {
		*b = batch{
			w:        w,
			ids:      &s.stamps,
			stamps:   map[lists.Stamp]int64{},
			heads:    map[string]*head{},
			known:    map[revisionKey]bool{},
			profiles: map[string]bool{},
		}
		for i, e := range entries {
			if err := ctx.Err(); err != nil {
				return err
			}
			e.Err = e.Validate()
			if e.Err != nil {
				continue
			}
			if err := b.add(e); err != nil {
				return fmt.Errorf("append entry %d of %d: %w", i+1, len(entries), err)
			}
		}
		return b.putHeads()
	})
	if err == nil {
		s.stamps.Put(b.stamps)
	}
	return err
}

// batch is what one Append knows beside the tables: what it read of them once
// and what it has added since.
type batch struct {
	w        *writer
	heads    map[string]*head     // by cluster
	known    map[revisionKey]bool // whether a revision is stored
	profiles map[string]bool      // digests that are stored
	ids      *lists.StampIDs      // of stamps that are committed
	stamps   map[lists.Stamp]int64
}

// head is the end of a cluster's chain, and what the batch added to its books.
type head struct {
	newest               int64
	token                string
	seq                  int64 // the last one given
	revisions, decisions int64
}

type revisionKey struct {
	cluster string
	number  int64
}

// add writes one entry or sets its Err; an error is a fault of the store.
func (b *batch) add(e *store.Entry) error {
	if e.Gap != nil {
		_, err := b.w.exec(sqlPutGap, gapValues(e.Gap)...)
		return err
	}
	fresh, err := b.judge(e)
	if err != nil || e.Err != nil {
		return err
	}
	if e.Profile != nil {
		if err := b.putProfile(e.Profile); err != nil {
			return err
		}
	}
	added := false
	if e.Decision != nil {
		if added, err = b.putDecision(e.Decision); err != nil {
			return err
		}
		if !added && fresh {
			// The decision has been answered before and bound otherwise: a second
			// revision for it would bind the pod twice.
			e.Err = fmt.Errorf("decision %s is stored already: %w", e.Decision.ID, store.ErrConflict)
			return nil
		}
		if !added {
			var in string
			if err := b.w.row(sqlDecisionCluster, []any{e.Decision.ID}, &in); err != nil {
				return err
			}
			if in != e.Decision.Cluster {
				e.Err = fmt.Errorf("decision %s is stored already, in cluster %s: %w", e.Decision.ID, in, store.ErrConflict)
				return nil
			}
		}
	}
	if fresh {
		ok, err := b.putRevision(e.Revision, e.Checkpoint)
		if err != nil {
			return err
		}
		if !ok {
			e.Err = fmt.Errorf("token of %s@%d has been used: %w", e.Revision.Cluster, e.Revision.Number, store.ErrConflict)
			if added {
				_, err = b.w.exec(sqlDropDecision, e.Decision.ID)
			}
			return err
		}
	}
	if added {
		b.heads[e.Decision.Cluster].decisions++
	}
	return nil
}

// judge decides, before anything is written, whether the entry may be, and
// whether its revision is new rather than written before.
func (b *batch) judge(e *store.Entry) (fresh bool, err error) {
	if r := e.Revision; r != nil {
		h, err := b.head(r.Cluster)
		if err != nil {
			return false, err
		}
		fresh = r.Number == h.newest+1 && r.ParentToken == h.token
		if !fresh {
			var token string
			err := b.w.row(sqlToken, []any{r.Cluster, r.Number}, &token)
			if err != nil && !errors.Is(err, sql.ErrNoRows) {
				return false, err
			}
			if token != r.Token {
				e.Err = fmt.Errorf("%s@%d does not follow %d: %w", r.Cluster, r.Number, h.newest, store.ErrConflict)
				return false, nil
			}
		}
	}
	if d := e.Decision; d != nil && d.Revision != 0 {
		ok, err := b.stored(d.Cluster, d.Revision)
		if err != nil {
			return false, err
		}
		// A decision may stand on the very revision that comes with it.
		if !ok && (!fresh || d.Revision != e.Revision.Number) {
			e.Err = fmt.Errorf("decision on %s@%d: %w", d.Cluster, d.Revision, store.ErrNotFound)
		}
	}
	return fresh, nil
}

func (b *batch) head(cluster string) (*head, error) {
	h := b.heads[cluster]
	if h != nil {
		return h, nil
	}
	h = &head{}
	if err := b.w.row(sqlHead, []any{cluster}, &h.newest, &h.token, &h.seq); err != nil && !errors.Is(err, sql.ErrNoRows) {
		return nil, err
	}
	b.heads[cluster] = h
	return h, nil
}

func (b *batch) stored(cluster string, number int64) (bool, error) {
	key := revisionKey{cluster, number}
	ok, seen := b.known[key]
	if seen {
		return ok, nil
	}
	var token string
	err := b.w.row(sqlToken, []any{cluster, number}, &token)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return false, err
	}
	b.known[key] = err == nil
	return err == nil, nil
}

// putHeads writes the books of the clusters that the batch changed.
func (b *batch) putHeads() error {
	for cluster, h := range b.heads {
		if h.revisions == 0 && h.decisions == 0 {
			continue
		}
		n, err := b.w.exec(sqlPutHead, cluster, h.newest, h.token, h.revisions, h.decisions)
		if err != nil {
			return err
		}
		if n != 1 {
			return fmt.Errorf("write head of %s: %d rows changed, not 1", cluster, n)
		}
	}
	return nil
}
