package scenario_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"berth/internal/engine/rules"
	"berth/internal/scenario"
	"berth/internal/world"
	"berth/test/enginetest"
)

// toldSweep writes a sweep in lines.
func toldSweep(list []*scenario.SweepItem) string {
	var b strings.Builder
	for _, i := range list {
		fmt.Fprintf(&b, "%s of %d: %d pods, %+v stay %d preempted %d %s until %d %t %s\n", i.Name, i.Nodes, i.Pods, i.Replaced, i.Stay, i.Preempted, i.Outcome, i.Seconds, i.OK, i.Why)
	}
	return b.String()
}

// small has zone a with two nodes and b with one: the pods of each node have room elsewhere, those
// of zone a do not. The pod local keeps its node from being drained.
func small() []any {
	node := func(name, cpu string) *corev1.Node {
		return enginetest.Node(name, enginetest.Zone(name[:1]), enginetest.Allocatable("cpu", cpu, "pods", "10"))
	}
	pod := func(name, node, kind string) *corev1.Pod {
		return running(enginetest.Pod(name, enginetest.Requests("cpu", "1"), enginetest.On(node)), kind, "web", 20, 30)
	}
	local := pod("local", "a2", "ReplicaSet")
	local.Spec.Volumes = []corev1.Volume{{Name: "tmp", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}}
	return []any{node("a1", "2"), node("a2", "3"), node("b1", "2"), pod("web-1", "a1", "ReplicaSet"), pod("web-2", "a2", "ReplicaSet"), local, pod("web-3", "b1", "ReplicaSet")}
}

func TestSweep(t *testing.T) {
	objects := append(small(), enginetest.Node("c1", enginetest.Allocatable("pods", "0")))
	zones := lost(t, scenario.LossQuestion{Each: "zone"}, objects...)
	want := `
a of 2: 3 pods, {Placed:1 Pending:2 NotReplaced:0 NotStarted:0 Held:0} stay 0 preempted 0  until 70 false pod default/local is left without a node: 0/4 nodes are available: 1 Insufficient cpu, 1 Too many pods, 2 node(s) had untolerated taint(s). no new claims to deallocate, preemption: 0/4 nodes are available: 2 No preemption victims found for incoming pod, 2 Preemption is not helpful for scheduling.
b of 1: 1 pods, {Placed:1 Pending:0 NotReplaced:0 NotStarted:0 Held:0} stay 0 preempted 0  until 70 true 
`
	if got := toldSweep(zones.Each); strings.TrimSpace(got) != strings.TrimSpace(want) {
		t.Errorf("got\n%s\nwant%s", got, want)
	}
	if w := strings.Join(zones.Warnings, "\n"); w != "nodes without the label topology.kubernetes.io/zone, which are in no zone here: 1" {
		t.Errorf("%q", w)
	}
	if got := zones.Totals; got.Nodes != 3 || got.Pods != 4 || got.Deleted != 4 || got.Placed != 2 || got.Pending != 2 || zones.Seconds != 70 {
		t.Errorf("%+v until %d", got, zones.Seconds)
	}
	nodes := lost(t, scenario.LossQuestion{Each: "node", NodeChoice: chosen("b1", "a1")}, objects...)
	want = `
a1 of 1: 1 pods, {Placed:1 Pending:0 NotReplaced:0 NotStarted:0 Held:0} stay 0 preempted 0  until 70 true 
b1 of 1: 1 pods, {Placed:1 Pending:0 NotReplaced:0 NotStarted:0 Held:0} stay 0 preempted 0  until 70 true 
`
	if got := toldSweep(nodes.Each); strings.TrimSpace(got) != strings.TrimSpace(want) {
		t.Errorf("got\n%s\nwant%s", got, want)
	}
	part := lost(t, scenario.LossQuestion{Each: "zone", NodeChoice: chosen("a1")}, objects...)
	if len(part.Each) != 1 || part.Each[0].Name != "a" || part.Each[0].Nodes != 1 || !part.Each[0].OK {
		t.Errorf("%s", toldSweep(part.Each))
	}
	drains := drained(t, scenario.DrainQuestion{Each: "node"}, objects...)
	want = `
a1 of 1: 1 pods, {Placed:1 Pending:0 NotReplaced:0 NotStarted:0 Held:0} stay 0 preempted 0 drained until 30 true 
a2 of 1: 0 pods, {Placed:0 Pending:0 NotReplaced:0 NotStarted:0 Held:0} stay 0 preempted 0 refused until 0 false pod default/local: it has local data (use --delete-emptydir-data to lose it)
b1 of 1: 1 pods, {Placed:1 Pending:0 NotReplaced:0 NotStarted:0 Held:0} stay 0 preempted 0 drained until 30 true 
c1 of 1: 0 pods, {Placed:0 Pending:0 NotReplaced:0 NotStarted:0 Held:0} stay 0 preempted 0 drained until 0 true 
`
	if got := toldSweep(drains.Each); strings.TrimSpace(got) != strings.TrimSpace(want) {
		t.Errorf("got\n%s\nwant%s", got, want)
	}
	if got := drains.Totals; got.NodesDrained != 3 || got.Evicted != 2 || got.Placed != 2 || drains.Seconds != 30 {
		t.Errorf("%+v until %d", got, drains.Seconds)
	}
}

