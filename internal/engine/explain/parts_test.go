package explain_test

import (
	"math"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"berth/internal/engine"
	"berth/internal/engine/explain"
	"berth/internal/engine/rules"
	"berth/test/enginetest"
)

// TestPartsAddUp takes the scores of random cases apart: the points are what count, weight and base
// make of them, and add up to what the plugin gave.
func TestPartsAddUp(t *testing.T) {
	seen := map[engine.PartKind]int{}
	for seed := uint64(1); seed <= 1500; seed++ {
		c := enginetest.Generate(seed)
		s, err := enginetest.State(c.Objects...)
		if err != nil {
			t.Fatal(err)
		}
		p, err := rules.Build(c.Spec)
		if err != nil {
			t.Fatal(err)
		}
		c.Options.ScoreAlways = true
		r, err := engine.Decide(s, c.Pod, p, c.Options)
		if err != nil {
			continue
		}
		before := explain.Decision(r, engine.ExplainFull)
		d := explain.Decision(r, engine.ExplainFull)
		explain.AddParts(r, d, "")
		for i := range d.Nodes {
			for k := range d.Nodes[i].Scores {
				score := &d.Nodes[i].Scores[k]
				sum := 0.0
				for _, part := range score.Parts {
					seen[part.By]++
					sum += part.Points
					if want := float64(float64(part.Count)*part.Weight) + float64(part.Base); part.Points != want {
						t.Errorf("seed %d: %s: %+v has no %v points", seed, score.Plugin, part, want)
					}
				}
				split := false
				for _, rule := range p.Rules {
					split = split || rule.Name == score.Plugin && rule.ScoreParts != nil
				}
				if r.Feasible.Count() > 50 && score.Parts == nil {
					continue // one of those that are not taken apart
				}
				if split && int64(math.Round(sum)) != score.Raw {
					t.Errorf("seed %d, node %s: the parts of %s add up to %v, its raw score is %d: %+v", seed, d.Nodes[i].Name, score.Plugin, sum, score.Raw, score.Parts)
				}
				if was := &before.Nodes[i].Scores[k]; was.Raw != score.Raw || was.Weighted != score.Weighted || was.Parts != nil {
					t.Errorf("seed %d: %+v, and before %+v", seed, score, was)
				}
			}
		}
		r.Release()
	}
	for _, kind := range []engine.PartKind{engine.PartSpread, engine.PartNodeAffinity, engine.PartAffinity, engine.PartAntiAffinity, engine.PartOthersAffinity, engine.PartOthersAntiAffin} {
		if seen[kind] == 0 {
			t.Errorf("no part is %s: %v", kind, seen)
		}
	}
}

// TestPartsOfTheBest: beyond the best nodes, only the node that is named has parts.
func TestPartsOfTheBest(t *testing.T) {
	var objects []any
	for i := range 80 {
		objects = append(objects, enginetest.Node(string(rune('a'+i/26))+string(rune('a'+i%26)), enginetest.NodeLabels("n", "x")))
	}
	s, err := enginetest.State(objects...)
	if err != nil {
		t.Fatal(err)
	}
	p, err := rules.Build(rules.DefaultSpec())
	if err != nil {
		t.Fatal(err)
	}
	pod := enginetest.Pod("p", enginetest.PreferNodes(7, corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{enginetest.Expr("n", corev1.NodeSelectorOpIn, "x")}}))
	r, err := engine.Decide(s, pod, p, engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Release()
	apart := func(asked string) (n int, has bool) {
		d := explain.Decision(r, engine.ExplainFull)
		explain.AddParts(r, d, asked)
		for i := range d.Nodes {
			for _, score := range d.Nodes[i].Scores {
				if score.Parts != nil {
					n++
					has = has || d.Nodes[i].Name == asked
				}
			}
		}
		return n, has
	}
	d := explain.Decision(r, engine.ExplainFull)
	explain.AddParts(r, d, "")
	for i := range d.Nodes {
		name := d.Nodes[i].Name
		if n, has := apart(name); !has || n > 51 {
			t.Fatalf("%s is asked about: %d nodes have parts", name, n)
		}
	}
	if n, _ := apart("none of them"); n != 50 {
		t.Errorf("%d nodes have parts", n)
	}
}
