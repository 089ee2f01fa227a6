package gen

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

// TestWide: what is drawn on top comes out the same for the same seed, shows what
// was never drawn before, and touches no case without devices.
func TestWide(t *testing.T) {
	seen := map[string]bool{}
	words := []string{`"bandwidth"`, `"other"`, `"gpu.example.com/model"`, `"example.com/warm"`, `"again"`, `"very"`}
	same := func(a, b []json.RawMessage) bool {
		return slices.EqualFunc(a, b, func(x, y json.RawMessage) bool { return string(x) == string(y) })
	}
	draw := func(seed uint64, devices, wide int) []json.RawMessage {
		c, err := Case(seed, Options{MaxNodes: 4, MaxPods: 3, Devices: devices, Wide: wide})
		if err != nil {
			t.Fatal(err)
		}
		return c.Objects
	}
	for seed := range uint64(80) {
		wide := draw(seed, 100, 100)
		if !same(wide, draw(seed, 100, 100)) {
			t.Fatalf("seed %d gives two cases", seed)
		}
		if !same(draw(seed, 0, 100), draw(seed, 0, 0)) {
			t.Errorf("seed %d has no devices and is another case", seed)
		}
		for _, o := range wide {
			for _, w := range words {
				seen[w] = seen[w] || strings.Contains(string(o), w)
			}
		}
	}
	for _, w := range words {
		if !seen[w] {
			t.Errorf("%s is never drawn", w)
		}
	}
}