// TestSweepStays has a pod that nothing deletes on a node that dies.
func TestSweepStays(t *testing.T) {
	stays := running(enginetest.Pod("kept", enginetest.On("a"), enginetest.Tolerate(corev1.TaintNodeUnreachable, corev1.TolerationOpExists, "", corev1.TaintEffectNoExecute)), "ReplicaSet", "web", 20, 30)
	l := lost(t, scenario.LossQuestion{Each: "node"}, enginetest.Node("a"), enginetest.Node("b"), stays)
	want := "pod default/kept stays on its dead node: The pod tolerates node.kubernetes.io/unreachable:NoExecute without a limit, so it stays bound to the node."
	if i := l.Each[0]; i.OK || i.Stay != 1 || i.Why != want || !l.Each[1].OK || l.Totals.Stay != 1 {
		t.Errorf("%s", toldSweep(l.Each))
	}
}

func TestSweepRefuses(t *testing.T) {
	v, profiles := viewOf(t, enginetest.Node("a")), profileOf(t, rules.DefaultSpec())
	empty := viewOf(t)
	for _, c := range []struct {
		q    asked
		want string
	}{
		{loss{Each: "pod"}, "each: want zone or node"},
		{loss{Each: "zone"}, "each: want node: none of the nodes has the label topology.kubernetes.io/zone"},
		{drain{Each: "zone"}, "each: want node"},
		{drain{Each: "node", Find: 1}, "each: want each or find, and only one of them"},
		{drain{Each: "node", Find: -1}, "each: want each or find, and only one of them"},
		{drain{Each: "node", NodeChoice: chosen("b")}, `nodes[0]: ` + v.ID() + ` has no node "b"`},
		{loss{Each: "node", NodeChoice: scenario.NodeChoice{Zone: "b"}}, `zone: ` + v.ID() + ` has no node in zone "b"`},
		{drain{Each: "node", StartSeconds: new(int64(-1))}, "startSeconds: want 0 to 604800"},
		{drain{}, "nodes: want nodes, a selector, a zone, each or find"},
	} {
		_, err := c.q.ask(t, world.NewFork(v, world.Options{Profiles: profiles, Now: noon}))
		if err == nil || !strings.HasSuffix(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", c.q, err, c.want)
		}
	}
	if _, err := (loss{Each: "node"}).ask(t, world.NewFork(empty, world.Options{Profiles: profiles, Now: noon})); err == nil || !strings.HasSuffix(err.Error(), "has no nodes") {
		t.Errorf("no nodes: %v", err)
	}
}

// asked is one of the questions that have sweeps.
type asked interface {
	ask(t *testing.T, f *world.Fork) (any, error)
}

type (
	loss  scenario.LossQuestion
	drain scenario.DrainQuestion
)

func (q loss) ask(t *testing.T, f *world.Fork) (any, error) {
	return (*scenario.LossQuestion)(&q).On(t.Context(), f)
}

func (q drain) ask(t *testing.T, f *world.Fork) (any, error) {
	return (*scenario.DrainQuestion)(&q).On(t.Context(), f)
}

