package scenario_test

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"berth/internal/scenario"
	"berth/internal/world"
	"berth/test/enginetest"
)

// crowd is a node with some pods of a ReplicaSet that nothing keeps from leaving.
func crowd(pods int, more ...any) []any {
	list := append([]any{roomy("a"), roomy("b")}, more...)
	for i := range pods {
		p := running(enginetest.Pod(fmt.Sprintf("web-%03d", i), enginetest.On("a"), enginetest.Labels("app", "web")), "ReplicaSet", "web", 20, 30)
		list = append(list, p)
	}
	return list
}

// roomy is a node for many pods.
func roomy(name string) *corev1.Node {
	n := alive(name, "1000")
	n.Status.Allocatable[corev1.ResourcePods] = resource.MustParse("1000")
	return n
}

// per counts, by second, what happens of a kind.
func per(moments []world.Moment, what string) string {
	var b strings.Builder
	second, n := int64(-1), 0
	flush := func() {
		if n > 0 {
			fmt.Fprintf(&b, "%d:%d ", second, n)
		}
	}
	for _, m := range moments {
		if m.What != what {
			continue
		}
		if m.AfterSeconds != second {
			flush()
			second, n = m.AfterSeconds, 0
		}
		n++
	}
	flush()
	return strings.TrimSpace(b.String())
}

// TestRates has clients make their calls at upstream's rates: the controllers of ReplicaSets and of
// taint eviction 20 a second after 30 at once (pkg/controller/apis/config/v1alpha1/defaults.go),
// the scheduler 50 after 100 (pkg/scheduler/apis/config/v1/defaults.go), kubectl 5 after 10
// (client-go/rest/config.go). A taint eviction is three calls (taint_eviction.go
// addConditionAndDeletePod).
func TestRates(t *testing.T) {
	taint := `{"taint":{"nodes":["a"],"key":"k","effect":"NoExecute"}}`
	scale := func(n int, at string) string {
		return fmt.Sprintf(`{"at":%q,"scale":{"kind":"ReplicaSet","name":"web","replicas":%d}}`, at, n)
	}
	pods := func(n int) string {
		return fmt.Sprintf(`{"create":{"pod":{"kind":"Pod","apiVersion":"v1","metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"i"}]}},"count":%d}}`, n)
	}
	for _, c := range []struct {
		what, events, of, want string
		objects                []any
		waited                 bool
	}{
		{"a ReplicaSet that grows", scale(76, "0s"), world.PodCreated, "0:30 1:20 2:20 3:5", crowd(1), true},
		{"its pods are bound as they come", scale(76, "0s"), world.PodBound, "0:30 1:20 2:20 3:5", crowd(1), true},
		{"a ReplicaSet that shrinks", scale(5, "0s"), world.PodLeaves, "0:30 1:20 2:5", crowd(60), true},
		{"what is within the burst is at once", scale(31, "0s"), world.PodCreated, "0:30", crowd(1), false},
		{"the burst comes back", scale(31, "0s") + "," + scale(61, "1s") + "," + scale(91, "1m"), world.PodCreated, "0:30 1:20 2:10 60:30", crowd(1), true},
		{"taint evictions", taint, world.PodLeaves, "0:10 1:6 2:7 3:7 4:2", crowd(32), true},
		{"binds", pods(220), world.PodBound, "0:100 1:50 2:50 3:20", crowd(1), true},
		{"evictions of kubectl", `{"drain":{"nodes":["a"]}}`, world.PodLeaves, "0:10 1:5 2:5 3:2", crowd(22), true},
		{"fewer are wanted while they are made", scale(91, "0s") + "," + scale(21, "1s"), world.PodLeaves, "4:20 5:20 6:20 7:10", crowd(1), true},
	} {
		out := clocked(t, `{"events":[`+c.events+`]}`, c.objects...)
		if got := per(out.Clock.Timeline, c.of); got != c.want {
			t.Errorf("%s: %s, want %s", c.what, got, c.want)
		}
		if got := strings.Contains(strings.Join(out.Warnings, "\n"), "waited for the rates of their clients"); got != c.waited {
			t.Errorf("%s: warnings %q", c.what, out.Warnings)
		}
		out = clocked(t, `{"rates":{"clients":"none"},"events":[`+c.events+`]}`, c.objects...)
		if got := per(out.Clock.Timeline, c.of); strings.Count(got, ":") != 1+strings.Count(c.events, `"at":"1`) && c.of != world.PodLeaves {
			t.Errorf("%s: without rates %s", c.what, got)
		}
	}
	var drain scenario.DrainQuestion
	drain.NodeChoice = chosen("a")
	plain := answerOf[scenario.Drain](t, &drain, crowd(40)...)
	drain.Rates = &scenario.ClientRates{Clients: scenario.UpstreamRates}
	slow := answerOf[scenario.Drain](t, &drain, crowd(40)...)
	if plain.Seconds != 30 || slow.Seconds != 36 || slow.Nodes[0].Waves != 1 || slow.Pods[39].Wave != 1 {
		t.Errorf("%d s without rates, %d s with: %+v", plain.Seconds, slow.Seconds, slow.Nodes[0])
	}
	drain.Rates.Clients = "some"
	if _, err := drain.Answer(t.Context(), stageOf(t, viewOf(t, crowd(1)...))); err == nil || !strings.Contains(err.Error(), "rates.clients: want upstream or none") {
		t.Error(err)
	}
}
