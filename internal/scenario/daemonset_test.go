package scenario_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"berth/internal/world"
	"berth/test/enginetest"
)

// agents is a DaemonSet whose template is changed by some functions.
func agents(change ...func(*appsv1.DaemonSet)) *appsv1.DaemonSet {
	s := &appsv1.DaemonSet{
		TypeMeta:   metav1.TypeMeta{Kind: "DaemonSet", APIVersion: "apps/v1"},
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "agent"},
		Spec: appsv1.DaemonSetSpec{
			Selector: enginetest.Match("app", "agent"),
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "agent"}},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}},
			},
		},
	}
	for _, f := range change {
		f(s)
	}
	return s
}

// agent is a pod of it that takes 20 seconds to start and 30 to end.
func agent(node string) *corev1.Pod {
	p := running(enginetest.Pod("agent-"+node, enginetest.On(node), enginetest.Labels("app", "agent")), "DaemonSet", "agent", 20, 30)
	world.PinTo(p, node)
	p.Spec.Tolerations = []corev1.Toleration{{Key: corev1.TaintNodeUnreachable, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute}}
	return p
}

// labelled is a node with a label pool.
func labelled(name, pool string) *corev1.Node {
	n := alive(name, "4")
	n.Labels["pool"] = pool
	return n
}

// applied is a node in JSON, to be applied.
func applied(t *testing.T, o any) string {
	t.Helper()
	js, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	return string(js)
}

// TestDaemonNodes has the controller of DaemonSets act on nodes that come to need a pod, or may not
// keep theirs.
func TestDaemonNodes(t *testing.T) {
	t.Parallel()
	onGPU := func(s *appsv1.DaemonSet) { s.Spec.Template.Spec.NodeSelector = map[string]string{"pool": "gpu"} }
	node := labelled("b", "gpu")
	node.TypeMeta = metav1.TypeMeta{Kind: "Node", APIVersion: "v1"}
	away := labelled("a", "cpu")
	away.TypeMeta = node.TypeMeta
	tainted := labelled("a", "gpu")
	tainted.Spec.Taints = []corev1.Taint{{Key: "x", Effect: corev1.TaintEffectNoSchedule}}
	failed := func(on string) *corev1.Pod {
		p := agent(on)
		p.Status.Phase, p.Status.Conditions[0].Status = corev1.PodFailed, corev1.ConditionFalse
		return p
	}
	again := failed("a")
	again.Name += "-old"
	surging := func(s *appsv1.DaemonSet) { s.Spec.UpdateStrategy = surgeOf("1", "0") }
	for _, c := range []struct {
		what, events, want string
		objects            []any
	}{
		{
			"a label that its selector wants brings a pod", `{"apply":` + applied(t, node) + `}`, `
0 applied b
0 created agent-b
0 bound agent-b b
20 ready agent-b b
`,
			[]any{labelled("a", "gpu"), labelled("b", "cpu"), agents(onGPU), agent("a")},
		},
		{
			"a label that it does not want takes the pod away, and no other comes", `{"apply":` + applied(t, away) + `}`, `
0 applied a
0 leaves agent-a a: scale-down
30 gone agent-a a
`,
			[]any{labelled("a", "gpu"), labelled("b", "gpu"), agents(onGPU), agent("a"), agent("b")},
		},
		{
			"a taint with NoSchedule keeps its pod; one with NoExecute does not, until it goes",
			`{"taint":{"nodes":["a"],"key":"x","effect":"NoSchedule"}},{"at":"10s","taint":{"nodes":["a"],"key":"x","effect":"NoExecute"}},{"at":"1m","untaint":{"nodes":["a"],"key":"x","effect":"NoExecute"}},{"at":"2m","untaint":{"nodes":["a"],"key":"x","effect":"NoSchedule"}}`, `
0 tainted a: x:NoSchedule
10 tainted a: x:NoExecute
10 leaves agent-a a: taint
40 gone agent-a a
60 untainted a
120 untainted a
120 created agent-a-2
120 bound agent-a-2 a
140 ready agent-a-2 a
`,
			[]any{labelled("a", "gpu"), labelled("b", "gpu"), agents(onGPU), agent("a"), agent("b")},
		},
		{
			"a pod that is deleted under a taint with NoSchedule does not come back until it goes",
			`{"delete":{"name":"agent-a"}},{"at":"1m","untaint":{"nodes":["a"],"key":"x","effect":"NoSchedule"}}`, `
0 leaves agent-a a: deletion
30 gone agent-a a
60 untainted a
60 created agent-a-2
60 bound agent-a-2 a
80 ready agent-a-2 a
`,
			[]any{tainted, agents(onGPU), agent("a")},
		},
		{
			"a new node gets a pod by the template alone, and a cordon keeps none away",
			`{"cordon":{"nodes":["a"]}},{"at":"5s","delete":{"name":"agent-a"}},{"at":"10s","addNodes":{"template":{"metadata":{"name":"c","labels":{"pool":"gpu"}},"status":{"allocatable":{"cpu":"4","pods":"9"}}}}}`, `
0 cordoned a
5 leaves agent-a a: deletion
10 nodeAdded c
10 created agent-c
10 bound agent-c c
30 ready agent-c c
35 gone agent-a a
35 created agent-a-2
35 bound agent-a-2 a
55 ready agent-a-2 a
`,
			[]any{labelled("a", "gpu"), agents(onGPU, func(s *appsv1.DaemonSet) {
				s.Spec.Template.Spec.Tolerations = []corev1.Toleration{{Key: corev1.TaintNodeUnschedulable, Operator: corev1.TolerationOpExists}}
			}), func() *corev1.Pod {
				p := agent("a")
				p.Spec.Tolerations = append(p.Spec.Tolerations, corev1.Toleration{Key: corev1.TaintNodeUnschedulable, Operator: corev1.TolerationOpExists})
				return p
			}()},
		},
		{
			"one that has failed is deleted at once, and made again", `{"delete":{"name":"agent-b"}}`, `
0 leaves agent-b b: deletion
0 leaves agent-a a: deletion
0 gone agent-a a
0 created agent-a-2
0 bound agent-a-2 a
10 ready agent-a-2 a
30 gone agent-b b
30 created agent-b-2
30 bound agent-b-2 b
50 ready agent-b-2 b
`,
			[]any{labelled("a", "gpu"), labelled("b", "gpu"), agents(onGPU), failed("a"), agent("b")},
		},
		{
			"a second one that has failed on the node is deleted a second later", `{"delete":{"name":"agent-b"}}`, `
0 leaves agent-b b: deletion
0 leaves agent-a a: deletion
0 gone agent-a a
1 leaves agent-a-old a: deletion
1 gone agent-a-old a
1 created agent-a-old-2
1 bound agent-a-old-2 a
11 ready agent-a-old-2 a
30 gone agent-b b
30 created agent-b-2
30 bound agent-b-2 b
50 ready agent-b-2 b
`,
			[]any{labelled("a", "gpu"), labelled("b", "gpu"), agents(onGPU), failed("a"), again, agent("b")},
		},
		{
			"where two may be on a node, the next one comes at the deletion", `{"delete":{"name":"agent-a"}}`, `
0 leaves agent-a a: deletion
0 created agent-a-2
0 bound agent-a-2 a
20 ready agent-a-2 a
30 gone agent-a a
`,
			[]any{labelled("a", "gpu"), agents(onGPU, surging), agent("a")},
		},
		{
			"without any pod, the template shows what its pods are like", `{"untaint":{"nodes":["a"],"key":"x","effect":"NoSchedule"}}`, `
0 untainted a
0 created agent-a
0 bound agent-a a
10 ready agent-a a
`,
			[]any{tainted, agents(onGPU)},
		},
	} {
		t.Run(c.what, func(t *testing.T) {
			out := clocked(t, `{"events":[`+c.events+`],"until":{"duration":"`+time.Hour.String()+`"}}`, c.objects...)
			if got := toldTimeline(out.Clock.Timeline); strings.TrimSpace(got) != strings.TrimSpace(c.want) {
				t.Errorf("%s", got)
			}
		})
	}
}