// TestSweepEqualsSingleQuestions is on random clusters: each line has what the question about its
// zone or node alone answers, and is ok where that would be.
func TestSweepEqualsSingleQuestions(t *testing.T) {
	n := uint64(60)
	if testing.Short() {
		n = 15
	}
	compared, bad, zones, preempted := 0, 0, 0, 0
	for seed := range n {
		objects, nodes, spec := randomDrain(t, seed)
		if len(nodes) < 2 {
			continue
		}
		v, profiles := viewOf(t, objects...), profileOf(t, spec)
		fork := func() *world.Fork { return world.NewFork(v, world.Options{Profiles: profiles, Now: noon}) }
		loses := scenario.LossQuestion{StartSeconds: new(int64(5))}
		if after := int64(seed * 7 % 500); seed%2 == 0 {
			loses.RemoveAfterSeconds = &after
		}
		lose := func(q scenario.LossQuestion) *scenario.Loss {
			l, err := q.On(t.Context(), fork())
			if err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			return l
		}
		same := func(what string, i *scenario.SweepItem, want *scenario.SweepItem, ok bool) {
			compared++
			if !ok {
				bad++
			}
			preempted += i.Preempted
			got := *i
			got.Why = ""
			if want.Name, want.OK = i.Name, ok; got != *want || i.OK != (i.Why == "") {
				t.Fatalf("seed %d, %s: got\n%+v\nwant\n%+v", seed, what, i, want)
			}
		}
		of := func(l *scenario.Loss) (*scenario.SweepItem, bool) {
			x := &l.Totals
			return &scenario.SweepItem{Nodes: x.Nodes, Pods: x.Pods, Deleted: x.Deleted, Ended: x.Ended, Preempted: x.Preempted, Stay: x.Stay, Replaced: x.Replaced, Seconds: l.Seconds},
				!x.Unserved() && x.Stay == 0
		}
		each := loses
		each.Each = "node"
		if seed%3 == 0 {
			each.Nodes = nodes[1:]
		}
		for _, i := range lose(each).Each {
			one := loses
			one.Nodes = []string{i.Name}
			want, ok := of(lose(one))
			same("lose "+i.Name, i, want, ok)
		}
		each = loses
		each.Each = "zone"
		if swept, err := each.On(t.Context(), fork()); err == nil { // some have no zones
			for _, i := range swept.Each {
				one := loses
				one.Zone = i.Name
				want, ok := of(lose(one))
				same("lose zone "+i.Name, i, want, ok)
				zones++
			}
		}
		drains := scenario.DrainQuestion{StartSeconds: new(int64(5)), Remove: new(seed%2 == 0), DeleteEmptyDirData: seed%3 > 0, Force: true}
		all := drains
		all.Each = "node"
		swept, err := all.On(t.Context(), fork())
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		for _, i := range swept.Each {
			one := drains
			one.Nodes = []string{i.Name}
			d, err := one.On(t.Context(), fork())
			if err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			x := &d.Totals
			same("drain "+i.Name, i, &scenario.SweepItem{
				Nodes: 1, Pods: x.Evicted, Ended: d.Nodes[0].Ended, Preempted: x.Preempted, Replaced: x.Replaced, Outcome: d.Nodes[0].Outcome, Seconds: d.Seconds,
			}, x.NodesDrained == 1 && !x.Unserved())
		}
	}
	t.Logf("%d compared, %d not ok, %d zones, %d preempted", compared, bad, zones, preempted)
	if compared < 4*int(n) || bad < int(n)/2 || zones < int(n)/4 || preempted < int(n)/20 {
		t.Error("too little was tried")
	}
}

// TestSweepGoesOn ends a sweep of 40 nodes after 20, and goes on with what was kept: the answer is
// the same, warnings too, and no kept node is answered again.
func TestSweepGoesOn(t *testing.T) {
	var objects []any
	for i := range 40 {
		name := fmt.Sprintf("n%02d", i)
		p := running(enginetest.Pod("web-"+name, enginetest.On(name)), "Job", "batch-"+name, 20, 30)
		p.Status.StartTime, p.Spec.SchedulerName = nil, "other-"+name
		objects = append(objects, enginetest.Node(name), p)
	}
	v, profiles := viewOf(t, objects...), profileOf(t, rules.DefaultSpec())
	stop := errors.New("stopped")
	parts, seen := map[string][]byte{}, 0
	run := func(w *world.Watch) (*scenario.Loss, []string, error) {
		o := world.Options{Profiles: profiles, Now: noon, Watch: w, Strangers: &world.Strangers{}}
		l, err := (&scenario.LossQuestion{Each: "node"}).On(t.Context(), world.NewFork(v, o))
		return l, o.Strangers.Warnings(v), err
	}
	whole, warned, err := run(nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(warned) != 11 || len(whole.Warnings) != 2 || !strings.HasPrefix(whole.Warnings[0], "of 40 pods") || !strings.Contains(whole.Warnings[1], "snapshot: 40;") {
		t.Fatalf("%q %q", warned, whole.Warnings)
	}
	save := func(part string, x any) (err error) {
		if len(parts) == 1 {
			return stop
		}
		parts[part], err = json.Marshal(x)
		return err
	}
	if _, _, err := run(&world.Watch{Save: save}); !errors.Is(err, stop) {
		t.Fatalf("%v", err)
	}
	again, warnedAgain, err := run(&world.Watch{
		Progress: func(part string, done, total int) {
			if seen++; part != "nodes" || total != 40 || seen == 1 && done != 16 {
				t.Errorf("%s %d of %d", part, done, total)
			}
		},
		Load: func(part string, x any) (bool, error) {
			raw, ok := parts[part]
			if !ok {
				return false, nil
			}
			return true, json.Unmarshal(raw, x)
		},
		Save: func(string, any) error { return nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	a, _ := json.Marshal(whole)
	if b, _ := json.Marshal(again); string(a) != string(b) || strings.Join(warned, "\n") != strings.Join(warnedAgain, "\n") || seen != 1+24 {
		t.Errorf("%d calls\n%s\n%s\n%q\n%q", seen, a, b, warned, warnedAgain)
	}
}
