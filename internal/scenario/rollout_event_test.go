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

// shopPods are pods of the Deployment shop: n of its ReplicaSet, on nodes in turn.
func shopPods(n int, on ...string) (list []any) {
	for i := range n {
		p := running(enginetest.Pod(fmt.Sprintf("shop-1-%02d", i), enginetest.Requests("cpu", "1"), enginetest.On(on[i%len(on)]),
			enginetest.Labels("app", "shop", "pod-template-hash", "1")), "ReplicaSet", "shop-1", 20, 30)
		list = append(list, p)
	}
	return list
}

func shopDeployment(spec string) string {
	return `{"deployment":{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"shop"},"spec":{` + spec + `"selector":{"matchLabels":{"app":"shop"}},"template":{"metadata":{"labels":{"app":"shop"}},"spec":{"containers":[{"name":"c","image":"shop:2","resources":{"requests":{"cpu":"1"}}}]}}}}}`
}

// scaledIn lists how the sets of a timeline were scaled; the new one has a name that is hashed.
func scaledIn(moments []world.Moment) string {
	var list []string
	for _, m := range moments {
		set := strings.TrimPrefix(m.Owner, "ReplicaSet/shop-")
		if m.What != world.Scaled || set == m.Owner {
			continue
		}
		if set != "1" {
			set = "new"
		}
		list = append(list, fmt.Sprint(m.AfterSeconds, " ", set, ">", strings.Fields(m.Why)[1]))
	}
	return strings.Join(list, ", ")
}

// TestRollOutEvent has a Deployment updated in a scenario in which other things happen.
func TestRollOutEvent(t *testing.T) {
	rolling := `"replicas":4,"strategy":{"rollingUpdate":{"maxSurge":1,"maxUnavailable":0}},`
	plain := clocked(t, `{"events":[{"at":"10s","rollOut":`+shopDeployment(rolling)+`}]}`, append(shopPods(4, "a", "b"), alive("a", "4"), alive("b", "4"))...).Clock
	if got, want := scaledIn(plain.Timeline), "10 new>1, 30 1>3, 30 new>2, 50 1>2, 50 new>3, 70 1>1, 70 new>4, 90 1>0"; got != want {
		t.Errorf("scaled %s, want %s", got, want)
	}
	if r := plain.Rollouts[0]; len(plain.Others) != 4 || len(plain.Pods) != 4 || r.BeganAfterSeconds != 10 || r.CompleteAfterSeconds == nil || *r.CompleteAfterSeconds != 90 || r.LeastAvailable != 4 || r.MostPods != 7 {
		t.Errorf("%+v", r)
	}
	// A node dies amid the update: its pods are not available any more, so that no old one goes
	// until they have come back elsewhere.
	lost := func(p *corev1.Pod) {
		five := int64(300)
		p.Spec.Tolerations = []corev1.Toleration{{Key: corev1.TaintNodeUnreachable, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute, TolerationSeconds: &five}}
	}
	objects := shopPods(4, "a", "b")
	for _, o := range objects {
		lost(o.(*corev1.Pod))
	}
	dying := clocked(t, `{"events":[{"nodesDie":{"nodes":["b"]}},{"at":"55s","rollOut":`+shopDeployment(rolling)+`}],"until":{"duration":"1h"}}`, append(objects, alive("a", "8"), alive("b", "8"))...).Clock
	if r := dying.Rollouts[0]; r.LeastAvailable != 2 || r.CompleteAfterSeconds == nil {
		t.Errorf("%+v\n%s", r, toldTimeline(dying.Timeline))
	}
	if got := scaledIn(dying.Timeline); !strings.HasPrefix(got, "55 new>1, 75 1>3, 75 new>2, 95 1>2") {
		t.Errorf("those that are not ready go first: %s\n%s", got, toldTimeline(dying.Timeline))
	}
}

