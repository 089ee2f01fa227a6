package scenario_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"berth/internal/scenario"
	"berth/internal/world"
	"berth/test/enginetest"
)

// toldTimeline writes what happens in lines: second, what, to what, on which node.
func toldTimeline(moments []world.Moment) string {
	var b strings.Builder
	for _, m := range moments {
		fmt.Fprintf(&b, "%d %s", m.AfterSeconds, m.What)
		for _, text := range []string{m.Pod, m.Node} {
			if text != "" {
				b.WriteString(" " + strings.TrimPrefix(text, "default/"))
			}
		}
		if m.Pod == "" && m.Owner != "" {
			b.WriteString(" " + m.Owner)
		}
		switch m.What {
		case world.Refused, world.PodLeaves, world.Scaled, world.PodCannotStart, world.DrainEnds, world.TaintAdded:
			if m.Why != "" {
				b.WriteString(": " + m.Why)
			}
		}
		b.WriteString("\n")
	}
	return b.String()
}

// clocked runs a scenario with a clock, in JSON.
func clocked(t *testing.T, question string, objects ...any) *scenario.Simulation {
	t.Helper()
	var q scenario.Request
	if err := json.Unmarshal([]byte(question), &q); err != nil {
		t.Fatal(err)
	}
	q.Clock = true
	out, err := simulate(t, viewOf(t, objects...), q)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// alive is a node of some cpu whose kubelet reports.
func alive(name, cpu string) *corev1.Node {
	n := node(name, cpu)
	n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
	return n
}

// TestClock plays what happens next, second by second. Pods take 20 seconds to start where their
// predecessors show it, and 30 to end.
func TestClock(t *testing.T) {
	web := func(name, on string) *corev1.Pod {
		p := running(enginetest.Pod(name, enginetest.Requests("cpu", "1"), enginetest.On(on), enginetest.Labels("app", "web")), "ReplicaSet", "web", 20, 30)
		five := int64(300)
		p.Spec.Tolerations = []corev1.Toleration{{Key: corev1.TaintNodeUnreachable, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute, TolerationSeconds: &five}}
		return p
	}
	pod := `{"kind":"Pod","apiVersion":"v1","metadata":{"name":"new"},"spec":{"priority":100,"containers":[{"name":"c","image":"i","resources":{"requests":{"cpu":"2"}}}]}}`
	set := `{"kind":"StatefulSet","apiVersion":"apps/v1","metadata":{"name":"kv"},"spec":{"serviceName":"kv","replicas":2,"selector":{"matchLabels":{"app":"kv"}},"template":{"metadata":{"labels":{"app":"kv"}},"spec":{"containers":[{"name":"c","image":"i","resources":{"requests":{"cpu":"1"}}}]}}}}`
	urgent := func(name string, priority int, spec string) string {
		return fmt.Sprintf(`{"kind":"Pod","apiVersion":"v1","metadata":{"name":%q},"spec":{"priority":%d,%s"containers":[{"name":"c","image":"i","resources":{"requests":{"cpu":"3"}}}]}}`, name, priority, spec)
	}
	// bare is a pod of some priority without a controller or a grace period.
	bare := func(name, on string, priority int32) *corev1.Pod {
		p := running(enginetest.Pod(name, enginetest.Requests("cpu", "2"), enginetest.On(on)), "", "", 20, 0)
		p.Spec.Priority = &priority
		return p
	}
	// brief is a pod that tolerates the taint x for 40 seconds.
	brief := func(name, on string) *corev1.Pod {
		p, forty := running(enginetest.Pod(name, enginetest.Requests("cpu", "1")), "", "", 20, 5), int64(40)
		p.Spec.Tolerations = []corev1.Toleration{{Key: "x", Operator: corev1.TolerationOpExists, TolerationSeconds: &forty, Effect: corev1.TaintEffectNoExecute}}
		if p.Spec.NodeName = on; on == "" {
			p.Status = corev1.PodStatus{Phase: corev1.PodPending}
		}
		return p
	}
	cordoned := func(name string) *corev1.Node {
		n := alive(name, "3")
		n.Spec.Unschedulable = true
		n.Spec.Taints = []corev1.Taint{{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule}}
		return n
	}
	for _, c := range []struct {
		what, question, want string
		objects              []any
	}{
		{
			"a pod preempts another one, whose successor waits until the first is done",
			`{"arrivals":{"pods":[{"pod":` + pod + `,"at":"10s","duration":"1m"}]},"startSeconds":5}`, `
10 created new
10 nominated new a
10 leaves web-1 a: preemption by default/new
10 created web-1-2
10 waits web-1-2
40 gone web-1 a
40 bound new a
45 ready new a
105 succeeded new a
105 bound web-1-2 a
125 ready web-1-2 a
`,
			[]any{alive("a", "2"), web("web-1", "a")},
		},
		{
			"a node that comes back before its pods are deleted keeps them; one deletion was refused",
			`{"events":[{"nodesDie":{"nodes":["a"]}},{"at":"200s","nodesReturn":{"nodes":["a"]}},{"at":"7s","delete":{"name":"none"}}],"until":{"duration":"1h"}}`, `
0 nodeDied a
7 refused none: delete: pods "none" not found
50 nodeNotReady a
50 unready web-1 a
50 nodeTainted a
200 nodeBack a
200 ready web-1 a
`,
			[]any{alive("a", "2"), alive("b", "2"), web("web-1", "a")},
		},
		{
			"a node that comes back later ends the pods that were deleted meanwhile",
			`{"events":[{"nodesDie":{"nodes":["a"]}},{"at":"400s","nodesReturn":{"nodes":["a"]}}]}`, `
0 nodeDied a
50 nodeNotReady a
50 unready web-1 a
50 nodeTainted a
350 leaves web-1 a: taint
350 created web-1-2
350 bound web-1-2 b
370 ready web-1-2 b
400 nodeBack a
430 gone web-1 a
`,
			[]any{alive("a", "2"), alive("b", "2"), web("web-1", "a")},
		},
		{
			"a pod that is bound to a dead node before it is given up does not start there",
			`{"arrivals":{"pods":[{"pod":` + pod + `,"at":"10s"}]},"events":[{"nodesDie":{"nodes":["a"]}}],"until":{"duration":"1m"}}`, `
0 nodeDied a
10 created new
10 bound new a
50 nodeNotReady a
50 nodeTainted a
50 leaves new a: taint
`,
			[]any{alive("a", "2"), alive("b", "1")},
		},
		{
			"a pod that is deleted on a node that died a moment before stays",
			`{"events":[{"nodesDie":{"nodes":["a"]}},{"at":"10s","delete":{"name":"web-1"}}],"until":{"duration":"45s"}}`, `
0 nodeDied a
10 leaves web-1 a: deletion
10 created web-1-2
10 bound web-1-2 b
30 ready web-1-2 b
`,
			[]any{alive("a", "2"), alive("b", "2"), web("web-1", "a")},
		},
		{
			"a node removed: PodGC deletes its pods a minute later",
			`{"events":[{"at":"5s","removeNodes":{"nodes":["a"]}}]}`, `
5 nodeRemoved a
65 leaves web-1 a: orphaned
65 created web-1-2
65 gone web-1 a
65 bound web-1-2 b
85 ready web-1-2 b
`,
			[]any{alive("a", "2"), alive("b", "2"), web("web-1", "a")},
		},
		{
			"scaled down, pods on the fuller node go first; scaled up, others come",
			`{"events":[{"at":"1s","scale":{"kind":"ReplicaSet","name":"web","replicas":2}},{"at":"60s","scale":{"kind":"Deployment","name":"none","replicas":2}},{"at":"60s","scale":{"kind":"ReplicaSet","name":"web","replicas":3}}]}`, `
1 scaled ReplicaSet/web: to 2 replicas
1 leaves web-1 a: scale-down
31 gone web-1 a
60 scaled Deployment/none: to 2 replicas
60 refused Deployment/none: scale: no pod of ReplicaSet/none shows what its pods are like
60 scaled ReplicaSet/web: to 3 replicas
60 created web-2-2
60 bound web-2-2 b
80 ready web-2-2 b
`,
			[]any{alive("a", "2"), alive("b", "4"), web("web-1", "a"), web("web-2", "a"), web("web-3", "b")},
		},
		{
			"a StatefulSet comes in order, and goes the highest first",
			`{"events":[{"create":{"pod":` + set + `}},{"at":"60s","scale":{"kind":"StatefulSet","name":"kv","replicas":0}}],"startSeconds":7}`, `
0 created kv-0
0 bound kv-0 a
7 ready kv-0 a
7 created kv-1
7 bound kv-1 a
14 ready kv-1 a
60 scaled StatefulSet/kv: to 0 replicas
60 leaves kv-1 a: scale-down
90 gone kv-1 a
90 leaves kv-0 a: scale-down
120 gone kv-0 a
`,
			[]any{alive("a", "2")},
		},
		{
			"a taint evicts, a drain waits for a budget until the replacement is ready",
			`{"events":[{"drain":{"nodes":["a"]}},{"at":"3m","taint":{"nodes":["b"],"key":"x","effect":"NoExecute"}},{"at":"4m","uncordon":{"nodes":["a"]}}]}`, `
0 cordoned a
0 drainBegins a
0 leaves web-1 a: eviction
0 created web-1-2
0 bound web-1-2 b
20 ready web-1-2 b
20 leaves web-2 a: eviction
20 created web-2-2
20 bound web-2-2 b
30 gone web-1 a
40 ready web-2-2 b
50 gone web-2 a
50 drainEnds a
180 tainted b: x:NoExecute
180 leaves web-1-2 b: taint
180 created web-1-2-2
180 leaves web-2-2 b: taint
180 created web-2-2-2
180 waits web-1-2-2
180 waits web-2-2-2
210 gone web-1-2 b
210 gone web-2-2 b
240 uncordoned a
240 bound web-1-2-2 a
240 bound web-2-2-2 a
260 ready web-1-2-2 a
260 ready web-2-2-2 a
`,
			[]any{alive("a", "2"), alive("b", "2"), web("web-1", "a"), web("web-2", "a"), budgetOf("web", "web", 2, 1)},
		},
		{
			"a pod waits for its gates, which go one after the other",
			`{"events":[{"at":"5s","ungate":{"name":"big","gates":["g"]}},{"at":"9s","ungate":{"name":"big","gates":["g"]}},{"at":"10s","ungate":{"name":"big"}}],"startSeconds":4}`, `
5 ungated big
9 refused big: ungate: it has no such gate
10 ungated big
10 bound big a
14 ready big a
`,
			[]any{alive("a", "2"), enginetest.Pod("big", enginetest.Requests("cpu", "2"), enginetest.Gate("g"), enginetest.Gate("h"))},
		},
		{
			"nodes come, and a pod that waits in the snapshot takes one",
			`{"events":[{"at":"30s","addNodes":{"like":"a","count":1}}],"startSeconds":4}`, `
0 waits big
30 nodeAdded a-copy-1
30 bound big a-copy-1
34 ready big a-copy-1
`,
			[]any{alive("a", "2"), web("web-1", "a"), enginetest.Pod("big", enginetest.Requests("cpu", "2"))},
		},
		{
			"a preemption spares the pods of a budget that an eviction has spent",
			`{"events":[{"at":"1s","evict":{"name":"web-1"}},{"at":"2s","create":{"pod":` + pod + `}}],"until":{"duration":"5s"}}`, `
1 leaves web-1 a: eviction
1 created web-1-2
1 bound web-1-2 a
2 created new
2 nominated new c
2 leaves api-1 c: preemption by default/new
2 gone api-1 c
2 bound new c
`,
			[]any{alive("a", "2"), alive("b", "2"), alive("c", "2"), web("web-1", "a"), web("web-2", "b"), bare("api-1", "c", 50), budgetOf("web", "web", 2, 1)},
		},
		{
			"where all nodes are lost none is tainted, and no pod is deleted for it; another taint's count begins when it comes",
			`{"events":[{"nodesDie":{"nodes":["a"]}},{"at":"100s","taint":{"nodes":["a"],"key":"x","effect":"NoExecute"}},{"at":"200s","drain":{"nodes":["a"],"force":true}}],"until":{"duration":"1h"}}`, `
0 nodeDied a
50 nodeNotReady a
50 unready brief a
50 unready web-1 a
100 tainted a: x:NoExecute
100 leaves web-1 a: taint
100 created web-1-2
100 waits web-1-2
140 leaves brief a: taint
200 cordoned a
200 drainBegins a
200 drainEnds a: blocked: brief: it stays Terminating: the kubelet of its node does not answer, and nothing else removes it while the Node object exists
420 waits web-1-2
`,
			[]any{alive("a", "3"), web("web-1", "a"), brief("brief", "a")},
		},
		{
			"a higher pod waits for the victims of another one, which keeps its nomination until they are gone",
			`{"events":[{"create":{"pod":` + urgent("high", 100, "") + `}},{"at":"2s","create":{"pod":` + urgent("highest", 200, `"nodeSelector":{"kubernetes.io/hostname":"a"},`) + `}}],"startSeconds":4}`, `
0 created high
0 nominated high a
0 leaves brief a: preemption by default/high
2 created highest
2 nominated highest a
5 gone brief a
5 bound highest a
5 nominated high b
5 leaves api-1 b: preemption by default/high
5 gone api-1 b
5 bound high b
9 ready high b
9 ready highest a
`,
			[]any{alive("a", "3"), alive("b", "3"), brief("brief", "a"), bare("api-1", "b", 50)},
		},
		{
			"PodGC deletes what is left on a node that is taken out of service, at its next pass",
			`{"events":[{"nodesDie":{"nodes":["a"]}},{"at":"60s","delete":{"name":"brief"}},{"at":"100s","taint":{"nodes":["a"],"key":"node.kubernetes.io/out-of-service","effect":"NoSchedule"}}],"until":{"duration":"3m"}}`, `
0 nodeDied a
50 nodeNotReady a
50 unready brief a
60 leaves brief a: deletion
100 tainted a: node.kubernetes.io/out-of-service:NoSchedule
120 gone brief a
`,
			[]any{alive("a", "3"), brief("brief", "a")},
		},
		{
			"a pod that comes to a tainted node stays as long as it tolerates the taint; a second one does not shorten its count",
			`{"events":[{"taint":{"nodes":["a"],"key":"x","effect":"NoExecute"}},{"at":"90s","uncordon":{"nodes":["a"]}},{"at":"100s","taint":{"nodes":["a"],"key":"x","effect":"NoExecute","value":"2"}}],"startSeconds":4}`, `
0 waits brief
0 tainted a: x:NoExecute
90 uncordoned a
90 bound brief a
94 ready brief a
100 tainted a: x=2:NoExecute
130 leaves brief a: taint
135 gone brief a
`,
			[]any{cordoned("a"), brief("brief", "")},
		},
	} {
		t.Run(c.what, func(t *testing.T) {
			out := clocked(t, c.question, c.objects...)
			if got := toldTimeline(out.Clock.Timeline); got != strings.TrimPrefix(c.want, "\n") {
				t.Errorf("got\n%swant%s", got, c.want)
			}
			again := clocked(t, c.question, c.objects...)
			if again.Digest != out.Digest || out.Digest == "" {
				t.Errorf("digests %s and %s", out.Digest, again.Digest)
			}
		})
	}
}

// TestClockEnds: a run ends where nothing but tries in vain is to come, or when its time is over.
func TestClockEnds(t *testing.T) {
	web := running(enginetest.Pod("web-1", enginetest.Requests("cpu", "1"), enginetest.On("a"), enginetest.Labels("app", "web")), "ReplicaSet", "web", 20, 30)
	objects := []any{alive("a", "2"), web, budgetOf("web", "web", 1, 1)}
	out := clocked(t, `{"events":[{"at":"10s","drain":{"nodes":["a"]}}],"until":{"duration":"1h"}}`, objects...).Clock
	if d := out.Drains[0]; out.Ended != scenario.EndedIdle || out.Seconds != 10 || d.Outcome != scenario.NodeBlocked || len(d.Blocked) != 1 || d.Blocked[0].Name != "web-1" {
		t.Errorf("a drain that is blocked ended %s after %d s: %+v", out.Ended, out.Seconds, d)
	}
	// A toleration of no time lets the scheduler bind what is deleted at once.
	loops := running(enginetest.Pod("web-1", enginetest.Requests("cpu", "1"), enginetest.On("a")), "ReplicaSet", "web", 20, 0)
	loops.Spec.Tolerations = []corev1.Toleration{{Key: "x", Operator: corev1.TolerationOpExists, TolerationSeconds: new(int64), Effect: corev1.TaintEffectNoExecute}}
	// The rates of clients have it go on second by second.
	for rates, after := range map[string]int64{"none": 5, "upstream": 19} {
		out = clocked(t, `{"rates":{"clients":"`+rates+`"},"events":[{"at":"5s","taint":{"nodes":["a"],"key":"x","effect":"NoExecute"}}]}`, alive("a", "2"), loops).Clock
		if out.Ended != scenario.EndedHotLoop || out.Seconds != after || !strings.HasPrefix(out.HotLoop, "default/web-1-2-2") {
			t.Errorf("rates %s: ended %s after %d s, at %s", rates, out.Ended, out.Seconds, out.HotLoop)
		}
	}
	out = clocked(t, `{"events":[{"at":"1h","nodesDie":{"nodes":["a"]}}],"until":{"duration":"10m"}}`, objects...).Clock
	if out.Ended != scenario.EndedDuration || out.Seconds != 600 || len(out.Timeline) != 0 {
		t.Errorf("ended %s after %d s: %v", out.Ended, out.Seconds, out.Timeline)
	}
}

// TestZonesFollow: nodes are tainted at the rate of what their zone is like then. Of four, two are
// a normal loss, three so much that none is tainted in a small zone, until one is back.
func TestZonesFollow(t *testing.T) {
	var objects []any
	for _, name := range []string{"a1", "a2", "a3", "a4", "b1"} {
		n := alive(name, "2")
		n.Labels = map[string]string{corev1.LabelHostname: name, corev1.LabelTopologyZone: name[:1]}
		objects = append(objects, n)
	}
	out := clocked(t, `{"events":[{"nodesDie":{"nodes":["a1","a2"]}},{"at":"5s","nodesDie":{"nodes":["a3"]}},{"at":"100s","nodesReturn":{"nodes":["a3"]}}]}`, objects...)
	const want = `0 nodeDied a1
0 nodeDied a2
5 nodeDied a3
50 nodeNotReady a1
50 nodeNotReady a2
50 nodeTainted a1
55 nodeNotReady a3
100 nodeBack a3
110 nodeTainted a2
`
	if got := toldTimeline(out.Clock.Timeline); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	if z := out.Clock.LostZones; len(z) != 1 || z[0].NotReady != 3 || z[0].State != "PartialDisruption" {
		t.Errorf("zones %+v", z)
	}
}

// TestClockRefuses: what a scenario cannot have is refused by its field, with what would be right.
func TestClockRefuses(t *testing.T) {
	for question, want := range map[string]string{
		`{"events":[{"at":"1s"}]}`:                                                "events[0]: want one of",
		`{"events":[{"delete":{"name":"x"},"evict":{"name":"x"}}]}`:               "events[0]: want one of",
		`{"events":[{"at":"1500ms","delete":{"name":"x"}}]}`:                      "events[0].at: want whole seconds",
		`{"events":[{"delete":{}}]}`:                                              "events[0].delete.name: want the name of a pod",
		`{"events":[{"nodesDie":{"nodes":["z"]}}]}`:                               `events[0].nodesDie.nodes[0]: `,
		`{"events":[{"nodesDie":{}}]}`:                                            "events[0].nodesDie.nodes: want nodes, a selector or a zone",
		`{"events":[{"scale":{"kind":"Pod","name":"x","replicas":1}}]}`:           "events[0].scale.kind: want Deployment",
		`{"events":[{"scale":{"kind":"Deployment","name":"x"}}]}`:                 "events[0].scale.replicas: want a number",
		`{"events":[{"taint":{"nodes":["a"],"key":"k","effect":"No"}}]}`:          "events[0].taint.effect: want NoSchedule",
		`{"events":[{"drain":{"nodes":["a"],"gracePeriodSeconds":-1}}]}`:          "events[0].drain.gracePeriodSeconds: want 0 or more",
		`{"events":[{"addNodes":{"like":"z"}}]}`:                                  "events[0].addNodes[0].like: ",
		`{"events":[{"containerExits":{"name":"x"}}]}`:                            "events[0].containerExits.exitCode: want a number from 0 to 255",
		`{"events":[{"containerExits":{"exitCode":1}}]}`:                          "events[0].containerExits.name: want the name of a pod",
		`{"events":[{"containerExits":{"name":"x","exitCode":1,"every":"1ms"}}]}`: "events[0].containerExits.every: want whole seconds",
		`{"events":[{"probeFails":{"name":"x","probe":"http"}}]}`:                 "events[0].probeFails.probe: want readiness, liveness or startup",
		`{"events":[{"probeFails":{"name":"x","probe":"startup","for":"0s"}}]}`:   "events[0].probeFails.for: want whole seconds",
		`{"events":[{"startsIn":{"name":"x"}}]}`:                                  "events[0].startsIn.seconds: want 0 to 604800",
		`{"events":[{"startsIn":{"seconds":1}}]}`:                                 "events[0].startsIn.name: want the name of the pod",
		`{"events":[{"endsIn":{"kind":"Node","name":"x","seconds":1}}]}`:          "events[0].endsIn.kind: want Pod, Deployment",
		`{"events":[{"rebootNodes":{"nodes":["a"],"takes":"500ms"}}]}`:            "events[0].rebootNodes.takes: want whole seconds",
		`{"events":[{"rebootNodes":{}}]}`:                                         "events[0].rebootNodes.nodes: want nodes, a selector or a zone",
		`{"arrivals":{"placed":true}}`:                                            "arrivals.placed: a scenario with a clock",
		`{"tries":2}`:                                                             "tries: a scenario with a clock",
		`{"until":{"duration":"1h","idle":true}}`:                                 "until: want idle or a duration",
		`{"until":{"duration":"1ms"}}`:                                            "until.duration: want a duration from 1s to 168h",
		`{"profiles":[{"name":"today"},{"name":"packed"}]}`:                       "profiles: a scenario with a clock",
		`{"rates":{"unhealthyPercent":101}}`:                                      "rates.unhealthyPercent: want 0 to 100",
		`{"startSeconds":-1}`:                                                     "startSeconds: want 0 to",
	} {
		var q scenario.Request
		if err := json.Unmarshal([]byte(question), &q); err != nil {
			t.Fatal(err)
		}
		q.Clock = true
		if _, err := simulate(t, viewOf(t, alive("a", "2")), q); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v, want %s", question, err, want)
		}
	}
	for question, want := range map[string]string{
		`{"arrivals":{"pending":true},"events":[{"delete":{"name":"x"}}]}`: "events: without a clock",
		`{"events":[{"delete":{"name":"x"}}]}`:                             "events: without a clock",
		`{"arrivals":{"pending":true},"startSeconds":1}`:                   "startSeconds: without a clock",
		`{"arrivals":{"pending":true},"until":{"duration":"1h"}}`:          "until.duration: time in a scenario is ordinal",
	} {
		var q scenario.Request
		if err := json.Unmarshal([]byte(question), &q); err != nil {
			t.Fatal(err)
		}
		if _, err := simulate(t, viewOf(t, alive("a", "2")), q); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v, want %s", question, err, want)
		}
	}
}

