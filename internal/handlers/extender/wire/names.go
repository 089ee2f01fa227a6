package wire

import (
	"bytes"
	"cmp"
	"math"
	"slices"
	"strings"
	"sync"

	"berth/internal/jsonscan"
)

// Names resolves the node names of a request to the rows of a snapshot, and holds each name ready
// to be written. It is safe for concurrent use.
type Names struct {
	names []string
	rows  map[string]int32
	// text holds the names as JSON strings, one after the other; that of a row is
	// text[ends[row]:ends[row+1]].
	text []byte
	ends []int
	// last is the list that came last.
	last lastList
	// rank is the place of a row when the names are sorted by bytes; rows of equal names share the
	// first one's.
	rank []int32
}

// lastList is a list of names that all have a row. kube-scheduler calls twice with the same one,
// and without filters of its own always. Its memory is used for each list again.
type lastList struct {
	mu   sync.Mutex
	text []byte  // guarded by mu: from the first quote to the last; empty: there is none
	rows []int32 // guarded by mu
}

// again appends the rows of the list to dst where text begins with it and it has no more names than
// most, and returns how many bytes they are.
func (l *lastList) again(dst []int32, text []byte, most int) (rows []int32, size int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.text) == 0 || len(l.rows) > most || !bytes.HasPrefix(text, l.text) {
		return dst, 0
	}
	return append(dst, l.rows...), len(l.text)
}

// keep keeps a list of known names instead of the last one, if it has not much white space and is
// not longer than one of all names. text is the list's from the first name on.
func (t *Names) keep(text []byte, rows []int32) {
	text = text[:bytes.LastIndexByte(text, '"')+1]
	if len(text) > len(t.text)+len(t.names) {
		return
	}
	l := &t.last
	l.mu.Lock()
	defer l.mu.Unlock()
	l.text, l.rows = append(l.text[:0], text...), append(l.rows[:0], rows...)
}

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
		ends:  make([]int, 1, len(names)+1),
	}
	byName := make([]int32, len(names))
	for i, name := range names {
		name = validUTF8(name)
		t.names[i], byName[i] = name, int32(i)
		t.text = jsonscan.AppendString(t.text, name)
		t.ends = append(t.ends, len(t.text))
		if _, ok := t.rows[name]; !ok && name != "" {
			t.rows[name] = int32(i)
		}
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

// Name is the name of a row.
func (t *Names) Name(row int) string { return t.names[row] }

// Lookup returns the row of a name, which is valid UTF-8. A nil table knows none.
func (t *Names) Lookup(name []byte) (row int, ok bool) {
	if t == nil {
		return 0, false
	}
	at, ok := t.rows[string(name)]
	return int(at), ok
}

// quoted returns the name of a row as a JSON string.
func (t *Names) quoted(row int32) []byte { return t.text[t.ends[row]:t.ends[row+1]] }
