package cli

import (
	"strings"

	"berth/internal/words"
)

// kind is what a column holds, and so how it is made narrower.
type kind byte

// The kinds of columns, each the first character of a heading: ">POINTS", "~WHY", ".POD", "@NODE".
// What has no room goes on in the next line; only of names the middle is left out, and only where
// each stays another.
const (
	asIs     kind = 0   // a few words, such as a rule or a state
	asNumber kind = '>' // it stands to the right
	asProse  kind = '~' // the answer in words
	asName   kind = '.' // of an object
	asNode   kind = '@' // a node's name, whose common end is left out
)

// nodeIf marks the heading of a column of domains, whose names are those of nodes for some labels.
func nodeIf(key string) string {
	if key == "node" || key == "kubernetes.io/hostname" {
		return "@"
	}
	return "."
}

// table is rows under a head.
type table struct {
	head  []string
	kinds []kind
	rows  [][]string
	// omitted counts rows that were left out before; foot is below all others.
	omitted int
	foot    []string
	// colours, where not nil, is the colour of a row's cell; "" for none.
	colour func(row, column int) colour
}

// columnGap stands between columns.
const columnGap = 2

func newTable(head ...string) *table {
	t := &table{}
	for _, h := range head {
		k := asIs
		if h != "" && strings.Contains(">~.@", h[:1]) {
			k, h = kind(h[0]), h[1:]
		}
		t.head, t.kinds = append(t.head, h), append(t.kinds, k)
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

// table writes a table: at the end, when all names of nodes are known.
func (p *page) table(t *table) {
	for i, k := range t.kinds {
		for _, row := range t.rows {
			if mark := p.marks[row[i]]; k == asNode && mark != "" {
				row[i] += " (" + mark + ")"
			}
		}
	}
	p.entries = append(p.entries, entry{table: t})
}

// nameIn is the name in a cell that may have a mark behind it.
func nameIn(cell string) string {
	name, _, _ := strings.Cut(cell, " (")
	return name
}

// nodesOf are the names of nodes in a table.
func (t *table) nodesOf() []string {
	var out []string
	for i, k := range t.kinds {
		if k != asNode {
			continue
		}
		for _, row := range t.rows {
			if row[i] != "" && !strings.HasPrefix(row[i], "(") && row[i] != "-" && row[i] != noNode {
				out = append(out, nameIn(row[i]))
			}
		}
	}
	return out
}

// without leaves the common end of the nodes' names out, in names and in texts, and reports
// whether there was one.
func (t *table) without(suffix string) bool {
	found := false
	for _, row := range t.rows {
		for i, k := range t.kinds {
			if k == asNumber || k == asIs {
				continue
			}
			short := withoutSuffix(row[i], suffix)
			found = found || short != row[i]
			row[i] = short
		}
	}
	for i, h := range t.head {
		short := withoutSuffix(h, suffix)
		found = found || short != h
		t.head[i] = short
	}
	return found
}

// withoutSuffix cuts an end off the words of a text that have it.
func withoutSuffix(text, suffix string) string {
	var b strings.Builder
	for {
		before, after, found := strings.Cut(text, suffix)
		b.WriteString(before)
		if !found {
			return b.String()
		}
		inName := func(s string, at int) bool {
			return at >= 0 && at < len(s) && (s[at] >= 'a' && s[at] <= 'z' || s[at] >= '0' && s[at] <= '9' || s[at] == '-')
		}
		goesOn := inName(after, 0) || strings.HasPrefix(after, ".") && inName(after, 1)
		if goesOn || !inName(before, len(before)-1) {
			b.WriteString(suffix)
		}
		text = after
	}
}

// layout returns the widths of the columns of a table on a page, and what names become.
func (t *table) layout(width int) (widths []int, short []map[string]string) {
	short = make([]map[string]string, len(t.head))
	widths = t.widths()
	if width == 0 {
		return widths, short
	}
	t.shrink(widths, width)
	for i, k := range t.kinds {
		if k == asName || k == asNode {
			var names []string
			for _, row := range t.rows {
				names = append(names, nameIn(row[i]))
			}
			short[i] = words.Shorten(names, widths[i])
		}
	}
	return widths, short
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

// floors are the widths to which columns are made narrower, one after the other until the table
// fits: texts first, then headings of several words, then names. The last are for tables of which
// little is known but that no line may be too long.
var floors = []struct{ prose, name, head, fixed int }{
	{40, 1 << 20, 1 << 20, 1 << 20},
	{36, 44, 1, 1 << 20},
	{28, 32, 1, 1 << 20},
	{24, 24, 1, 1 << 20},
	{20, 20, 1, 40},
	{16, 16, 1, 32},
	{12, 12, 1, 20},
	{10, 10, 1, 10},
	{1, 1, 0, 1},
}

// shrink makes columns narrower until the table fits a width.
func (t *table) shrink(widths []int, width int) {
	total := columnGap * (len(widths) - 1)
	for _, w := range widths {
		total += w
	}
	for _, f := range floors {
		least := make([]int, len(widths))
		for i, k := range t.kinds {
			switch k {
			case asProse:
				least[i] = max(f.prose, t.longest(i, f.head))
			case asName, asNode:
				least[i] = max(f.name, t.longest(i, f.head))
			case asNumber:
				least[i] = max(t.cells(i)*min(f.head, 1), min(t.longest(i, f.head), f.name))
			default:
				least[i] = max(f.fixed, t.longest(i, f.head))
			}
		}
		for total > width {
			at := -1
			for i, w := range widths {
				if w > max(least[i], 1) && (at < 0 || w > widths[at]) {
					at = i
				}
			}
			if at < 0 {
				break
			}
			widths[at]--
			total--
		}
	}
}

// longest returns the width that a heading needs: its longest word's, or all of it for a great
// least, or nothing for 0.
func (t *table) longest(column, least int) int {
	if least > 1 {
		return columns(t.head[column])
	}
	longest := 0
	for _, word := range strings.Fields(t.head[column]) {
		longest = max(longest, columns(word))
	}
	return longest * least
}

// cells returns the width of the longest cell of a column.
func (t *table) cells(column int) int {
	longest := 0
	for _, row := range t.rows {
		longest = max(longest, columns(row[column]))
	}
	return longest
}

// mostLines is how many lines a row has at most: a container's message may be a log.
const mostLines = 20

// lines breaks a row into as many as its longest cell needs.
func (t *table) lines(p *page, row []string, widths []int, short []map[string]string) [][]string {
	parts, most := make([][]string, len(row)), 1
	for i, cell := range row {
		name := nameIn(cell)
		switch to, is := short[i][name]; {
		case columns(cell) <= widths[i]:
			parts[i] = []string{cell}
		case is:
			if to != name {
				p.cuts++
			}
			parts[i] = append([]string{to}, wrap(cell[len(name):], widths[i])...)
		default:
			parts[i] = wrap(cell, widths[i])
			if len(parts[i]) > mostLines {
				last := fit(strings.Join(parts[i][mostLines-1:], " "), widths[i])
				parts[i] = append(parts[i][:mostLines-1], last)
				p.cuts++
			}
		}
		most = max(most, len(parts[i]))
	}
	out := make([][]string, most)
	for l := range out {
		out[l] = make([]string, len(row))
		for i := range row {
			if l < len(parts[i]) {
				out[l][i] = parts[i][l]
			}
		}
	}
	return out
}

// write appends a table to a page's text.
func (p *page) write(t *table) {
	width := p.width
	if p.wide {
		width = 0
	}
	widths, short := t.layout(width)
	for _, line := range t.lines(p, t.head, widths, make([]map[string]string, len(t.head))) {
		p.row(t, widths, line, nil)
	}
	for r, row := range t.rows {
		for _, line := range t.lines(p, row, widths, short) {
			p.row(t, widths, line, func(c int) colour {
				if t.colour == nil {
					return ""
				}
				return t.colour(r, c)
			})
		}
	}
}

func (p *page) row(t *table, widths []int, cells []string, colours func(int) colour) {
	var b strings.Builder
	for i, cell := range cells {
		if i > 0 {
			b.WriteString(strings.Repeat(" ", columnGap))
		}
		pad := strings.Repeat(" ", max(widths[i]-columns(cell), 0))
		if colours != nil {
			if c := colours(i); c != "" {
				cell = p.paint.word(c, cell)
			}
		}
		switch {
		case t.kinds[i] == asNumber:
			b.WriteString(pad + cell)
		case i == len(cells)-1:
			b.WriteString(cell)
		default:
			b.WriteString(cell + pad)
		}
	}
	p.out.WriteString(strings.TrimRight(b.String(), " "))
	p.out.WriteByte('\n')
}
