package main

import (
	"strings"
	"testing"

	"berth/test/differences"
)

// TestPlants: each difference is planted before any comes again, one before a task at most, and a
// seed draws the same again.
func TestPlants(t *testing.T) {
	pair := &differences.Pairs[len(differences.Pairs)-1]
	draw := func(n int, seed uint64) (out []*planted) {
		t.Helper()
		out, err := plants(n, seed, pair, 10, 100)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	list, again, other := draw(50, 1), draw(50, 1), draw(50, 2)
	pods, rows, tasks, same := map[string]int{}, map[string]int{}, map[int]bool{}, 0
	for i, p := range list {
		pods[p.pod]++
		rows[strings.Join(p.rows, " ")]++
		if tasks[p.task] || p.task < 0 || p.task >= 100 {
			t.Errorf("%v before task %d", p.rows, p.task)
		}
		tasks[p.task] = true
		if p.pod != again[i].pod || p.task != again[i].task {
			t.Errorf("%v before task %d, again %v before %d", p.rows, p.task, again[i].rows, again[i].task)
		}
		if p.pod == other[i].pod && p.task == other[i].task {
			same++
		}
	}
	for pod, n := range pods {
		if most := (50 + len(pods) - 1) / len(pods); n > most || n < most-1 {
			t.Errorf("%s %d times of 50", pod, n)
		}
	}
	if rows["B9 B8"] == 0 || rows["B18"] > 0 || same > 10 {
		t.Errorf("planted %v, %d as of another seed", rows, same)
	}
	if _, err := plants(101, 1, pair, 10, 100); err == nil {
		t.Error("there are more places than tasks")
	}
}

// TestPlantedIsFound: a planted decision has to be found with its causes and no other change.
func TestPlantedIsFound(t *testing.T) {
	fits, words := change{Kind: "fitsNow", Causes: []string{"X"}}, change{Kind: "otherMessage", Causes: []string{"Y"}}
	list := []*planted{{rows: []string{"B1", "B2"}, id: "1", want: []string{fits.String(), words.String()}}}
	for name, c := range map[string]struct {
		found []different
		ok    bool
	}{
		"both":          {[]different{{ID: "1", Changes: []change{words, fits}}}, true},
		"one":           {[]different{{ID: "1", Changes: []change{fits}}}, false},
		"another":       {[]different{{ID: "1", Changes: []change{words, fits, {Kind: "fails"}}}}, false},
		"twice":         {[]different{{ID: "1", Changes: []change{words, fits, fits}}}, false},
		"another cause": {[]different{{ID: "1", Changes: []change{words, {Kind: "fitsNow", Causes: []string{"Y"}}}}}, false},
		"elsewhere":     {[]different{{ID: "2", Changes: []change{words, fits}}}, false},
		"no answer":     {[]different{{ID: "1", Error: "no"}}, false},
	} {
		var out strings.Builder
		err := (&upgraded{list: c.found}).compare(&out, list)
		if (err == nil) != c.ok {
			t.Errorf("%s: %v", name, err)
		}
		if c.ok && !strings.Contains(out.String(), "B2   1        1      otherMessage [Y]") {
			t.Error(out.String())
		}
	}
	var out strings.Builder
	beyond(&out, []*upgraded{{release: "v1", batch: &batch{Done: 5}, list: []different{{ID: "3", Changes: []change{fits}}, {ID: "4", Error: "no"}}}}, 1)
	for _, want := range []string{"v1       4                      2         2", "1       fitsNow [X]", "1       error: no"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in:\n%s", want, out.String())
		}
	}
}
