package cli

import (
	"strings"
	"unicode"

	"github.com/rivo/uniseg"
)

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
