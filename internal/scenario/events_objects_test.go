package scenario_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"berth/internal/scenario"
	"berth/internal/world"
	"berth/test/enginetest"
)

// quotaOf is a ResourceQuota of a number of pods.
func quotaOf(pods string) *corev1.ResourceQuota {
	return &corev1.ResourceQuota{
		TypeMeta: metav1.TypeMeta{Kind: "ResourceQuota", APIVersion: "v1"}, ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "few"},
		Spec: corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{"pods": resource.MustParse(pods)}},
	}
}

// TestQuotas plays pods that a ResourceQuota does not let in: controllers try again by their
// back-off, 5 ms doubling, which a Job's controller begins with a second.
func TestQuotas(t *testing.T) {
	of := func(kind, owner, name, on string) *corev1.Pod {
		return running(enginetest.Pod(name, enginetest.Requests("cpu", "1"), enginetest.On(on)), kind, owner, 20, 30)
	}
	web := func(name, on string) *corev1.Pod { return of("ReplicaSet", "web", name, on) }
	const lone = `{"kind":"Pod","apiVersion":"v1","metadata":{"name":"lone"},"spec":{"containers":[{"name":"c","image":"i"}]}}`
	for _, c := range []struct {
		what, question, want string
		pending              int
		objects              []any
	}{
		{
			"a deleted pod's successor comes once the pod is gone, by the back-off: 5 ms doubling, 40.955 s after 13",
			`{"events":[{"at":"10s","delete":{"name":"web-1"}}]}`, `
10 leaves web-1 a: deletion
10 refused web-1-2: create: pods "web-1-2" is forbidden: exceeded quota: few, requested: pods=1, used: pods=2, limited: pods=2
40 gone web-1 a
50 created web-1-2
50 bound web-1-2 a
70 ready web-1-2 a
`, 0,
			[]any{alive("a", "4"), web("web-1", "a"), web("web-2", "a"), quotaOf("2")},
		},
		{
			"of three that a ReplicaSet wants more, one may come; the others once the quota is raised, later by what its pods do meanwhile",
			`{"events":[{"scale":{"kind":"ReplicaSet","name":"web","replicas":4}},{"at":"15s","setQuota":{"name":"few","hard":{"pods":"3"}}},{"at":"1m","setQuota":{"name":"few","hard":{"pods":"9"}}}]}`, `
0 scaled ReplicaSet/web: to 4 replicas
0 created web-1-2
0 refused web-1-3: create: pods "web-1-3" is forbidden: exceeded quota: few, requested: pods=1, used: pods=2, limited: pods=2
0 bound web-1-2 a
15 quotaChanged ResourceQuota/few
20 ready web-1-2 a
20 created web-1-3
20 refused web-1-4: create: pods "web-1-4" is forbidden: exceeded quota: few, requested: pods=1, used: pods=3, limited: pods=3
20 bound web-1-3 a
40 ready web-1-3 a
60 quotaChanged ResourceQuota/few
184 created web-1-4
184 bound web-1-4 a
204 ready web-1-4 a
`, 0,
			[]any{alive("a", "9"), web("web-1", "a"), quotaOf("2")},
		},
		{
			"a change of a pod has its controller try at once",
			`{"events":[{"scale":{"kind":"ReplicaSet","name":"web","replicas":4}},{"at":"42s","setQuota":{"name":"few","hard":{"pods":"9"}}},{"at":"50s","delete":{"name":"web-2"}}]}`, `
0 scaled ReplicaSet/web: to 4 replicas
0 refused web-1-2: create: pods "web-1-2" is forbidden: exceeded quota: few, requested: pods=1, used: pods=2, limited: pods=2
42 quotaChanged ResourceQuota/few
50 leaves web-2 a: deletion
50 created web-1-2
50 created web-1-3
50 created web-2-2
50 bound web-1-2 a
50 bound web-1-3 a
50 bound web-2-2 a
70 ready web-1-2 a
70 ready web-1-3 a
70 ready web-2-2 a
80 gone web-2 a
`, 0,
			[]any{alive("a", "9"), web("web-1", "a"), web("web-2", "a"), quotaOf("2")},
		},
		{
			"what a quota never lets in ends no run, a person's pod is refused, and a scale-down forgets it",
			`{"events":[{"create":{"pod":` + lone + `}},{"at":"1s","scale":{"kind":"ReplicaSet","name":"web","replicas":3}},{"at":"5s","scale":{"kind":"ReplicaSet","name":"web","replicas":1}}]}`, `
0 refused lone: create: pods "lone" is forbidden: exceeded quota: few, requested: pods=1, used: pods=1, limited: pods=1
1 scaled ReplicaSet/web: to 3 replicas
1 refused web-1-2: create: pods "web-1-2" is forbidden: exceeded quota: few, requested: pods=1, used: pods=1, limited: pods=1
5 scaled ReplicaSet/web: to 1 replicas
`, 2,
			[]any{alive("a", "9"), web("web-1", "a"), quotaOf("1")},
		},
		{
			"a Job's controller tries again after 1, 2, 4 and so on seconds; its own back-off is 10",
			`{"events":[{"at":"10s","delete":{"name":"job-1"}}]}`, `
10 leaves job-1 a: deletion
20 refused job-1-2: create: pods "job-1-2" is forbidden: exceeded quota: few, requested: pods=1, used: pods=1, limited: pods=1
40 gone job-1 a
51 created job-1-2
51 bound job-1-2 a
71 ready job-1-2 a
`, 0,
			[]any{alive("a", "4"), of("Job", "job", "job-1", "a"), quotaOf("1")},
		},
		{
			"on a dead node a pod counts until twice its grace period is over, and stays",
			`{"events":[{"nodesDie":{"nodes":["a"]}},{"at":"10s","delete":{"name":"web-1"}}],"until":{"duration":"10m"}}`, `
0 nodeDied a
10 leaves web-1 a: deletion
10 refused web-1-2: create: pods "web-1-2" is forbidden: exceeded quota: few, requested: pods=1, used: pods=1, limited: pods=1
50 nodeNotReady a
50 unready web-1 a
50 nodeTainted a
132 created web-1-2
132 bound web-1-2 b
152 ready web-1-2 b
`, 0,
			[]any{alive("a", "4"), alive("b", "4"), web("web-1", "a"), quotaOf("1")},
		},
	} {
		out := clocked(t, c.question, c.objects...)
		if got := "\n" + toldTimeline(out.Clock.Timeline); got != c.want {
			t.Errorf("%s:\n%s\nwant%s", c.what, got, c.want)
		}
		if again := clocked(t, c.question, c.objects...); again.Digest != out.Digest {
			t.Errorf("%s: digests %s and %s", c.what, out.Digest, again.Digest)
		}
		if out.Clock.Waiting != 0 {
			t.Errorf("%s: %d wait for a node", c.what, out.Clock.Waiting)
		}
		without := 0
		for _, r := range out.Clock.Others {
			if r.Node == "" {
				without++
			}
		}
		if without != c.pending {
			t.Errorf("%s: %d places without a pod, want %d", c.what, without, c.pending)
		}
	}
}

