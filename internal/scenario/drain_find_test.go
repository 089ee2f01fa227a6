package scenario_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"berth/internal/engine/rules"
	"berth/internal/scenario"
	"berth/internal/world"
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
		o := scenario.DrainQuestion{Find: 5, StartSeconds: new(int64), Remove: new(seed%2 == 0), DeleteEmptyDirData: true, Force: true}
		find := func(of []string) *scenario.Drain {
			o.Nodes = of
			d, err := o.On(t.Context(), world.NewFork(v, world.Options{Profiles: profiles, Now: noon}))
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
		if sum := len(names) + keptBy(t, first.Find); sum != first.Find.Tried {
			t.Errorf("seed %d: %d found or kept, %d tried", seed, sum, first.Find.Tried)
		}
		if len(names) == 0 {
			continue // none named stands for all
		}
		second := find(names)
		first.Find, second.Find = nil, nil
		a, _ := json.Marshal(first)
		if b, _ := json.Marshal(second); string(a) != string(b) {
			t.Fatalf("seed %d: nodes %v after others were tried:\n%s\nalone:\n%s", seed, names, a, b)
		}
		waited := map[string]bool{} // their preemptions come before the search
		for _, o := range first.Others {
			waited[o.Namespace+"/"+o.Name] = true
		}
		for _, p := range first.Pods {
			if waited[p.By] || p.LeavesAfterSeconds < first.Nodes[0].StartSeconds {
				continue
			}
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

// keptBy returns how many nodes the reasons of a search count, each reason once.
func keptBy(t *testing.T, f *scenario.Find) (nodes int) {
	t.Helper()
	seen := map[string]bool{}
	for i, r := range f.Reasons {
		if seen[r.Reason] || r.Nodes < 1 || len(r.Names) != min(r.Nodes, 5) || i > 0 && r.Nodes > f.Reasons[i-1].Nodes {
			t.Errorf("%+v", f.Reasons)
		}
		seen[r.Reason] = true
		nodes += r.Nodes
	}
	return nodes
}

// TestFindGroupsEqualReasons has more nodes with a daemon pod each than are named one by one, and
// others: pods of other names are no other reason.
func TestFindGroupsEqualReasons(t *testing.T) {
	var objects []any
	for i := range 120 {
		name := fmt.Sprintf("n%03d", i)
		objects = append(objects, enginetest.Node(name, enginetest.Allocatable("cpu", "4", "pods", "9")))
		switch {
		case i < 110:
			objects = append(objects, running(enginetest.Pod("agent-"+name, enginetest.On(name)), "DaemonSet", "agent", 1, 30))
		case i < 119:
			objects = append(objects, enginetest.Pod("bare-"+name, enginetest.On(name)))
		}
	}
	on := world.NewFork(viewOf(t, objects...), world.Options{Profiles: profileOf(t, rules.DefaultSpec()), Now: noon})
	d, err := (&scenario.DrainQuestion{Find: 120, NodeChoice: chosen(), IgnoreDaemonSets: new(bool)}).On(t.Context(), on)
	if err != nil {
		t.Fatal(err)
	}
	f := d.Find
	if len(d.Nodes) != 1 || f.Tried != 120 || keptBy(t, f) != 119 || len(f.Kept) != 100 || len(f.Reasons) != 2 {
		t.Fatalf("%d found, %d tried, %d kept, %+v", len(d.Nodes), f.Tried, len(f.Kept), f.Reasons)
	}
	if r := f.Reasons[0]; r.Nodes != 110 || !strings.HasPrefix(r.Reason, "a pod: it is managed by a DaemonSet") || !strings.HasPrefix(r.First, "pod default/agent-n") {
		t.Errorf("%+v", r)
	}
}

// large is the cluster that the project measures itself on, its pods with controllers.
func large(b *testing.B) (func() *world.Fork, []string) {
	objects := enginetest.Large(enginetest.FullSize)
	v := viewOf(b, objects...)
	profiles := profileOf(b, rules.DefaultSpec())
	var nodes []string
	for _, row := range v.State.Nodes().Order() {
		nodes = append(nodes, v.State.Nodes().Node(int(row)).Name)
	}
	return func() *world.Fork {
		return world.NewFork(v, world.Options{Profiles: profiles, Now: noon})
	}, nodes
}

func BenchmarkFind(b *testing.B) {
	fork, nodes := large(b)
	for b.Loop() {
		d, err := (&scenario.DrainQuestion{Find: 20, NodeChoice: chosen(nodes...), Force: true}).On(b.Context(), fork())
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
		if _, err := (&scenario.DrainQuestion{NodeChoice: chosen(nodes[i%5000 : i%5000+1]...), Force: true}).On(b.Context(), f); err != nil {
			b.Fatal(err)
		}
		i++
	}
}