// TestTimelines: drain, lose and rollout list what happens where that is wanted, under the same
// digest.
func TestTimelines(t *testing.T) {
	objects := []any{alive("a", "2"), alive("b", "2"), running(enginetest.Pod("web-1", enginetest.Requests("cpu", "1"), enginetest.On("a")), "ReplicaSet", "web", 20, 30)}
	v := viewOf(t, objects...)
	ask := func(q scenario.Question) any {
		d := editor()
		e, err := d.Apply(t.Context(), v, "edits", nil)
		if err != nil {
			t.Fatal(err)
		}
		out, err := q.Answer(t.Context(), &scenario.Stage{Edited: e, Editor: d, Options: world.Options{Profiles: configs(t)["today"], Now: noon}, Bounds: bounds})
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	wanted := scenario.Telling{Timeline: true}
	plain := ask(&scenario.DrainQuestion{NodeChoice: chosen("a")}).(*scenario.Drain)
	told := ask(&scenario.DrainQuestion{NodeChoice: chosen("a"), Telling: wanted}).(*scenario.Drain)
	const drain = `0 cordoned a
0 drainBegins a
0 leaves web-1 a: eviction
0 created web-1-2
0 bound web-1-2 b
20 ready web-1-2 b
30 gone web-1 a
30 drainEnds a
`
	if got := toldTimeline(told.Timeline); got != drain || told.Digest != plain.Digest || plain.Timeline != nil {
		t.Errorf("drain, digests %s and %s:\n%s", told.Digest, plain.Digest, got)
	}
	loss := ask(&scenario.LossQuestion{NodeChoice: chosen("a")}).(*scenario.Loss)
	toldLoss := ask(&scenario.LossQuestion{NodeChoice: chosen("a"), Telling: wanted}).(*scenario.Loss)
	const lose = `0 nodeDied a
50 nodeNotReady a
50 unready web-1 a
50 nodeTainted a
50 leaves web-1 a: taint
50 created web-1-2
50 bound web-1-2 b
70 ready web-1-2 b
`
	if got := toldTimeline(toldLoss.Timeline); got != lose || toldLoss.Digest != loss.Digest || loss.Timeline != nil {
		t.Errorf("loss, digests %s and %s:\n%s", toldLoss.Digest, loss.Digest, got)
	}
	for _, q := range []scenario.Question{
		&scenario.LossQuestion{Each: scenario.EachNode, Telling: wanted}, &scenario.DrainQuestion{Each: scenario.EachNode, Telling: wanted},
	} {
		if _, err := q.Answer(t.Context(), &scenario.Stage{Edited: &scenario.Edited{View: v}, Editor: editor(), Options: world.Options{Profiles: configs(t)["today"], Now: noon}}); err == nil || !strings.HasPrefix(err.Error(), "timeline: an answer about each") {
			t.Errorf("%T: %v", q, err)
		}
	}
}

// TestClockDrainGoesOn: a node that is refused does not stop the drain of the others, as in kubectl
// drain ("continuing command").
func TestClockDrainGoesOn(t *testing.T) {
	bare := running(enginetest.Pod("bare", enginetest.Requests("cpu", "1"), enginetest.On("a")), "", "", 20, 30)
	bare.OwnerReferences = nil
	web := running(enginetest.Pod("web-1", enginetest.Requests("cpu", "1"), enginetest.On("b")), "ReplicaSet", "web", 20, 30)
	out := clocked(t, `{"events":[{"at":"10s","drain":{"nodes":["a","b"]}}]}`, alive("a", "2"), alive("b", "2"), alive("c", "2"), bare, web).Clock
	if d := out.Drains; len(d) != 2 || d[0].Outcome != scenario.NodeRefused || d[1].Outcome != scenario.NodeDrained || d[1].Evicted != 1 || d[1].Seconds != 30 {
		t.Errorf("drains: %+v", d)
	}
}
