package seal

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"

	"berth/internal/store"
	"berth/internal/store/lists"
)

// What a seal covers of the other tables, in the order of their INSERTs.
const (
	RevisionColumns   = "cluster, number, token, parent_token, created_at, digest, cause, change, summary, asked_by, peer, request_id"
	CheckpointColumns = "cluster, number, payload"
	GapColumns        = "cluster, id, since, until, lost, cause, instance"
	ObjectColumns     = "cluster, revision, place, changes, action, kind, namespace, name, uid, node, changed, cause, asked_by, created_at"
	ClassColumns      = "cluster, seq, action, name, old_value, new_value, old_policy, new_policy, old_global_default, new_global_default, source, revision, asked_by, peer, request_id, created_at"
)

// Table is one whose rows seals have by number (store.SealItems.Rows): its line here is all that
// hashing, checking and beginning a chain take.
type Table struct {
	Name    store.SealTable
	Number  string // the column
	Order   string // of the rows that share a number; "": none do
	Columns string
	// Stays reports whether the rows outlive their cluster.
	Stays bool
}

// Tables are those tables.
var Tables = []Table{
	{Name: store.SealObjects, Number: "revision", Order: "place", Columns: ObjectColumns},
	{Name: store.SealClasses, Number: "seq", Columns: ClassColumns, Stays: true},
}

// stampNames are the columns of a decision's stamp, in the order of lists.Stamp.
var stampNames = [...]string{"profile", "profile_digest", "engine", "semantics", "plugins"}

// covered reports whether the hash of a decision covers a column of lists.Stored: those that the
// format has, but for the number of the stamp and the place, which the seal gives it.
func covered(c *store.Column, format int64) bool {
	return c.Kind != store.Stamp && c.Kind != store.Place && int64(c.Since) <= format
}

// decision returns the hash of a decision, of the values of lists.Stored and its stamp.
func (h *Hasher) decision(format int64, stored []any, stamp lists.Stamp) ([sha256.Size]byte, error) {
	h.begin(string(store.SealDecisions))
	for i := range lists.Stored {
		c := &lists.Stored[i]
		if !covered(c, format) {
			continue
		}
		if !h.add(stored[i]) {
			return [sha256.Size]byte{}, fmt.Errorf("decision: column %s is %T", c.Name, stored[i])
		}
	}
	for _, v := range stamp.Columns() {
		h.text(v)
	}
	return h.end(), nil
}

// Query is the SELECT of a table's rows, up to WHERE: the place, the id, and what the hash covers.
type Query struct {
	Select string
	// Place is the column that rows are listed by.
	Place string
	table store.SealTable
	stamp int // values at the end that are the stamp's
	group string
}

// Where returns the rest of the query: the cluster is its first parameter, the limit on rows its
// second, and the places are the third and the fourth. All rows of a place come.
func (q Query) Where() string {
	if q.table == store.SealGaps {
		return " WHERE d.cluster = $1 AND CAST($3 AS bigint) <= CAST($4 AS bigint) ORDER BY d.id LIMIT $2"
	}
	where := " WHERE d.cluster = $1 AND " + q.Place + " BETWEEN $3 AND $4"
	if q.group == "" {
		return where + " ORDER BY " + q.Place + " LIMIT $2"
	}
	place := strings.TrimPrefix(q.Place, "d.")
	return where + " AND " + q.Place + " <= (SELECT max(x." + place + ") FROM (SELECT " + place + " FROM " + string(q.table) +
		" WHERE cluster = $1 AND " + place + " BETWEEN $3 AND $4 ORDER BY " + place + ", " + q.group + " LIMIT $2) x)" +
		" ORDER BY " + q.Place + ", d." + q.group
}

