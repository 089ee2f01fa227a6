package batch

import (
	"fmt"

	"berth/internal/store"
)

// Judge decides entry by entry, in order, what is written, and sets the Err of those that are
// refused. It only reads the batch's facts.
func (b *Batch) Judge() {
	for _, e := range b.entries {
		switch {
		case e.Err != nil:
		case e.Gap != nil:
			b.addGap(e.Gap)
		default:
			if e.Err = b.add(e); e.Err != nil {
				continue
			}
			if e.Profile != nil {
				b.addProfile(e.Profile)
			}
			for _, p := range e.Profiles {
				b.addProfile(p)
			}
		}
	}
}

// addGap takes a gap that is not stored.
func (b *Batch) addGap(g *store.Gap) {
	key := GapKey{g.Cluster, g.ID}
	if b.StoredGaps[key] {
		return
	}
	b.StoredGaps[key] = true
	b.Gaps = append(b.Gaps, g)
	b.Heads[g.Cluster].Gaps++
}

// add takes one entry into the batch, or returns why it is refused.
func (b *Batch) add(e *store.Entry) error {
	if c := e.Call; c != nil && b.Calls[CallKey{c.Caller, c.Key}] != c.Token {
		return fmt.Errorf("key %q: %w", c.Key, store.ErrTakenOver)
	}
	fresh, err := b.follows(e.Revision)
	if err != nil {
		return err
	}
	for d := range e.Decisions() {
		if _, err := b.stored(e, d, fresh); err != nil {
			return err
		}
	}
	if o := e.Origin; fresh && o != nil {
		if token, ok := b.Tokens[RevisionKey{o.Source, o.SourceNumber}]; !ok || token != o.Token {
			return fmt.Errorf("a copy of %s@%d: %w", o.Source, o.SourceNumber, store.ErrNotFound)
		}
		b.Origins = append(b.Origins, o)
	}
	if fresh {
		b.addRevision(e.Revision, e.Checkpoint)
		b.Holds = append(b.Holds, e.Holds...)
	}
	if e.Call != nil {
		b.Marks = append(b.Marks, e.Call)
	}
	for d := range e.Decisions() {
		if stored, _ := b.stored(e, d, false); stored {
			continue
		}
		b.Clusters[d.ID] = d.Cluster
		h, r := b.Heads[d.Cluster], b.rows[d]
		h.Decisions++
		// The cluster is locked until the commit: a reader who sees this number sees all smaller
		// ones.
		r.Seq = h.Seq + h.Decisions
		b.Decisions = append(b.Decisions, r)
	}
	return nil
}

// stored reports whether a decision of an entry is stored already; an error where it cannot be.
// fresh is set where the entry's revision is not stored.
func (b *Batch) stored(e *store.Entry, d *store.Decision, fresh bool) (bool, error) {
	if _, ok := b.Tokens[RevisionKey{d.Cluster, d.Revision}]; d.Revision != 0 && !ok {
		// A decision may stand on the very revision that comes with it.
		if !fresh || d.Revision != e.Revision.Number {
			return false, fmt.Errorf("decision on %s@%d: %w", d.Cluster, d.Revision, store.ErrNotFound)
		}
	}
	in, known := b.Clusters[d.ID]
	switch {
	case known && in != d.Cluster:
		return false, fmt.Errorf("decision %s is stored already, in cluster %s: %w", d.ID, in, store.ErrConflict)
	case known && fresh:
		// The decision has been answered before and bound otherwise: a second revision for it would
		// bind the pod twice.
		return false, fmt.Errorf("decision %s is stored already: %w", d.ID, store.ErrConflict)
	}
	return known, nil
}

// follows reports whether a revision is new rather than stored already; an error where it is
// neither, or where its parent has a child.
func (b *Batch) follows(r *store.Revision) (fresh bool, err error) {
	if r == nil {
		return false, nil
	}
	h := b.Heads[r.Cluster]
	next := r.Number == h.Newest+1 || h.Newest == 0 && store.StartsEpoch(r.Number)
	switch {
	case !next || r.ParentToken != h.Token:
		if b.Tokens[RevisionKey{r.Cluster, r.Number}] != r.Token {
			return false, fmt.Errorf("%s@%d does not follow %d: %w", r.Cluster, r.Number, h.Newest, store.ErrConflict)
		}
		return false, nil
	case b.Parents[ParentKey{r.Cluster, r.ParentToken}]:
		return false, fmt.Errorf("token of %s@%d has been used: %w", r.Cluster, r.Number, store.ErrConflict)
	case b.Busy[r.Cluster]:
		return false, fmt.Errorf("%s@%d: another process has locked the chain: %w", r.Cluster, r.Number, store.ErrConflict)
	}
	return true, nil
}

func (b *Batch) addRevision(r *store.Revision, c *store.Checkpoint) {
	b.Parents[ParentKey{r.Cluster, r.ParentToken}] = true
	b.Tokens[RevisionKey{r.Cluster, r.Number}] = r.Token
	b.Revisions = append(b.Revisions, r)
	if c != nil {
		b.Checkpoints = append(b.Checkpoints, c)
	}
	h := b.Heads[r.Cluster]
	h.Newest, h.Token = r.Number, r.Token
	h.Revisions++
	for _, c := range r.Classes {
		h.Classes++
		b.Classes = append(b.Classes, &store.ClassRecord{
			Cluster: r.Cluster, Seq: h.Classes, ClassChange: c, Source: store.ClassOfSnapshot, Revision: r.Number, Asked: r.Asked, CreatedAt: r.CreatedAt,
		})
	}
}
