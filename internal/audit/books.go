package audit

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"berth/internal/store"
)

// tableClusters has the books.
const tableClusters = "clusters"

// ends compares the ends that the books of a cluster have with the last revision, decision and seal
// that are stored.
func ends(b *store.Books) (list []Finding) {
	differ := func(from, to int64, format string, args ...any) {
		list = append(list, Finding{Cluster: b.Cluster, Table: tableClusters, What: Changed, From: from, To: to, Detail: fmt.Sprintf(format, args...)})
	}
	switch {
	case b.Newest != b.TopRevision:
		differ(b.Newest, b.TopRevision, "the books call revision %d the newest, and the last one stored is %d", b.Newest, b.TopRevision)
	case b.Newest > 0 && b.Token != b.StoredToken:
		differ(b.Newest, b.Newest, "the token in the books is not that of revision %d", b.Newest)
	case b.Newest == 0 && b.Token != "":
		differ(0, 0, "the books have a token and no revision")
	case b.Last.Number > 0 && b.Newest != b.Last.Revision:
		differ(b.Newest, b.Last.Revision, "the books call revision %d the newest, and seal %d ends at %d", b.Newest, b.Last.Number, b.Last.Revision)
	}
	switch {
	case b.Last.Number > 0 && b.Seq != b.Last.Seq:
		differ(b.Seq, b.Last.Seq, "the books end at decision %d, and seal %d at %d", b.Seq, b.Last.Number, b.Last.Seq)
	case b.Seq < b.TopSeq:
		differ(b.Seq, b.TopSeq, "the books end at decision %d, and the last one stored is %d", b.Seq, b.TopSeq)
	}
	return list
}

// counts compares how many rows the books count with how many there are.
func counts(b *store.Books) (list []Finding) {
	for _, x := range []struct {
		what         store.SealTable
		have, stored int64
	}{{store.SealDecisions, b.Decisions, b.StoredDecisions}, {store.SealRevisions, b.Revisions, b.StoredRevisions}} {
		if x.have != x.stored {
			list = append(list, Finding{
				Cluster: b.Cluster, Table: tableClusters, What: Changed, From: x.have, To: x.stored,
				Detail: fmt.Sprintf("the books count %d %s, and %d are stored", x.have, x.what, x.stored),
			})
		}
	}
	return list
}

// ledger compares the books with what is stored, unless rows or seals do not fit: then the books
// cannot either.
func (c *check) ledger(ctx context.Context) error {
	if c.r.More || slices.ContainsFunc(c.r.Findings, func(f Finding) bool { return !f.unchecked() }) {
		return nil
	}
	list, err := c.st.Books(ctx, c.r.Cluster, true)
	if err != nil {
		return err
	}
	for i := range list {
		for _, f := range append(ends(&list[i]), counts(&list[i])...) {
			c.r.add(f)
		}
	}
	return nil
}

// Look returns what a server can find at its start without reading the log: whether the schema is
// as migrations make it, and of each cluster whether its chain has its beginning, and whether its
// books fit the last rows and the last seal. What it finds is for Verify to tell in full.
func Look(ctx context.Context, st store.Seals) ([]Finding, error) {
	heads, err := st.SealHeads(ctx, "")
	if err != nil {
		return nil, err
	}
	books, err := st.Books(ctx, "", false)
	if err != nil {
		return nil, err
	}
	list, err := Schema(ctx, st)
	if err != nil {
		return nil, err
	}
	list = slices.DeleteFunc(list, func(f Finding) bool { return f.What == Unchecked })
	for _, h := range heads {
		if f, ok := unbegun(h); ok {
			list = append(list, f)
		}
	}
	for i := range books {
		b := &books[i]
		if b.Number != b.Last.Number || !bytes.Equal(b.Hash, b.Last.Hash) {
			list = append(list, Finding{
				Cluster: b.Cluster, Table: tableSeals, What: Changed, From: b.Number, To: b.Last.Number,
				Detail: fmt.Sprintf("the books end at seal %d, and the chain at another or at %d", b.Number, b.Last.Number),
			})
			continue
		}
		list = append(list, ends(b)...)
	}
	return list, nil
}
