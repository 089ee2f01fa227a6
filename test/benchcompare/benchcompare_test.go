package main

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"
)

const oldRun = `goos: linux
BenchmarkDecide/plain            	   10000	     100000 ns/op	    3504 B/op	      23 allocs/op
BenchmarkDecide/spreadHard       	   10000	      50000.5 ns/op	    3504 B/op	      23 allocs/op
BenchmarkFilterHTTP/own_recorded 	     500	     500000 ns/op	      1815 req/s
BenchmarkGone                    	     500	     500000 ns/op
PASS
`

// TestSlower: the best of all rounds counts, and nothing but a loss in both binaries is one.
func TestSlower(t *testing.T) {
	for _, tt := range []struct {
		name string
		runs []string // of the new binary
		want []string
	}{
		{"the same", []string{oldRun}, nil},
		{"a quarter more time is not a loss over 20 %", []string{strings.ReplaceAll(oldRun, "100000 ns", "125000 ns")}, nil},
		{"more is", []string{strings.ReplaceAll(oldRun, "100000 ns", "126000 ns")}, []string{"BenchmarkDecide/plain"}},
		{"one slow round is not", []string{strings.ReplaceAll(oldRun, "100000 ns", "900000 ns"), oldRun}, nil},
		{"faster", []string{strings.ReplaceAll(oldRun, "00000 ns", "0000 ns")}, nil},
		{"two", []string{strings.ReplaceAll(oldRun, "00000 ns", "90000000 ns")}, []string{"BenchmarkDecide/plain", "BenchmarkFilterHTTP/own_recorded"}},
		{"a benchmark that is new or gone", []string{"BenchmarkFresh 1 7 ns/op"}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var f figures
			f.read(oldRun, false)
			for _, run := range tt.runs {
				f.read(strings.ReplaceAll(run, "BenchmarkGone", "BenchmarkFresh"), true)
			}
			if got := f.slower(0.8); !slices.Equal(got, tt.want) {
				t.Errorf("slower are %q, want %q\n%s", got, tt.want, f.table(0.8))
			}
			if marked := strings.Count(f.table(0.8), "slower"); marked != len(tt.want) {
				t.Errorf("%d rows are marked, want %d:\n%s", marked, len(tt.want), f.table(0.8))
			}
		})
	}
}

// TestCalm: runs that shared their core are not judged.
func TestCalm(t *testing.T) {
	if !calm(950*time.Millisecond, time.Second) || calm(500*time.Millisecond, time.Second) {
		t.Error("95 % of a core have to do, and half of one not")
	}
	var f figures
	f.read(oldRun, false)
	if f.judged() || len(f.slower(0.8)) > 0 {
		t.Error("one binary alone was judged")
	}
	f.read(oldRun, true)
	if !f.judged() {
		t.Error("runs of both binaries were not judged")
	}
}

func TestExactly(t *testing.T) {
	if got, want := exactly("BenchmarkPreempt/500budgets+spread"), `^BenchmarkPreempt$/^500budgets\+spread$`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestFindBase: a commit before this one, none in a clone of depth 1 or without a repository.
func TestFindBase(t *testing.T) {
	dir, shallow := t.TempDir(), t.TempDir()
	do := func(dir string, args ...string) string {
		t.Helper()
		out, err := git(t.Context(), dir, append([]string{"-c", "user.name=t", "-c", "user.email=t@example.com"}, args...)...)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	if _, err := findBase(t.Context(), dir, ""); !errors.Is(err, errNoBase) {
		t.Errorf("without a repository: %v", err)
	}
	do(dir, "init", "--quiet")
	do(dir, "commit", "--quiet", "--allow-empty", "-m", "one")
	first := do(dir, "rev-parse", "HEAD")
	if _, err := findBase(t.Context(), dir, ""); !errors.Is(err, errNoBase) {
		t.Errorf("with one commit: %v", err)
	}
	do(dir, "commit", "--quiet", "--allow-empty", "-m", "two")
	if got, err := findBase(t.Context(), dir, ""); err != nil || got != first {
		t.Errorf("with two commits: %s %v, want %s", got, err, first)
	}
	do(shallow, "clone", "--quiet", "--depth", "1", "file://"+dir, "clone")
	if _, err := findBase(t.Context(), shallow+"/clone", ""); !errors.Is(err, errNoBase) {
		t.Errorf("in a clone of depth 1: %v", err)
	}
	if _, err := findBase(t.Context(), dir, "no-such"); err == nil || errors.Is(err, errNoBase) {
		t.Errorf("a named commit that is missing: %v", err)
	}
	do(dir, "update-ref", "refs/remotes/origin/main", "HEAD~1")
	do(dir, "commit", "--quiet", "--allow-empty", "-m", "three")
	if got, err := findBase(t.Context(), dir, ""); err != nil || got != first {
		t.Errorf("on a branch of two commits: %s %v, want where it left origin/main, %s", got, err, first)
	}
}