// surgeOf is a rolling update with numbers of pods or shares.
func surgeOf(surge, unavailable string) appsv1.DaemonSetUpdateStrategy {
	s, u := intstr.Parse(surge), intstr.Parse(unavailable)
	return appsv1.DaemonSetUpdateStrategy{Type: appsv1.RollingUpdateDaemonSetStrategyType, RollingUpdate: &appsv1.RollingUpdateDaemonSet{MaxSurge: &s, MaxUnavailable: &u}}
}

// TestUpdateDaemons replaces the pods of a DaemonSet node by node.
func TestUpdateDaemons(t *testing.T) {
	t.Parallel()
	newer := func(change ...func(*appsv1.DaemonSet)) string {
		return applied(t, agents(append(change, func(s *appsv1.DaemonSet) { s.Spec.Template.Spec.Containers[0].Image = "i:2" })...))
	}
	by := func(surge, unavailable string) func(*appsv1.DaemonSet) {
		return func(s *appsv1.DaemonSet) { s.Spec.UpdateStrategy = surgeOf(surge, unavailable) }
	}
	onDelete := func(s *appsv1.DaemonSet) { s.Spec.UpdateStrategy.Type = appsv1.OnDeleteDaemonSetStrategyType }
	waits := func(s *appsv1.DaemonSet) { s.Spec.MinReadySeconds = 15 }
	sick := func(on string) *corev1.Pod {
		p := agent(on)
		p.Status.Conditions[0].Status = corev1.ConditionFalse
		return p
	}
	three := []any{alive("a", "4"), alive("b", "4"), alive("c", "4"), agents(), agent("a"), agent("b"), agent("c")}
	rollOut := func(manifest string) string { return `{"rollOut":{"daemonSet":` + manifest + `}}` }
	for _, c := range []struct {
		what, events string
		done         int64 // below 0: never
		least, most  int
		want         []string
		objects      []any
	}{
		{"one node at a time by default", rollOut(newer()), 150, 2, 3, []string{"0 leaves agent-a a: update", "30 created agent-a-2", "50 leaves agent-b b: update", "100 leaves agent-c c: update", "150 rolloutComplete DaemonSet/agent"}, three},
		{"a share is rounded up", rollOut(newer(by("0", "34%"))), 100, 1, 3, []string{"0 leaves agent-a a: update", "0 leaves agent-b b: update", "50 leaves agent-c c: update"}, three},
		{"a pod counts once it has been ready for minReadySeconds", rollOut(newer(waits)), 195, 2, 3, []string{"65 leaves agent-b b: update"}, three},
		{"a surge makes new pods beside the old ones", rollOut(newer(by("50%", "0"))), 70, 3, 6, []string{"0 created agent-a-2", "0 created agent-b-2", "20 leaves agent-a a: update", "20 leaves agent-b b: update", "20 created agent-c-2", "40 leaves agent-c c: update"}, three},
		{"with OnDelete only what is deleted is new", rollOut(newer(onDelete)) + `,{"at":"5s","delete":{"name":"agent-b"}}`, -1, 2, 3, []string{"5 leaves agent-b b: deletion", "35 created agent-b-2"}, three},
		{"pods that are not available go beyond the number", rollOut(newer()), 90, 1, 3, []string{"0 leaves agent-a a: update", "0 leaves agent-b b: update", "40 leaves agent-c c: update"}, append(three[:4:4], sick("a"), sick("b"), agent("c"))},
		{"a dead node's pod that is being deleted holds up the rest", `{"nodesDie":{"nodes":["a"]}},` + rollOut(newer()), -1, 2, 3, []string{"0 leaves agent-a a: update"}, three},
		{"it goes on once the node comes back", `{"nodesDie":{"nodes":["a"]}},{"at":"10s","nodesReturn":{"nodes":["a"]}},` + rollOut(newer()), 160, 2, 3, []string{"0 leaves agent-a a: update", "40 created agent-a-2"}, three},
		{"an applied one is updated, too", `{"apply":` + newer() + `}`, 150, 2, 3, []string{"0 leaves agent-a a: update"}, three},
		{"a template that selects other nodes ends pods on the rest", rollOut(newer(func(s *appsv1.DaemonSet) { s.Spec.Template.Spec.NodeSelector = map[string]string{"pool": "gpu"} })), 80, 0, 3, []string{"0 leaves agent-b b: scale-down", "30 leaves agent-a a: update", "80 ready agent-a-2 a"}, append([]any{labelled("a", "gpu")}, three[1:]...)},
	} {
		t.Run(c.what, func(t *testing.T) {
			out := clocked(t, `{"events":[`+c.events+`],"until":{"duration":"1h"}}`, c.objects...).Clock
			got := toldTimeline(out.Timeline)
			for _, line := range c.want {
				if !strings.Contains(got, line+"\n") {
					t.Errorf("want %s in\n%s", line, got)
				}
			}
			if len(out.Rollouts) != 1 {
				t.Fatalf("%+v", out.Rollouts)
			}
			u := out.Rollouts[0]
			done := int64(-1)
			if u.CompleteAfterSeconds != nil {
				done = *u.CompleteAfterSeconds
			}
			if u.Kind != "DaemonSet" || done != c.done || u.LeastAvailable != c.least || u.MostPods != c.most {
				t.Errorf("complete after %d, %+v\n%s", done, u, got)
			}
		})
	}
	t.Run("a template that it has changes nothing; one that is not there is refused, or applied", func(t *testing.T) {
		out := clocked(t, `{"events":[`+rollOut(applied(t, agents(by("0", "2"))))+`]}`, three...).Clock
		if len(out.Rollouts) != 0 || len(out.Pods) != 0 {
			t.Errorf("%+v", out)
		}
		out = clocked(t, `{"events":[`+rollOut(newer())+`]}`, alive("a", "4")).Clock
		if got := toldTimeline(out.Timeline); got != "0 refused DaemonSet/agent: rollOut: daemonsets.apps \"agent\" not found\n" {
			t.Error(got)
		}
		out = clocked(t, `{"events":[{"apply":`+newer()+`}]}`, alive("a", "4"), alive("b", "4")).Clock
		if got := toldTimeline(out.Timeline); !strings.Contains(got, "10 ready agent-b b\n") || len(out.Rollouts) != 0 {
			t.Error(got)
		}
	})
}
