package migrations

import (
	"fmt"
	"io"
	"io/fs"
	"maps"
	"regexp"
	"slices"
	"strings"
)

var changedTable = regexp.MustCompile(`(?m)^(CREATE TABLE|DROP TABLE|ALTER TABLE) (?:IF (?:NOT )?EXISTS )?(\w+)(?: RENAME TO (\w+);)?`)

// Script returns all migrations up, one after the other, and the views behind them: what makes the
// newest schema of nothing.
func (d Dialect) Script() (string, error) {
	names, err := fs.Glob(d, "*.up.sql")
	if err != nil {
		return "", err
	}
	slices.Sort(names)
	text := ""
	for _, name := range names {
		f, err := d.Open(name)
		if err != nil {
			return "", err
		}
		part, err := io.ReadAll(f)
		if err != nil {
			return "", fmt.Errorf("read %s: %w", name, err)
		}
		text += string(part) + "\n"
	}
	views, drop, err := d.views() // up to version 10 migrations made views, too
	return text + drop + views, err
}

// Tables returns the names of the newest schema's tables that have a CREATE TABLE of their own, in
// order.
func (d Dialect) Tables() ([]string, error) {
	text, err := d.Script()
	if err != nil {
		return nil, err
	}
	tables := map[string]bool{}
	for _, m := range changedTable.FindAllStringSubmatch(text, -1) {
		switch {
		case m[1] == "CREATE TABLE":
			tables[m[2]] = true
		case m[1] == "DROP TABLE":
			delete(tables, m[2])
		case m[3] != "":
			delete(tables, m[2])
			tables[m[3]] = true
		}
	}
	return slices.Sorted(maps.Keys(tables)), nil
}

var comment = regexp.MustCompile(`--[^\n]*`)

// View is a view of the newest schema.
type View struct {
	Name string
	Text string // its statement, without comments and the semicolon
}

// Views returns the newest schema's views, in the order in which they are made.
func (d Dialect) Views() ([]View, error) {
	text, _, err := d.views()
	if err != nil {
		return nil, err
	}
	var list []View
	found := createView.FindAllStringSubmatchIndex(text, -1)
	for i, at := range found {
		end := len(text)
		if i+1 < len(found) {
			end = found[i+1][0]
		}
		statement, _, _ := strings.Cut(comment.ReplaceAllString(text[at[0]:end], ""), ";")
		list = append(list, View{Name: text[at[2]:at[3]], Text: statement})
	}
	return list, nil
}
