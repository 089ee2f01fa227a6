package scenario_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"berth/internal/engine/rules"
	"berth/internal/revision"
	"berth/internal/scenario"
	"berth/internal/world"
	"berth/test/enginetest"
)

// stageOf is a revision without edits.
func stageOf(t *testing.T, v *revision.View) *scenario.Stage {
	t.Helper()
	o := world.Options{Profiles: profileOf(t, rules.DefaultSpec()), Now: noon, Strangers: &world.Strangers{}}
	return &scenario.Stage{
		Edited: &scenario.Edited{View: v}, Editor: editor(), Options: o,
		Bounds: scenario.Bounds{Pods: 10_000, Attempts: 100_000, Profiles: 8},
	}
}

// answerOf answers a question.
func answerOf[T any](t *testing.T, q scenario.Question, objects ...any) *T {
	t.Helper()
	out, err := q.Answer(t.Context(), stageOf(t, viewOf(t, objects...)))
	if err != nil {
		t.Fatal(err)
	}
	return out.(*T)
}

// simulatedBy answers a scenario in JSON.
func simulatedBy(t *testing.T, question string, objects ...any) *scenario.Simulation {
	t.Helper()
	var q scenario.Request
	if err := json.Unmarshal([]byte(question), &q); err != nil {
		t.Fatal(err)
	}
	out, err := simulate(t, viewOf(t, objects...), q)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func toldChance(c *scenario.Chance) string {
	var b strings.Builder
	for _, x := range c.Named {
		fmt.Fprintf(&b, "%d %s: %s\n", x.AfterSeconds, x.What, x.Text)
	}
	if more := c.Decided - len(c.Named); more > 0 {
		fmt.Fprintf(&b, "and %d more\n", more)
	}
	for _, f := range c.Figures {
		fmt.Fprintf(&b, "%s %d %d %d\n", f.Name, f.Lowest, f.Median, f.Highest)
	}
	return b.String()
}

// TestChance counts what Kubernetes leaves to chance: the node among equal ones (schedule_one.go
// selectHost), victims' nodes (pickOneNodeForPreemption), equal pods of a ReplicaSet
// (ActivePodsWithRanks) and of a Job, the nodes of a DaemonSet's update, pods that a budget lets
// go, and nodes that wait for their taint.
func TestChance(t *testing.T) {
	web := func(i int, on string) *corev1.Pod {
		return running(enginetest.Pod(fmt.Sprintf("web-%02d", i), enginetest.Requests("cpu", "1"), enginetest.On(on), enginetest.Labels("app", "web")), "ReplicaSet", "web", 20, 30)
	}
	twelve := []any{alive("a", "20")}
	for i := range 12 {
		twelve = append(twelve, web(i, "a"))
	}
	two := []any{alive("a", "4"), alive("b", "4"), web(1, "a"), web(2, "a"), budgetOf("web", "web", 2, 1)}
	zone := func(name string) *corev1.Node {
		n := alive(name, "1")
		n.Labels[corev1.LabelTopologyZone] = "z"
		return n
	}
	pod := func(name string, priority int, cpu string) string {
		return fmt.Sprintf(`{"pod":{"kind":"Pod","apiVersion":"v1","metadata":{"name":%q},"spec":{"priority":%d,"containers":[{"name":"c","image":"i","resources":{"requests":{"cpu":%q}}}]}}}`, name, priority, cpu)
	}
	sum := func(i int) *corev1.Pod {
		return running(enginetest.Pod(fmt.Sprintf("sum-%d", i), enginetest.On("a")), "Job", "train", 20, 30)
	}
	newer := applied(t, agents(func(s *appsv1.DaemonSet) { s.Spec.Template.Spec.Containers[0].Image = "i:2" }))
	for _, c := range []struct {
		what, question string
		objects        []any
		want           string
	}{
		{"equal nodes", `{"arrivals":{"pods":[` + pod("one", 0, "1") + `]}}`, []any{alive("a", "4"), alive("b", "4"), alive("c", "2")}, "0 node: 1 of 2 equal nodes for pod default/one: which is chance\n"},
		{"the only node", `{"arrivals":{"pods":[` + pod("one", 0, "1") + `]}}`, []any{alive("a", "4")}, ""},
		{"equal victims", `{"arrivals":{"pods":[` + pod("top", 9, "2") + `]}}`, []any{alive("a", "2"), alive("b", "2"), web(1, "a"), web(2, "b")}, "0 victims: 1 of 2 equal nodes for pod default/top: which is chance\n"},
		{"equal pods of a ReplicaSet", `{"events":[{"scale":{"kind":"ReplicaSet","name":"web","replicas":5}}]}`, twelve, "0 scaleDown: 7 of 12 equal pods for ReplicaSet default/web: which is chance\n"},
		{"none of them is left", `{"events":[{"scale":{"kind":"ReplicaSet","name":"web","replicas":0}}]}`, twelve, ""},
		{"random UIDs within a power of two", `{"events":[{"scale":{"kind":"ReplicaSet","name":"web","replicas":3}},{"at":"1s","scale":{"kind":"ReplicaSet","name":"web","replicas":4}},{"at":"100s","scale":{"kind":"ReplicaSet","name":"web","replicas":2}}]}`, []any{alive("a", "20"), web(1, "a")}, "100 scaleDown: 2 of 3 equal pods for ReplicaSet default/web: which is chance\n"},
		{"a budget", `{"events":[{"drain":{"nodes":["a"]}}]}`, two, "0 eviction: 1 of 2 equal pods for budget default/web: which is chance\n"},
		{"equal pods of a Job", `{"events":[{"scale":{"kind":"Job","name":"train","replicas":1}}]}`, []any{alive("a", "4"), job(batchv1.JobSpec{Parallelism: new(int32(3)), Completions: new(int32(3))}), sum(1), sum(2), sum(3)}, "0 scaleDown: 2 of 3 equal pods for Job default/train: which is chance\n"},
		{"nodes of a zone", `{"events":[{"nodesDie":{"nodes":["a","b","c"]}}]}`, []any{zone("a"), zone("b"), zone("c"), zone("d"), zone("e"), zone("f")}, "50 taint: 1 of 3 equal nodes for zone z: which is chance\n60 taint: 1 of 2 equal nodes for zone z: which is chance\n"},
		{"nodes of a DaemonSet", `{"events":[{"rollOut":{"daemonSet":` + newer + `}}]}`, []any{alive("a", "4"), alive("b", "4"), alive("c", "4"), agents(), agent("a"), agent("b"), agent("c")}, "0 update: 1 of 3 equal nodes for DaemonSet default/agent: which is chance\n50 update: 1 of 2 equal nodes for DaemonSet default/agent: which is chance\n"},
	} {
		q := strings.Replace(c.question, "{", `{"clock":true,`, 1)
		out := clocked(t, q, c.objects...)
		if got := toldChance(out.Chance); got != c.want {
			t.Errorf("%s:\n%swant\n%s", c.what, got, c.want)
		}
	}
}

// TestChanceRuns runs questions with other salts: a pod that takes one of two equal nodes leaves
// another one without the only node that it may use, or not. The first run stays as it is without.
func TestChanceRuns(t *testing.T) {
	pinned := `{"at":"10s","pod":{"kind":"Pod","apiVersion":"v1","metadata":{"name":"pinned"},"spec":{"nodeSelector":{"kubernetes.io/hostname":"a"},"containers":[{"name":"c","image":"i","resources":{"requests":{"cpu":"2"}}}]}}}`
	small := `{"pod":{"kind":"Pod","apiVersion":"v1","metadata":{"name":"small"},"spec":{"containers":[{"name":"c","image":"i","resources":{"requests":{"cpu":"1"}}}]}}}`
	web := running(enginetest.Pod("web-1", enginetest.Requests("cpu", "1"), enginetest.On("c")), "ReplicaSet", "web", 20, 30)
	wide := enginetest.Pod("wide", enginetest.Requests("cpu", "2"), enginetest.Selects("kubernetes.io/hostname", "a"))
	nodes := []any{alive("a", "2"), alive("b", "2"), alive("c", "1")}
	for _, clock := range []string{"true", "false"} {
		ask := func(chance string) *scenario.Simulation {
			return simulatedBy(t, fmt.Sprintf(`{"clock":%s,%s"arrivals":{"pods":[%s,%s]}}`, clock, chance, small, pinned), nodes...)
		}
		plain, one, many := ask(""), ask(`"chance":1,`), ask(`"chance":20,`)
		if plain.Digest != many.Digest || plain.Digest != one.Digest || (plain.Chance == nil) != (clock == "false") {
			t.Errorf("clock %s: %+v, digests %s, %s and %s", clock, plain.Chance, plain.Digest, one.Digest, many.Digest)
		}
		want := "0 node: 1 of 2 equal nodes for pod default/small: which is chance\n"
		if got := toldChance(one.Chance); got != want {
			t.Errorf("clock %s: %s", clock, got)
		}
		got := toldChance(many.Chance)
		if !strings.Contains(got, "\nplaced 1 ") || !strings.Contains(got, " 2\npending 0 ") {
			t.Errorf("clock %s: %s", clock, got)
		}
	}
	ten := 10
	of := scenario.Chancing{Chance: &ten}
	objects := append(nodes, web)
	drain := scenario.DrainQuestion{NodeChoice: chosen("c")}
	plain := answerOf[scenario.Drain](t, &drain, objects...)
	drain.Chancing = of
	with := answerOf[scenario.Drain](t, &drain, objects...)
	if plain.Chance != nil || plain.Digest != with.Digest || with.Chance.Decided != 1 || len(with.Chance.Figures) != 5 {
		t.Errorf("%+v, digests %s and %s", with.Chance, plain.Digest, with.Digest)
	}
	loss := answerOf[scenario.Loss](t, &scenario.LossQuestion{NodeChoice: chosen("c"), Chancing: of}, append(objects, wide)...)
	if f := loss.Chance.Figures; len(f) != 4 || f[3].Name != "seconds" || f[3].Lowest != 70 {
		t.Errorf("%+v", loss.Chance)
	}
	for n, wants := range map[int]bool{0: true, 1: false, 100: false, 101: true} {
		_, err := (&scenario.DrainQuestion{NodeChoice: chosen("c"), Chancing: scenario.Chancing{Chance: &n}}).Answer(t.Context(), stageOf(t, viewOf(t, objects...)))
		if refused := err != nil && strings.Contains(err.Error(), "chance: want a number of runs from 1 to 100"); refused != wants {
			t.Errorf("%d runs: %v", n, err)
		}
	}
}
