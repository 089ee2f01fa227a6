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

var changedTable = regexp.MustCompile(`(?m)^(CREATE TABLE|DROP TABLE|CREATE INDEX|CREATE UNIQUE INDEX|DROP INDEX) (?:IF (?:NOT )?EXISTS )?(\w+)(?: ON (\w+))?`)

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
	views, _, err := d.views()
	return text + views, err
}

// Tables returns the names of the newest schema's tables that have a CREATE TABLE of their own, and
// of the indexes that have a CREATE INDEX, in order.
func (d Dialect) Tables() (tables, indexes []string, err error) {
	text, err := d.Script()
	if err != nil {
		return nil, nil, err
	}
	there, on := map[string]bool{}, map[string]string{} // tables; the table of an index
	for _, m := range changedTable.FindAllStringSubmatch(text, -1) {
		switch verb, name, table := m[1], m[2], m[3]; {
		case verb == "CREATE TABLE":
			there[name] = true
		case verb == "DROP TABLE":
			delete(there, name)
			maps.DeleteFunc(on, func(_, of string) bool { return of == name })
		case verb == "DROP INDEX":
			delete(on, name)
		case strings.HasSuffix(verb, "INDEX"):
			on[name] = table
		}
	}
	return slices.Sorted(maps.Keys(there)), slices.Sorted(maps.Keys(on)), nil
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
