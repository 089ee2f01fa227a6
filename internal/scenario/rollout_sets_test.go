package scenario_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"berth/internal/scenario"
	"berth/test/enginetest"
)

// kvPods are n pods of the StatefulSet kv, which take 7 seconds to start and 5 to end.
func kvPods(n int, change ...func(i int, p *corev1.Pod)) (list []any) {
	for i := range n {
		p := running(enginetest.Pod(fmt.Sprint("kv-", i), enginetest.Requests("cpu", "1"), enginetest.On("a"), enginetest.Labels("app", "kv")), "StatefulSet", "kv", 7, 5)
		for _, f := range change {
			f(i, p)
		}
		list = append(list, p)
	}
	return list
}

// kv is its manifest with other fields of its spec; a pod of the new template wants some cpu.
func kv(spec, cpu string) json.RawMessage {
	return json.RawMessage(`{"kind":"StatefulSet","apiVersion":"apps/v1","metadata":{"name":"kv"},"spec":{"serviceName":"kv","selector":{"matchLabels":{"app":"kv"}},` + spec +
		`"template":{"metadata":{"labels":{"app":"kv"}},"spec":{"containers":[{"name":"c","image":"kv:2","resources":{"requests":{"cpu":"` + cpu + `"}}}]}}}}`)
}

// toldRollout writes what became of an update and its pods, in a line each.
func toldRollout(r *scenario.Rollout) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s at %d: %d of %d updated, %d to %d pods", r.Outcome, r.Seconds, *r.Updated, r.Replicas, r.LeastAvailable, r.MostPods)
	if r.Why != "" {
		b.WriteString(", " + r.Why)
	}
	b.WriteString("\n")
	for _, h := range r.Held {
		b.WriteString("held: " + h.Why + "\n")
	}
	for _, l := range r.Removed {
		fmt.Fprintf(&b, "%s %s at %d", l.Name, l.Cause, l.LeavesAfterSeconds)
		if c := l.Replacement; c != nil && c.ReadyAfterSeconds != nil {
			fmt.Fprintf(&b, ", on %s at %d, ready %d", c.Node, c.CreatedAfterSeconds, *c.ReadyAfterSeconds)
		}
		b.WriteString("\n")
	}
	for _, n := range r.Nodes {
		fmt.Fprintf(&b, "%s from %d", n.Node, n.BeginsAfterSeconds)
		if n.ReadyAfterSeconds != nil {
			fmt.Fprintf(&b, " to %d by %s", *n.ReadyAfterSeconds, n.Pod)
		}
		b.WriteString("\n")
	}
	for _, x := range r.Remedies {
		b.WriteString("try " + x.Change + " | " + x.Command + "\n")
	}
	return b.String()
}

