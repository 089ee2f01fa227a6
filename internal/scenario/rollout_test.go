package scenario_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"berth/internal/decision"
	"berth/internal/engine/rules"
	"berth/internal/kube/object"
	"berth/internal/revision"
	"berth/internal/scenario"
	"berth/internal/world"
	"berth/test/enginetest"
)

// webSet is a ReplicaSet of the Deployment web.
func webSet(name string, replicas int32) *appsv1.ReplicaSet {
	yes := true
	return &appsv1.ReplicaSet{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "default", Name: name, CreationTimestamp: metav1.NewTime(noon.Add(-time.Hour)),
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "Deployment", Name: "web", UID: "web", Controller: &yes}},
		},
		Spec: appsv1.ReplicaSetSpec{Replicas: &replicas, Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}},
	}
}

// podOfWeb is a pod of a ReplicaSet of the Deployment web, ready for a while after 20 seconds.
func podOfWeb(set, name, node string, more ...enginetest.PodOption) *corev1.Pod {
	ready := func(p *corev1.Pod) {
		start := metav1.NewTime(noon.Add(-30 * time.Minute))
		p.CreationTimestamp, p.Status.StartTime = start, &start
		p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(start.Add(20 * time.Second))}}
		grace := int64(30)
		p.Spec.TerminationGracePeriodSeconds = &grace
	}
	list := []enginetest.PodOption{enginetest.Requests("cpu", "1"), enginetest.Labels("app", "web"), enginetest.Owner("apps/v1", "ReplicaSet", set), enginetest.On(node), ready}
	return enginetest.Pod(name, append(list, more...)...)
}

// deployment is the manifest of web with other fields of its spec.
func deployment(spec string) json.RawMessage {
	return json.RawMessage(`{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web"},"spec":{` + spec + `"selector":{"matchLabels":{"app":"web"}},"template":{"metadata":{"labels":{"app":"web"}},"spec":{"containers":[{"name":"c","image":"web:2","resources":{"requests":{"cpu":"1"}}}]}}}}`)
}

func rollOut(t testing.TB, v *revision.View, ask *scenario.RolloutQuestion) (*scenario.Rollout, error) {
	t.Helper()
	e := wide()
	e.ReadPod = func(at string, raw json.RawMessage) (*corev1.Pod, error) {
		w, err := object.PodOf(raw, object.Limits{})
		if err != nil {
			return nil, err
		}
		if w != nil {
			raw = w.Pod
		}
		return object.DecodePod(raw, object.Limits{})
	}
	s := &scenario.Stage{Edited: &scenario.Edited{View: v}, Editor: e, Options: world.Options{Profiles: profileOf(t, rules.DefaultSpec()), Now: noon}, Bounds: bounds}
	out, err := ask.Answer(t.Context(), s)
	if err != nil {
		return nil, err
	}
	return out.(*scenario.Rollout), nil
}

