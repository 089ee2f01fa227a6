package cli

import (
	"bytes"
	"fmt"
	"strings"
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
