package wire

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"sync/atomic"

	"berth/internal/jsonscan"
)

// NameTable resolves the node names of a request to the rows of the caller's snapshot.
type NameTable interface {
	// Lookup returns the row of the node called name. predicted is the row of the name before it in
	// the request plus one, 0 for the first: the row to compare first if requests name the nodes in
	// the table's order. name is valid UTF-8 and must not be kept.
	Lookup(name []byte, predicted int) (row int, ok bool)
}

// Names is the NameTable of one snapshot's nodes, and holds each name ready to be written.
// kube-scheduler names nodes in the order of its own tree of zones, not in ours, but always in the
// same one: Names learns after each name which came next and compares that one first the next time.
// It is safe for concurrent use.
type Names struct {
	names []string
	rows  map[string]int32
	// quoted holds the names as JSON strings, one after the other; that of row r is
	// quoted[offsets[r]:offsets[r+1]].
	quoted  []byte
	offsets []int
	// rank is the place of a row when the names are sorted by bytes; rows of equal names share the
	// first one's.
	rank []int32
	// next[p] is the row that last followed row p-1, or came first for p = 0.
	next []atomic.Int32
}

var _ NameTable = (*Names)(nil)

// NewNames makes the table of the nodes whose names are given by row. Of equal names the first row
// is found. Invalid UTF-8 is replaced as in a name that was read from JSON. There can be at most
// 2^31-1 names.
func NewNames(names []string) *Names {
	if len(names) >= math.MaxInt32 {
		panic("wire: too many names")
	}
	t := &Names{
		names:   make([]string, len(names)),
		rows:    make(map[string]int32, len(names)),
		offsets: make([]int, 1, len(names)+1),
		rank:    make([]int32, len(names)),
		next:    make([]atomic.Int32, len(names)+1),
	}
	byName := make([]int32, len(names))
	for i, name := range names {
		name = validUTF8(name)
		t.names[i], byName[i] = name, int32(i)
		if _, ok := t.rows[name]; !ok {
			t.rows[name] = int32(i)
		}
		t.quoted = jsonscan.AppendString(t.quoted, name)
		t.offsets = append(t.offsets, len(t.quoted))
		t.next[i].Store(int32(i))
	}
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

// Len is the number of rows.
func (t *Names) Len() int { return len(t.names) }

// Name is the name of a row.
func (t *Names) Name(row int) string { return t.names[row] }

// Quoted is the name of a row as a JSON string, quotes included. It must not be changed.
func (t *Names) Quoted(row int) []byte { return t.quoted[t.offsets[row]:t.offsets[row+1]] }

// Lookup implements NameTable.
func (t *Names) Lookup(name []byte, predicted int) (int, bool) {
	if guess, ok := t.guess(predicted); ok && t.names[guess] == string(name) {
		return guess, true
	}
	row, ok := t.rows[string(name)]
	if ok {
		t.learn(predicted, row)
	}
	return int(row), ok
}

// guess is the row that is expected after the row predicted-1.
func (t *Names) guess(predicted int) (int, bool) {
	if uint(predicted) >= uint(len(t.next)) {
		return 0, false
	}
	row := int(t.next[predicted].Load())
	return row, row < len(t.names)
}

func (t *Names) learn(predicted int, row int32) {
	if uint(predicted) < uint(len(t.next)) {
		t.next[predicted].Store(row)
	}
}

// match recognises the guessed name in its quoted form at the start of b, without looking for its
// end. Equal literals are equal strings, so nothing has to be unescaped.
func (t *Names) match(b []byte, predicted int) (row, size int, ok bool) {
	row, ok = t.guess(predicted)
	if !ok {
		return 0, 0, false
	}
	q := t.Quoted(row)
	if len(b) < len(q) || string(b[:len(q)]) != string(q) {
		return 0, 0, false
	}
	return row, len(q), true
}
