package scenario_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"berth/internal/engine/rules"
	"berth/internal/scenario"
	"berth/internal/world"
	"berth/test/enginetest"
)

func lost(t *testing.T, o scenario.LossQuestion, objects ...any) *scenario.Loss {
	t.Helper()
	o.StartSeconds = new(int64)
	out, err := o.On(t.Context(), world.NewFork(viewOf(t, objects...), world.Options{Profiles: profileOf(t, rules.DefaultSpec()), Now: noon}))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// toldLoss writes a loss in lines.
func toldLoss(l *scenario.Loss) string {
	var b strings.Builder
	for _, z := range l.Zones {
		fmt.Fprintf(&b, "zone %s %d/%d %s %s\n", z.Zone, z.NotReady, z.Nodes, z.State, z.Rule.ID)
	}
	for _, n := range l.Nodes {
		fmt.Fprintf(&b, "%s not ready %d", n.Name, n.NotReadyAfterSeconds)
		if n.TaintedAfterSeconds != nil {
			fmt.Fprintf(&b, " tainted %d", *n.TaintedAfterSeconds)
		}
		b.WriteString("\n")
	}
	b.WriteString(toldPods(l.Pods))
	for _, p := range l.Staying {
		fmt.Fprintf(&b, "%s stays: %s\n", p.Name, p.Reason)
	}
	return b.String()
}

func TestLose(t *testing.T) {
	five := int64(300)
	web := func(name, kind, node string) *corev1.Pod {
		p := running(enginetest.Pod(name, enginetest.Labels("app", "web"), enginetest.Requests("cpu", "1"), enginetest.On(node)), kind, "web", 20, 30)
		p.Spec.Tolerations = []corev1.Toleration{{Key: corev1.TaintNodeUnreachable, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute, TolerationSeconds: &five}}
		return p
	}
	daemon := running(enginetest.Pod("agent", enginetest.On("a1"), enginetest.Tolerate(corev1.TaintNodeUnreachable, corev1.TolerationOpExists, "", corev1.TaintEffectNoExecute)), "DaemonSet", "agent", 1, 30)
	nodes := func(zones string, per int) (list []any) {
		for _, z := range zones {
			for i := range per {
				list = append(list, enginetest.Node(fmt.Sprintf("%c%d", z, i+1), enginetest.Zone(string(z)), enginetest.Allocatable("cpu", "2", "pods", "10")))
			}
		}
		return list
	}
	excluded := func(name string) *corev1.Node {
		return enginetest.Node(name, enginetest.Zone(name[:1]), enginetest.NodeLabels("node.kubernetes.io/exclude-disruption", ""), enginetest.Allocatable("cpu", "2", "pods", "10"))
	}
	after := int64(600)
	for _, c := range []struct {
		what    string
		o       scenario.LossQuestion
		objects []any
		want    string
	}{
		{"one node: replicas come back after 350 s, a set's pod and a daemon's stay", scenario.LossQuestion{NodeChoice: chosen("a1")}, append(nodes("ab", 2), web("web-1", "ReplicaSet", "a1"), web("db-0", "StatefulSet", "a1"), daemon), `
zone a 1/2 Normal zone/normal
a1 not ready 50 tainted 50
db-0 taint wave 0 at 350: StatefulSet/web waits until the pod is gone, and its node ends no pod any more
web-1 taint wave 0 at 350: web-1-2 at 350 on "b2" ready 370
agent stays: The pod tolerates node.kubernetes.io/unreachable:NoExecute without a limit, so it stays bound to the node.
`},
		{"its object goes: PodGC ends what is left", scenario.LossQuestion{NodeChoice: chosen("a1"), RemoveAfterSeconds: &after}, append(nodes("ab", 2), web("web-1", "ReplicaSet", "a1"), web("db-0", "StatefulSet", "a1")), `
zone a 1/2 Normal zone/normal
a1 not ready 50 tainted 50
db-0 taint wave 0 at 350 gone 660: db-0 at 660 on "b1" ready 680
web-1 taint wave 0 at 350 gone 660: web-1-2 at 350 on "b2" ready 370
`},
		{"a zone: one node in ten seconds", scenario.LossQuestion{NodeChoice: chosen("a2", "a1")}, append(nodes("ab", 2), web("web-1", "ReplicaSet", "a1"), web("web-2", "ReplicaSet", "a2")), `
zone a 2/2 FullDisruption zone/full
a1 not ready 50 tainted 50
a2 not ready 50 tainted 60
web-1 taint wave 0 at 350: web-1-2 at 350 on "b2" ready 370
web-2 taint wave 0 at 360: web-2-2 at 360 on "b1" ready 380
`},
		{"most of a small zone: nothing is tainted", scenario.LossQuestion{NodeChoice: chosen("a1", "a2", "a3")}, append(nodes("ab", 4), web("web-1", "ReplicaSet", "a1")), `
zone a 3/4 PartialDisruption zone/partial-small
a1 not ready 50
a2 not ready 50
a3 not ready 50
web-1 stays: the node is not tainted
`},
		{"all zones: the control plane blames itself", scenario.LossQuestion{NodeChoice: chosen("a1", "b1")}, append(nodes("ab", 1), web("web-1", "ReplicaSet", "a1")), `
zone a 1/1 FullDisruption zone/all-lost
zone b 1/1 FullDisruption zone/all-lost
a1 not ready 50
b1 not ready 50
web-1 stays: the node is not tainted
`},
		{"a rate that is given leaves the others as they are, and 0 taints none", scenario.LossQuestion{NodeChoice: chosen("a1"), Rates: &scenario.LossRates{NodeSeconds: new(int64)}}, append(nodes("ab", 2), web("web-1", "ReplicaSet", "a1")), `
zone a 1/2 Normal zone/normal
a1 not ready 50
web-1 stays: the node is not tainted
`},
		{"nodes that are excluded do not count for their zone", scenario.LossQuestion{NodeChoice: chosen("a1", "a2", "a3", "c1")}, append(nodes("ab", 3), excluded("a4"), excluded("a5"), excluded("c1"), web("web-1", "ReplicaSet", "a3")), `
zone a 3/3 FullDisruption zone/full
zone c 0/0 Normal zone/normal
a1 not ready 50 tainted 50
a2 not ready 50 tainted 60
a3 not ready 50 tainted 70
c1 not ready 50 tainted 50
web-1 taint wave 0 at 370: web-1-2 at 370 on "b2" ready 390
`},
		{"zones of one name in two regions are two", scenario.LossQuestion{NodeChoice: chosen("a1", "a2")}, append(nodes("b", 1),
			enginetest.Node("a1", enginetest.Zone("a"), enginetest.NodeLabels(corev1.LabelTopologyRegion, "x")),
			enginetest.Node("a2", enginetest.Zone("a"), enginetest.NodeLabels(corev1.LabelTopologyRegion, "y"))), `
zone x:a 1/1 FullDisruption zone/full
zone y:a 1/1 FullDisruption zone/full
a1 not ready 50 tainted 50
a2 not ready 50 tainted 50
`},
		{"old labels come first", scenario.LossQuestion{NodeChoice: chosen("a1", "b1")}, append(nodes("b", 1), enginetest.Node("a1", enginetest.Zone("a"), enginetest.NodeLabels(corev1.LabelFailureDomainBetaZone, "b")), enginetest.Node("c1", enginetest.Zone("b"))), `
zone b 2/3 Normal zone/normal
a1 not ready 50 tainted 50
b1 not ready 50 tainted 60
`},
	} {
		t.Run(c.what, func(t *testing.T) {
			if got := toldLoss(lost(t, c.o, c.objects...)); strings.TrimSpace(got) != strings.TrimSpace(c.want) {
				t.Errorf("got\n%s\nwant%s", got, c.want)
			}
		})
	}
}

// TestLoseCountsPods of nodes whose objects are gone before they are given up, too.
func TestLoseCountsPods(t *testing.T) {
	l := lost(t, scenario.LossQuestion{NodeChoice: chosen("a"), RemoveAfterSeconds: new(int64)}, enginetest.Node("a"), enginetest.Pod("p", enginetest.On("a")))
	if l.Totals.Pods != 1 || l.Totals.Deleted != 1 {
		t.Errorf("%+v", l.Totals)
	}
}

// TestLoseTellsOfEveryPod has a pod that is being deleted when its node dies.
func TestLoseTellsOfEveryPod(t *testing.T) {
	going := running(enginetest.Pod("going", enginetest.On("a"), enginetest.Terminating()), "ReplicaSet", "web", 20, 30)
	l := lost(t, scenario.LossQuestion{NodeChoice: chosen("a")}, enginetest.Node("a"), enginetest.Node("b"), going, running(enginetest.Pod("web", enginetest.On("a")), "ReplicaSet", "web", 20, 30))
	if l.Totals.Pods != 2 || l.Totals.Deleted+len(l.Staying) != 2 || len(l.Staying) != 1 || !strings.Contains(l.Staying[0].Reason, "stays Terminating") {
		t.Errorf("%+v %+v", l.Totals, l.Staying)
	}
}

// TestLoseAtRandom is on random clusters: every pod of a lost node is deleted or stays, once; no
// replacement is on a lost node; and the same question has the same answer.
func TestLoseAtRandom(t *testing.T) {
	n := uint64(300)
	if testing.Short() {
		n = 60
	}
	deleted, staying, placed := 0, 0, 0
	for seed := range n {
		objects, nodes, _ := randomDrain(t, seed)
		if len(nodes) < 2 {
			continue
		}
		o := scenario.LossQuestion{NodeChoice: chosen(nodes[:1+len(nodes)/4]...), StartSeconds: new(int64(5))}
		if after := int64(seed * 7 % 500); seed%2 == 0 {
			o.RemoveAfterSeconds = &after
		}
		v := viewOf(t, objects...)
		profiles := profileOf(t, rules.DefaultSpec())
		run := func() *scenario.Loss {
			l, err := o.On(t.Context(), world.NewFork(v, world.Options{Profiles: profiles, Now: noon}))
			if err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			return l
		}
		l := run()
		a, _ := json.Marshal(l)
		if b, _ := json.Marshal(run()); string(a) != string(b) {
			t.Fatalf("seed %d: two answers:\n%s\n%s", seed, a, b)
		}
		ends := map[string]int{}
		for _, p := range l.Pods {
			if slices.Contains(o.Nodes, p.Node) {
				ends[p.Namespace+"/"+p.Name]++
			}
			if p.Replacement != nil && slices.Contains(o.Nodes, p.Replacement.Node) && p.Replacement.CreatedAfterSeconds > 50 {
				t.Errorf("seed %d: %s is on %s, which is lost", seed, p.Replacement.Name, p.Replacement.Node)
			}
		}
		for _, p := range l.Staying {
			ends[p.Namespace+"/"+p.Name]++
		}
		for _, name := range o.Nodes {
			row := v.State.Nodes().Row(name)
			for p := range v.State.PodsOn(row).All() {
				if who := p.Namespace + "/" + p.Name; ends[who] != 1 {
					t.Errorf("seed %d: %s on %s is told of %d times", seed, who, name, ends[who])
				}
			}
		}
		deleted, staying, placed = deleted+l.Totals.Deleted, staying+len(l.Staying), placed+l.Totals.Placed
	}
	t.Logf("%d deleted, %d stay, %d placed", deleted, staying, placed)
	if min(deleted, placed) < int(n)/4 || !testing.Short() && staying < int(n)/30 {
		t.Error("too little was tried")
	}
}