func mustRollOut(t *testing.T, v *revision.View, spec string) *scenario.Rollout {
	t.Helper()
	got, err := rollOut(t, v, &scenario.RolloutQuestion{Deployment: deployment(spec)})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// stepsOf writes the steps as "second set from>to".
func stepsOf(r *scenario.Rollout) string {
	var list []string
	for _, s := range r.Steps {
		set := "old"
		if s.Set == r.Sets[len(r.Sets)-1].Name {
			set = "new"
		}
		list = append(list, fmt.Sprintf("%d %s %d>%d", s.AfterSeconds, set, s.From, s.To))
	}
	return strings.Join(list, ", ")
}

func webCluster(t *testing.T, cpu string, pods int) *revision.View {
	t.Helper()
	objects := []any{
		enginetest.Node("a", enginetest.Zone("west"), enginetest.Allocatable("cpu", cpu)),
		enginetest.Node("b", enginetest.Zone("east"), enginetest.Allocatable("cpu", cpu)), webSet("web-1", int32(pods)),
	}
	for i := range pods {
		objects = append(objects, podOfWeb("web-1", fmt.Sprintf("web-1-%02d", i), []string{"a", "b"}[i%2]))
	}
	return viewOf(t, objects...)
}

// TestRollingUpdate has room for the surge: the sizes are those of upstream's functions.
func TestRollingUpdate(t *testing.T) {
	got := mustRollOut(t, webCluster(t, "20", 10), `"replicas":10,`)
	want := "0 new 0>3, 0 old 10>8, 0 new 3>5, 20 old 8>3, 20 new 5>10, 40 old 3>0"
	if s := stepsOf(got); s != want || got.Outcome != scenario.RolloutComplete || got.Seconds != 40 || got.MaxSurge != 3 || got.MaxUnavailable != 2 {
		t.Errorf("%s, want %s: %+v", s, want, got)
	}
	// Pods that are being deleted hold their nodes beside all that are wanted.
	if got.LeastAvailable != 8 || got.MostPods != 20 || len(got.Created) != 10 || len(got.Removed) != 10 || got.Waited != 0 {
		t.Errorf("%+v", got)
	}
	if r := got.Removed[9]; r.Cause != "scale-down" || r.LeavesAfterSeconds != 40 || *r.GoneAfterSeconds != 70 || r.Replacement != nil {
		t.Errorf("%+v", r)
	}
	if s := got.Spread[0]; s.SkewBefore != 0 || len(s.Domains) != 2 || s.Domains[0].After+s.Domains[1].After != 10 {
		t.Errorf("%+v", got.Spread)
	}
	if again := mustRollOut(t, webCluster(t, "20", 10), `"replicas":10,`); jsonOf(t, again) != jsonOf(t, got) {
		t.Error("two answers to one question")
	}
	got = mustRollOut(t, webCluster(t, "20", 4), `"replicas":4,"minReadySeconds":30,"strategy":{"rollingUpdate":{"maxSurge":1,"maxUnavailable":0}},`)
	want = "0 new 0>1, 50 old 4>3, 50 new 1>2, 100 old 3>2, 100 new 2>3, 150 old 2>1, 150 new 3>4, 200 old 1>0"
	if s := stepsOf(got); s != want || got.LeastAvailable != 4 || got.Seconds != 200 {
		t.Errorf("%s, want %s: %+v", s, want, got)
	}
}

// TestRolloutWaitsForRoom has none for the surge: new pods wait for old ones to end, or for good.
func TestRolloutWaitsForRoom(t *testing.T) {
	got := mustRollOut(t, webCluster(t, "2", 4), `"replicas":4,"strategy":{"rollingUpdate":{"maxSurge":0,"maxUnavailable":1}},`)
	want := "0 old 4>3, 0 new 0>1, 50 old 3>2, 50 new 1>2, 100 old 2>1, 100 new 2>3, 150 old 1>0, 150 new 3>4"
	if s := stepsOf(got); s != want || got.Outcome != scenario.RolloutComplete || got.Seconds != 200 || got.Waited != 4 || !strings.Contains(got.Created[0].WaitedFor, "Insufficient cpu") {
		t.Errorf("%s, want %s: %+v", s, want, got)
	}
	got = mustRollOut(t, webCluster(t, "2", 4), `"replicas":4,"progressDeadlineSeconds":60,"strategy":{"rollingUpdate":{"maxSurge":1,"maxUnavailable":0}},`)
	if got.Outcome != scenario.RolloutStuck || got.Pending != 1 || !strings.Contains(got.Why, "Insufficient cpu") || got.DeadlineExceededAfterSeconds == nil || *got.DeadlineExceededAfterSeconds != 61 || len(got.Removed) != 0 {
		t.Errorf("%+v", got)
	}
}

// TestRecreate ends all old pods before the first new one is there.
func TestRecreate(t *testing.T) {
	got := mustRollOut(t, webCluster(t, "2", 4), `"replicas":4,"strategy":{"type":"Recreate"},`)
	if s := stepsOf(got); s != "0 old 4>0, 30 new 0>4" || got.Seconds != 50 || got.LeastAvailable != 0 || got.MostPods != 4 || got.Outcome != scenario.RolloutComplete {
		t.Errorf("%s: %+v", s, got)
	}
}

// TestRolloutScalesFirst has other replicas in the same manifest, or none.
func TestRolloutScalesFirst(t *testing.T) {
	got := mustRollOut(t, webCluster(t, "20", 4), `"replicas":6,"strategy":{"rollingUpdate":{"maxSurge":"50%","maxUnavailable":0}},`)
	if s := stepsOf(got); !strings.HasPrefix(s, "0 old 4>6, 0 new 0>3, ") || got.Sets[0].After != 0 || len(got.Created) != 8 {
		t.Errorf("%s: %+v", s, got)
	}
	if got := mustRollOut(t, webCluster(t, "20", 4), ""); got.Replicas != 4 || !strings.Contains(strings.Join(got.Assumed, "; "), "stay 4") {
		t.Errorf("%+v", got)
	}
}

// TestScaleDownOrder follows ActivePodsWithRanks.Less rule by rule.
func TestScaleDownOrder(t *testing.T) {
	set := func(f func(p *corev1.Pod)) enginetest.PodOption { return f }
	unready := set(func(p *corev1.Pod) { p.Status.Conditions[0].Status = corev1.ConditionFalse })
	since := func(ago time.Duration) enginetest.PodOption {
		return set(func(p *corev1.Pod) { p.Status.Conditions[0].LastTransitionTime = metav1.NewTime(noon.Add(-ago)) })
	}
	waits := set(func(p *corev1.Pod) { p.Spec.NodeName, p.Status = "", corev1.PodStatus{Phase: corev1.PodPending} })
	restarted := set(func(p *corev1.Pod) {
		p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "main", RestartCount: 3}}
	})
	made := func(ago time.Duration) enginetest.PodOption {
		return set(func(p *corev1.Pod) { p.CreationTimestamp = metav1.NewTime(noon.Add(-ago)) })
	}
	uid := func(id types.UID) enginetest.PodOption { return set(func(p *corev1.Pod) { p.UID = id }) }
	pods := []any{
		podOfWeb("web-1", "waits", "", waits),
		podOfWeb("web-1", "starts", "b", set(func(p *corev1.Pod) {
			p.Status.Phase = corev1.PodPending
			p.Status.Conditions[0].Status = corev1.ConditionFalse
		})),
		podOfWeb("web-1", "unready", "c", unready),
		podOfWeb("web-1", "beside-1", "a", since(time.Hour), made(2*time.Hour), uid("1")), podOfWeb("web-1", "beside-2", "a", since(time.Hour), made(2*time.Hour), restarted, uid("2")),
		podOfWeb("web-1", "ready-late", "d", since(10*time.Second)),
		podOfWeb("web-1", "ready-2", "e", since(1000*time.Second), uid("2")), podOfWeb("web-1", "ready-1", "f", since(1010*time.Second), uid("1")),
		podOfWeb("web-1", "made-late", "g", since(5*time.Hour), made(6*time.Hour)), podOfWeb("web-1", "made-early", "h", since(5*time.Hour), made(60*time.Hour)),
	}
	want := "waits starts unready beside-2 beside-1 ready-late ready-1 ready-2 made-late made-early"
	objects := append([]any{webSet("web-1", int32(len(pods)))}, pods...)
	for _, n := range strings.Split("abcdefgh", "") {
		objects = append(objects, enginetest.Node(n, enginetest.Allocatable("cpu", "20")))
	}
	// The replicas change as well, so that all but the last one go before the update.
	got := mustRollOut(t, viewOf(t, objects...), `"replicas":1,`)
	var order []string
	for _, r := range got.Removed {
		order = append(order, r.Name)
	}
	if s := strings.Join(order, " "); s != want {
		t.Errorf("%s, want\n%s\n%+v", s, want, got)
	}
}