// TestScaleAmidRollOut shares other replicas out between the sets in proportion, as in the
// documentation of Deployments: of five more the old set gets three and the new one two.
func TestScaleAmidRollOut(t *testing.T) {
	objects := append(shopPods(10, "a"), alive("a", "99"))
	for to, want := range map[int]string{15: "1>11, new>7", 5: "1>5, new>3, 1>3, new>5", 0: "1>0, new>0", 10: ""} {
		q := fmt.Sprintf(`{"events":[{"rollOut":%s},{"at":"5s","scale":{"kind":"Deployment","name":"shop","replicas":%d}}],"until":{"duration":"6s"}}`,
			shopDeployment(`"replicas":10,"strategy":{"rollingUpdate":{"maxSurge":3,"maxUnavailable":2}},`), to)
		got, begun := strings.CutPrefix(scaledIn(clocked(t, q, objects...).Clock.Timeline), "0 new>3, 0 1>8, 0 new>5")
		if got = strings.ReplaceAll(strings.TrimPrefix(got, ", "), "5 ", ""); got != want || !begun {
			t.Errorf("to %d replicas: %s, want %s", to, got, want)
		}
	}
}

// TestScaleFromNothing has an update to no replicas be scaled up at once, while pods of two older
// sets are still there: their shares are of the pods that there are.
func TestScaleFromNothing(t *testing.T) {
	objects := append(shopPods(4, "a"), alive("a", "99"))
	for _, o := range objects[2:4] {
		p := o.(*corev1.Pod)
		p.Name, p.OwnerReferences[0].Name = strings.Replace(p.Name, "shop-1", "shop-0", 1), "shop-0"
		p.Labels["pod-template-hash"] = "0"
	}
	q := `{"events":[{"rollOut":` + shopDeployment(`"replicas":0,"strategy":{"rollingUpdate":{"maxSurge":"25%","maxUnavailable":"25%"}},`) +
		`},{"scale":{"kind":"Deployment","name":"shop","replicas":8}}],"until":{"duration":"10m"}}`
	out := clocked(t, q, objects...).Clock
	told := toldTimeline(out.Timeline)
	for _, set := range []string{"shop-0", "shop-1"} {
		if want := "0 scaled ReplicaSet/" + set + ": to 5 replicas\n"; !strings.Contains(told, want) {
			t.Errorf("no %sin\n%s", want, told)
		}
	}
	if out.Rollouts[0].CompleteAfterSeconds == nil {
		t.Errorf("%+v", out.Rollouts[0])
	}
}

// TestRollOutStalls passes the deadline of an update whose pods do not fit, and says when.
func TestRollOutStalls(t *testing.T) {
	stuck := shopDeployment(`"replicas":2,"progressDeadlineSeconds":60,"strategy":{"rollingUpdate":{"maxSurge":1,"maxUnavailable":0}},`)
	out := clocked(t, `{"events":[{"rollOut":`+stuck+`}]}`, append(shopPods(2, "a"), alive("a", "2"))...).Clock
	r := out.Rollouts[0]
	if r.CompleteAfterSeconds != nil || r.DeadlineExceededAfterSeconds == nil || *r.DeadlineExceededAfterSeconds != 61 || out.Seconds != 61 || out.Waiting != 1 {
		t.Errorf("%+v after %d s", r, out.Seconds)
	}
	if m := out.Timeline[len(out.Timeline)-1]; m.What != world.DeadlineExceeded || m.AfterSeconds != 61 {
		t.Errorf("%+v", m)
	}
}

// TestRollOutGoesOn: each pod that is available renews the deadline of an update.
func TestRollOutGoesOn(t *testing.T) {
	slow := shopDeployment(`"replicas":2,"progressDeadlineSeconds":55,"strategy":{"rollingUpdate":{"maxSurge":1,"maxUnavailable":0}},`)
	r := clocked(t, `{"events":[{"rollOut":`+slow+`}]}`, append(shopPods(2, "a"), alive("a", "3"))...).Clock.Rollouts[0]
	if r.CompleteAfterSeconds == nil || *r.CompleteAfterSeconds != 70 || r.DeadlineExceededAfterSeconds != nil {
		t.Errorf("%+v", r)
	}
}

