package main

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestTable keeps the rows true while the rules change: make mutants takes too
// long to be what finds a stale one.
func TestTable(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{root: root}
	var seen []mutant
	for _, m := range mutants {
		if _, text, err := b.source(m); err != nil {
			t.Error(err)
		} else if !strings.Contains(text, m.New) {
			t.Errorf("%s: %q is not put in", m.File, m.New)
		}
		if m.Old == m.New || strings.Contains(m.Old+m.New, "\n") {
			t.Errorf("%s: %q is no fault of one line", m.File, m.New)
		}
		if slices.Contains(seen, m) {
			t.Errorf("%s: %q stands there twice", m.File, m.New)
		}
		seen = append(seen, m)
	}
	if len(mutants) < 20 {
		t.Errorf("%d faults, want at least 20", len(mutants))
	}
}

// TestCaughtBy: only a vector, a panic or the time limit says that a fault shows.
func TestCaughtBy(t *testing.T) {
	for _, c := range []struct {
		by  string
		out string
	}{
		{"s17", "--- FAIL: TestVectors (0.10s)\n    --- FAIL: TestVectors/s17 (0.01s)\n"},
		{"the time limit", "panic: test timed out after 10m0s\n\trunning tests:\n"},
		{"a panic", "panic: runtime error: index out of range [recovered]\n"},
		{"", "--- FAIL: TestVectors (0.00s)\n    vectors_test.go:75: no vectors: <nil>\nFAIL\n"},
		{"", "signal: killed\n"},
		{"", "FAIL\n"},
		{"", ""},
	} {
		if got, ok := caughtBy([]byte(c.out)); got != c.by || ok != (c.by != "") {
			t.Errorf("%q: got %q, %v, want %q", c.out, got, ok, c.by)
		}
	}
}

// TestBaselines: whatever mutants are shown to is there, and passes first.
func TestBaselines(t *testing.T) {
	all := baselines(nil)
	for _, files := range all {
		found, err := filepath.Glob(filepath.Join("../..", rooms, "testdata/vectors", files+".json.gz"))
		if err != nil || len(found) == 0 {
			t.Errorf("no vectors %s: %v", files, err)
		}
	}
	for _, m := range mutants {
		if !slices.Contains(all, likely(m.File)) {
			t.Errorf("%s is shown to %s, which is no baseline", m.File, likely(m.File))
		}
	}
	if got := baselines([]string{"preempt"}); !slices.Contains(got, "preempt") || !slices.Contains(got, "*") {
		t.Errorf("baselines for preempt are %v", got)
	}
}
