package wire

import "berth/internal/jsonscan"

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
}

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
	return o
}

// current returns the order that was learned last; nil without a table.
func (t *Names) current() *order {
	if t == nil {
		return nil
	}
	return t.order.Load()
}

// learn makes the order of a list the table's, where the table's helped little to read it. Lists
// that never come in the same order are not learned each time: the 1st, 2nd, 4th, 8th is.
func (t *Names) learn(list []int32, breaks int) {
	if breaks > len(list)/8 {
		if n := t.unforeseen.Add(1); n&(n-1) == 0 {
			t.order.Store(t.ordered(list))
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
