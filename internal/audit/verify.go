package audit

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"berth/internal/store"
	"berth/internal/store/seal"
)

// ErrNoSeal reports that the seal to go on after is not there.
var ErrNoSeal = errors.New("there is no seal")

// Options of a check; the zero value checks a whole chain.
type Options struct {
	// After is the seal to go on after: that seal is taken as it is.
	After int64
	// Limit is how many seals are checked; 0: all.
	Limit int
	// Anchor is a head that the chain has to hold; nil without one.
	Anchor *Head
	// Progress is called after each page of seals; nil: not.
	Progress func(seal, of int64)
}

// pageSeals is how many seals are read at a time, pageRows how many rows.
const (
	pageSeals = 256
	pageRows  = 2048
)

// Verify checks the hash chain of a cluster, and the rows that it is of. It may run beside writers:
// what they add or take away meanwhile is no finding.
func Verify(ctx context.Context, st store.Seals, cluster string, o Options) (*Report, error) {
	c := &check{st: st, o: o, r: &Report{
		Cluster: cluster, FromSeal: o.After + 1, ToSeal: o.After, Findings: []Finding{}, Rows: map[store.SealTable]int64{},
	}}
	// Read before the seals: what is written later is behind it.
	var err error
	if c.head, err = Of(ctx, st, cluster); err != nil {
		return nil, err
	}
	c.r.Head = headOf(c.head)
	if err := c.removals(ctx, o.After); err != nil {
		return nil, err
	}
	if err := c.begin(ctx); err != nil {
		return nil, err
	}
	if err := c.seals(ctx); err != nil {
		return nil, err
	}
	if err := c.end(ctx); err != nil {
		return nil, err
	}
	if err := c.missed(ctx); err != nil {
		return nil, err
	}
	return c.r, c.ledger(ctx)
}

// Of returns the head of a cluster's chain: a zero one where nothing is stored of the cluster.
func Of(ctx context.Context, st store.Seals, cluster string) (store.SealHead, error) {
	heads, err := st.SealHeads(ctx, cluster)
	if err != nil || len(heads) == 0 {
		return store.SealHead{Cluster: cluster}, err
	}
	return heads[0], nil
}

// check is a check under way.
type check struct {
	st   store.Seals
	o    Options
	r    *Report
	head store.SealHead // as the books had it when the check began

	// removed is what seals take away; the last removal that was read is lastRemoval.
	removed     map[store.SealTable]*ranges
	removedGaps map[string]bool
	lastRemoval int64

	at          store.SealHead // behind the last seal that was checked
	saw         bool           // a seal was read
	missing     []Finding      // rows that are not there, and that a removal may have taken since
	checkpoints map[int64][]byte
	gaps        map[string][]byte
	anchorHit   bool
	feed        feed
	unread      bool   // what a seal is of is not known
	cut         bool   // seals are missing, and with them what they were of
	began       bool   // a seal of what is older than the chain was read
	older       ranges // revisions that it has
	numbered    map[store.SealTable]*numbered
}

// removals reads the seals behind one that take rows away.
func (c *check) removals(ctx context.Context, after int64) error {
	if c.removed == nil {
		c.removed = map[store.SealTable]*ranges{store.SealDecisions: {}, store.SealRevisions: {}}
		c.removedGaps = map[string]bool{}
	}
	for {
		page, err := c.st.ListSeals(ctx, c.r.Cluster, after, pageSeals, true)
		if err != nil || len(page) == 0 {
			return err
		}
		for _, s := range page {
			after = s.Number
			items, err := itemsOf(s)
			if err != nil || items.Removed == nil {
				continue // the check of the seal finds it
			}
			c.removed[store.SealDecisions].add(items.Removed.Decisions)
			c.removed[store.SealRevisions].add(items.Removed.Revisions)
			for _, id := range items.Removed.Gaps {
				c.removedGaps[id] = true
			}
			for table, runs := range items.Removed.Rows {
				if c.removed[table] == nil {
					c.removed[table] = &ranges{}
				}
				c.removed[table].add(runs)
			}
		}
		c.lastRemoval = after
	}
}

// begin sets the place to go on from.
func (c *check) begin(ctx context.Context) error {
	c.checkpoints, c.gaps = map[int64][]byte{}, map[string][]byte{}
	if c.o.After == 0 {
		return nil
	}
	page, err := c.st.ListSeals(ctx, c.r.Cluster, c.o.After-1, 1, false)
	if err != nil {
		return err
	}
	if len(page) == 0 || page[0].Number != c.o.After {
		return fmt.Errorf("%w %d in the chain of cluster %s", ErrNoSeal, c.o.After, c.r.Cluster)
	}
	s := page[0]
	c.at, c.saw = store.SealHead{Cluster: s.Cluster, Number: s.Number, Hash: s.Hash, Seq: s.Seq, Newest: s.Revision}, true
	return nil
}

