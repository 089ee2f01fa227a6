package rules_test

import (
	"slices"
	"testing"

	"berth/internal/engine"
	"berth/internal/engine/rules"
	"berth/internal/semantics"
	et "berth/test/enginetest"
)

// TestDetailsAreDeclared: a rule explains random nodes with the kinds of its descriptor only.
func TestDetailsAreDeclared(t *testing.T) {
	declared, met := map[string][]string{}, map[string]bool{}
	for _, d := range rules.Describe(semantics.Default()) {
		for _, k := range d.Details {
			declared[d.Plugin] = append(declared[d.Plugin], k.Name)
		}
	}
	see := func(plugin string, details []engine.Detail) {
		for i := range details {
			kind := details[i].Kind
			met[kind] = true
			if kind != "more" && !slices.Contains(declared[plugin], kind) {
				t.Errorf("%s has a detail of the kind %s", plugin, kind)
			}
		}
	}
	for seed := range uint64(300) {
		c := et.Generate(seed)
		d, err := c.Decide()
		if err != nil {
			continue // what cannot be judged
		}
		for i := range d.Nodes {
			n := &d.Nodes[i]
			see(n.Plugin, n.Details)
			for k := range n.AlsoFailing {
				see(n.AlsoFailing[k].Plugin, n.AlsoFailing[k].Details)
			}
		}
	}
	if len(met) < 15 {
		t.Errorf("only %d kinds were met: %v", len(met), met)
	}
}
