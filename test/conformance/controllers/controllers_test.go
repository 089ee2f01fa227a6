package controllers

import "testing"

// TestOracle has every part answer its first cases by upstream alone: a layout that changed, or a
// function that is linked no more, shows here.
func TestOracle(t *testing.T) {
	for _, p := range Parts {
		said := 0
		for seed := range uint64(40) {
			k := p.DrawCase(seed)
			if p.Want == nil {
				list, _, err := scaledDown(k)
				if err != nil {
					t.Fatalf("%s, seed %d: %v", p.Name, seed, err)
				}
				said += len(list)
				continue
			}
			lines, err := p.Want(k)
			if err != nil {
				t.Fatalf("%s, seed %d: %v", p.Name, seed, err)
			}
			said += len(lines)
		}
		if said == 0 {
			t.Errorf("%s: upstream did nothing in 40 cases", p.Name)
		}
	}
}

// TestExplanations bounds them: at most ten of a part, each with upstream's function.
func TestExplanations(t *testing.T) {
	of := map[string]int{}
	for _, e := range explanations {
		if of[e.part]++; of[e.part] > 10 || e.upstream == "" || e.why == "" {
			t.Errorf("%s: %q is one too many, or has no function of upstream", e.part, e.name)
		}
	}
}