// TestRolloutOfSets follows stateful_set_control.go updateStatefulSet: the order of the ordinals,
// and what holds it up.
func TestRolloutOfSets(t *testing.T) {
	sick := func(which int) func(int, *corev1.Pod) {
		return func(i int, p *corev1.Pod) {
			if i == which {
				p.Status.Conditions[0].Status = corev1.ConditionFalse
			}
		}
	}
	for _, c := range []struct {
		what, spec, cpu, want string
		objects               []any
	}{
		{"from the highest ordinal down, each once the one before is ready", ``, "1", `
complete at 36: 3 of 3 updated, 2 to 3 pods
kv-2 update at 0, on a at 5, ready 12
kv-1 update at 12, on a at 17, ready 24
kv-0 update at 24, on a at 29, ready 36
`, append(kvPods(3), alive("a", "4"))},
		{"those below the partition stay", `"updateStrategy":{"rollingUpdate":{"partition":2}},`, "1", `
complete at 12: 1 of 3 updated, 2 to 3 pods
kv-2 update at 0, on a at 5, ready 12
`, append(kvPods(3), alive("a", "4"))},
		{"a partition above all ordinals", `"updateStrategy":{"rollingUpdate":{"partition":3}},`, "1", `
complete at 0: 0 of 3 updated, 3 to 3 pods
`, append(kvPods(3), alive("a", "4"))},
		{"with OnDelete none is replaced", `"updateStrategy":{"type":"OnDelete"},`, "1", `
onDelete at 0: 0 of 3 updated, 3 to 3 pods, with updateStrategy OnDelete no pod is replaced before it is deleted: 3 of 3 keep the old template
try spec.updateStrategy.type: RollingUpdate, which replaces the pods in turn | kubectl patch statefulset kv -n default -p '{"spec":{"updateStrategy":{"type":"RollingUpdate"}}}'
`, append(kvPods(3), alive("a", "4"))},
		{"one that finds no node holds up the rest", ``, "3", `
stuck at 5: 1 of 3 updated, 2 to 3 pods, pods of it wait (1): 0/1 nodes are available: 1 Insufficient cpu. no new claims to deallocate, preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod.
held: kv-2 has no node
kv-2 update at 0
try lower the cpu request of container c from 3 to 2 | kubectl set resources statefulset kv -n default -c c --requests=cpu=2
try add one more node like a | 
`, append(kvPods(3), alive("a", "4"))},
		{"one that is not Ready holds up the rest, until it is deleted", ``, "1", `
stuck at 0: 0 of 3 updated, 2 to 3 pods, kv-1 is not Ready, and with OrderedReady no other pod is replaced before it is available
held: kv-1 is not Ready
try delete pod kv-1, which its controller makes again | kubectl delete pod kv-1 -n default
`, append(kvPods(3, sick(1)), alive("a", "4"))},
		{"but not with Parallel, where lower ordinals do not count", `"podManagementPolicy":"Parallel",`, "1", `
complete at 39: 3 of 3 updated, 1 to 3 pods
kv-2 update at 0, on a at 5, ready 12
kv-1 update at 12, on a at 17, ready 27
kv-0 update at 27, on a at 32, ready 39
`, append(kvPods(3, sick(1)), alive("a", "4"))},
		{"with Parallel the highest one of the new template holds up the rest", `"podManagementPolicy":"Parallel",`, "3", `
stuck at 5: 1 of 3 updated, 1 to 3 pods, pods of it wait (1): 0/1 nodes are available: 1 Insufficient cpu. no new claims to deallocate, preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod.
held: kv-2 has no node
kv-2 update at 0
try lower the cpu request of container c from 3 to 2 | kubectl set resources statefulset kv -n default -c c --requests=cpu=2
try add one more node like a | 
`, append(kvPods(3, sick(0)), alive("a", "4"))},
		{"an ordinal below the partition keeps it from being complete", `"podManagementPolicy":"Parallel","updateStrategy":{"rollingUpdate":{"partition":1,"maxUnavailable":2}},`, "1", `
stuck at 24: 2 of 3 updated, 1 to 3 pods, kv-0 is not Ready
held: kv-0 is not Ready
kv-2 update at 0, on a at 5, ready 12
kv-1 update at 12, on a at 17, ready 24
try delete pod kv-0, which its controller makes again | kubectl delete pod kv-0 -n default
`, append(kvPods(3, sick(0)), alive("a", "4"))},
		{"further replicas come before the update", `"replicas":4,`, "1", `
complete at 46: 4 of 4 updated, 3 to 4 pods
kv-2 update at 10, on a at 15, ready 22
kv-1 update at 22, on a at 27, ready 34
kv-0 update at 34, on a at 39, ready 46
`, append(kvPods(3), alive("a", "4"))},
		{"fewer go before the update", `"replicas":1,`, "1", `
complete at 22: 1 of 1 updated, 0 to 1 pods
kv-2 scale-down at 0
kv-1 scale-down at 5
kv-0 update at 10, on a at 15, ready 22
`, append(kvPods(3), alive("a", "4"))},
		{"a set that is not there comes", `"replicas":2,`, "1", `
complete at 20: 2 of 2 updated, 0 to 2 pods
`, []any{alive("a", "4")}},
		{"a dead node ends no pod, until it is out of service", ``, "1", `
stuck at 0: 0 of 3 updated, 2 to 3 pods, kv-2 is being deleted, and with OrderedReady no other pod is replaced before it is available
held: kv-2 is being deleted
kv-2 update at 0
try have node a be out of service, so that what is left of its pods goes | kubectl taint nodes a node.kubernetes.io/out-of-service=nodeshutdown:NoExecute
`, append(kvPods(3, func(i int, p *corev1.Pod) {
			if i < 2 {
				p.Spec.NodeName = "b"
			}
		}), alive("b", "9"), dead("a", corev1.ConditionUnknown))},
	} {
		t.Run(c.what, func(t *testing.T) {
			got, err := rollOut(t, viewOf(t, c.objects...), &scenario.RolloutQuestion{StatefulSet: kv(c.spec, c.cpu)})
			if err != nil {
				t.Fatal(err)
			}
			if s := toldRollout(got); s != strings.TrimPrefix(c.want, "\n") {
				t.Errorf("got\n%swant%s%+v %+v", s, c.want, got.Assumed, got.Spread)
			}
		})
	}
}

