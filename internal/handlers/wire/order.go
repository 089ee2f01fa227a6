package wire

import (
	"bytes"
	"hash/maphash"
	"math/bits"
	"sync"

	"berth/internal/jsonscan"
)

// order is an order of a table's names, in which a list of names can be compared and written many
// names at a time.
type order struct {
	// rows are the rows that are found, each once.
	rows []int32
	// text holds `,"name"` for each of rows, one after the other, as a list has it; that of place p
	// is text[ends[p]:ends[p+1]].
	text []byte
	ends []int
	// places are the places in rows, by row.
	places []int32
	// slots are the places plus one by the hashes of their texts, in a table that is at most half
	// full; 64 less shift bits of a hash are an index. Of a map more memory would be read.
	slots []uint32
	shift int
}

// hashSeed is of the hashes of names, so that no client can choose names of one hash.
var hashSeed = maphash.MakeSeed()

// ordered makes an order of the rows of a list, and behind them the table's others.
func (t *Names) ordered(list []int32) *order {
	n := len(t.names)
	o := &order{rows: make([]int32, 0, n), ends: make([]int, 1, n+1), places: make([]int32, n)}
	added := make([]bool, n)
	add := func(row int32) {
		if row < 0 || added[row] {
			return
		}
		added[row], o.places[row] = true, int32(len(o.rows))
		o.rows = append(o.rows, row)
		o.text = jsonscan.AppendString(append(o.text, ','), t.names[row])
		o.ends = append(o.ends, len(o.text))
	}
	for _, row := range list {
		add(row)
	}
	for row, name := range t.names {
		if first, ok := t.rows[name]; ok && first == int32(row) {
			add(first)
		}
	}
	o.shift = 63 - bits.Len(uint(len(o.rows)))
	o.slots = make([]uint32, 1<<(64-o.shift))
	for place := range o.rows {
		at := maphash.Bytes(hashSeed, o.span(place, 1)) >> o.shift
		for o.slots[at] != 0 {
			at = (at + 1) & uint64(len(o.slots)-1)
		}
		o.slots[at] = uint32(place + 1)
	}
	return o
}

// current returns the order that was learned last; nil without a table.
func (t *Names) current() *order {
	if t == nil {
		return nil
	}
	return t.order.Load()
}

// lastList is the last list of names that came in an order that its table did not foresee.
// kube-scheduler's filters take nodes in another order for each pod, and it calls twice with the
// same one. Its memory is used for each list again.
type lastList struct {
	mu     sync.Mutex
	text   []byte  // guarded by mu: from the first quote to the last; empty: there is none
	rows   []int32 // guarded by mu
	breaks int     // guarded by mu: how many names came otherwise than foreseen
}

// again appends the rows of the list to dst where text begins with it and it has no more names than
// most, and returns how many bytes they are, and how many came otherwise than foreseen.
func (l *lastList) again(dst []int32, text []byte, most int) (rows []int32, size, breaks int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.text) == 0 || len(l.rows) > most || !bytes.HasPrefix(text, l.text) {
		return dst, 0, 0
	}
	return append(dst, l.rows...), len(l.text), l.breaks
}

// set keeps a list instead; none where text is empty.
func (l *lastList) set(text []byte, rows []int32, breaks int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.text, l.rows, l.breaks = append(l.text[:0], text...), append(l.rows[:0], rows...), breaks
}

// learn makes the order of a list the table's, where the table's helped little to read it. Lists
// that never come in the same order are not learned each time: the 1st, 2nd, 4th, 8th is. The
// others are kept until the next comes. text is the list's from the first name on.
func (t *Names) learn(args *FilterArgs, breaks int, text []byte) {
	if breaks <= len(args.Rows)/8 {
		return
	}
	n := t.unforeseen.Add(1)
	if n&(n-1) == 0 {
		t.order.Store(t.ordered(args.Rows))
		t.last.set(nil, nil, 0)
		return
	}
	// Of names that are all known and not much white space, or the list is larger than the table.
	if text = text[:bytes.LastIndexByte(text, '"')+1]; len(args.Unknown) == 0 && len(text) <= len(t.order.Load().text) {
		t.last.set(text, args.Rows, breaks)
	}
}

// other returns the place of the name at the beginning of text, a comma before it, and how many
// bytes they are; none where it is no name of the order, or is not written as there.
func (o *order) other(text []byte) (place, size int) {
	if len(text) < 2 || text[1] != '"' {
		return 0, 0
	}
	size = bytes.IndexByte(text[2:], '"') + len(`,""`)
	for at := maphash.Bytes(hashSeed, text[:size]) >> o.shift; ; at = (at + 1) & uint64(len(o.slots)-1) {
		place := int(o.slots[at]) - 1
		if place < 0 {
			return 0, 0
		}
		if name := o.span(place, 1); len(name) == size && string(name) == string(text[:size]) {
			return place, size
		}
	}
}

// after returns the place behind another one: after the last name the first is expected.
func (o *order) after(place int) int {
	if place++; place == len(o.rows) {
		return 0
	}
	return place
}

// quoted returns the name of a row as a JSON string, quotes included.
func (o *order) quoted(row int32) []byte { return o.span(int(o.places[row]), 1)[1:] }

// span returns the names of n places, a comma before each.
func (o *order) span(place, n int) []byte { return o.text[o.ends[place]:o.ends[place+n]] }

// read compares the names at the beginning of text, a comma before each, with those from a place
// on. It returns how many are the same, most at the most, and how many bytes they are. Each time it
// compares more of them at once, and fewer again where they differ.
func (o *order) read(text []byte, place, most int) (names, size int) {
	grow := true
	for n := 1; n > 0 && names < most; {
		n = min(n, most-names, len(o.rows)-place)
		if n == 0 {
			break
		}
		span := o.span(place, n)
		if len(text)-size < len(span) || string(text[size:size+len(span)]) != string(span) {
			n, grow = n/4, false
			continue
		}
		names, size, place = names+n, size+len(span), place+n
		if grow {
			n *= 4
		}
	}
	return names, size
}