// TestUpdateSet replaces the pods of a StatefulSet from the highest ordinal down to the partition,
// each once the one before is ready. Those below come back as they were.
func TestUpdateSet(t *testing.T) {
	var objects []any
	for i := range 3 {
		objects = append(objects, running(enginetest.Pod(fmt.Sprint("kv-", i), enginetest.Requests("cpu", "1"), enginetest.On("a"), enginetest.Labels("app", "kv")), "StatefulSet", "kv", 7, 5))
	}
	objects = append(objects, alive("a", "4"))
	question := func(strategy, more string) string {
		return `{"events":[{"rollOut":{"statefulSet":{"kind":"StatefulSet","apiVersion":"apps/v1","metadata":{"name":"kv"},"spec":{"serviceName":"kv","selector":{"matchLabels":{"app":"kv"}},` + strategy +
			`"template":{"metadata":{"labels":{"app":"kv"}},"spec":{"containers":[{"name":"c","image":"kv:2","resources":{"requests":{"cpu":"2"}}}]}}}}}}` + more + `]}`
	}
	out := clocked(t, question(`"updateStrategy":{"rollingUpdate":{"partition":1}},`, `,{"at":"60s","delete":{"name":"kv-0"}}`), objects...).Clock
	want := `
0 rolloutBegins StatefulSet/kv
0 leaves kv-2 a: update
5 gone kv-2 a
5 created kv-2
5 bound kv-2 a
12 ready kv-2 a
12 leaves kv-1 a: update
17 gone kv-1 a
17 created kv-1
17 waits kv-1
60 leaves kv-0 a: deletion
65 gone kv-0 a
65 created kv-0
65 bound kv-1 a
65 waits kv-0
72 ready kv-1 a
`
	if got := toldTimeline(out.Timeline); got != strings.TrimPrefix(want, "\n") {
		t.Errorf("got\n%swant%s", got, want)
	}
	if u := out.Rollouts[0]; u.Kind != "StatefulSet" || u.CompleteAfterSeconds != nil || u.LeastAvailable != 1 || u.MostPods != 3 || out.Waiting != 1 {
		t.Errorf("%+v", u)
	}
	for strategy, done := range map[string]int64{`"minReadySeconds":3,`: 45, `"podManagementPolicy":"Parallel",`: 36, `"updateStrategy":{"rollingUpdate":{"partition":2}},`: 12, `"updateStrategy":{"type":"OnDelete"},`: -1} {
		all := append([]any{alive("b", "9")}, objects...)
		u := clocked(t, question(strategy, ""), all...).Clock.Rollouts[0]
		if (u.CompleteAfterSeconds == nil) != (done < 0) || done >= 0 && *u.CompleteAfterSeconds != done {
			t.Errorf("%s: complete after %v s, want %d", strategy, u.CompleteAfterSeconds, done)
		}
	}
	if u := clocked(t, question(`"updateStrategy":{"type":"OnDelete"},`, `,{"at":"5s","delete":{"name":"kv-1"}},{"at":"5s","delete":{"name":"kv-0"}},{"at":"5s","delete":{"name":"kv-2"}}`), append(objects, alive("b", "9"))...).Clock.Rollouts[0]; u.CompleteAfterSeconds == nil {
		t.Errorf("all were deleted: %+v", u)
	}
}

// TestRollOutRefuses names the field of a workload that is none, or of another kind.
func TestRollOutRefuses(t *testing.T) {
	for given, want := range map[string]string{
		`{}`: "events[0].rollOut: want a deployment, a statefulSet or a daemonSet",
		`{"statefulSet":{"kind":"Deployment","apiVersion":"apps/v1","metadata":{"name":"x"}}}`: "events[0].rollOut.statefulSet.kind: want a StatefulSet",
		`{"deployment":{"kind":"StatefulSet","apiVersion":"apps/v1","metadata":{"name":"x"}}}`: "events[0].rollOut.deployment: want a Deployment",
	} {
		var q scenario.Request
		if err := json.Unmarshal([]byte(`{"clock":true,"events":[{"rollOut":`+given+`}]}`), &q); err != nil {
			t.Fatal(err)
		}
		if _, err := simulate(t, viewOf(t, alive("a", "2")), q); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", given, err, want)
		}
	}
}