// TestRolloutOfDaemons follows update.go rollingUpdate, node by node.
func TestRolloutOfDaemons(t *testing.T) {
	newer := func(change ...func(*appsv1.DaemonSet)) json.RawMessage {
		return json.RawMessage(applied(t, agents(append(change, func(s *appsv1.DaemonSet) { s.Spec.Template.Spec.Containers[0].Image = "i:2" })...)))
	}
	by := func(surge, unavailable string) func(*appsv1.DaemonSet) {
		return func(s *appsv1.DaemonSet) { s.Spec.UpdateStrategy = surgeOf(surge, unavailable) }
	}
	port := func(s *appsv1.DaemonSet) {
		s.Spec.Template.Spec.Containers[0].Ports = []corev1.ContainerPort{{HostPort: 80, ContainerPort: 80}}
	}
	cpu := func(n string) func(*appsv1.DaemonSet) {
		return func(s *appsv1.DaemonSet) {
			s.Spec.Template.Spec.Containers[0].Resources.Requests = corev1.ResourceList{"cpu": resource.MustParse(n)}
		}
	}
	ported := func(on string) *corev1.Pod {
		p := agent(on)
		p.Spec.Containers[0].Ports = []corev1.ContainerPort{{HostPort: 80, ContainerPort: 80}}
		return p
	}
	onDelete := func(s *appsv1.DaemonSet) { s.Spec.UpdateStrategy.Type = appsv1.OnDeleteDaemonSetStrategyType }
	nodes := []any{alive("a", "4"), alive("b", "1"), alive("c", "4")}
	three := append(nodes[:3:3], agents(), agent("a"), agent("b"), agent("c"))
	for _, c := range []struct {
		what     string
		manifest json.RawMessage
		want     string
		objects  []any
	}{
		{"one node at a time", newer(), `
complete at 150: 3 of 3 updated, 2 to 3 pods
agent-a update at 0, on a at 30, ready 50
agent-b update at 50, on b at 80, ready 100
agent-c update at 100, on c at 130, ready 150
a from 0 to 50 by agent-a-2
b from 50 to 100 by agent-b-2
c from 100 to 150 by agent-c-2
`, three},
		{"a surge makes new pods beside the old ones", newer(by("2", "0")), `
complete at 70: 3 of 3 updated, 3 to 6 pods
agent-a update at 20
agent-b update at 20
agent-c update at 40
a from 0 to 20 by agent-a-2
b from 0 to 20 by agent-b-2
c from 20 to 40 by agent-c-2
`, three},
		{"a surge without room waits for good", newer(by("1", "0"), port), `
stuck at 0: 1 of 3 updated, 3 to 4 pods, pods of it wait (1): 0/3 nodes are available: 1 node(s) didn't have free ports for the requested pod ports, 2 node(s) didn't satisfy plugin(s) [NodeAffinity]. no new claims to deallocate, preemption: 0/3 nodes are available: 1 No preemption victims found for incoming pod, 2 Preemption is not helpful for scheduling.
a from 0
try spec.updateStrategy.rollingUpdate: maxSurge 0 and maxUnavailable 1, so that an old pod goes first and leaves its room | kubectl patch daemonset agent -n default -p '{"spec":{"updateStrategy":{"rollingUpdate":{"maxSurge":0,"maxUnavailable":1}}}}'
try give up host port 80/TCP | kubectl patch daemonset agent -n default --type=json -p '[{"op":"remove","path":"/spec/template/spec/containers/0/ports/0/hostPort"}]'
try move host port 80/TCP to 81 | kubectl patch daemonset agent -n default --type=json -p '[{"op":"replace","path":"/spec/template/spec/containers/0/ports/0/hostPort","value":81}]'
`, append(nodes[:3:3], agents(port), ported("a"), ported("b"), ported("c"))},
		{"a pod that does not fit on its node holds up the rest", newer(cpu("2")), `
stuck at 80: 2 of 3 updated, 2 to 3 pods, pods of it wait (1): 0/3 nodes are available: 1 Insufficient cpu, 2 node(s) didn't satisfy plugin(s) [NodeAffinity]. no new claims to deallocate, preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling.
held: agent-b-2 has no node
agent-a update at 0, on a at 30, ready 50
agent-b update at 50
a from 0 to 50 by agent-a-2
b from 50
try spec.updateStrategy.rollingUpdate.maxUnavailable: 2, so that the other nodes have their turn | kubectl patch daemonset agent -n default -p '{"spec":{"updateStrategy":{"rollingUpdate":{"maxSurge":0,"maxUnavailable":2}}}}'
try lower the cpu request of container c from 2 to 1 | kubectl set resources daemonset agent -n default -c c --requests=cpu=1
try 1 more cpu on node b | 
`, three},
		{"with OnDelete no node has its turn", newer(onDelete), `
onDelete at 0: 0 of 3 updated, 3 to 3 pods, with updateStrategy OnDelete no pod is replaced before it is deleted: 3 of 3 keep the old template
try spec.updateStrategy.type: RollingUpdate, which replaces the pods in turn | kubectl patch daemonset agent -n default -p '{"spec":{"updateStrategy":{"type":"RollingUpdate"}}}'
`, three},
		{"with OnDelete a node that lacks a pod gets one, where there is room", newer(onDelete, cpu("2")), `
stuck at 20: 2 of 3 updated, 1 to 3 pods, pods of it wait (1): 0/3 nodes are available: 1 Insufficient cpu, 2 node(s) didn't satisfy plugin(s) [NodeAffinity]. no new claims to deallocate, preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling.
held: agent-b has no node
b from 0
c from 0 to 20 by agent-c
try lower the cpu request of container c from 2 to 1 | kubectl set resources daemonset agent -n default -c c --requests=cpu=1
try 1 more cpu on node b | 
`, append(nodes[:3:3], agents(), agent("a"))},
		{"one that is not there comes", newer(), `
complete at 10: 3 of 3 updated, 0 to 3 pods
a from 0 to 10 by agent-a
b from 0 to 10 by agent-b
c from 0 to 10 by agent-c
`, nodes},
		{"a dead node uses maxUnavailable up", newer(), `
stuck at 0: 0 of 2 updated, 2 to 3 pods, nodes lack an available pod (1: a: agent-a is being deleted), and maxUnavailable is 1
held: agent-a is being deleted
agent-a update at 0
a from 0
try have node a be out of service, so that what is left of its pods goes | kubectl taint nodes a node.kubernetes.io/out-of-service=nodeshutdown:NoExecute
try spec.updateStrategy.rollingUpdate.maxUnavailable: 2, so that the other nodes have their turn | kubectl patch daemonset agent -n default -p '{"spec":{"updateStrategy":{"rollingUpdate":{"maxSurge":0,"maxUnavailable":2}}}}'
`, append(three[1:], dead("a", corev1.ConditionUnknown))},
	} {
		t.Run(c.what, func(t *testing.T) {
			got, err := rollOut(t, viewOf(t, c.objects...), &scenario.RolloutQuestion{DaemonSet: c.manifest})
			if err != nil {
				t.Fatal(err)
			}
			if s := toldRollout(got); s != strings.TrimPrefix(c.want, "\n") {
				t.Errorf("got\n%swant%s%+v", s, c.want, got.Assumed)
			}
		})
	}
}

