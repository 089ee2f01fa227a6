package cli

import (
	"bytes"
	"fmt"
	"strings"
	"time"
	"unicode"

	"github.com/rivo/uniseg"

	"berth/internal/engine/explain/suggest"
	"berth/internal/words"
)

// page collects what a command shows. No line of it is longer than its width,
// unless it is wide.
type page struct {
	out   bytes.Buffer
	width int
	wide  bool
	paint paint
	cuts  int // cells of tables that were cut
	// noBudgets reports whether nothing is known of disruption budgets.
	noBudgets bool
}

func (a *app) page() *page {
	return &page{width: a.width(), wide: a.o.output == formWide, paint: a.paint()}
}

// line writes one line, cut to the width.
func (p *page) line(format string, args ...any) {
	text := clean(fmt.Sprintf(format, args...))
	if !p.wide {
		text = fit(text, p.width)
	}
	p.raw(text)
}

// raw writes a line that is short enough, and may hold colours.
func (p *page) raw(text string) {
	p.out.WriteString(strings.TrimRight(text, " "))
	p.out.WriteByte('\n')
}

// gap writes an empty line, but never two, nor one at the beginning.
func (p *page) gap() {
	if b := p.out.Bytes(); len(b) > 0 && !bytes.HasSuffix(b, []byte("\n\n")) {
		p.out.WriteByte('\n')
	}
}

// text writes a paragraph.
func (p *page) text(s string) {
	for _, l := range p.lines(s, 0) {
		p.raw(l)
	}
}

// lines breaks a text, with room kept for an indentation.
func (p *page) lines(s string, indent int) []string {
	s = clean(s)
	if p.wide {
		return []string{s}
	}
	return wrap(s, p.width-indent)
}

// labelled writes a paragraph with a word of capitals in front.
func (p *page) labelled(label, s string) {
	if s == "" {
		return
	}
	for _, l := range p.lines(s, labelWidth) {
		p.raw(fmt.Sprintf("%-*s%s", labelWidth, label, l))
		label = ""
	}
}

// labelWidth is how far texts behind labels are moved in.
const labelWidth = 8

// commands writes commands to go on with, ready to be copied, behind one label.
func (p *page) commands(list ...[]string) {
	label := "MORE"
	for _, words := range list {
		quoted := make([]string, len(words))
		for i, w := range words {
			quoted[i] = quote(clean(w))
			if i == 0 {
				quoted[i] = clean(w) // the program's own name may be two words
			}
		}
		lines := []string{strings.Join(quoted, " ")}
		if !p.wide {
			lines = wrapCommand(quoted, p.width-labelWidth)
		}
		for i, l := range lines {
			if i > 0 && strings.HasSuffix(lines[i-1], "\\") && !strings.HasSuffix(lines[i-1], " \\") {
				p.raw(l) // the middle of a word
				continue
			}
			p.raw(fmt.Sprintf("%-*s%s", labelWidth, label, l))
			label = ""
		}
	}
}

// end writes the page out. Cuts are told: how many, and how to see the whole.
func (p *page) end(a *app) error {
	if p.cuts > 0 {
		p.out.Truncate(len(bytes.TrimRight(p.out.Bytes(), "\n")) + 1)
		verb := "were"
		if p.cuts == 1 {
			verb = "was"
		}
		p.raw("(" + cells(p.cuts) + " " + verb + " cut: -o wide shows all)")
	}
	_, err := a.Out.Write(append(bytes.TrimRight(p.out.Bytes(), "\n"), '\n'))
	return err
}

// head writes the first line of an answer: the verdict, what it is about, and
// on the right what it can be quoted by. What has no room goes on lines of its
// own.
func (p *page) head(word string, c colour, about, beside, id string) {
	word, about, beside, id = clean(word), clean(about), clean(beside), clean(id)
	if p.wide {
		p.raw(strings.TrimSpace(p.paint.word(c, word) + "  " + about + "   " + beside + "   " + id))
		return
	}
	word = fit(word, p.width/2)
	text := fit(word+"  "+about, p.width)
	var below []string
	if beside != "" {
		if columns(text)+3+columns(beside) <= p.width {
			text += "   " + beside
		} else {
			below = append(below, beside)
		}
	}
	if id != "" {
		if room := p.width - columns(text) - columns(id); room >= 2 {
			text += strings.Repeat(" ", room) + id
		} else {
			below = append(below, id)
		}
	}
	p.raw(p.paint.word(c, word) + strings.TrimPrefix(text, word))
	for _, b := range below {
		p.line("%s", b)
	}
}

// columns is how many columns of a terminal a text takes.
func columns(s string) int { return uniseg.StringWidth(s) }

// clean makes a text that comes from a cluster safe for a line of a terminal:
// no line breaks, no control characters, nothing that turns the direction.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case unicode.IsControl(r), unicode.Is(unicode.Cf, r), r == unicode.ReplacementChar:
			return '?'
		}
		return r
	}, s)
}

const dots = "..."

// fit cuts a text to at most width columns; what was cut ends in dots.
func fit(s string, width int) string {
	if columns(s) <= width {
		return s
	}
	head, _ := split(s, max(width-len(dots), 0))
	return strings.TrimRight(head, " ") + dots[:min(len(dots), width)]
}

// split takes up to width columns off a text, at least one character.
func split(s string, width int) (head, rest string) {
	used, at, state := 0, 0, -1
	for rest = s; rest != ""; {
		var cluster string
		var w int
		cluster, rest, w, state = uniseg.FirstGraphemeClusterInString(rest, state)
		if at > 0 && used+w > width || at == 0 && width <= 0 {
			break
		}
		used += w
		at += len(cluster)
	}
	return s[:at], s[at:]
}

// wrap breaks a text into lines of at most width columns, at spaces where it can.
func wrap(s string, width int) []string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(s) {
		if line != "" && columns(line)+1+columns(word) <= width {
			line += " " + word
			continue
		}
		if line != "" {
			lines = append(lines, line)
		}
		for columns(word) > width {
			var head string
			head, word = split(word, width)
			lines = append(lines, head)
		}
		line = word
	}
	if line != "" {
		lines = append(lines, line)
	}
	return lines
}

// wrapCommand breaks a shell command into lines of at most width columns that a
// shell reads as one: each but the last ends in a backslash.
func wrapCommand(words []string, width int) []string {
	var lines []string
	line := ""
	for _, word := range words {
		switch {
		case line == "":
			line = word
		case columns(line)+1+columns(word)+2 <= width:
			line += " " + word
		default:
			lines = append(lines, line+" \\")
			line = "  " + word
		}
		for columns(line)+2 > width { // one that no line holds goes on at the very beginning of the next
			var head string
			head, line = split(line, width-1)
			lines = append(lines, head+"\\")
		}
	}
	return append(lines, line)
}

// The command line writes numbers as the pages do.
var (
	count  = words.Count
	plural = words.Plural
	span   = words.Span
	clock  = words.Clock
	quote  = words.Quote
	// amounts are of a resource.
	amounts = suggest.Texts
)

// cells is a number of cells of tables.
func cells(n int) string {
	if n == 1 {
		return "1 cell"
	}
	return count(n) + " cells"
}

// ahead writes how far off a time is, in seconds begun.
func ahead(d time.Duration) string { return span(int64((d + time.Second - 1) / time.Second)) }

// offset writes when something happens, in seconds from another time: +5s, or -16m before it.
func offset(seconds int64) string {
	if seconds < 0 {
		return span(seconds)
	}
	return "+" + span(seconds)
}
