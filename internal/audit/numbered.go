package audit

import (
	"bytes"
	"cmp"
	"context"
	"maps"
	"math"
	"slices"

	"berth/internal/store"
	"berth/internal/store/seal"
)

// numbered are the rows of one of seal.Tables as the seals have them.
type numbered struct {
	page   []sealed // of the page of seals at hand
	sealed ranges   // numbers that a seal so far is of
}

// sealed is a number of a table, as a seal has it.
type sealed struct {
	number, seal, format int64
	hash                 []byte
}

// numberedOf returns the rows of a table.
func (c *check) numberedOf(table store.SealTable) *numbered {
	if c.numbered == nil {
		c.numbered = map[store.SealTable]*numbered{}
	}
	if c.numbered[table] == nil {
		c.numbered[table] = &numbered{}
	}
	return c.numbered[table]
}

// noteNumbered takes the rows that a seal is of. What was sealed as it was written counts, not how
// a later look found it.
func (c *check) noteNumbered(s *store.Seal, rows map[store.SealTable]map[int64][]byte, late bool) {
	for table, hashes := range rows {
		n := c.numberedOf(table)
		for number, hash := range hashes {
			if !late || !n.sealed.has(number) {
				n.page = append(n.page, sealed{number, s.Number, s.Format, hash})
			}
		}
		n.sealed.add(seal.Runs(slices.Collect(maps.Keys(hashes))))
	}
}

// compareNumbered compares the rows of a page of seals with what is stored.
func (c *check) compareNumbered(ctx context.Context) error {
	for i := range seal.Tables {
		table := seal.Tables[i].Name
		n := c.numberedOf(table)
		page := n.page
		n.page = nil
		slices.SortFunc(page, func(a, b sealed) int { return cmp.Or(cmp.Compare(a.format, b.format), cmp.Compare(a.number, b.number)) })
		for len(page) > 0 {
			end := slices.IndexFunc(page, func(x sealed) bool { return x.format != page[0].format })
			if end < 0 {
				end = len(page)
			}
			if page[0].format <= store.SealFormat { // else a newer program may have other columns
				if err := c.compareRun(ctx, table, page[:end]); err != nil {
					return err
				}
			}
			page = page[end:]
		}
	}
	return nil
}

// compareRun compares rows of one format, in the order of their numbers.
func (c *check) compareRun(ctx context.Context, table store.SealTable, want []sealed) error {
	var rows []store.SealRow
	next, last := want[0].number, want[len(want)-1].number
	for _, w := range want {
		for next <= w.number && (len(rows) == 0 || rows[len(rows)-1].Place < w.number) {
			var err error
			if rows, err = c.st.SealRows(ctx, table, w.format, c.r.Cluster, max(next, w.number), last, pageRows); err != nil {
				return err
			}
			if next = math.MaxInt64; len(rows) > 0 {
				next = rows[len(rows)-1].Place + 1
			}
		}
		i, ok := slices.BinarySearchFunc(rows, w.number, func(r store.SealRow, n int64) int { return cmp.Compare(r.Place, n) })
		switch {
		case !ok && (len(c.missing) > maxFindings || c.removed[table] != nil && c.removed[table].has(w.number)):
		case !ok:
			c.absent(table, w.seal, w.number, "")
		case bytes.Equal(rows[i].Hash, w.hash):
			c.r.Rows[table]++
		default:
			c.compare(table, rows[i], w.hash)
		}
	}
	return nil
}

// looseNumbered passes the rows that no seal so far has to put, where all seals could be read.
func (c *check) looseNumbered(ctx context.Context, put func(store.SealTable, store.SealRow)) error {
	if c.unread || !c.began && (c.r.BeforeSeq > 0 || c.r.BeforeRevision > 0) {
		return nil
	}
	for i := range seal.Tables {
		table := seal.Tables[i].Name
		from := int64(math.MinInt64)
		for _, r := range append(slices.Clone(c.numberedOf(table).sealed.list), [2]int64{math.MaxInt64, math.MaxInt64}) {
			for from < r[0] {
				rows, err := c.st.SealRows(ctx, table, store.SealFormat, c.r.Cluster, from, r[0]-1, pageRows)
				if err != nil {
					return err
				}
				if len(rows) == 0 {
					break
				}
				for _, row := range rows {
					put(table, row)
				}
				from = rows[len(rows)-1].Place + 1
			}
			from = r[1] + 1
			if r[1] == math.MaxInt64 {
				break
			}
		}
	}
	return nil
}
