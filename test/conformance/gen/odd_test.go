package gen

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
	configv1 "k8s.io/kube-scheduler/config/v1"
)

// TestOdd: every mutator comes up and changes cases, the same seed returns the same bytes, the
// names of mutators are different ones, and without them a case is what it was.
func TestOdd(t *testing.T) {
	draw := func(seed uint64, devices int, odd ...string) (string, []string) {
		c, err := Case(seed, Options{MaxNodes: 6, MaxPods: 10, Storage: 30, Devices: devices, Odd: odd})
		if err != nil {
			t.Fatal(err)
		}
		used := c.Odd
		c.Odd = nil
		raw, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		return string(raw), used
	}
	all := Mutators()
	if slices.Sort(all); len(slices.Compact(slices.Clone(all))) != len(all) {
		t.Errorf("two mutators have one name: %q", all)
	}
	for _, name := range all {
		changed := 0
		for seed := range uint64(12) {
			plain, _ := draw(seed, 0)
			odd, used := draw(seed, 0, name)
			if !slices.Equal(used, []string{name}) {
				t.Fatalf("seed %d: the case names %q, not %s", seed, used, name)
			}
			if again, _ := draw(seed, 0, name); again != odd {
				t.Fatalf("seed %d: %s returns two cases", seed, name)
			}
			if odd != plain {
				changed++
			}
		}
		if changed < 6 {
			t.Errorf("%s changes %d of 12 cases", name, changed)
		}
	}
	for seed := range uint64(40) {
		if _, used := draw(seed, 0, all...); len(used) < 1 || len(used) > 5 {
			t.Errorf("seed %d has %d mutators", seed, len(used))
		}
		if _, used := draw(seed, 100, all...); slices.ContainsFunc(configMutators, func(m mutator) bool { return slices.Contains(used, m.name) }) {
			t.Errorf("seed %d has devices and another configuration: %q", seed, used)
		}
	}
}

// TestOddLeavesOut: what is known to differ is not drawn: extended resources beyond 63 bits. Nor
// are scores by name whose preScore is off and which read it.
func TestOddLeavesOut(t *testing.T) {
	for seed := range uint64(300) {
		c, err := Case(seed, Options{MaxNodes: 6, MaxPods: 10, Config: "any", Odd: Mutators()})
		if err != nil {
			t.Fatal(err)
		}
		for _, raw := range c.Objects {
			var n v1.Node
			if err := json.Unmarshal(raw, &n); err == nil && n.Kind == "Node" {
				for name, q := range n.Status.Allocatable {
					if strings.Contains(string(name), "/") && q.Value() > 1<<40 {
						t.Errorf("seed %d: %s of %s", seed, q.String(), name)
					}
				}
			}
		}
		var config configuration
		if len(c.Config) > 0 {
			if err := json.Unmarshal(c.Config, &config); err != nil {
				t.Fatal(err)
			}
		}
		for _, p := range config.Profiles {
			for _, e := range p.Plugins["score"].Enabled {
				reads := slices.Contains(readsPreScore, e.Name)
				runs := slices.ContainsFunc(p.Plugins["preScore"].Enabled, func(pre configv1.Plugin) bool { return pre.Name == e.Name })
				if reads && !runs {
					t.Errorf("seed %d: %s scores without its preScore", seed, e.Name)
				}
			}
		}
	}
}
