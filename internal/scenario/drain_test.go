package scenario_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"berth/internal/engine/rules"
	"berth/internal/scenario"
	"berth/internal/world"
	"berth/test/enginetest"
)

// running makes a pod of a controller that has been ready on a node for a while, after start
// seconds.
func running(p *corev1.Pod, kind, owner string, start, grace int64) *corev1.Pod {
	yes := true
	if kind != "" {
		p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: kind, Name: owner, UID: "u", Controller: &yes}}
	}
	began := metav1.NewTime(noon.Add(-time.Hour))
	p.Spec.TerminationGracePeriodSeconds = &grace
	p.Status.Phase, p.Status.StartTime = corev1.PodRunning, &began
	p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(began.Add(time.Duration(start) * time.Second))}}
	return p
}

// budgetOf is a budget that its controller has seen.
func budgetOf(name, app string, healthy, desired int32) *policyv1.PodDisruptionBudget {
	return &policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name},
		Spec:       policyv1.PodDisruptionBudgetSpec{Selector: enginetest.Match("app", app)},
		Status:     policyv1.PodDisruptionBudgetStatus{CurrentHealthy: healthy, DesiredHealthy: desired, ExpectedPods: healthy, DisruptionsAllowed: max(0, healthy-desired)},
	}
}

// chosen are nodes by name.
func chosen(nodes ...string) scenario.NodeChoice { return scenario.NodeChoice{Nodes: nodes} }