// TestBudgetChanges has a budget that blocks a drain let it go on.
func TestBudgetChanges(t *testing.T) {
	web := func(name string) *corev1.Pod {
		return running(enginetest.Pod(name, enginetest.Requests("cpu", "1"), enginetest.On("a"), enginetest.Labels("app", "web")), "ReplicaSet", "web", 20, 30)
	}
	budget := func(allowed, healthy, expected int32) *policyv1.PodDisruptionBudget {
		two := intstr.FromInt32(2)
		return &policyv1.PodDisruptionBudget{
			TypeMeta: metav1.TypeMeta{Kind: "PodDisruptionBudget", APIVersion: "policy/v1"}, ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web"},
			Spec:   policyv1.PodDisruptionBudgetSpec{MinAvailable: &two, Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}},
			Status: policyv1.PodDisruptionBudgetStatus{DisruptionsAllowed: allowed, CurrentHealthy: healthy, DesiredHealthy: 2, ExpectedPods: expected},
		}
	}
	for _, c := range []struct {
		set, want string
		budget    *policyv1.PodDisruptionBudget
	}{
		{`{"maxUnavailable":1,"name":"web"}`, "12 budgetChanged PodDisruptionBudget/web\n15 leaves web-1 a: eviction\n", budget(0, 2, 2)},
		{`{"minAvailable":"50%","name":"web"}`, "12 budgetChanged PodDisruptionBudget/web\n15 leaves web-1 a: eviction\n", budget(0, 2, 2)},
		{`{"minAvailable":"51%","name":"web"}`, "12 budgetChanged PodDisruptionBudget/web\n", budget(0, 2, 2)},                                                       // rounded up
		{`{"minAvailable":0,"name":"web"}`, "12 budgetChanged PodDisruptionBudget/web\n15 leaves web-1 a: eviction\n15 leaves web-2 a: eviction\n", budget(0, 0, 0)}, // never looked at before
		{`{"maxUnavailable":0,"name":"web"}`, "12 budgetChanged PodDisruptionBudget/web\n", budget(0, 2, 2)},
		{`{"maxUnavailable":1,"name":"none"}`, "12 refused PodDisruptionBudget/none: setBudget: poddisruptionbudgets.policy \"none\" not found\n", budget(0, 2, 2)},
	} {
		out := clocked(t, `{"events":[{"at":"10s","drain":{"nodes":["a"]}},{"at":"12s","setBudget":`+c.set+`}],"until":{"duration":"20s"}}`,
			alive("a", "4"), alive("b", "4"), web("web-1"), web("web-2"), c.budget)
		var got string
		for _, line := range strings.SplitAfter(toldTimeline(out.Clock.Timeline), "\n") {
			if strings.Contains(line, "udget") || strings.Contains(line, "leaves") {
				got += line
			}
		}
		if got != c.want {
			t.Errorf("%s:\n%swant\n%s", c.set, got, c.want)
		}
	}
}

