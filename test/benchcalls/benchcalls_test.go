package main

import (
	"encoding/json"
	"testing"
)

func TestRows(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range rows([]int{3, 6}) {
		if seen[r.title()] || r.prepare == nil || (r.call == nil) != r.memory {
			t.Errorf("%s: twice, or without a part", r.title())
		}
		seen[r.title()] = true
	}
	for _, text := range []string{cluster(4, 9, "1", nominations()), dense(3), pod("p", "1m", spreadHard)} {
		if !json.Valid([]byte(text)) {
			t.Errorf("no JSON: %.200s", text)
		}
	}
}

func TestFigures(t *testing.T) {
	if m := middle([]sample{{3, 1}, {1, 9}, {2, 5}}); m != (sample{2, 5}) {
		t.Errorf("%v", m)
	}
	f := figures{ratio: 1.5, cheap: 0.75}
	if f.worse() != 0.75 {
		t.Errorf("%v", f.worse())
	}
}