// QueryOf returns the query of a table as a format has it: of columns that are not in its schema
// nothing is read.
func QueryOf(table store.SealTable, format int64) Query {
	switch table {
	case store.SealDecisions:
		columns := make([]string, 0, len(lists.Stored)+len(stampNames))
		for i := range lists.Stored {
			if c := &lists.Stored[i]; covered(c, format) {
				columns = append(columns, "d."+c.Name)
			} else {
				columns = append(columns, "NULL")
			}
		}
		for _, name := range stampNames {
			columns = append(columns, "coalesce(t."+name+", '')")
		}
		return Query{
			Select: "SELECT d.seq, d.id, " + strings.Join(columns, ", ") + " FROM decisions d LEFT JOIN stamps t ON t.id = d.stamp",
			Place:  "d.seq", table: table, stamp: len(stampNames),
		}
	case store.SealRevisions:
		return Query{Select: "SELECT d.number, '', " + RevisionColumns + " FROM revisions d", Place: "d.number", table: table}
	case store.SealCheckpoints:
		return Query{Select: "SELECT d.number, '', " + CheckpointColumns + " FROM checkpoints d", Place: "d.number", table: table}
	case store.SealGaps:
		return Query{Select: "SELECT 0, d.id, " + GapColumns + " FROM decision_gaps d", Place: "d.id", table: table}
	}
	for _, t := range Tables {
		if t.Name == table {
			text := "SELECT d." + t.Number + ", '', " + t.Columns + " FROM " + string(table) + " d"
			return Query{Select: text, Place: "d." + t.Number, table: table, group: t.Order}
		}
	}
	panic("no table " + string(table)) // the names are constants
}

// Reader hashes the rows of a query, row by row.
type Reader struct {
	Query
	Format int64
	// List are the rows so far.
	List   []store.SealRow
	hasher Hasher
	size   int
}

// Full reports whether enough was read for one page.
func (r *Reader) Full() bool { return r.size > store.PageBytes }

// Add takes the values of a row. Rows of one place, which follow one another, are hashed as one.
func (r *Reader) Add(values []any) {
	if r.group == "" {
		row, n := r.row(&r.hasher, r.Format, values)
		r.List = append(r.List, row)
		if r.table != store.SealGaps {
			r.size += n
		}
		return
	}
	place := placeOf(values)
	last := len(r.List) - 1
	if last < 0 || r.List[last].Place != place {
		r.hasher.begin(string(r.table))
		r.List, last = append(r.List, store.SealRow{Place: place}), last+1
	}
	before := len(r.hasher.buf)
	for _, v := range values[2:] {
		if !r.hasher.add(v) {
			r.hasher.buf = append(r.hasher.buf, 0xff) // no column of ours has it: no hash fits
		}
	}
	r.size += len(r.hasher.buf) - before
	sum := r.hasher.end()
	r.List[last].Hash = sum[:]
}

func placeOf(values []any) int64 {
	switch n := values[0].(type) {
	case int64:
		return n
	case int32:
		return int64(n)
	}
	return 0
}

// row returns the row of what the query read, and how many bytes it was. A value that no column of
// ours has leaves the hash empty, so that it differs from every sealed one.
func (q Query) row(h *Hasher, format int64, values []any) (row store.SealRow, size int) {
	row.Place = placeOf(values)
	row.ID, _ = values[1].(string)
	values = values[2:]
	if q.stamp > 0 {
		own := len(values) - q.stamp
		var stamp [len(stampNames)]string
		for i := range stamp {
			stamp[i], _ = values[own+i].(string)
		}
		sum, err := h.decision(format, values[:own], lists.Stamp{
			Profile: stamp[0], ProfileDigest: stamp[1], Engine: stamp[2], Semantics: stamp[3], Plugins: stamp[4],
		})
		if err == nil {
			row.Hash = sum[:]
		}
		return row, len(h.buf)
	}
	row.Hash, _ = h.Sum(string(q.table), values...)
	return row, len(h.buf)
}

// Runs returns the ranges that numbers make, both ends inclusive. It sorts them.
func Runs(numbers []int64) (runs [][2]int64) {
	slices.Sort(numbers)
	for _, n := range numbers {
		if last := len(runs) - 1; last >= 0 && runs[last][1] >= n-1 {
			runs[last][1] = n
			continue
		}
		runs = append(runs, [2]int64{n, n})
	}
	return runs
}
