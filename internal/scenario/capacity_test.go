package scenario_test

import (
	"testing"

	"berth/internal/scenario"
	"berth/test/enginetest"
)

// TestCapacity checks the figures of a small cluster by hand: a is full of cpu, b of nothing, c is
// cordoned.
func TestCapacity(t *testing.T) {
	size := enginetest.Allocatable("cpu", "4", "memory", "8Gi", "pods", "10")
	on := func(name, node, cpu, memory string) any {
		return enginetest.Pod(name, enginetest.On(node), enginetest.Requests("cpu", cpu, "memory", memory))
	}
	v := viewOf(t,
		enginetest.Node("a", size, enginetest.Zone("z1")), enginetest.Node("b", size, enginetest.Zone("z1")), enginetest.Node("c", size, enginetest.Cordoned()),
		on("big", "a", "3", "1Gi"), on("web-2", "b", "1", "2Gi"), on("web-1", "c", "1", "2Gi"),
		enginetest.Pod("agent", enginetest.On("a"), enginetest.Requests("cpu", "500m"), enginetest.Owner("apps/v1", "DaemonSet", "agent")),
		enginetest.Pod("waits", enginetest.Requests("cpu", "9")),
	)
	got, err := scenario.MeasureCapacity(t.Context(), v, "")
	if err != nil {
		t.Fatal(err)
	}
	cpu, memory := got.Resources[0], got.Resources[1]
	if cpu.Resource != "cpu" || cpu.Allocatable != 12000 || cpu.Requested != 5500 || cpu.Free != 3500 || cpu.Stranded != 500 {
		t.Errorf("%+v", cpu)
	}
	// big fits b only: 500m of 3500m are lost to it; web (two of three pods) likewise.
	if cpu.Fragmentation == nil || *cpu.Fragmentation != 14.286 {
		t.Errorf("fragmentation %v", *cpu.Fragmentation)
	}
	if memory.Free != 13<<30 || memory.Stranded != 7<<30 {
		t.Errorf("%+v", memory)
	}
	if d := cpu.Nodes; d.Min != 25 || d.Max != 87.5 || d.P50 != 25 || d.Mean != 45.833 || d.SD != 29.463 {
		t.Errorf("%+v", d)
	}
	if len(cpu.Zones) != 1 || cpu.Zones[0].Name != "z1" || cpu.Zones[0].Nodes != 2 || cpu.Zones[0].Requested != 4500 || cpu.Zones[0].Min != 25 || cpu.Zones[0].Max != 87.5 || cpu.Bound != 2 || memory.Bound != 1 || len(cpu.Pools) != 0 {
		t.Errorf("%+v %+v", cpu.Zones, cpu.Pools)
	}
	// web: three pieces on b; big: one.
	if s := got.Shapes; len(s) != 2 || s[0].Pods != 2 || s[0].Example != "default/web-1" || s[0].Room != 3 || s[0].Nodes != 1 || s[0].Requests["cpu"] != 1000 || *s[0].Largest != 3 || s[1].Room != 1 || *s[1].Largest != 1 {
		t.Errorf("%+v", s)
	}
	// 5 cpu are wanted: two nodes of 4.
	if want := (scenario.CapacityNodes{Total: 3, Cordoned: 1, InUse: 3, Bound: 2, CouldBeEmpty: 1, GapPercent: 33.333}); got.Nodes != want {
		t.Errorf("%+v", got.Nodes)
	}
}

// TestBoundHolds compares the bound with a packing that is there: no cluster uses fewer nodes than
// it.
func TestBoundHolds(t *testing.T) {
	for seed := range uint64(300) {
		c := enginetest.Generate(seed)
		v := viewOf(t, c.Objects...)
		got, err := scenario.MeasureCapacity(t.Context(), v, "")
		if err != nil {
			t.Fatal(err)
		}
		n := got.Nodes
		if n.Bound > n.InUse || n.Bound < 0 || n.InUse > n.Total || n.CouldBeEmpty != n.InUse-n.Bound {
			t.Errorf("seed %d: %+v", seed, n)
		}
		for _, r := range got.Resources {
			if f := r.Fragmentation; r.Stranded > r.Free || f != nil && (*f < 0 || *f > 100) || r.Nodes.Min > r.Nodes.P50 || r.Nodes.P90 > r.Nodes.Max {
				t.Errorf("seed %d: %+v", seed, r)
			}
		}
	}
}