// seals checks seal after seal.
func (c *check) seals(ctx context.Context) error {
	left := c.o.Limit
	for {
		n := pageSeals
		if c.o.Limit > 0 {
			if n = min(n, left); n == 0 {
				c.r.More = c.at.Number < c.head.Number
				return nil
			}
		}
		page, err := c.st.ListSeals(ctx, c.r.Cluster, c.at.Number, n, false)
		if err != nil || len(page) == 0 {
			return err
		}
		c.feed.rows, c.feed.next, c.feed.to = nil, c.at.Seq+1, 0
		for _, s := range page {
			c.feed.to = max(c.feed.to, s.Seq)
		}
		for _, s := range page {
			if err := c.seal(ctx, s); err != nil {
				return err
			}
		}
		if err := c.compareNumbered(ctx); err != nil {
			return err
		}
		left -= len(page)
		if c.o.Progress != nil {
			c.o.Progress(c.at.Number, max(c.head.Number, c.at.Number))
		}
	}
}

// seal checks one seal, its place in the chain, and its rows.
func (c *check) seal(ctx context.Context, s *store.Seal) error {
	good := bytes.Equal(seal.Hash(s), s.Hash)
	if !good {
		c.r.add(Finding{Table: tableSeals, What: Changed, From: s.Number, To: s.Number, Seal: s.Number, Detail: fmt.Sprintf("seal %d is not what its hash is of", s.Number)})
	}
	c.follows(s)
	c.anchor(s)
	items, err := itemsOf(s)
	if err != nil {
		items = &store.SealItems{}
	}
	c.at = store.SealHead{Cluster: s.Cluster, Number: s.Number, Hash: s.Hash, Seq: s.Seq, Newest: s.Revision}
	c.saw, c.r.ToSeal = true, s.Number
	if !good { // which rows it was of is not known
		c.unread = true
		return nil
	}
	// Checkpoints and gaps are compared at the end, with all that are stored. What was sealed as it
	// was written counts, not how a migration found it.
	late := s.Kind == store.SealedBeginning && s.Number > 1
	note(c.checkpoints, items.Checkpoints, late)
	note(c.gaps, items.Gaps, late)
	c.noteNumbered(s, items.Rows, late)
	if s.Kind == store.SealedBeginning && s.AfterSeq == s.Seq && s.AfterRevision == s.Revision {
		c.began = true
		c.older.add(seal.Runs(slices.Collect(maps.Keys(items.Revisions))))
	}
	if items.Before != nil {
		if err := c.before(ctx, s, items.Before); err != nil {
			return err
		}
	}
	if s.Kind == store.SealedEpoch {
		return errors.Join(c.between(ctx, s), c.revisions(ctx, s, items.Revisions))
	}
	if s.Format > store.SealFormat {
		c.newer(s)
		return c.revisions(ctx, s, items.Revisions)
	}
	return errors.Join(c.decisions(ctx, s), c.revisions(ctx, s, items.Revisions))
}

// note adds hashes to those that are known; late ones do not replace any.
func note[K comparable](known, more map[K][]byte, late bool) {
	for k, hash := range more {
		if _, ok := known[k]; !ok || !late {
			known[k] = hash
		}
	}
}

// follows checks that a seal is the next one.
func (c *check) follows(s *store.Seal) {
	switch {
	case s.Kind == store.SealedDeletion:
		// The seals and rows before went with the cluster, maybe while they were checked.
		c.r.FromSeal, c.missing = s.Number, nil
		clear(c.checkpoints)
		clear(c.gaps)
		clear(c.numbered)
	case !c.saw && s.Number == 1:
		c.r.BeforeSeq, c.r.BeforeRevision = s.AfterSeq, s.AfterRevision
	case s.Number != c.at.Number+1:
		c.cut = true
		c.r.add(Finding{
			Table: tableSeals, What: Missing, From: c.at.Number + 1, To: s.Number - 1,
			Detail: fmt.Sprintf("seals %d to %d are missing, and with them what shows that decisions %d to %d are as they were written",
				c.at.Number+1, s.Number-1, c.at.Seq+1, s.AfterSeq),
		})
	case !bytes.Equal(s.Previous, c.at.Hash):
		c.r.add(Finding{
			Table: tableSeals, What: Changed, From: c.at.Number, To: s.Number, Seal: s.Number,
			Detail: fmt.Sprintf("seal %d does not hold the hash of seal %d", s.Number, c.at.Number),
		})
	case s.AfterSeq != c.at.Seq:
		c.inserted(store.SealDecisions, c.at.Seq+1, s.AfterSeq)
	case s.AfterRevision != c.at.Newest:
		c.inserted(store.SealRevisions, c.at.Newest+1, s.AfterRevision)
	}
}

func (c *check) inserted(table store.SealTable, from, to int64) {
	c.r.add(Finding{
		Table: string(table), What: Inserted, From: from, To: to,
		Detail: fmt.Sprintf("%s %d to %d are in no seal: they were put in, or written by a server from before the chain", table, from, to),
	})
}