func drained(t *testing.T, o scenario.DrainQuestion, objects ...any) *scenario.Drain {
	t.Helper()
	o.StartSeconds = new(int64)
	out, err := o.On(t.Context(), world.NewFork(viewOf(t, objects...), world.Options{Profiles: profileOf(t, rules.DefaultSpec()), Now: noon}))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// told writes what became of each pod in a line.
func told(d *scenario.Drain) string {
	var b strings.Builder
	for _, n := range d.Nodes {
		fmt.Fprintf(&b, "%s %s in %d waves, %d s\n", n.Name, n.Outcome, n.Waves, n.Seconds)
		for what, list := range map[string][]scenario.PodReason{"skips": n.Skipped} {
			for _, p := range list {
				fmt.Fprintf(&b, "  %s %s: %s\n", what, p.Name, p.Reason)
			}
		}
		for _, p := range n.Refused {
			fmt.Fprintf(&b, "  refuses %s: %s\n", p.Name, p.Reason)
		}
		for _, p := range n.Blocked {
			fmt.Fprintf(&b, "  blocked %s: %s\n", p.Name, p.Reason)
		}
	}
	return b.String() + toldPods(d.Pods)
}

func toldPods(list []*world.Left) string {
	var b strings.Builder
	for _, p := range list {
		fmt.Fprintf(&b, "%s %s wave %d at %d", p.Name, p.Cause, p.Wave, p.LeavesAfterSeconds)
		if p.GoneAfterSeconds != nil {
			fmt.Fprintf(&b, " gone %d", *p.GoneAfterSeconds)
		}
		if r := p.Replacement; r != nil {
			fmt.Fprintf(&b, ": %s at %d on %q", r.Name, r.CreatedAfterSeconds, r.Node)
			if r.ReadyAfterSeconds != nil {
				fmt.Fprintf(&b, " ready %d", *r.ReadyAfterSeconds)
			}
			if r.Message != "" {
				fmt.Fprintf(&b, " (%s)", r.Message)
			}
		} else {
			fmt.Fprintf(&b, ": %s", p.NotReplaced)
		}
		b.WriteString("\n")
	}
	return b.String()
}

func TestDrain(t *testing.T) {
	const per = "2"
	web := func(i int, node string) *corev1.Pod {
		return running(enginetest.Pod(fmt.Sprint("web-", i), enginetest.Labels("app", "web"), enginetest.Requests("cpu", "1"), enginetest.On(node)), "ReplicaSet", "web", 20, 30)
	}
	set := func(i int, node string) *corev1.Pod {
		return running(enginetest.Pod(fmt.Sprint("db-", i), enginetest.Labels("app", "db"), enginetest.Requests("cpu", "1"), enginetest.On(node)), "StatefulSet", "db", 7, 10)
	}
	daemon := running(enginetest.Pod("agent-1", enginetest.On("a")), "DaemonSet", "agent", 1, 30)
	bare := running(enginetest.Pod("bare", enginetest.On("a")), "", "", 1, 30)
	local := web(9, "a")
	local.Spec.Volumes = []corev1.Volume{{Name: "tmp", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}}
	ending := func(name string, grace int64) *corev1.Pod { // for ten seconds
		p := running(enginetest.Pod(name, enginetest.On("a")), "ReplicaSet", "web", 20, grace)
		p.DeletionTimestamp, p.DeletionGracePeriodSeconds = new(metav1.NewTime(noon.Add(time.Duration(grace-10)*time.Second))), &grace
		return p
	}
	nodes := func(cpu ...string) (list []any) {
		for i, c := range cpu {
			list = append(list, enginetest.Node(string(rune('a'+i)), enginetest.Allocatable("cpu", c, "pods", "10")))
		}
		return list
	}
	on := []string{"a"}
	for _, c := range []struct {
		what    string
		o       scenario.DrainQuestion
		objects []any
		want    string
	}{
		{"a budget lets one go at a time, for as long as a start takes", scenario.DrainQuestion{NodeChoice: chosen(on...)}, append(nodes("4", "4"), web(0, "a"), web(1, "a"), budgetOf("web", "web", 2, 1)), `
a drained in 2 waves, 50 s
web-0 eviction wave 1 at 0 gone 30: web-0-2 at 0 on "b" ready 20
web-1 eviction wave 2 at 20 gone 50: web-1-2 at 20 on "b" ready 40
`},
		{"a set's pod comes back once it is gone", scenario.DrainQuestion{NodeChoice: chosen(on...)}, append(nodes("4", "4"), set(0, "a"), set(1, "a"), budgetOf("db", "db", 2, 1)), `
a drained in 2 waves, 30 s
db-0 eviction wave 1 at 0 gone 10: db-0 at 10 on "b" ready 17
db-1 eviction wave 2 at 20 gone 30: db-1 at 30 on "b" ready 37
`},
		{"a budget that allows nothing", scenario.DrainQuestion{NodeChoice: chosen(on...)}, append(nodes("4", "4"), web(0, "a"), set(0, "a"), budgetOf("web", "web", 1, 1)), `
a blocked in 1 waves, 20 s
  blocked web-0: The disruption budget web needs 1 healthy pods and has 1 currently
db-0 eviction wave 1 at 0 gone 10: db-0 at 10 on "b" ready 17
`},
		{"budgets are passed over by a delete", scenario.DrainQuestion{NodeChoice: chosen(on...), RespectBudgets: new(bool)}, append(nodes("4", "4"), web(0, "a"), budgetOf("web", "web", 1, 1)), `
a drained in 1 waves, 30 s
web-0 deletion wave 1 at 0 gone 30: web-0-2 at 0 on "b" ready 20
`},
		{"what has no room waits, and so does what its budget keeps", scenario.DrainQuestion{NodeChoice: chosen(on...)}, append(nodes("4", "1"), web(0, "a"), web(1, "a"), web(2, "a"), budgetOf("web", "web", 3, 2)), `
a blocked in 2 waves, 50 s
  blocked web-2: The disruption budget web needs 2 healthy pods and has 2 currently
web-0 eviction wave 1 at 0 gone 30: web-0-2 at 0 on "b" ready 20
web-1 eviction wave 2 at 20 gone 50: web-1-2 at 20 on "" (0/2 nodes are available: 1 Insufficient cpu, 1 node(s) were unschedulable. no new claims to deallocate, preemption: 0/2 nodes are available: 1 No preemption victims found for incoming pod, 1 Preemption is not helpful for scheduling.)
`},
		{"one pod that is refused keeps all", scenario.DrainQuestion{NodeChoice: chosen("a", "b"), IgnoreDaemonSets: new(bool)}, append(nodes("4", "4", "4"), daemon, bare, local, web(1, "a"), web(2, "b")), `
a refused in 0 waves, 0 s
  refuses agent-1: it is managed by a DaemonSet (use --ignore-daemonsets to leave it)
  refuses bare: no controller manages it (use --force to delete it for good)
  refuses web-9: it has local data (use --delete-emptydir-data to lose it)
b drained in 1 waves, 30 s
web-2 eviction wave 1 at 0 gone 30: web-2-2 at 0 on "c" ready 20
`},
		{"flags", scenario.DrainQuestion{NodeChoice: chosen(on...), DeleteEmptyDirData: true, Force: true, GracePeriodSeconds: new(int64)}, append(nodes("4", "4"), daemon, bare, local), `
a drained in 1 waves, 0 s
  skips agent-1: it is managed by a DaemonSet
bare eviction wave 1 at 0 gone 0: no controller manages it
web-9 eviction wave 1 at 0 gone 0: web-9-2 at 0 on "b" ready 20
`},
		{"a deletion that is under way is shortened, and counts from its beginning", scenario.DrainQuestion{NodeChoice: chosen(on...), GracePeriodSeconds: new(int64(60))}, append(nodes("4", "4"), ending("web-1", 300), ending("web-2", 45)), `
a drained in 1 waves, 50 s
web-1 eviction wave 1 at 0 gone 50: it was being deleted before, and is replaced already
web-2 eviction wave 1 at 0 gone 35: it was being deleted before, and is replaced already
`},
		{"victims of a replacement come back too", scenario.DrainQuestion{NodeChoice: chosen(on...)}, append(nodes("4", "1", "1"),
			running(enginetest.Pod("high", enginetest.Priority(10), enginetest.Requests("cpu", "1"), enginetest.On("a")), "ReplicaSet", "high", 5, 3),
			running(enginetest.Pod("low", enginetest.Requests("cpu", "1"), enginetest.On("b")), "ReplicaSet", "low", 5, 3),
			running(enginetest.Pod("full", enginetest.Priority(10), enginetest.Requests("cpu", "1"), enginetest.On("c")), "ReplicaSet", "full", 5, 3)), `
a drained in 1 waves, 3 s
high eviction wave 1 at 0 gone 3: high-2 at 0 on "b" ready 8
low preemption wave 0 at 0 gone 3: low-2 at 0 on "" (0/3 nodes are available: 1 node(s) were unschedulable, 2 Insufficient cpu. no new claims to deallocate, preemption: 0/3 nodes are available: 1 Preemption is not helpful for scheduling, 2 No preemption victims found for incoming pod.)
`},
		{"a cordoned node is still a domain", scenario.DrainQuestion{NodeChoice: chosen(on...)}, append(nodes(per, per), spread("a", 0), spread("b", 1)), `
a drained in 1 waves, 3 s
web-0 eviction wave 1 at 0 gone 3: web-0-2 at 0 on "" (0/2 nodes are available: 1 node(s) didn't match pod topology spread constraints, 1 node(s) were unschedulable. no new claims to deallocate, preemption: 0/2 nodes are available: 1 No preemption victims found for incoming pod, 1 Preemption is not helpful for scheduling.)
`},
		{"a removed one is not", scenario.DrainQuestion{NodeChoice: chosen(on...), Remove: new(true)}, append(nodes(per, per), spread("a", 0), spread("b", 1)), `
a drained in 1 waves, 3 s
web-0 eviction wave 1 at 0 gone 3: web-0-2 at 0 on "b" ready 8
`},
	} {
		t.Run(c.what, func(t *testing.T) {
			if got := told(drained(t, c.o, c.objects...)); strings.TrimSpace(got) != strings.TrimSpace(c.want) {
				t.Errorf("got\n%s\nwant%s", got, c.want)
			}
		})
	}
}

// spread is a pod that has to be spread evenly over hosts.
func spread(node string, i int) *corev1.Pod {
	return running(enginetest.Pod(fmt.Sprint("web-", i), enginetest.Labels("app", "web"), enginetest.On(node),
		enginetest.Spread(corev1.LabelHostname, 1, corev1.DoNotSchedule, enginetest.Match("app", "web"))), "ReplicaSet", "web", 5, 3)
}

func TestDrainOfUnknownNode(t *testing.T) {
	f := world.NewFork(viewOf(t, enginetest.Node("a")), world.Options{Profiles: profileOf(t, rules.DefaultSpec()), Now: noon})
	_, err := (&scenario.DrainQuestion{NodeChoice: chosen("a", "x")}).On(t.Context(), f)
	if err == nil || err.Error() != `nodes[1]: prod@1 has no node "x"` {
		t.Error(err)
	}
}

// randomDrain is a random cluster whose pods have controllers, starts and budgets.
func randomDrain(t testing.TB, seed uint64) (objects []any, nodes []string, spec rules.Spec) {
	c := enginetest.Generate(seed)
	kinds := []string{"ReplicaSet", "StatefulSet", "ReplicaSet", "Job", "DaemonSet", ""}
	apps := map[string]int32{}
	for i, o := range c.Objects {
		switch x := o.(type) {
		case *corev1.Node:
			nodes = append(nodes, x.Name)
		case *corev1.Pod:
			if x.Spec.NodeName == "" {
				break
			}
			p := x.DeepCopy()
			app := fmt.Sprint("app-", i%3)
			if p.Labels == nil {
				p.Labels = map[string]string{}
			}
			p.Labels["budget"] = p.Namespace + app
			k := kinds[(uint64(i)+seed)%6]
			if p = running(p, k, app, int64(i%4)*6, int64(i%3)*20); p.DeletionTimestamp == nil {
				apps[p.Namespace+"/"+p.Labels["budget"]]++
			}
			o = p
		}
		objects = append(objects, o)
	}
	for app, n := range apps {
		ns, label, _ := strings.Cut(app, "/")
		b := budgetOf(label, "", n, n-int32(seed%3))
		b.Namespace, b.Spec.Selector = ns, enginetest.Match("budget", label)
		objects = append(objects, b)
	}
	return objects, nodes, c.Spec
}

// TestDrainKeepsBudgets is on random clusters: no eviction leaves fewer healthy pods than a
// budget desires, by a count that is made of the answer alone; no replacement is on a drained
// node; and the same question has the same answer.
func TestDrainKeepsBudgets(t *testing.T) {
	n := uint64(400)
	if testing.Short() {
		n = 80
	}
	evictions, waves, pending := 0, 0, 0
	for seed := range n {
		objects, nodes, spec := randomDrain(t, seed)
		if len(nodes) < 2 {
			continue
		}
		o := scenario.DrainQuestion{NodeChoice: chosen(nodes[:1+len(nodes)/3]...), DeleteEmptyDirData: true, Force: seed%2 == 0, StartSeconds: new(int64(5))}
		run := func() *scenario.Drain {
			d, err := o.On(t.Context(), world.NewFork(viewOf(t, objects...), world.Options{Profiles: profileOf(t, spec), Now: noon}))
			if err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			return d
		}
		d := run()
		a, _ := json.Marshal(d)
		if b, _ := json.Marshal(run()); string(a) != string(b) {
			t.Fatalf("seed %d: two answers:\n%s\n%s", seed, a, b)
		}
		gone := map[string]bool{}
		for _, n := range d.Nodes {
			gone[n.Name] = true
			waves = max(waves, n.Waves)
		}
		for _, p := range d.Pods {
			if p.Replacement != nil && gone[p.Replacement.Node] {
				t.Errorf("seed %d: %s is on %s, which is drained", seed, p.Replacement.Name, p.Replacement.Node)
			}
			if p.Replacement != nil && p.Replacement.Node == "" {
				pending++
			}
		}
		evictions += countBudgets(t, seed, objects, d)
	}
	t.Logf("%d evictions under budgets, at most %d waves, %d replacements pending", evictions, waves, pending)
	if evictions < int(n)/4 || waves < 2 || pending < int(n)/20 {
		t.Error("too little was tried")
	}
}

// countBudgets checks every eviction that takes of a budget's allowance against the healthy pods of
// that budget at its second.
func countBudgets(t *testing.T, seed uint64, objects []any, d *scenario.Drain) (evictions int) {
	ill := map[int]bool{} // pods that are not healthy when they leave
	for _, o := range objects {
		if p, ok := o.(*corev1.Pod); ok && p.DeletionTimestamp != nil {
			for i, q := range d.Pods {
				ill[i] = ill[i] || q.Namespace == p.Namespace && q.Name == p.Name
			}
		}
	}
	for i, p := range d.Pods {
		for _, q := range d.Pods[:i] {
			if r := q.Replacement; r != nil && q.Namespace == p.Namespace && r.Name == p.Name {
				ill[i] = r.ReadyAfterSeconds == nil || *r.ReadyAfterSeconds > p.LeavesAfterSeconds
			}
		}
	}
	for _, o := range objects {
		b, ok := o.(*policyv1.PodDisruptionBudget)
		if !ok {
			continue
		}
		under := func(i int) bool {
			p := d.Pods[i]
			return p.Namespace == b.Namespace && slices.Contains(p.Budgets, b.Name) && !ill[i]
		}
		for i, p := range d.Pods {
			if !under(i) || p.Rule == nil || p.Rule.ID != "eviction/budget-allows" {
				continue
			}
			healthy := b.Status.CurrentHealthy
			for j, q := range d.Pods[:i+1] {
				if under(j) {
					healthy--
				}
				if r := q.Replacement; r != nil && slices.Contains(q.Budgets, b.Name) && r.ReadyAfterSeconds != nil && *r.ReadyAfterSeconds <= p.LeavesAfterSeconds {
					healthy++
				}
			}
			evictions++
			if healthy < b.Status.DesiredHealthy {
				t.Errorf("seed %d: budget %s desires %d and has %d once %s is evicted", seed, b.Name, b.Status.DesiredHealthy, healthy, p.Name)
			}
		}
	}
	return evictions
}