// TestApplied has objects stored in time that pods wait for.
func TestApplied(t *testing.T) {
	waits := enginetest.Pod("new", enginetest.Requests("cpu", "1"))
	waits.Spec.NodeSelector = map[string]string{"pool": "fast"}
	waits.Status = corev1.PodStatus{Phase: corev1.PodPending}
	labelled := `{"kind":"Node","apiVersion":"v1","metadata":{"name":"a","labels":{"pool":"fast","kubernetes.io/hostname":"a"}},"spec":{"taints":[{"key":"own","effect":"PreferNoSchedule"}]},"status":{"allocatable":{"cpu":"4","memory":"8Gi","pods":"110"}}}`
	out := clocked(t, `{"events":[{"at":"5s","cordon":{"nodes":["a"]}},{"at":"10s","apply":`+labelled+`},{"at":"20s","uncordon":{"nodes":["a"]}}]}`, alive("a", "4"), waits)
	const want = "0 waits new\n5 cordoned a\n10 applied a\n10 waits new\n20 uncordoned a\n20 bound new a\n30 ready new a\n"
	if got := toldTimeline(out.Clock.Timeline); got != want {
		t.Errorf("\n%swant\n%s", got, want)
	}
	quota := `{"kind":"ResourceQuota","apiVersion":"v1","metadata":{"namespace":"default","name":"few"},"spec":{"hard":{"pods":"0"}}}`
	lone := `{"kind":"Pod","apiVersion":"v1","metadata":{"name":"lone"},"spec":{"containers":[{"name":"c","image":"i"}]}}`
	out = clocked(t, `{"events":[{"apply":`+quota+`},{"at":"1s","create":{"pod":`+lone+`}}]}`, alive("a", "4"))
	if got := toldTimeline(out.Clock.Timeline); !strings.HasPrefix(got, "0 applied ResourceQuota/default/few\n1 refused lone: create: pods \"lone\" is forbidden: exceeded quota: few") {
		t.Errorf("\n%s", got)
	}
	for event, want := range map[string]string{
		`"apply":{"kind":"Deployment","apiVersion":"apps/v1","metadata":{"name":"x","namespace":"default"},"spec":{"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}}`: "events[0].apply.kind: Deployment has events of its own",
		`"apply":{"kind":"Node","apiVersion":"v1","metadata":{"name":"none"}}`: "events[0].apply: there is no node none: want addNodes",
		`"setQuota":{"name":"few"}`:                                      "events[0].setQuota: want the name of a ResourceQuota and its hard limits",
		`"setQuota":{"name":"few","hard":{"pods":"many"}}`:               "events[0].setQuota.hard[pods]: want an amount",
		`"setBudget":{"name":"web"}`:                                     "events[0].setBudget: want one of minAvailable and maxUnavailable",
		`"setBudget":{"name":"web","minAvailable":1,"maxUnavailable":1}`: "events[0].setBudget: want one of",
		`"setBudget":{"name":"web","minAvailable":"101%"}`:               "events[0].setBudget.minAvailable: want a number of 0 or more",
		`"setBudget":{"minAvailable":1}`:                                 "events[0].setBudget.name: want the name",
	} {
		var q scenario.Request
		if err := json.Unmarshal([]byte(`{"clock":true,"events":[{`+event+`}]}`), &q); err != nil {
			t.Fatal(err)
		}
		if _, err := simulate(t, viewOf(t, alive("a", "4")), q); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", event, err, want)
		}
	}
}

