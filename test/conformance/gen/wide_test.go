package gen

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	resourcev1 "k8s.io/api/resource/v1"
)

// TestWide: what is drawn on top comes out the same for the same seed, shows what
// was never drawn before, and touches no case without devices.
func TestWide(t *testing.T) {
	seen := map[string]bool{}
	words := []string{`"bandwidth"`, `"other"`, `"gpu.example.com/model"`, `"example.com/warm"`, `"again"`, `"very"`}
	namesakes := 0
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
		namesakes += poolsOfOneName(t, wide)
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
	if namesakes < 10 {
		t.Errorf("%d pools with counters bear the name of another driver's", namesakes)
	}
}

// poolsOfOneName counts names under which two drivers have counters.
func poolsOfOneName(t *testing.T, objects []json.RawMessage) int {
	drivers := map[string]map[string]bool{}
	for _, raw := range objects {
		if !strings.Contains(string(raw), `"kind":"ResourceSlice"`) {
			continue
		}
		var s resourcev1.ResourceSlice
		if err := json.Unmarshal(raw, &s); err != nil {
			t.Fatal(err)
		}
		if len(s.Spec.SharedCounters) == 0 {
			continue
		}
		if drivers[s.Spec.Pool.Name] == nil {
			drivers[s.Spec.Pool.Name] = map[string]bool{}
		}
		drivers[s.Spec.Pool.Name][s.Spec.Driver] = true
	}
	n := 0
	for _, of := range drivers {
		if len(of) > 1 {
			n++
		}
	}
	return n
}
