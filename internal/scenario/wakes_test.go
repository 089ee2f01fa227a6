package scenario_test

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"berth/test/enginetest"
)

// TestHints: pods that wait are tried again after what a hint of the plugins that rejected them
// takes for a help, and five minutes after their last attempt where something else has happened.
func TestHints(t *testing.T) {
	waits := func(opts ...enginetest.PodOption) *corev1.Pod {
		return enginetest.Pod("waits", append(opts, enginetest.Requests("cpu", "2"))...)
	}
	on := func(name, node string, kv ...string) *corev1.Pod {
		return enginetest.Pod(name, enginetest.On(node), enginetest.Requests("cpu", "1"), enginetest.Labels(kv...))
	}
	comes := func(name, app string) string {
		return fmt.Sprintf(`{"pod":{"metadata":{"name":%q,"labels":{"app":%q}},"spec":{"nodeSelector":{"pool":"p"},"containers":[{"name":"c","image":"i"}]}}}`, name, app)
	}
	near := func(app string) enginetest.PodOption {
		return enginetest.Near(enginetest.PodTerm("pool", enginetest.Match("app", app)))
	}
	pool := func(n *corev1.Node) *corev1.Node {
		n.Labels["pool"] = "p"
		return n
	}
	cordoned := func(name string) *corev1.Node {
		n := alive(name, "4")
		n.Spec.Unschedulable = true
		n.Spec.Taints = []corev1.Taint{{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule}}
		return n
	}
	team := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "default", Labels: map[string]string{"team": "x"}}}
	ofTeam := enginetest.PodTerm("pool", enginetest.Match("app", "db"))
	ofTeam.NamespaceSelector = enginetest.Match("team", "x")
	old := alive("a", "4")
	old.Spec.Taints = []corev1.Taint{{Key: "k", Value: "old", Effect: corev1.TaintEffectNoSchedule}}
	tolerates := func(p *corev1.Pod) {
		p.Spec.Tolerations = []corev1.Toleration{{Key: "k", Value: "new", Effect: corev1.TaintEffectNoSchedule}}
	}
	selects := func(p *corev1.Pod) { p.Spec.NodeSelector = map[string]string{"x": "yes"} }
	for _, c := range []struct {
		what, events, until string
		bound               int // the second at which the pod is bound; -1: never
		attempts            int
		objects             []any
	}{
		{
			"the end of a pod wakes who lacks room", `[{"at":"10s","delete":{"name":"web"}}]`, `,"until":{"duration":"1m"}`, 40, 2,
			[]any{alive("a", "2"), on("web", "a"), waits()},
		},
		{
			"the end of a pod and a taint do not wake who waits for a node of other labels", `[{"at":"10s","delete":{"name":"web"}},{"at":"20s","taint":{"nodes":["a"],"key":"k","effect":"NoSchedule"}}]`, `,"until":{"duration":"1m"}`, -1, 1,
			[]any{alive("a", "4"), on("web", "a"), waits(selects)},
		},
		{
			"an uncordon wakes who waits for it alone", `[{"at":"10s","delete":{"name":"web"}},{"at":"20s","uncordon":{"nodes":["a"]}}]`, `,"until":{"duration":"1m"}`, 20, 2,
			[]any{cordoned("a"), on("web", "a"), waits()},
		},
		{
			"another value of a taint wakes who tolerates that one", `[{"at":"20s","taint":{"nodes":["a"],"key":"k","value":"new","effect":"NoSchedule"}}]`, `,"until":{"duration":"10m"}`, 20, 2,
			[]any{old, waits(tolerates)},
		},
		{
			"a pod that comes wakes one whose affinity selects it", `[{"at":"10s","create":` + comes("other", "other") + `},{"at":"20s","create":` + comes("db", "db") + `}]`, `,"until":{"duration":"1m"}`, 20, 4,
			[]any{pool(alive("a", "4")), waits(near("db"))},
		},
		{
			"hints see no labels of namespaces: no event wakes it, and time does", `[{"at":"10s","create":` + comes("db", "db") + `}]`, `,"until":{"duration":"10m"}`, 330, 3,
			[]any{pool(alive("a", "4")), team, waits(enginetest.Near(ofTeam))},
		},
		{
			"the five minutes begin with the last attempt", `[{"at":"31s","uncordon":{"nodes":["b"]}},{"at":"40s","create":` + comes("db", "db") + `}]`, `,"until":{"duration":"10m"}`, 360, 4,
			[]any{pool(alive("a", "4")), cordoned("b"), team, waits(enginetest.Near(ofTeam))},
		},
		{
			"without an end, it goes on until time has helped", `[{"at":"10s","create":` + comes("db", "db") + `}]`, "", 330, 3,
			[]any{pool(alive("a", "4")), team, waits(enginetest.Near(ofTeam))},
		},
		{
			"without an end, it ends where time would not help", `[{"at":"10s","delete":{"name":"web"}}]`, "", -1, 1,
			[]any{alive("a", "4"), on("web", "a"), waits(selects)},
		},
		{
			"nothing has happened: time changes nothing, and takes no attempt", `[{"at":"1s","delete":{"name":"none"}}]`, `,"until":{"duration":"1h"}`, -1, 1,
			[]any{alive("a", "1"), waits()},
		},
	} {
		t.Run(c.what, func(t *testing.T) {
			out := clocked(t, `{"events":`+c.events+c.until+`}`, c.objects...)
			bound := -1
			for _, m := range out.Clock.Timeline {
				if m.What == "bound" && m.Pod == "default/waits" {
					bound = int(m.AfterSeconds)
				}
			}
			if bound != c.bound || out.Profiles[0].Attempts != c.attempts {
				t.Errorf("bound at %d after %d attempts, want %d and %d:\n%s", bound, out.Profiles[0].Attempts, c.bound, c.attempts, toldTimeline(out.Clock.Timeline))
			}
		})
	}
}

