package scenario_test

import (
	"fmt"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"berth/test/enginetest"
)

// arriving is the manifest of a pod that takes some cpu.
func arriving(name, cpu, metadata, spec string) string {
	return fmt.Sprintf(`{"create":{"pod":{"kind":"Pod","apiVersion":"v1","metadata":{"name":%q%s},"spec":{%s"containers":[{"name":"c","image":"i","resources":{"requests":{"cpu":%q}}}]}}}}`, name, metadata, spec, cpu)
}

// at puts a time into an event.
func at(second, event string) string { return `{"at":"` + second + `",` + event[1:] }

// TestTrapsOfQueue plays nominations, dead nodes and the labels that a bind copies.
func TestTrapsOfQueue(t *testing.T) {
	t.Parallel()
	victim := running(enginetest.Pod("victim", enginetest.Requests("cpu", "2"), enginetest.On("a")), "", "", 5, 30)
	full := running(enginetest.Pod("full", enginetest.Requests("cpu", "1"), enginetest.Priority(500), enginetest.On("b")), "", "", 5, 30)
	zoned := alive("a", "3")
	zoned.Labels[corev1.LabelTopologyZone] = "z"
	closed := alive("b", "1")
	closed.Spec.Unschedulable = true
	high := arriving("high", "3", "", `"priority":100,`)
	for _, c := range []struct {
		what, events, want string
		objects            []any
	}{
		{
			"a preemptor for which there is no candidate any more loses its nomination",
			high + `,{"at":"10s","cordon":{"nodes":["a"]}},` + at("40s", arriving("small", "1", "", `"tolerations":[{"key":"node.kubernetes.io/unschedulable","operator":"Exists"}],`)),
			"40 bound small a\n",
			[]any{alive("a", "3"), victim},
		},
		{
			"one that waits for its victims keeps it",
			high + `,{"at":"5s","uncordon":{"nodes":["b"]}},` + at("10s", arriving("small", "1", "", "")),
			"30 bound high a\n",
			[]any{alive("a", "3"), closed, victim, full},
		},
		{
			"no pod is placed on a node that was given up",
			`{"nodesDie":{"nodes":["a"]}},` + at("60s", arriving("small", "1", "", "")),
			"60 waits small\n",
			[]any{alive("a", "3")}, // all nodes are lost: there is no other taint
		},
		{
			"a bound pod has the zone of its node, by which others select it",
			arriving("first", "1", "", "") + "," + at("1s", arriving("near", "1", "", `"affinity":{"podAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[{"topologyKey":"kubernetes.io/hostname","labelSelector":{"matchLabels":{"topology.kubernetes.io/zone":"z"}}}]}},`)),
			"1 bound near a\n",
			[]any{zoned},
		},
	} {
		out := clocked(t, `{"events":[`+c.events+`],"until":{"duration":"2m"}}`, c.objects...)
		if got := toldTimeline(out.Clock.Timeline); !strings.Contains(got, c.want) {
			t.Errorf("%s: want %s in\n%s", c.what, c.want, got)
		}
	}
}

