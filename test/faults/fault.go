package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// fault is a bug that could have been written, with the test that must fail
// while it is there.
type fault struct {
	Name    string // what -filter matches
	What    string // what goes wrong, in a sentence
	Package string // the test's package, such as ./internal/store/spool
	Test    string // the test's name, as for go test -run
	Edits   []edit
}

// edit replaces Old, which stands exactly once in File, by New.
type edit struct{ File, Old, New string }

// row is an entry of either table in the form that the runner takes.
type row struct {
	name  string
	words string // what the word filter looks in
	edits []edit
	runs  []run // tried in order until one fails
}

// run is one call of a test binary.
type run struct {
	pkg, test string
	env       string // added to the environment; may be empty
	failure   string // what a line of the output starts with if the test found the fault
}

func (f *fault) row() row {
	top, _, _ := strings.Cut(f.Test, "/")
	return row{
		name: f.Name, words: f.Name, edits: f.Edits,
		runs: []run{{pkg: f.Package, test: f.Test, env: f.env(), failure: "--- FAIL: " + top}},
	}
}

// env has the one test run that is too long to be run without being asked for.
func (f *fault) env() string {
	if f.Test == "TestBooks" {
		return "BERTH_BOOKS=1"
	}
	return ""
}

func (r *row) wanted(words []string) bool {
	for _, w := range words {
		if strings.Contains(r.words, w) {
			return true
		}
	}
	return len(words) == 0
}

// apply returns the files that the edits change, by path below root, with their
// new text.
func apply(root string, edits []edit) (map[string]string, error) {
	texts := map[string]string{}
	for _, e := range edits {
		text, ok := texts[e.File]
		if !ok {
			raw, err := os.ReadFile(filepath.Join(root, e.File))
			if err != nil {
				return nil, err
			}
			text = string(raw)
		}
		if n := strings.Count(text, e.Old); n != 1 {
			return nil, fmt.Errorf("%q stands %d times in %s, not once", e.Old, n, e.File)
		}
		texts[e.File] = strings.Replace(text, e.Old, e.New, 1)
	}
	return texts, nil
}

// writeOverlay writes the changed files into dir and returns the path of the
// file that the go command's flag -overlay takes.
func writeOverlay(root, dir string, edits []edit) (string, error) {
	texts, err := apply(root, edits)
	if err != nil {
		return "", err
	}
	replace := map[string]string{}
	for file, text := range texts {
		changed := filepath.Join(dir, strings.ReplaceAll(file, "/", "_"))
		if err := os.WriteFile(changed, []byte(text), 0o600); err != nil {
			return "", err
		}
		replace[filepath.Join(root, file)] = changed
	}
	raw, err := json.MarshalIndent(map[string]any{"Replace": replace}, "", "  ")
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "overlay.json")
	return path, os.WriteFile(path, raw, 0o600)
}