// TestRolloutOfPodsAlone has no ReplicaSets in the dump, pods without status, and one that another
// pod's preemption takes.
func TestRolloutOfPodsAlone(t *testing.T) {
	bare := func(p *corev1.Pod) {
		p.Labels[appsv1.DefaultDeploymentUniqueLabelKey], p.Status = "1", corev1.PodStatus{}
	}
	v := viewOf(
		t, enginetest.Node("a", enginetest.Allocatable("cpu", "4")),
		podOfWeb("web-1", "x", "a", bare), podOfWeb("web-1", "y", "a", bare), podOfWeb("other-1", "z", "a", bare),
	)
	got := mustRollOut(t, v, `"replicas":2,`)
	if len(got.Sets) != 2 || got.Sets[0].Before != 2 || got.Outcome != scenario.RolloutComplete || len(got.Removed) != 2 || len(got.Assumed) != 4 {
		t.Errorf("%+v", got)
	}
	if got := mustRollOut(t, viewOf(t, enginetest.Node("a")), `"replicas":2,`); len(got.Sets) != 1 || len(got.Created) != 2 || got.Assumed[0] != "the snapshot has no pods of its ReplicaSets: all are new" || got.Outcome != scenario.RolloutComplete {
		t.Errorf("a first rollout: %+v", got)
	}
}

