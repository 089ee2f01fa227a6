package wire

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"sync/atomic"
)

// NameTable resolves the node names of a request to the rows of the caller's snapshot.
type NameTable interface {
	// Lookup returns the row of the node called name, which is valid UTF-8 and must not be kept.
	Lookup(name []byte) (row int, ok bool)
}

// Names is the NameTable of one snapshot's nodes, and holds each name ready to be written.
// kube-scheduler names nodes in the order of its own tree of zones, not in ours, but always in the
// same one: Names learns that order, and compares many names at once with it. It is safe for
// concurrent use.
type Names struct {
	names []string
	rows  map[string]int32
	order atomic.Pointer[order]
	// unforeseen is how many lists of names came in another order.
	unforeseen atomic.Int64
	// last is the last of them, unless it was learned.
	last lastList
	// rank is the place of a row when the names are sorted by bytes; rows of equal names share the
	// first one's.
	rank []int32
}

var _ NameTable = (*Names)(nil)

// NewNames makes the table of the nodes whose names are given by row. Of equal names the first
// row is found, and a row without a name is not. Invalid UTF-8 is replaced as in a name that was
// read from JSON. There can be at most 2^31-1 names.
func NewNames(names []string) *Names {
	if len(names) >= math.MaxInt32 {
		panic("wire: too many names")
	}
	t := &Names{
		names: make([]string, len(names)),
		rows:  make(map[string]int32, len(names)),
		rank:  make([]int32, len(names)),
	}
	byName := make([]int32, len(names))
	for i, name := range names {
		name = validUTF8(name)
		t.names[i], byName[i] = name, int32(i)
		if _, ok := t.rows[name]; !ok && name != "" {
			t.rows[name] = int32(i)
		}
	}
	t.order.Store(t.ordered(nil))
	slices.SortStableFunc(byName, func(a, b int32) int { return cmp.Compare(t.names[a], t.names[b]) })
	for place, row := range byName {
		t.rank[row] = int32(place)
		if place > 0 && t.names[byName[place-1]] == t.names[row] {
			t.rank[row] = t.rank[byName[place-1]]
		}
	}
	return t
}

// validUTF8 replaces each invalid byte by U+FFFD; strings.ToValidUTF8 would replace a run of them
// by one.
func validUTF8(s string) string {
	var out strings.Builder
	for _, r := range s {
		out.WriteRune(r)
	}
	if out.String() == s {
		return s
	}
	return out.String()
}

// Name is the name of a row.
func (t *Names) Name(row int) string { return t.names[row] }

// Lookup implements NameTable.
func (t *Names) Lookup(name []byte) (int, bool) {
	row, ok := t.rows[string(name)]
	return int(row), ok
}