// TestHistoryInTime has the pods of recorded decisions come at their times. Those that wait in the
// snapshot are there already.
func TestHistoryInTime(t *testing.T) {
	waits := enginetest.Pod("waits", enginetest.Requests("cpu", "1"))
	waits.Status = corev1.PodStatus{Phase: corev1.PodPending}
	came := enginetest.Pod("came", enginetest.Requests("cpu", "1"))
	v := viewOf(t, alive("a", "4"), waits)
	stored, err := v.Pod("default", "waits")
	if err != nil {
		t.Fatal(err)
	}
	d := editor()
	d.History = func(context.Context, *scenario.History, int, func(int)) ([]world.Arrival, error) {
		return []world.Arrival{{Pod: stored}, {Pod: came, At: 90 * time.Second}}, nil
	}
	q := &scenario.Request{Clock: true, Arrivals: scenario.ArrivalSource{History: &scenario.History{Since: noon, Until: noon.Add(time.Hour)}}}
	out, err := q.Answer(t.Context(), &scenario.Stage{Edited: &scenario.Edited{View: v}, Editor: d, Options: world.Options{Profiles: configs(t)["today"], Now: noon}, Bounds: bounds})
	if err != nil {
		t.Fatal(err)
	}
	const want = "0 bound waits a\n10 ready waits a\n90 created came\n90 bound came a\n100 ready came a\n"
	if got := toldTimeline(out.(*scenario.Simulation).Clock.Timeline); got != want {
		t.Errorf("\n%swant\n%s", got, want)
	}
}

// TestRolloutUnderAQuota: a pod of the surge that a quota does not let in keeps a rollout that may
// have no pod unavailable; else old pods go first, and make room.
func TestRolloutUnderAQuota(t *testing.T) {
	v := viewOf(t, alive("a", "9"), webSet("web-1", 2), podOfWeb("web-1", "web-1-a", "a"), podOfWeb("web-1", "web-1-b", "a"), quotaOf("2"))
	stuck := mustRollOut(t, v, `"replicas":2,"strategy":{"rollingUpdate":{"maxSurge":1,"maxUnavailable":0}},`)
	if stuck.Outcome != scenario.RolloutStuck || !strings.Contains(stuck.Why, "exceeded quota: few") {
		t.Errorf("%s: %s", stuck.Outcome, stuck.Why)
	}
	if done := mustRollOut(t, v, `"replicas":2,"strategy":{"rollingUpdate":{"maxSurge":1,"maxUnavailable":1}},`); done.Outcome != "complete" {
		t.Errorf("%s: %s", done.Outcome, done.Why)
	}
}

// TestFindUnderAQuota: what a search for nodes that can be emptied tries and takes back leaves no
// trace in what quotas count.
func TestFindUnderAQuota(t *testing.T) {
	ask := func(quota string) *scenario.Drain {
		t.Helper()
		objects := []any{quotaOf(quota)}
		for _, n := range []string{"a", "b", "c", "d"} {
			objects = append(objects, alive(n, "3"))
		}
		for i, n := range []string{"a", "b", "b", "c", "c", "d"} {
			p := running(enginetest.Pod(fmt.Sprintf("web-%d", i), enginetest.Requests("cpu", "1"), enginetest.On(n)), "ReplicaSet", "web", 20, 30)
			if i == 1 {
				p.OwnerReferences = nil // nothing makes it again, so that b is not emptied
			}
			objects = append(objects, p)
		}
		e := &scenario.Edited{View: viewOf(t, objects...)}
		out, err := (&scenario.DrainQuestion{Find: 4}).Answer(t.Context(), &scenario.Stage{Edited: e, Editor: editor(), Options: world.Options{Profiles: configs(t)["today"], Now: noon}, Bounds: bounds})
		if err != nil {
			t.Fatal(err)
		}
		return out.(*scenario.Drain)
	}
	wide, tight := ask("100"), ask("6")
	names := func(d *scenario.Drain) (list []string) {
		for _, n := range d.Nodes {
			list = append(list, n.Name+" "+n.Outcome)
		}
		return list
	}
	if !slices.Equal(names(wide), names(tight)) || len(wide.Nodes) < 2 || wide.Totals.Pending+tight.Totals.Pending > 0 {
		t.Errorf("%v with room in the quota, %v without; %+v", names(wide), names(tight), tight.Totals)
	}
	waits := func(d *scenario.Drain) (seconds int64) {
		for _, p := range d.Pods {
			if p.Replacement != nil {
				seconds += p.Replacement.CreatedAfterSeconds - p.LeavesAfterSeconds
			}
		}
		return seconds
	}
	if waits(wide) != 0 || waits(tight) == 0 {
		t.Errorf("pods are made %d s later with room in the quota, %d s without", waits(wide), waits(tight))
	}
}