func TestRolloutRefuses(t *testing.T) {
	v := viewOf(t, enginetest.Node("a"))
	for spec, at := range map[string]string{
		`"replicas":-1,`:                                                       "spec.replicas",
		`"minReadySeconds":700,`:                                               "spec.progressDeadlineSeconds",
		`"strategy":{"type":"Canary"},`:                                        "spec.strategy.type",
		`"strategy":{"rollingUpdate":{"maxSurge":"a%"}},`:                      "spec.strategy.rollingUpdate.maxSurge",
		`"strategy":{"rollingUpdate":{"maxUnavailable":"101%"}},`:              "spec.strategy.rollingUpdate.maxUnavailable",
		`"strategy":{"rollingUpdate":{"maxSurge":0,"maxUnavailable":0}},`:      "spec.strategy.rollingUpdate.maxUnavailable",
		`"strategy":{"type":"Recreate","rollingUpdate":{"maxUnavailable":1}},`: "spec.strategy.rollingUpdate",
	} {
		_, err := rollOut(t, v, &scenario.RolloutQuestion{Deployment: deployment(spec)})
		var invalid *object.InvalidError
		if !errors.As(err, &invalid) || invalid.Path != "deployment" || invalid.Errors[0].Field != at {
			t.Errorf("%s: %v, want %s", spec, err, at)
		}
	}
	late := int64(-1)
	for field, ask := range map[string]*scenario.RolloutQuestion{
		"deployment":               {Deployment: json.RawMessage(`{"kind":"Pod"}`)},
		"startSeconds":             {Deployment: deployment(""), StartSeconds: &late},
		"deployment.spec.paused":   {Deployment: deployment(`"paused":true,`)},
		"deployment.spec.replicas": {Deployment: deployment(`"replicas":1001,`)},
	} {
		_, err := rollOut(t, v, ask)
		var e *decision.Error
		if !errors.As(err, &e) || e.Field != field {
			t.Errorf("%v, want %s", err, field)
		}
	}
}

// BenchmarkRollout updates 1,000 replicas by 25 %, beside 5,000 nodes with 150,000 pods.
func BenchmarkRollout(b *testing.B) {
	v := fullSize()
	var objects []object.Object
	nodes := v.State.Nodes()
	for i := range 1000 {
		o, err := object.Of(podOfWeb("web-1", fmt.Sprintf("web-1-%04d", i), nodes.Node(int(nodes.Order()[i])).Name, enginetest.Requests("cpu", "10m")))
		if err != nil {
			b.Fatal(err)
		}
		objects = append(objects, o)
	}
	set, err := object.Of(webSet("web-1", 1000))
	if err != nil {
		b.Fatal(err)
	}
	if v, err = v.Fork(b.Context(), nil, append(objects, set)); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		got, err := rollOut(b, v, &scenario.RolloutQuestion{Deployment: json.RawMessage(strings.Replace(string(deployment(`"replicas":1000,`)), `"cpu":"1"`, `"cpu":"10m"`, 1))})
		if err != nil || got.Outcome != scenario.RolloutComplete {
			b.Fatalf("%+v, %v", got, err)
		}
	}
}
