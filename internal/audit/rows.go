package audit

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"berth/internal/store"
)

// decisions compares the decisions of a seal with their hashes.
func (c *check) decisions(ctx context.Context, s *store.Seal) error {
	if int64(len(s.RowHashes)) != (s.Seq-s.AfterSeq)*sha256.Size {
		c.r.add(Finding{Table: tableSeals, What: Changed, From: s.Number, To: s.Number, Seal: s.Number, Detail: fmt.Sprintf("seal %d has no hash for each of its decisions", s.Number)})
		return nil
	}
	return c.run(ctx, &c.feed, s, s.AfterSeq, s.RowHashes)
}

// run compares the decisions that follow a place with their hashes.
func (c *check) run(ctx context.Context, f *feed, s *store.Seal, after int64, hashes []byte) error {
	last, next := after+int64(len(hashes)/sha256.Size), after+1
	for {
		row, err := f.peek(ctx, c.st, s)
		if err != nil {
			return err
		}
		if row == nil || row.Place > last {
			break
		}
		f.rows = f.rows[1:]
		if row.Place < next { // a second row at one place, or one of a seal that cannot be read
			if row.Place == f.compared {
				c.foreign(s, *row, fmt.Sprintf("a second row stands at place %d", row.Place))
			}
			continue
		}
		c.gone(s, next, row.Place-1)
		c.r.Rows[store.SealDecisions]++
		if i := (row.Place - after - 1) * sha256.Size; !bytes.Equal(row.Hash, hashes[i:i+sha256.Size]) {
			c.differs(s, *row, after, hashes)
		}
		f.compared, next = row.Place, row.Place+1
	}
	c.gone(s, next, last)
	return nil
}

// before compares the decisions that are older than the chain with what a migration found.
func (c *check) before(ctx context.Context, s *store.Seal, b *store.Before) error {
	f := &feed{next: b.AfterSeq + 1, to: b.Seq, format: s.Format}
	hashes := b.Hashes
	for _, r := range append(slices.Clone(b.Decisions), [2]int64{b.Seq + 1, b.Seq}) {
		for { // rows in front of the range
			row, err := f.peek(ctx, c.st, s)
			if err != nil {
				return err
			}
			if row == nil || row.Place >= r[0] {
				break
			}
			f.rows = f.rows[1:]
			c.foreign(s, *row, fmt.Sprintf("decision %d was not there when the chain's beginning was written", row.Place))
		}
		n := min((r[1]-r[0]+1)*sha256.Size, int64(len(hashes)))
		if err := c.run(ctx, f, s, r[0]-1, hashes[:n]); err != nil {
			return err
		}
		hashes = hashes[n:]
	}
	return nil
}

// between reports rows at the numbers that an epoch leaves out: no seal is of them.
func (c *check) between(ctx context.Context, s *store.Seal) error {
	for _, x := range []struct {
		table    store.SealTable
		from, to int64
	}{{store.SealDecisions, s.AfterSeq + 1, s.Seq}, {store.SealRevisions, s.AfterRevision + 1, s.Revision - 1}} {
		rows, err := c.st.SealRows(ctx, x.table, s.Format, s.Cluster, x.from, x.to, pageRows)
		if err != nil {
			return err
		}
		for _, row := range rows {
			name := strings.TrimSpace(strconv.FormatInt(row.Place, 10) + " " + row.ID)
			c.r.add(Finding{
				Table: string(x.table), What: Inserted, From: row.Place, To: row.Place, ID: row.ID, Seal: s.Number,
				Detail: fmt.Sprintf("%s %s is in no seal: it stands between two epochs", singular[x.table], name),
			})
		}
	}
	c.feed.skip(s.Seq)
	return nil
}

// feed reads the decisions of a page of seals, which are many small ranges, in few queries.
type feed struct {
	rows     []store.SealRow
	next, to int64 // places to read
	format   int64 // of the rows
	compared int64 // the last place that was compared with a seal
}

// peek returns the first row that was not taken yet, as the seal's format hashes it; nil behind the
// last.
func (f *feed) peek(ctx context.Context, st store.Seals, s *store.Seal) (*store.SealRow, error) {
	if f.format != s.Format {
		f.rows, f.next, f.format = nil, s.AfterSeq+1, s.Format
	}
	if len(f.rows) == 0 && f.next <= f.to {
		rows, err := st.SealRows(ctx, store.SealDecisions, s.Format, s.Cluster, f.next, f.to, pageRows)
		if err != nil {
			return nil, err
		}
		f.rows, f.next = rows, math.MaxInt64
		if len(rows) > 0 {
			f.next = rows[len(rows)-1].Place + 1
		}
	}
	if len(f.rows) == 0 {
		return nil, nil
	}
	return &f.rows[0], nil
}

