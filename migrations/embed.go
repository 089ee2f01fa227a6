// Package migrations holds the numbered SQL that makes and changes a store's
// schema, up and down, and its views. The same number means the same change in
// every dialect, so that "schema 3" says one thing wherever it is read.
package migrations

import (
	"embed"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/golang-migrate/migrate/v4/source"
)

//go:embed both/*.sql sqlite/*.sql postgres/*.sql
var embedded embed.FS

// Dialect is the files of a backend: those of the folder "both", which every
// dialect reads alike, and those of its own folder.
//
// Each migration is one transaction, and so holds no BEGIN or COMMIT. In the
// same transaction the schema notes the version that it then has, which tells
// after a crash whether the file took effect: Open adds that statement.
type Dialect struct {
	folder string
	noted  func(version int) string // the statement that notes a version
	// documented writes the texts of views.txt, which stand at its @texts, into the database.
	documented string
}

// The dialects. Names in Postgres' files are not qualified: everything goes to
// the first schema of the search path.
var (
	SQLite   = Dialect{folder: "sqlite", documented: fillDocs, noted: func(version int) string { return fmt.Sprintf("PRAGMA user_version = %d;", version) }}
	Postgres = Dialect{folder: "postgres", documented: commentOn, noted: func(version int) string {
		if version == 0 {
			return "" // the table that has it is gone
		}
		if serves := Serves(version); serves > 0 {
			return fmt.Sprintf("UPDATE schema_version SET version = %d, serves = %d;", version, serves)
		}
		return fmt.Sprintf("UPDATE schema_version SET version = %d;", version)
	}}
)

// Oldest is the schema of the first release, v0.3.0, and the number of the migration that makes it
// of nothing.
const Oldest = 15

// Open implements fs.FS.
func (d Dialect) Open(name string) (fs.File, error) {
	f, err := embedded.Open(path.Join(d.folder, name))
	if err != nil {
		f, err = embedded.Open(path.Join("both", name))
	}
	if err != nil {
		return nil, err
	}
	m, err := source.DefaultParse(path.Base(name))
	if err != nil {
		return f, nil
	}
	after := int(m.Version)
	switch {
	case m.Direction == source.Up:
	case after == Oldest:
		after = 0
	default:
		after--
	}
	return noting{f, io.MultiReader(f, strings.NewReader("\n"+d.noted(after)+"\n"))}, nil
}

// noting is a file with a statement behind it.
type noting struct {
	fs.File
	all io.Reader
}

// Read implements fs.File.
func (n noting) Read(p []byte) (int, error) { return n.all.Read(p) }

// ReadDir implements fs.ReadDirFS.
func (d Dialect) ReadDir(string) ([]fs.DirEntry, error) {
	own, err := embedded.ReadDir(d.folder)
	if err != nil {
		return nil, err
	}
	both, err := embedded.ReadDir("both")
	return slices.Concat(own, both), err
}
