// Package doctor checks what a server depends on and what depends on it: certificates, clocks, and
// kube-scheduler's configuration. It reads what its callers have read; what needs the store is
// checked in cmd/server.
package doctor

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"berth/internal/words"
)

// Level is how much a finding matters.
type Level string

// The levels.
const (
	OK      Level = "ok"
	Warning Level = "warning"
	Problem Level = "problem"
)

// Finding is what one check found.
type Finding struct {
	// Check is one of database, store, disk, clock, apiserver, rights, scheduler, certificate,
	// settings, server, version.
	Check string `json:"check"`
	// Cluster is the followed cluster that it is about.
	Cluster string `json:"cluster,omitempty"`
	Level   Level  `json:"level"`
	Text    string `json:"text"`
	// Remedy is what to do, in one line; empty for what is in order.
	Remedy string `json:"remedy,omitempty"`
}

// Report collects the findings of a check.
type Report struct {
	Check, Cluster string
	Findings       []Finding
}

// Good adds that something is in order.
func (r *Report) Good(format string, args ...any) { r.add(OK, "", format, args...) }

// Warn adds what may be wrong, and what to do about it.
func (r *Report) Warn(remedy, format string, args ...any) { r.add(Warning, remedy, format, args...) }

// Fail adds what is wrong, and what to do about it.
func (r *Report) Fail(remedy, format string, args ...any) { r.add(Problem, remedy, format, args...) }

func (r *Report) add(l Level, remedy, format string, args ...any) {
	r.Findings = append(r.Findings, Finding{r.Check, r.Cluster, l, fmt.Sprintf(format, args...), remedy})
}

// ExitCode returns 2 if there is a problem among the findings, 1 if there is a warning, else 0.
func ExitCode(list []Finding) (code int) {
	for _, f := range list {
		switch f.Level {
		case Problem:
			return 2
		case Warning:
			code = 1
		}
	}
	return code
}

// The columns of Text.
const (
	width  = 80
	indent = 22
)

// Text writes findings for people, in 80 columns, and counts them.
func Text(list []Finding) string {
	var b strings.Builder
	count := map[Level]int{}
	for _, f := range list {
		count[f.Level]++
		text := f.Text
		if f.Cluster != "" {
			text = f.Cluster + ": " + text
		}
		for i, line := range fold(text, width-indent) {
			head := ""
			if i == 0 {
				head = fmt.Sprintf("%-9s%s", f.Level, f.Check)
			}
			fmt.Fprintf(&b, "%-*s%s\n", indent, head, line)
		}
		mark := "->"
		for _, line := range fold(f.Remedy, width-indent-3) {
			fmt.Fprintf(&b, "%*s%-3s%s\n", indent, "", mark, line)
			mark = ""
		}
	}
	fmt.Fprintf(&b, "%d ok, %s, %s\n", count[OK], words.Plural(count[Warning], "warning"), words.Plural(count[Problem], "problem"))
	return b.String()
}

// fold breaks a text into lines at spaces, and words that are longer than a line anywhere.
func fold(text string, width int) (lines []string) {
	line := ""
	for _, word := range strings.Fields(text) {
		for utf8.RuneCountInString(word) > width {
			if line != "" {
				lines, line = append(lines, line), ""
			}
			head := string([]rune(word)[:width])
			lines, word = append(lines, head), word[len(head):]
		}
		switch {
		case line == "":
			line = word
		case utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) <= width:
			line += " " + word
		default:
			lines, line = append(lines, line), word
		}
	}
	if line != "" {
		lines = append(lines, line)
	}
	return lines
}