// TestHintsOfClaims: pods of one resource claim template wait for one device. Each has a claim of
// its own, and hears of the devices of one that goes (pkg/controller/resourceclaim syncClaim).
func TestHintsOfClaims(t *testing.T) {
	var events []string
	for i := range 4 {
		events = append(events, fmt.Sprintf(`{"at":"10s","create":{"pod":{"metadata":{"name":"w%d"},"spec":{"resourceClaims":[{"name":"d","resourceClaimTemplateName":"of"}],"containers":[{"name":"c","image":"i","resources":{"claims":[{"name":"d"}]}}]}}}}`, i))
		events = append(events, fmt.Sprintf(`{"at":"%ds","delete":{"name":"w%d"}}`, 60+60*i, i))
	}
	of := &resourcev1.ResourceClaimTemplate{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "of"}}
	of.Spec.Spec.Devices.Requests = []resourcev1.DeviceRequest{enginetest.Wants("r", "gpu", 1)}
	out := clocked(t, `{"events":[`+strings.Join(events, ",")+`],"until":{"duration":"5m"}}`,
		alive("a", "4"), enginetest.DeviceClass("gpu"), enginetest.Slice("a", "a", enginetest.Device("d0")), of)
	var bound []string
	for _, m := range out.Clock.Timeline {
		if m.What == "bound" {
			bound = append(bound, fmt.Sprintf("%s %d", m.Pod, m.AfterSeconds))
		}
	}
	if got, want := strings.Join(bound, ", "), "default/w0 10, default/w1 90, default/w2 150, default/w3 210"; got != want {
		t.Errorf("bound: %s, want %s:\n%s", got, want, toldTimeline(out.Clock.Timeline))
	}
}

// TestHintsOfVictims: a pod that preempts one which is being deleted, and which its dead kubelet
// never ends, would do so again at each look, with nothing changed: the run is over.
func TestHintsOfVictims(t *testing.T) {
	on := func(name, node, cpu string) *corev1.Pod {
		p := running(enginetest.Pod(name, enginetest.On(node), enginetest.Requests("cpu", cpu)), "", "", 20, 5)
		p.Spec.Tolerations = []corev1.Toleration{{Operator: corev1.TolerationOpExists}}
		return p
	}
	out := clocked(t, `{"events":[{"nodesDie":{"nodes":["a"]}},{"at":"60s","delete":{"name":"low"}},{"at":"120s","delete":{"name":"other"}},
		{"at":"100s","create":{"pod":{"metadata":{"name":"high"},"spec":{"priority":100,"tolerations":[{"operator":"Exists"}],"containers":[{"name":"c","image":"i","resources":{"requests":{"cpu":"2"}}}]}}}}]}`,
		alive("a", "2"), alive("b", "1"), on("low", "a", "2"), on("other", "b", "1"))
	if out.Clock.Ended != "idle" || out.Clock.Seconds != 125 || out.Profiles[0].Attempts != 2 {
		t.Errorf("%s after %d s and %d attempts:\n%s", out.Clock.Ended, out.Clock.Seconds, out.Profiles[0].Attempts, toldTimeline(out.Clock.Timeline))
	}
}
