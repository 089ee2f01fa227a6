package migrations

import (
	"fmt"
	"io/fs"
	"regexp"
)

var createView = regexp.MustCompile(`(?m)^CREATE (?:OR REPLACE )?VIEW (\w+) AS$`)

// views returns the file that makes a dialect's views, and the statements that
// drop them, the last one first.
func (d Dialect) views() (file, drop string, err error) {
	text, err := fs.ReadFile(d, "views.sql")
	if err != nil {
		return "", "", fmt.Errorf("read views: %w", err)
	}
	for _, name := range createView.FindAllStringSubmatch(string(text), -1) {
		drop = "DROP VIEW IF EXISTS " + name[1] + ";\n" + drop
	}
	return string(text), drop, nil
}
