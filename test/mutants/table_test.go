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

func TestFirstFailure(t *testing.T) {
	for want, out := range map[string]string{
		"s17":          "--- FAIL: TestVectors (0.10s)\n    --- FAIL: TestVectors/s17 (0.01s)\n",
		"a panic":      "panic: runtime error\n",
		"a failed run": "FAIL\n",
	} {
		if got := firstFailure([]byte(out)); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
