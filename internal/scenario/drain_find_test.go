package scenario_test

import (
	"encoding/json"
	"testing"

	"berth/internal/engine/rules"
	"berth/internal/scenario"
	"berth/test/enginetest"
)

// TestFindLeavesNoTrace is on random clusters: what was tried in vain is taken back, so that
// finding the same nodes without trying the others has the same answer; all pods of nodes found
// have another node; and draining those found proves it again.
func TestFindLeavesNoTrace(t *testing.T) {
	n := uint64(300)
	if testing.Short() {
		n = 60
	}
	found, kept, moved := 0, 0, 0
	for seed := range n {
		objects, nodes, spec := randomDrain(t, seed)
		if len(nodes) < 2 {
			continue
		}
		v, profiles := viewOf(t, objects...), profileOf(t, spec)
		o := scenario.DrainQuestion{Find: 5, StartSeconds: new(int64), Remove: new(seed%2 == 0), IgnoreDaemonSets: true, DeleteEmptyDirData: true, Force: true}
		find := func(of []string) *scenario.Drain {
			o.Nodes = of
			d, err := scenario.NewFork(v, scenario.Options{Profiles: profiles, Now: noon}).Drain(t.Context(), &o)
			if err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			return d
		}
		first := find(nodes)
		var names []string
		for _, n := range first.Nodes {
			names = append(names, n.Name)
		}
		kept += first.Find.Tried - len(names)
		if len(names) == 0 {
			continue // none named stands for all
		}
		second := find(names)
		first.Find, second.Find = nil, nil
		a, _ := json.Marshal(first)
		if b, _ := json.Marshal(second); string(a) != string(b) {
			t.Fatalf("seed %d: nodes %v after others were tried:\n%s\nalone:\n%s", seed, names, a, b)
		}
		for _, p := range first.Pods {
			if moved++; p.Replacement != nil && p.Replacement.Node == "" || p.Cause == "preemption" {
				t.Errorf("seed %d: %+v", seed, p)
			}
		}
		found += len(names)
	}
	t.Logf("%d found, %d tried in vain, %d pods moved", found, kept, moved)
	if found < int(n)/4 || kept < int(n)/4 || moved < int(n)/4 {
		t.Error("too little was tried")
	}
}

// large is the cluster that the project measures itself on, its pods with controllers.
func large(b *testing.B) (func() *scenario.Fork, []string) {
	objects := enginetest.Large(enginetest.FullSize)
	v := viewOf(b, objects...)
	profiles := profileOf(b, rules.DefaultSpec())
	var nodes []string
	for _, row := range v.State.Nodes().Order() {
		nodes = append(nodes, v.State.Nodes().Node(int(row)).Name)
	}
	return func() *scenario.Fork {
		return scenario.NewFork(v, scenario.Options{Profiles: profiles, Now: noon})
	}, nodes
}

func BenchmarkFind(b *testing.B) {
	fork, nodes := large(b)
	for b.Loop() {
		d, err := fork().Drain(b.Context(), &scenario.DrainQuestion{Find: 20, NodeChoice: chosen(nodes...), Force: true})
		if err != nil {
			b.Fatal(err)
		}
		if len(d.Nodes) == 0 {
			b.Fatalf("none of %d", d.Find.Tried)
		}
		b.ReportMetric(float64(d.Totals.Evicted)/float64(len(d.Nodes)), "pods/node")
		b.ReportMetric(float64(d.Find.Tried), "tried")
	}
}

func BenchmarkDrainOne(b *testing.B) {
	fork, nodes := large(b)
	i, f := 0, fork()
	for b.Loop() {
		if _, err := f.Drain(b.Context(), &scenario.DrainQuestion{NodeChoice: chosen(nodes[i%5000 : i%5000+1]...), Force: true}); err != nil {
			b.Fatal(err)
		}
		i++
	}
}