// anchor compares a seal with the anchor.
func (c *check) anchor(s *store.Seal) {
	if a := c.o.Anchor; a != nil && a.Seal == s.Number {
		c.anchorHit = true
		if a.Hash != hex.EncodeToString(s.Hash) {
			c.r.add(Finding{
				Table: tableSeals, What: Anchored, From: a.Seal, To: a.Seal, Seal: a.Seal,
				Detail: fmt.Sprintf("seal %d has the hash %x, the anchor has %s: the chain was written anew", a.Seal, s.Hash, a.Hash),
			})
		}
	}
}

// end checks that the chain reaches its head, and that nothing is stored behind it.
func (c *check) end(ctx context.Context) error {
	if c.r.More {
		return nil
	}
	if c.at.Number < c.head.Number {
		c.cut = true
		c.r.add(Finding{
			Table: tableSeals, What: Missing, From: c.at.Number + 1, To: c.head.Number,
			Detail: fmt.Sprintf("the chain ends at seal %d, and the books of the cluster at seal %d: its end is missing", c.at.Number, c.head.Number),
		})
	} else if c.at.Number == c.head.Number && !bytes.Equal(c.at.Hash, c.head.Hash) {
		c.r.add(Finding{
			Table: tableSeals, What: Changed, From: c.at.Number, To: c.at.Number, Seal: c.at.Number,
			Detail: fmt.Sprintf("seal %d is not the one that the books of the cluster have", c.at.Number),
		})
	}
	if err := errors.Join(c.books(ctx), c.beginning(ctx)); err != nil {
		return err
	}
	if a := c.o.Anchor; a != nil && !c.anchorHit && a.Seal > c.o.After {
		c.r.add(Finding{
			Table: tableSeals, What: Anchored, From: a.Seal, To: a.Seal,
			Detail: gone(a.Seal),
		})
	}
	if !c.saw {
		// Without a chain all is older than it, unless the books have none of the cluster.
		c.r.BeforeSeq, c.r.BeforeRevision = c.head.Seq, c.head.Newest
	}
	return c.stored(ctx)
}

// books checks that the books reach as far as the chain: a commit moves both, so that they do where
// they are read again. The deletion of a cluster leaves them.
func (c *check) books(ctx context.Context) error {
	if c.at.Number <= c.head.Number {
		return nil
	}
	now, err := Of(ctx, c.st, c.r.Cluster)
	if err != nil || c.at.Number <= now.Number {
		return err
	}
	f := Finding{
		Table: tableClusters, What: Changed, From: now.Number, To: c.at.Number,
		Detail: fmt.Sprintf("the chain goes on to seal %d, and the books of the cluster end at seal %d: they were put back", c.at.Number, now.Number),
	}
	if now.Number == 0 {
		f.What, f.Detail = Missing, fmt.Sprintf("the chain goes on to seal %d, and the cluster has no books: its row of clusters was removed", c.at.Number)
	}
	c.r.add(f)
	return nil
}

// beginning checks that the chain has a seal of beginning.
func (c *check) beginning(ctx context.Context) error {
	now, err := Of(ctx, c.st, c.r.Cluster)
	if err != nil {
		return err
	}
	c.r.Beginning = now.Beginning
	if f, ok := unbegun(now); ok && !c.cut {
		c.r.add(f)
	}
	return nil
}

// unbegun reports whether a cluster has rows, and its chain no beginning.
func unbegun(h store.SealHead) (Finding, bool) {
	if h.Beginning > 0 || h.Number == 0 && h.Seq == 0 && h.Newest == 0 {
		return Finding{}, false
	}
	return Finding{
		Cluster: h.Cluster, Table: tableSeals, What: Missing,
		Detail: fmt.Sprintf("the chain has no seal of its beginning: seals were removed, and what they were of is not checked, or a server of a release without such seals made the cluster (decisions to %d, revisions to %d)", h.Seq, h.Newest),
	}, true
}

// missed forgives the missing rows that a removal took while the check ran, and reports the others.
func (c *check) missed(ctx context.Context) error {
	if len(c.missing) > 0 {
		if err := c.removals(ctx, c.lastRemoval); err != nil {
			return err
		}
		first, err := c.st.ListSeals(ctx, c.r.Cluster, 0, 1, false)
		if err != nil {
			return err
		}
		if len(first) > 0 && first[0].Kind == store.SealedDeletion && first[0].Number > c.r.FromSeal {
			return nil // the cluster was deleted meanwhile
		}
	}
	for _, f := range c.missing {
		if !c.forgiven(f) {
			c.r.add(f)
		}
	}
	return nil
}

func itemsOf(s *store.Seal) (*store.SealItems, error) {
	items := &store.SealItems{}
	if len(s.Items) == 0 {
		return items, nil
	}
	return items, json.Unmarshal(s.Items, items)
}

func headOf(h store.SealHead) Head {
	return Head{Cluster: h.Cluster, Seal: h.Number, Hash: hex.EncodeToString(h.Hash), Seq: h.Seq}
}
