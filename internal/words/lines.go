package words

import (
	"strings"

	"github.com/rivo/uniseg"
)

// Columns is how many columns of a terminal a text takes.
func Columns(s string) int { return uniseg.StringWidth(s) }

// Dots stand for what was cut.
const Dots = "..."

// Fit cuts a text to at most width columns; what was cut ends in dots.
func Fit(s string, width int) string {
	if Columns(s) <= width {
		return s
	}
	head, _ := Split(s, max(width-len(Dots), 0))
	return strings.TrimRight(head, " ") + Dots[:min(len(Dots), width)]
}

// Split takes up to width columns off a text, at least one character.
func Split(s string, width int) (head, rest string) {
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

// joints are where a word may be broken that no line holds.
const joints = "/-.,:=_|"

// breakWord takes up to width columns off a word: to its last joint, unless that leaves less than
// half of the line.
func breakWord(s string, width int) (head, rest string) {
	head, rest = Split(s, width)
	if at := strings.LastIndexAny(head, joints) + 1; rest != "" && at < len(head) && Columns(head[:at]) > width/2 {
		return s[:at], s[at:]
	}
	return head, rest
}

// Wrap breaks a text into lines of at most width columns, at spaces where it can.
func Wrap(s string, width int) []string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(s) {
		if line != "" && Columns(line)+1+Columns(word) <= width {
			line += " " + word
			continue
		}
		if line != "" {
			lines = append(lines, line)
		}
		for Columns(word) > width {
			var head string
			head, word = breakWord(word, width)
			lines = append(lines, head)
		}
		line = word
	}
	if line != "" {
		lines = append(lines, line)
	}
	return lines
}
