package main

import (
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"

	"berth/test/conformance/oracle"
)

// mix counts how varied the verdicts are: a run in which a plugin never spoke
// proves nothing about it.
type mix struct{ outcomes, failures, scores map[string]int }

func newMix() *mix {
	return &mix{outcomes: map[string]int{}, failures: map[string]int{}, scores: map[string]int{}}
}

func (m *mix) add(v *oracle.Verdict) {
	o := v.Outcome
	switch {
	case v.Nominated:
		o += " (nominated)"
	case v.Preemption != nil && len(v.Preemption.Candidates) > 0:
		o += " (preemption helps)"
	case len(v.Feasible) == 1:
		o += " (single)"
	}
	m.outcomes[o]++
	for _, f := range v.Failures {
		for _, r := range f.Reasons {
			m.failures[fmt.Sprintf("%s %s: %s", f.Plugin, f.Code, r)] += len(f.Nodes)
		}
	}
	if v.Scores != nil {
		for i, p := range v.Scores.Plugins {
			for _, row := range v.Scores.Nodes {
				if row.Raw[i] != 0 {
					m.scores[p]++
				}
			}
		}
	}
}

func (m *mix) print(w io.Writer) {
	for _, part := range []struct {
		title  string
		counts map[string]int
	}{{"outcomes", m.outcomes}, {"nodes rejected", m.failures}, {"nodes with a raw score other than 0", m.scores}} {
		fmt.Fprintf(w, "%s:\n", part.title)
		for _, k := range slices.Sorted(maps.Keys(part.counts)) {
			fmt.Fprintf(w, "  %6d  %s\n", part.counts[k], k)
		}
	}
}

// particulars are the numbers and names in a complaint.
var particulars = regexp.MustCompile(`[\w.-]+/p\d+|/incoming|"[^"]*"|\d+\w*`)

func printSkipped(all map[string]int) {
	n, skipped := 0, map[string]int{}
	for k, times := range all {
		skipped[particulars.ReplaceAllString(k, "·")] += times
	}
	for _, k := range slices.Sorted(maps.Keys(skipped)) {
		n += skipped[k]
		fmt.Printf("  skipped %d: %.160s\n", skipped[k], k)
	}
	fmt.Printf("skipped: %d\n", n)
}
