package cli

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"berth/internal/engine/explain/suggest"
	"berth/internal/handlers/web"
	"berth/internal/words"
)

// page collects what a command shows. No line of it is longer than its width,
// unless it is wide.
type page struct {
	entries []entry
	out     bytes.Buffer // the entries, written out
	width   int
	wide    bool
	paint   paint
	cuts    int // cells of tables that were cut
	// nodes are names of nodes in texts of tables; marks say in a word what is wrong with some.
	nodes []string
	marks map[string]string
	// noBudgets reports whether nothing is known of disruption budgets.
	noBudgets bool
}

func (a *app) page() *page {
	return &page{width: a.width(), wide: a.o.output == formWide, paint: a.paint()}
}

// line writes a line, or as many as it needs.
func (p *page) line(format string, args ...any) { p.text(fmt.Sprintf(format, args...)) }

// raw writes a line that is short enough, and may hold colours.
func (p *page) raw(text string) {
	p.entries = append(p.entries, entry{text: strings.TrimRight(text, " ")})
}

// gap writes an empty line, but never two, nor one at the beginning.
func (p *page) gap() {
	if n := len(p.entries); n > 0 && p.entries[n-1] != (entry{}) {
		p.entries = append(p.entries, entry{})
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

// warnings writes what an API server or the answer warns of, each a paragraph.
func (p *page) warnings(list []string) {
	for _, text := range list {
		p.labelled("WARNING", text)
	}
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
	text := strings.TrimRight(p.String(), "\n") + "\n"
	if p.cuts > 0 {
		verb := "were"
		if p.cuts == 1 {
			verb = "was"
		}
		text += "(" + cells(p.cuts) + " " + verb + " cut: -o wide shows all)\n"
	}
	_, err := io.WriteString(a.Out, text)
	return err
}

// entry is a line of a page, or a table.
type entry struct {
	text  string
	table *table
}

// String returns all that a page holds.
func (p *page) String() string {
	p.out.Reset()
	p.cuts = 0
	suffix, told := p.suffix(), false
	for _, e := range p.entries {
		if e.table == nil {
			p.out.WriteString(e.text)
			p.out.WriteByte('\n')
			continue
		}
		if suffix != "" && e.table.without(suffix) && !told {
			told = true
			for _, l := range p.lines("Nodes are *"+suffix, 0) {
				p.out.WriteString(l + "\n")
			}
		}
		p.write(e.table)
	}
	return p.out.String()
}

// suffix returns the common end of the nodes' names on a page, where they have no room in a table.
func (p *page) suffix() string {
	names, narrow := slices.DeleteFunc(slices.Clone(p.nodes), func(name string) bool { return name == "" }), false
	for _, e := range p.entries {
		if e.table == nil {
			continue
		}
		names = append(names, e.table.nodesOf()...)
		total := -columnGap
		for _, w := range e.table.widths() {
			total += w + columnGap
		}
		narrow = narrow || total > p.width
	}
	if p.wide || !narrow {
		return ""
	}
	return words.Suffix(names)
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
	text := word + "  " + about
	lines := []string{text}
	if columns(text) > p.width {
		lines = wrap(word+" "+about, p.width)
		text = lines[0]
	}
	below := lines[1:]
	if beside != "" {
		if len(below) == 0 && columns(text)+3+columns(beside) <= p.width {
			text += "   " + beside
		} else {
			below = append(below, beside)
		}
	}
	if id != "" {
		if room := p.width - columns(text) - columns(id); len(below) == 0 && room >= 2 {
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

// wrapCommand breaks a shell command into lines of at most width columns that a
// shell reads as one: each but the last ends in a backslash.
func wrapCommand(list []string, width int) []string {
	var lines []string
	line := ""
	for _, word := range list {
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
			head, line = words.Split(line, width-1)
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
	// columns, fit and wrap are of texts on a terminal.
	columns = words.Columns
	fit     = words.Fit
	wrap    = words.Wrap
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

// pageCommands have a page in the explorer, which -o html writes.
var pageCommands = []string{"explain", "pending", "queue", "capacity", "fit", "drain", "lose", "pools", "simulate", "compare"}

// hasPage refuses -o html of a command that no page is about.
func (a *app) hasPage(cmd *cobra.Command) error {
	if a.o.output != formHTML {
		return nil
	}
	cut := func(name string) bool { f := cmd.Flags().Lookup(name); return f != nil && f.Changed }
	if !slices.Contains(pageCommands, cmd.Name()) || cmd.Name() == "explain" && (cut("node") || cut("all") || cut("next")) {
		return &problem{what: "-o html: no page is about this", next: "It is for " + strings.Join(pageCommands, ", ") + "; explain without --node, --all and --next."}
	}
	a.line = cmd.CommandPath()
	for _, arg := range cmd.Flags().Args() {
		a.line += " " + words.Quote(arg)
	}
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if !strings.Contains(f.Name, "token") { // the file is passed on
			a.line += " --" + f.Name + "=" + words.Quote(f.Value.String())
		}
	})
	return nil
}

// html writes the explorer's page about an answer as one file.
func (a *app) html(gaps *gaps, answer any) error {
	notes := &page{wide: true}
	notes.gaps(gaps)
	file := &web.File{Command: a.line, Version: a.version.Version, Server: a.o.server, Now: a.Now().UTC()}
	if a.o.server != "" {
		file.Cluster, _, _ = strings.Cut(a.o.cluster, "@")
	}
	if text := strings.TrimSpace(notes.String()); text != "" {
		file.Notes = strings.Split(text, "\n")
	}
	if gaps != nil {
		file.Absent, file.Source = gaps.kinds, gaps.of+" "+gaps.verb()+" "
	}
	if err := file.Write(a.Out, answer); err != nil {
		return fmt.Errorf("-o html: %w", err)
	}
	return nil
}

// webAnswer is the verdict as a page shows it.
func (v *verdict) webAnswer() *web.PodAnswer {
	out := &web.PodAnswer{}
	if v.told != nil {
		out.Story = &v.told.Story
	}
	if v.got != nil {
		out.Decision = &v.got.Answer
	}
	return out
}

// link names the server's page about what was shown, to a person at a terminal. The parts are path
// elements; a server that has no pages is not linked to.
func (a *app) link(ctx context.Context, s *source, parts ...string) {
	if s.dump != nil || !a.Watched || a.o.output == formJSON || a.o.output == formHTML {
		return
	}
	query := url.Values{"cluster": {s.cluster}}
	if s.older() {
		query = url.Values{"snapshot": {s.snapshot}}
	}
	page := s.client.Base.JoinPath(parts...)
	page.RawQuery = query.Encode()
	req, err := http.NewRequestWithContext(ctx, http.MethodHead, s.client.Base.JoinPath("settings").String(), http.NoBody)
	if err != nil {
		return
	}
	resp, err := s.client.HTTP.Do(req)
	if err != nil {
		return
	}
	_ = resp.Body.Close()
	if resp.StatusCode == http.StatusOK && strings.HasPrefix(resp.Header.Get("Content-Type"), "text/html") {
		fmt.Fprintf(a.Err, "page: %s\n", page)
	}
}
