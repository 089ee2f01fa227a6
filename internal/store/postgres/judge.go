package postgres

import (
	"fmt"

	"berth/internal/store"
)

// judge decides entry by entry, in order, what is written, and sets the Err of
// those that are refused.
func (b *batch) judge() {
	for _, e := range b.entries {
		if e.Err != nil {
			continue
		}
		if e.Gap != nil {
			b.gaps = append(b.gaps, e.Gap)
			continue
		}
		if e.Err = b.add(e); e.Err != nil {
			continue
		}
		if p := e.Profile; p != nil && !b.profiles[p.Digest] {
			b.profiles[p.Digest] = true
			b.added = append(b.added, p)
		}
	}
}

// add takes one entry into the batch or says why not.
func (b *batch) add(e *store.Entry) error {
	fresh, err := b.follows(e.Revision)
	if err != nil {
		return err
	}
	d := e.Decision
	if d != nil && d.Revision != 0 {
		_, ok := b.tokens[revisionKey{d.Cluster, d.Revision}]
		// A decision may stand on the very revision that comes with it.
		if !ok && (!fresh || d.Revision != e.Revision.Number) {
			return fmt.Errorf("decision on %s@%d: %w", d.Cluster, d.Revision, store.ErrNotFound)
		}
	}
	known := false
	if d != nil {
		var in string
		if in, known = b.ids[d.ID]; known && in != d.Cluster {
			return fmt.Errorf("decision %s is stored already, in cluster %s: %w", d.ID, in, store.ErrConflict)
		}
	}
	if known && fresh {
		// The decision has been answered before and bound otherwise: a second
		// revision for it would bind the pod twice.
		return fmt.Errorf("decision %s is stored already: %w", d.ID, store.ErrConflict)
	}
	if fresh {
		if err := b.addRevision(e.Revision, e.Checkpoint); err != nil {
			return err
		}
	}
	if d != nil && !known {
		b.ids[d.ID] = d.Cluster
		h, p := b.heads[d.Cluster], b.packed[d]
		h.decisions++
		// The lock of the cluster's row is ours until the commit: whoever sees
		// this number sees all that are smaller.
		p.seq = h.seq + h.decisions
		b.decisions = append(b.decisions, p)
	}
	return nil
}

// follows says whether a revision is new rather than written before; an error
// where it is neither.
func (b *batch) follows(r *store.Revision) (fresh bool, err error) {
	if r == nil {
		return false, nil
	}
	h := b.heads[r.Cluster]
	if r.Number == h.newest+1 && r.ParentToken == h.token {
		return true, nil
	}
	if b.tokens[revisionKey{r.Cluster, r.Number}] != r.Token {
		return false, fmt.Errorf("%s@%d does not follow %d: %w", r.Cluster, r.Number, h.newest, store.ErrConflict)
	}
	return false, nil
}

func (b *batch) addRevision(r *store.Revision, c *store.Checkpoint) error {
	parent := parentKey{r.Cluster, r.ParentToken}
	if b.parents[parent] {
		return fmt.Errorf("token of %s@%d has been used: %w", r.Cluster, r.Number, store.ErrConflict)
	}
	b.parents[parent] = true
	b.tokens[revisionKey{r.Cluster, r.Number}] = r.Token
	b.revisions = append(b.revisions, r)
	if c != nil {
		b.checkpoints = append(b.checkpoints, c)
	}
	h := b.heads[r.Cluster]
	h.newest, h.token = r.Number, r.Token
	h.revisions++
	return nil
}
