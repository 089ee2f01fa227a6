package main

import (
	"fmt"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
)

// line is what is known of the declarations that a glob names.
type line struct {
	row, glob, why string
	number         int
	names          *regexp.Regexp
}

// known are the lines of a file, in order: the first that fits counts.
type known []line

// none is the row of what no answer differs by.
const none = "none"

// rowNames finds the rows of a document's tables.
var rowNames = regexp.MustCompile(`(?m)^\| ([A-Z][0-9]+)(?:–([A-Z][0-9]+))? \|`)

// readKnown reads a file of lines: rows of the document, or none, then a glob of names, then what
// it does or why no answer differs; fields end with " | ". A star stands for any text.
func readKnown(file, doc string) (known, error) {
	rows, err := readRows(doc)
	if err != nil {
		return nil, err
	}
	text, err := os.ReadFile(file)
	if os.IsNotExist(err) {
		return nil, nil // all that differs is to do
	}
	if err != nil {
		return nil, err
	}
	var out known
	for i, l := range strings.Split(string(text), "\n") {
		if l == "" || strings.HasPrefix(l, "#") {
			continue
		}
		f := strings.Split(l, " | ")
		if len(f) != 3 || strings.TrimSpace(f[2]) == "" {
			return nil, fmt.Errorf("%s:%d: want three fields: rows or none, names, what it does or why no answer differs", path.Base(file), i+1)
		}
		for _, row := range strings.Fields(f[0]) {
			if row != none && !slices.Contains(rows, row) {
				return nil, fmt.Errorf("%s:%d: %s has no row %s", path.Base(file), i+1, doc, row)
			}
		}
		glob := strings.TrimSpace(f[1])
		names := regexp.MustCompile("^" + strings.ReplaceAll(regexp.QuoteMeta(glob), `\*`, ".*") + "$")
		out = append(out, line{strings.TrimSpace(f[0]), glob, strings.TrimSpace(f[2]), i + 1, names})
	}
	return out, nil
}

// readRows lists the rows of a document's tables.
func readRows(doc string) (list []string, err error) {
	text, err := os.ReadFile(doc)
	if err != nil {
		return nil, err
	}
	for _, m := range rowNames.FindAllStringSubmatch(string(text), -1) {
		list = append(list, m[1])
		for m[2] != "" && list[len(list)-1] != m[2] && len(list) < 1000 {
			var n int
			last := list[len(list)-1]
			if _, err := fmt.Sscan(last[1:], &n); err != nil {
				return nil, err
			}
			list = append(list, fmt.Sprintf("%s%d", last[:1], n+1))
		}
	}
	return list, nil
}

// of returns the line about a name; nil where there is none.
func (k known) of(name string) *line {
	for i := range k {
		if k[i].names.MatchString(name) {
			return &k[i]
		}
	}
	return nil
}

func sortedKeys(m map[string]int) []string {
	var list []string
	for k := range m {
		list = append(list, k)
	}
	slices.Sort(list)
	return list
}