// skip leaves out the rows up to a place.
func (f *feed) skip(place int64) {
	f.rows = slices.DeleteFunc(f.rows, func(r store.SealRow) bool { return r.Place <= place })
	f.next = max(f.next, place+1)
}

// differs reports a decision that is not what was sealed at its place.
func (c *check) differs(s *store.Seal, row store.SealRow, after int64, hashes []byte) {
	f := Finding{
		Table: string(store.SealDecisions), What: Changed, From: row.Place, To: row.Place, ID: row.ID, Seal: s.Number,
		Detail: fmt.Sprintf("decision %d (%s) is not as it was written", row.Place, row.ID),
	}
	for i := 0; i < len(hashes); i += sha256.Size {
		if len(row.Hash) > 0 && bytes.Equal(row.Hash, hashes[i:i+sha256.Size]) {
			f.What = Moved
			f.Detail = fmt.Sprintf("decision %s stands at place %d and was written at %d", row.ID, row.Place, after+1+int64(i/sha256.Size))
		}
	}
	c.r.add(f)
}

// foreign reports a row that the seal does not have.
func (c *check) foreign(s *store.Seal, row store.SealRow, detail string) {
	c.r.add(Finding{
		Table: string(store.SealDecisions), What: Inserted, From: row.Place, To: row.Place, ID: row.ID, Seal: s.Number, Detail: detail,
	})
}

// gone notes decisions of a seal that are not there, but for those that were taken away on purpose.
func (c *check) gone(s *store.Seal, from, to int64) {
	rs := c.removed[store.SealDecisions]
	for from <= to && len(c.missing) <= maxFindings {
		if end, ok := rs.end(from); ok {
			from = end + 1
			continue
		}
		c.absent(store.SealDecisions, s.Number, from, "")
		from++
	}
}

// absent notes a row that is not there.
func (c *check) absent(table store.SealTable, in, place int64, id string) {
	name := id
	if name == "" {
		name = strconv.FormatInt(place, 10)
	}
	c.missing = append(c.missing, Finding{
		Table: string(table), What: Missing, From: place, To: place, ID: id, Seal: in,
		Detail: fmt.Sprintf("%s %s is gone, and no seal has its removal", singular[table], name),
	})
}

// forgiven reports whether a missing row was taken away on purpose. A checkpoint goes with its
// revision.
func (c *check) forgiven(f Finding) bool {
	switch store.SealTable(f.Table) {
	case store.SealDecisions:
		return c.removed[store.SealDecisions].has(f.From)
	case store.SealGaps:
		return c.removedGaps[f.ID]
	case store.SealRevisions, store.SealCheckpoints:
		return c.removed[store.SealRevisions].has(f.From)
	}
	rs := c.removed[store.SealTable(f.Table)]
	return rs != nil && rs.has(f.From)
}

var singular = map[store.SealTable]string{
	store.SealDecisions: "decision", store.SealRevisions: "revision", store.SealCheckpoints: "the checkpoint of revision", store.SealGaps: "gap",
	store.SealObjects: "what is kept of revision", store.SealClasses: "the change of a priority class",
}

// revisions compares the revisions of a seal with their hashes.
func (c *check) revisions(ctx context.Context, s *store.Seal, hashes map[int64][]byte) error {
	for _, n := range slices.Sorted(maps.Keys(hashes)) {
		rows, err := c.st.SealRows(ctx, store.SealRevisions, s.Format, s.Cluster, n, n, 1)
		if err != nil {
			return err
		}
		if len(rows) == 0 {
			c.absent(store.SealRevisions, s.Number, n, "")
			continue
		}
		c.compare(store.SealRevisions, rows[0], hashes[n])
	}
	return nil
}

// compare compares a row with the hash that was sealed of it.
func (c *check) compare(table store.SealTable, row store.SealRow, want []byte) {
	if bytes.Equal(row.Hash, want) {
		c.r.Rows[table]++
		return
	}
	name := row.ID
	if name == "" {
		name = strconv.FormatInt(row.Place, 10)
	}
	c.r.add(Finding{
		Table: string(table), What: Changed, From: row.Place, To: row.Place, ID: row.ID,
		Detail: fmt.Sprintf("%s %s is not as it was written", singular[table], name),
	})
}

