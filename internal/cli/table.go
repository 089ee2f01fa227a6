package cli

import (
	"strings"
)

// table is rows under a head. Where it is wider than the page, the column give is cut first, then
// the widest others, and name last: a reader cannot use rows that are all called
// kube-system/node...
type table struct {
	head  []string
	right []bool // numbers stand to the right
	give  int
	name  int // the first column unless told
	rows  [][]string
	// omitted counts rows that were left out before; foot is below all others.
	omitted int
	foot    []string
	// folds reports whether what the column give has no room for goes on in the next
	// line, up to foldsAt lines, where others are cut.
	folds bool
	// colours, where not nil, is the colour of a row's cell; "" for none.
	colour func(row, column int) colour
}

// none stands for no column that is cut before the others.
const none = -1

// columnGap stands between columns.
const columnGap = 2

// narrowest is what a column keeps of itself when it is cut.
const narrowest = 6

func newTable(give int, head ...string) *table {
	t := &table{give: give, right: make([]bool, len(head))}
	for i, h := range head {
		if n, ok := strings.CutPrefix(h, ">"); ok {
			h, t.right[i] = n, true
		}
		t.head = append(t.head, h)
	}
	return t
}

func (t *table) add(cells ...string) {
	row := make([]string, len(t.head))
	for i := range row {
		if i < len(cells) {
			row[i] = clean(cells[i])
		}
	}
	t.rows = append(t.rows, row)
}

// rowsShown is how many rows a table of a page has unless it is wide.
const rowsShown = 20

// list writes a table with a gap before it, unless it is empty.
func (p *page) list(t *table, what string) {
	if len(t.rows) > 0 || t.foot != nil {
		p.gap()
		p.first(t, what)
	}
}

// first writes the rows of a table that a page shows, and how many of what it leaves out.
func (p *page) first(t *table, what string) {
	if !p.wide && len(t.rows) > rowsShown {
		t.omitted += len(t.rows) - rowsShown
		t.rows = t.rows[:rowsShown]
	}
	if t.foot != nil {
		t.add(t.foot...)
	}
	p.table(t)
	p.left(t.omitted, what)
}

// left reports that rows were left out.
func (p *page) left(n int, what string) {
	if n > 0 {
		p.line("and %s more %s: -o wide", count(n), what)
	}
}

// table writes a table out.
func (p *page) table(t *table) {
	widths := t.widths()
	if !p.wide {
		t.shrink(widths, p.width)
	}
	p.row(t, widths, t.head, nil)
	for r, row := range t.rows {
		for i, line := range t.fold(row, widths) {
			p.row(t, widths, line, func(c int) colour {
				if t.colour == nil || i > 0 {
					return ""
				}
				return t.colour(r, c)
			})
		}
	}
}

// foldsAt is how many lines a row has at most.
const foldsAt = 4

// fold breaks a row whose long cell may go on in the next line.
func (t *table) fold(row []string, widths []int) [][]string {
	if !t.folds {
		return [][]string{row}
	}
	width := widths[t.give]
	if columns(row[t.give]) <= width || width < 2*narrowest {
		return [][]string{row}
	}
	parts := wrap(row[t.give], width)
	if len(parts) > foldsAt {
		parts = append(parts[:foldsAt-1], strings.Join(parts[foldsAt-1:], " "))
	}
	var out [][]string
	for i, part := range parts {
		line := make([]string, len(row))
		if i == 0 {
			copy(line, row)
		}
		line[t.give] = part
		out = append(out, line)
	}
	return out
}

// widths are those of the longest cells.
func (t *table) widths() []int {
	widths := make([]int, len(t.head))
	for _, row := range append([][]string{t.head}, t.rows...) {
		for i, cell := range row {
			widths[i] = max(widths[i], columns(cell))
		}
	}
	return widths
}

// shrink makes columns narrower until the table fits a width.
func (t *table) shrink(widths []int, width int) {
	total := columnGap * (len(widths) - 1)
	for _, w := range widths {
		total += w
	}
	if t.give != none {
		least := max(columns(t.head[t.give]), 2*narrowest)
		if over := total - width; over > 0 && widths[t.give] > least {
			cut := min(over, widths[t.give]-least)
			widths[t.give] -= cut
			total -= cut
		}
	}
	for total > width {
		at := t.widest(widths)
		if widths[at] <= 1 {
			return
		}
		widths[at]--
		total--
	}
}

// widest returns the column to cut: not the name while any other is wider than
// narrowest.
func (t *table) widest(widths []int) int {
	all, others := 0, -1
	for i, w := range widths {
		if w > widths[all] {
			all = i
		}
		if i != t.name && w > narrowest && (others < 0 || w > widths[others]) {
			others = i
		}
	}
	if others >= 0 && t.name != t.give {
		return others
	}
	return all
}

func (p *page) row(t *table, widths []int, cells []string, colours func(int) colour) {
	var b strings.Builder
	for i, cell := range cells {
		if i > 0 {
			b.WriteString(strings.Repeat(" ", columnGap))
		}
		if columns(cell) > widths[i] {
			cell = fit(cell, widths[i])
			p.cuts++
		}
		pad := strings.Repeat(" ", max(widths[i]-columns(cell), 0))
		if colours != nil {
			if c := colours(i); c != "" {
				cell = p.paint.word(c, cell)
			}
		}
		switch {
		case t.right[i]:
			b.WriteString(pad + cell)
		case i == len(cells)-1:
			b.WriteString(cell)
		default:
			b.WriteString(cell + pad)
		}
	}
	p.raw(b.String())
}
