package internal_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// maxColumns bounds the lines of prose and of comments. A tab counts as four columns.
const (
	maxColumns  = 100
	maxDecision = 40 // lines of a page of docs/decisions
)

// maxLines bounds files of Go code. A longer one holds two subjects.
const maxLines = 400

// unbreakable is a line without a space to break it at: one word, after a bullet or a quote mark.
var unbreakable = regexp.MustCompile(`^\s*([-*>] |\d+\. )*\S+$`)

// tooLong reports whether a line is over the bound and its text could be broken.
func tooLong(line, text string) bool {
	return utf8.RuneCountInString(strings.ReplaceAll(line, "\t", "    ")) > maxColumns && !unbreakable.MatchString(text)
}

// longProse returns the numbers of the lines of a Markdown text that are too long. Tables, code
// blocks and the targets of links keep their length.
func longProse(text string) (at []int) {
	code, n := false, 0
	for line := range strings.Lines(text) {
		n++
		line = strings.TrimRight(line, "\n")
		inner := strings.TrimSpace(line)
		if strings.HasPrefix(inner, "```") {
			code = !code
		}
		link := strings.HasPrefix(inner, "[") && strings.Contains(inner, "]: ")
		if !code && !link && !strings.HasPrefix(inner, "|") && tooLong(line, line) {
			at = append(at, n)
		}
	}
	return at
}

// longComments returns the numbers of the lines of Go code that hold nothing but a comment and are
// too long. Annotations of swag and directives need their line.
func longComments(text string) (at []int) {
	n := 0
	for line := range strings.Lines(text) {
		n++
		line = strings.TrimRight(line, "\n")
		comment, found := strings.CutPrefix(strings.TrimSpace(line), "//")
		directive := found && comment != "" && comment[0] != ' ' && comment[0] != '\t'
		if found && !directive && !strings.HasPrefix(strings.TrimSpace(comment), "@") && tooLong(line, comment) {
			at = append(at, n)
		}
	}
	return at
}

// TestFileLengths holds files of Go code to what a reader takes in at once. Tests may be longer.
func TestFileLengths(t *testing.T) {
	for _, root := range []string{"../internal", "../cmd", "../test", "../tools"} {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			text, err := os.ReadFile(path)
			if n := strings.Count(string(text), "\n"); n > maxLines {
				t.Errorf("%s has %d lines, over %d", strings.TrimPrefix(path, "../"), n, maxLines)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// TestLineLengths holds prose and comments to lines that a terminal and a diff can show.
func TestLineLengths(t *testing.T) {
	pages, err := filepath.Glob("../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"README.md", "CONTRIBUTING.md", "CHANGELOG.md"} {
		pages = append(pages, "../"+name)
	}
	decisions, err := filepath.Glob("../docs/decisions/*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range decisions {
		text, err := os.ReadFile(page)
		if n := strings.Count(string(text), "\n"); err != nil || n > maxDecision {
			t.Errorf("%s has %d lines, want at most %d (%v)", page, n, maxDecision, err)
		}
	}
	notes, err := filepath.Glob("../api/notes/*.md")
	if err != nil {
		t.Fatal(err)
	}
	pages = slices.Concat(pages, decisions, notes)
	check := func(path string, long func(string) []int) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range long(string(text)) {
			t.Errorf("%s:%d is over %d columns", strings.TrimPrefix(path, "../"), n, maxColumns)
		}
	}
	for _, page := range pages {
		check(page, longProse)
	}
	for _, root := range []string{"../internal", "../cmd", "../test", "../migrations", "../deploy"} {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() && strings.HasSuffix(path, ".go") {
				check(path, longComments)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

func TestTooLong(t *testing.T) {
	words, word := strings.Repeat("ten chars ", 11), strings.Repeat("x", 120)
	for line, want := range map[string]bool{
		words: true, "\t" + words: true, word: false, "- " + word: false, "- a " + word: true, words[:100]: false, "\t" + words[:97]: true,
	} {
		if got := tooLong(line, line); got != want {
			t.Errorf("tooLong(%q) = %v, want %v", line, got, want)
		}
	}
	prose := "short\n```\n" + words + "\n```\n| " + words + " |\n[a]: " + words + "\n" + words + "\n"
	if at := longProse(prose); len(at) != 1 || at[0] != 7 {
		t.Errorf("longProse finds lines %v, want 7 alone", at)
	}
	code := "//go:build " + words + "\n//\t@Param " + words + "\nvar a = 1 // " + words + "\n\t// " + words + "\n"
	if at := longComments(code); len(at) != 1 || at[0] != 4 {
		t.Errorf("longComments finds lines %v, want 4 alone", at)
	}
}