// stored compares what is stored beside the rows of the seals that were checked: checkpoints and
// gaps with their hashes, and nothing behind the last place.
func (c *check) stored(ctx context.Context) error {
	var loose []Finding // rows that no seal so far has
	put := func(table store.SealTable, row store.SealRow) {
		if len(loose) <= maxFindings {
			loose = append(loose, Finding{Table: string(table), What: Inserted, From: row.Place, To: row.Place, ID: row.ID})
		}
	}
	seq, newest := max(c.at.Seq, c.r.BeforeSeq), max(c.at.Newest, c.r.BeforeRevision)
	for _, x := range []struct {
		table    store.SealTable
		from, to int64
	}{
		{store.SealDecisions, math.MinInt64, 0}, {store.SealDecisions, seq + 1, math.MaxInt64}, {store.SealRevisions, newest + 1, math.MaxInt64},
	} {
		rows, err := c.st.SealRows(ctx, x.table, store.SealFormat, c.r.Cluster, x.from, x.to, pageRows)
		if err != nil {
			return err
		}
		for _, row := range rows {
			put(x.table, row)
		}
	}
	for next := int64(0); ; {
		rows, err := c.st.SealRows(ctx, store.SealCheckpoints, store.SealFormat, c.r.Cluster, next, math.MaxInt64, pageRows)
		if err != nil {
			return err
		}
		if len(rows) == 0 {
			break
		}
		for _, row := range rows {
			next = row.Place + 1
			if want, ok := c.checkpoints[row.Place]; ok {
				c.compare(store.SealCheckpoints, row, want)
				delete(c.checkpoints, row.Place)
			} else if row.Place > c.r.BeforeRevision || c.began {
				put(store.SealCheckpoints, row)
			}
		}
	}
	for next := int64(0); c.began && next <= c.r.BeforeRevision; {
		rows, err := c.st.SealRows(ctx, store.SealRevisions, store.SealFormat, c.r.Cluster, next, c.r.BeforeRevision, pageRows)
		if err != nil {
			return err
		}
		if len(rows) == 0 {
			break
		}
		for _, row := range rows {
			if next = row.Place + 1; !c.older.has(row.Place) {
				put(store.SealRevisions, row)
			}
		}
	}
	rows, err := c.st.SealRows(ctx, store.SealGaps, store.SealFormat, c.r.Cluster, 0, 0, 0)
	if err != nil {
		return err
	}
	for _, row := range rows {
		if want, ok := c.gaps[row.ID]; ok {
			c.compare(store.SealGaps, row, want)
			delete(c.gaps, row.ID)
		} else if c.began || c.r.BeforeSeq == 0 && c.r.BeforeRevision == 0 { // else it may be older than the chain
			put(store.SealGaps, row)
		}
	}
	if err := c.looseNumbered(ctx, put); err != nil {
		return err
	}
	for n := range c.checkpoints {
		c.absent(store.SealCheckpoints, 0, n, "")
	}
	for id := range c.gaps {
		c.absent(store.SealGaps, 0, 0, id)
	}
	return c.unsealed(ctx, loose)
}

// unsealed reports rows that no seal has, but for those that writers have added since.
func (c *check) unsealed(ctx context.Context, loose []Finding) error {
	if len(loose) == 0 {
		return nil
	}
	var decisions, revisions ranges
	checkpoints, gaps := map[int64]bool{}, map[string]bool{}
	rest := map[store.SealTable]map[int64]bool{}
	for after := c.at.Number; ; {
		page, err := c.st.ListSeals(ctx, c.r.Cluster, after, pageSeals, false)
		if err != nil {
			return err
		}
		if len(page) == 0 {
			break
		}
		for _, s := range page {
			after = s.Number
			decisions.add([][2]int64{{s.AfterSeq + 1, s.Seq}})
			revisions.add([][2]int64{{s.AfterRevision + 1, s.Revision}})
			items, err := itemsOf(s)
			if err != nil {
				continue
			}
			for n := range items.Checkpoints {
				checkpoints[n] = true
			}
			for id := range items.Gaps {
				gaps[id] = true
			}
			for table, hashes := range items.Rows {
				if rest[table] == nil {
					rest[table] = map[int64]bool{}
				}
				for n := range hashes {
					rest[table][n] = true
				}
			}
		}
	}
	for _, f := range loose {
		table := store.SealTable(f.Table)
		name := f.ID
		if table != store.SealGaps {
			name = strings.TrimSpace(strconv.FormatInt(f.From, 10) + " " + f.ID)
		}
		f.Detail = fmt.Sprintf("%s %s is in no seal", singular[table], name)
		since := map[store.SealTable]bool{
			store.SealDecisions: decisions.has(f.From), store.SealRevisions: revisions.has(f.From),
			store.SealCheckpoints: checkpoints[f.From], store.SealGaps: gaps[f.ID],
		}
		if rest[table][f.From] {
			continue
		}
		// Of the other tables only a check of the whole chain knows all that are sealed.
		if !since[table] && (c.o.After == 0 && !c.cut || table == store.SealDecisions || table == store.SealRevisions) {
			c.r.add(f)
		}
	}
	return nil
}
