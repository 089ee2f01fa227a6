package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestRowsFitTheCode keeps the tables true while the code changes: a run of all
// faults takes too long to be what finds a stale row.
func TestRowsFitTheCode(t *testing.T) {
	root := filepath.Join("..", "..")
	code, err := readTree(root)
	if err != nil {
		t.Fatal(err)
	}
	faults, vectors := faultRows(), vectorRows()
	for _, r := range slices.Concat(faults, vectors) {
		for _, s := range code.check(r) {
			t.Errorf("%s; `go run ./test/faults -fix` corrects what moved", s)
		}
		if _, err := apply(root, r.edits); err != nil {
			t.Errorf("%s: %v", r.name, err)
		}
		for _, e := range r.edits {
			if e.Old == e.New {
				t.Errorf("%s: %q changes nothing", r.name, e.Old)
			}
		}
	}
	if len(faults) < 98 || len(vectors) < 68 {
		t.Errorf("%d faults for named tests, %d for the vectors", len(faults), len(vectors))
	}
}

func TestRowsAreDistinct(t *testing.T) {
	names := map[string]bool{}
	for _, r := range faultRows() {
		if names[r.name] {
			t.Errorf("two faults are named %s", r.name)
		}
		names[r.name] = true
	}
	for i, e := range vectorFaults {
		if slices.Contains(vectorFaults[:i], e) {
			t.Errorf("%s: %q stands there twice", e.File, e.New)
		}
		if strings.Contains(e.Old+e.New, "\n") {
			t.Errorf("%s: %q is no fault of one line", e.File, e.New)
		}
	}
}

// TestCheckNamesWhereItMoved: a stale row names the one file, or the one package,
// that its text or its test moved to, and correct writes that into the table.
func TestCheckNamesWhereItMoved(t *testing.T) {
	code := tree{
		"internal/a/old.go":      "package a",
		"internal/a/old_test.go": "package a\n\nfunc TestHere(t *testing.T) { if x {} }",
		"internal/b/new.go":      "package b\n\nfunc f() { if x { y() } }",
		"internal/b/new_test.go": "package b\n\nfunc TestMoved(t *testing.T) {}",
		"internal/b/twin.go":     "package b\n\nvar z = 1",
		"internal/c/twin.go":     "package c\n\nvar z = 1",
	}
	const table = "{\"n\", \"what\", \"./internal/a\", \"TestMoved/part\", []edit{\n\t{\"internal/a/old.go\", `if x {`, `if !x {`},\n}}"
	for _, c := range []struct {
		name string
		fault
		problems, moved int
	}{
		{"fits", fault{Package: "./internal/b", Test: "TestMoved", Edits: []edit{{"internal/b/new.go", "if x {", ""}}}, 0, 0},
		{"moved", fault{Package: "./internal/a", Test: "TestMoved/part", Edits: []edit{{"internal/a/old.go", "if x {", ""}}}, 2, 2},
		{"in two files", fault{Package: "./internal/a", Test: "TestHere", Edits: []edit{{"internal/a/old.go", "z = 1", ""}}}, 1, 0},
		{"gone", fault{Package: "./internal/a", Test: "TestGone", Edits: []edit{{"internal/a/none.go", "w", ""}}}, 2, 0},
	} {
		found := code.check(c.fault.row())
		if len(found) != c.problems {
			t.Errorf("%s: %v", c.name, found)
		}
		dir := t.TempDir()
		path := filepath.Join(dir, "table_x.go")
		if err := os.WriteFile(path, []byte(table), 0o600); err != nil {
			t.Fatal(err)
		}
		left, err := correct(dir, found)
		if err != nil || len(left) != c.problems-c.moved {
			t.Errorf("%s: %v is left (%v)", c.name, left, err)
		}
		got, err := os.ReadFile(path)
		want := table
		if c.moved == 2 {
			want = strings.NewReplacer(`"./internal/a"`, `"./internal/b"`, "internal/a/old.go", "internal/b/new.go").Replace(table)
		}
		if err != nil || string(got) != want {
			t.Errorf("%s: the table is now %s (%v)", c.name, got, err)
		}
	}
}

func TestApply(t *testing.T) {
	root := t.TempDir()
	if err := os.WriteFile(filepath.Join(root, "f.go"), []byte("a b b c"), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := apply(root, []edit{{"f.go", "a", "x"}, {"f.go", "c", "y"}})
	if err != nil || got["f.go"] != "x b b y" {
		t.Errorf("got %q, %v", got, err)
	}
	for _, e := range []edit{{"f.go", "b", "z"}, {"f.go", "d", "z"}, {"g.go", "a", "z"}} {
		if _, err := apply(root, []edit{e}); err == nil {
			t.Errorf("%v was applied", e)
		}
	}
}

// TestFoundBy: only a failed test, a panic, a deadlock or the time limit shows
// that a fault is found.
func TestFoundBy(t *testing.T) {
	const test, vectors = "--- FAIL: TestIt", "--- FAIL: TestVectors/"
	for _, c := range []struct{ failure, by, out string }{
		{vectors, "TestVectors/s17", "--- FAIL: TestVectors (0.10s)\n    --- FAIL: TestVectors/s17 (0.01s)\n"},
		{vectors, "", "--- FAIL: TestVectors (0.00s)\n    vectors_test.go:75: no vectors: <nil>\nFAIL\n"},
		{test, "TestIt", "=== RUN   TestIt\n--- FAIL: TestIt (0.10s)\n"},
		{test, "the time limit", "panic: test timed out after 10m0s\n\trunning tests:\n"},
		{test, "a panic", "panic: runtime error: index out of range [recovered]\n"},
		{test, "a deadlock", "fatal error: all goroutines are asleep - deadlock!\n"},
		{test, "", "--- FAIL: TestOther (0.10s)\n"},
		{test, "", "signal: killed\n"},
		{test, "", "FAIL\n"},
		{test, "", ""},
	} {
		if got, ok := foundBy([]byte(c.out), c.failure); got != c.by || ok != (c.by != "") {
			t.Errorf("%q: got %q, %v, want %q", c.out, got, ok, c.by)
		}
	}
}

// TestVectorsAreThere: each file of vectors that a fault is shown to exists.
func TestVectorsAreThere(t *testing.T) {
	for _, e := range append([]edit{{File: "*"}}, vectorFaults...) {
		name := "*"
		if e.File != "*" {
			name = likely(e.File)
		}
		found, err := filepath.Glob(filepath.Join("..", "..", engineRoom, vectorFiles(name)))
		if err != nil || len(found) == 0 {
			t.Errorf("no vectors %s for %s: %v", name, e.File, err)
		}
	}
}