// TestTrapsOfSets updates a Parallel set above a sick pod, counted from its first ordinal, and has
// an ordered one wait for a pod that is being deleted.
func TestTrapsOfSets(t *testing.T) {
	t.Parallel()
	pod := func(i int) *corev1.Pod {
		return running(enginetest.Pod(fmt.Sprint("kv-", i), enginetest.Requests("cpu", "1"), enginetest.On("a"), enginetest.Labels("app", "kv")), "StatefulSet", "kv", 7, 5)
	}
	sick := pod(1)
	sick.Status.Conditions[0].Status = corev1.ConditionFalse
	set := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "kv"}, Spec: appsv1.StatefulSetSpec{
		Replicas: new(int32(3)), PodManagementPolicy: appsv1.ParallelPodManagement, Ordinals: &appsv1.StatefulSetOrdinals{Start: 1},
	}}
	const update = `{"rollOut":{"statefulSet":{"kind":"StatefulSet","apiVersion":"apps/v1","metadata":{"name":"kv"},"spec":{"serviceName":"kv","replicas":3,"podManagementPolicy":"Parallel","ordinals":{"start":1},
"selector":{"matchLabels":{"app":"kv"}},"updateStrategy":{"rollingUpdate":{"partition":1}},"template":{"metadata":{"labels":{"app":"kv"}},"spec":{"containers":[{"name":"c","image":"kv:2"}]}}}}}}`
	ordered := set.DeepCopy()
	ordered.Spec.PodManagementPolicy, ordered.Spec.Replicas = "", new(int32(2))
	for _, c := range []struct {
		what, events, want string
		objects            []any
	}{
		{"from the top, one at a time, over a sick one below", update, `
0 rolloutBegins StatefulSet/kv
0 leaves kv-3 a: update
5 gone kv-3 a
5 created kv-3
5 bound kv-3 a
12 ready kv-3 a
12 leaves kv-2 a: update
17 gone kv-2 a
17 created kv-2
17 bound kv-2 a
24 ready kv-2 a
`, []any{set, sick, pod(2), pod(3)}},
		{"none comes above one that is being deleted", `{"delete":{"name":"kv-1"}},{"at":"2s","scale":{"kind":"StatefulSet","name":"kv","replicas":3}}`, `
0 leaves kv-1 a: deletion
2 scaled StatefulSet/kv: to 3 replicas
5 gone kv-1 a
5 created kv-1
5 bound kv-1 a
12 ready kv-1 a
12 created kv-3
12 bound kv-3 a
19 ready kv-3 a
`, []any{ordered, pod(1), pod(2)}},
	} {
		out := clocked(t, `{"events":[`+c.events+`],"until":{"duration":"2m"}}`, append(c.objects, alive("a", "9"))...)
		if got := toldTimeline(out.Clock.Timeline); got != c.want[1:] {
			t.Errorf("%s: got\n%s", c.what, got)
		}
	}
}

// TestTrapsOfJobs has each of eight indexes fail once, which is more than the default backoffLimit.
func TestTrapsOfJobs(t *testing.T) {
	t.Parallel()
	mode := batchv1.IndexedCompletion
	objects := []any{alive("a", "9"), job(batchv1.JobSpec{Parallelism: new(int32(8)), Completions: new(int32(8)), CompletionMode: &mode, BackoffLimitPerIndex: new(int32(1))})}
	var events []string
	for i := range 8 {
		objects = append(objects, indexedPod(fmt.Sprint(i), "a"))
		events = append(events, fmt.Sprintf(`{"containerExits":{"name":"train-%d","exitCode":1}}`, i))
	}
	got := toldTimeline(clocked(t, `{"events":[`+strings.Join(events, ",")+`],"until":{"duration":"2m"}}`, objects...).Clock.Timeline)
	if strings.Count(got, "\n10 created") != 8 {
		t.Errorf("\n%s", got)
	}
}

// TestTrapsOfBudgets has a budget come into force while a pod is being deleted, which is not
// healthy any more.
func TestTrapsOfBudgets(t *testing.T) {
	t.Parallel()
	web := func(name string) *corev1.Pod {
		return running(enginetest.Pod(name, enginetest.Requests("cpu", "1"), enginetest.On("a"), enginetest.Labels("app", "web")), "ReplicaSet", "web", 20, 30)
	}
	out := clocked(t, `{"events":[{"delete":{"name":"web-1"}},{"at":"1s","setBudget":{"name":"web","minAvailable":1}},{"at":"2s","evict":{"name":"web-2"}}],"until":{"duration":"5s"}}`,
		alive("a", "9"), web("web-1"), web("web-2"), budgetOf("web", "web", 0, 0))
	if got := toldTimeline(out.Clock.Timeline); !strings.Contains(got, "2 refused web-2: evict") {
		t.Errorf("\n%s", got)
	}
}