// TestRolloutOfSetsAnswers has the fields beside what became of the pods, and the time that pods
// take by the question.
func TestRolloutOfSetsAnswers(t *testing.T) {
	v := viewOf(t, append(kvPods(3), alive("a", "4"))...)
	ask := scenario.RolloutQuestion{StatefulSet: kv(`"podManagementPolicy":"Parallel","updateStrategy":{"rollingUpdate":{"partition":1}},`, "1"), StartSeconds: new(int64(60))}
	ask.Timeline, ask.Chance = true, new(2)
	got, err := rollOut(t, v, &ask)
	if err != nil {
		t.Fatal(err)
	}
	if got.Seconds != 130 || got.StatefulSet.Name != "kv" || got.Deployment != nil || got.DaemonSet != nil || *got.Partition != 1 || got.PodManagementPolicy != "Parallel" || got.Strategy != "RollingUpdate" || got.MaxUnavailable != 1 {
		t.Errorf("%+v", got)
	}
	if len(got.Timeline) == 0 || got.Chance.Figures[3].Highest != 130 || len(got.Created) != 2 || got.Created[1].Name != "kv-1" || len(got.Spread) != 2 {
		t.Errorf("%+v", got)
	}
	again, err := rollOut(t, v, &scenario.RolloutQuestion{StatefulSet: ask.StatefulSet, StartSeconds: ask.StartSeconds})
	if err != nil || again.Digest != got.Digest || again.Chance != nil || again.Timeline != nil {
		t.Errorf("%+v, %v", again, err)
	}
	daemons := json.RawMessage(applied(t, agents(func(s *appsv1.DaemonSet) { s.Spec.UpdateStrategy = surgeOf("50%", "0") })))
	got, err = rollOut(t, viewOf(t, alive("a", "4"), alive("b", "4"), alive("c", "4"), agent("a"), agent("b"), agent("c")), &scenario.RolloutQuestion{DaemonSet: daemons})
	if err != nil || got.MaxSurge != 2 || got.MaxUnavailable != 0 || got.DaemonSet.Name != "agent" || got.PodManagementPolicy != "" || len(got.Spread) != 0 {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestRolloutOfSetsRefuses names the field that is wrong.
func TestRolloutOfSetsRefuses(t *testing.T) {
	daemons := func(strategy string) json.RawMessage {
		return json.RawMessage(strings.Replace(applied(t, agents()), `"updateStrategy":{}`, `"updateStrategy":`+strategy, 1))
	}
	for want, q := range map[string]*scenario.RolloutQuestion{
		"deployment: want a deployment, a statefulSet or a daemonSet, and only one": {Deployment: deployment(""), StatefulSet: kv("", "1")},
		"statefulSet.kind: want a StatefulSet":                                      {StatefulSet: deployment("")},
		"daemonSet.kind: want a DaemonSet":                                          {DaemonSet: kv("", "1")},
		"spec.replicas: want 1000 at most":                                          {StatefulSet: kv(`"replicas":1001,`, "1")},
		"spec.replicas: Invalid":                                                    {StatefulSet: kv(`"replicas":-1,`, "1")},
		"spec.minReadySeconds: Invalid":                                             {StatefulSet: kv(`"minReadySeconds":-1,`, "1")},
		"spec.updateStrategy.rollingUpdate.partition: Invalid":                      {StatefulSet: kv(`"updateStrategy":{"rollingUpdate":{"partition":-1}},`, "1")},
		"spec.updateStrategy.type: Unsupported":                                     {StatefulSet: kv(`"updateStrategy":{"type":"Recreate"},`, "1")},
		"spec.updateStrategy.rollingUpdate: Invalid":                                {StatefulSet: kv(`"updateStrategy":{"type":"OnDelete","rollingUpdate":{}},`, "1")},
		`type: Unsupported value: "Canary"`:                                         {DaemonSet: daemons(`{"type":"Canary"}`)},
		"rollingUpdate.maxUnavailable: Required":                                    {DaemonSet: daemons(`{"rollingUpdate":{"maxUnavailable":0}}`)},
		"rollingUpdate.maxSurge: Invalid value: \"1\": may not be set":              {DaemonSet: daemons(`{"rollingUpdate":{"maxSurge":1}}`)},
		"rollingUpdate.maxUnavailable: Invalid":                                     {DaemonSet: daemons(`{"rollingUpdate":{"maxUnavailable":"101%"}}`)},
		"startSeconds: want 0":                                                      {StatefulSet: kv("", "1"), StartSeconds: new(int64(-1))},
	} {
		if _, err := rollOut(t, viewOf(t, alive("a", "2")), q); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
