package engine_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"berth/internal/engine"
	"berth/internal/engine/rules"
	"berth/internal/engine/state"
	"berth/internal/kube/object"
	"berth/internal/semantics"
)

// world is objects by key, and their state.
type world struct {
	objects map[object.Key]any
	state   *state.State
}

func keyOf(o any) object.Key {
	switch o := o.(type) {
	case *corev1.Node:
		return object.Key{Kind: "Node", Name: o.Name}
	case *corev1.Pod:
		return object.Key{Kind: "Pod", Namespace: o.Namespace, Name: o.Name}
	case *corev1.Namespace:
		return object.Key{Kind: "Namespace", Name: o.Name}
	case *resourcev1.ResourceClaim:
		return object.Key{Kind: "ResourceClaim", Namespace: o.Namespace, Name: o.Name}
	case *resourcev1.ResourceSlice:
		return object.Key{Kind: "ResourceSlice", Name: o.Name}
	case *resourcev1.DeviceClass:
		return object.Key{Kind: "DeviceClass", Name: o.Name}
	case *resourcev1.DeviceTaintRule:
		return object.Key{Kind: "DeviceTaintRule", Name: o.Name}
	}
	panic("no key")
}

// with returns the world with objects put and others removed.
func (w world) with(t testing.TB, put []any, gone ...object.Key) world {
	t.Helper()
	next := world{objects: maps.Clone(w.objects)}
	if w.state == nil {
		w.state, next.objects = state.NewState(), map[object.Key]any{}
	}
	e := w.state.Edit()
	for _, o := range put {
		if err := e.Put(o); err != nil {
			t.Fatal(err)
		}
		next.objects[keyOf(o)] = o
	}
	for _, k := range gone {
		e.Delete(k.Kind, k.Namespace, k.Name)
		delete(next.objects, k)
	}
	next.state = e.Done()
	return next
}

// wakes returns what a change wakes, as lines "pod plugin event".
func wakes(t testing.TB, p *engine.Profile, before, after world, changes ...object.Key) []string {
	t.Helper()
	of := func(w world) func(object.Key) (any, error) {
		return func(k object.Key) (any, error) {
			if o, ok := w.objects[k]; ok {
				return o, nil
			}
			return nil, nil
		}
	}
	var out []string
	err := engine.Wakes(t.Context(), func(name string) *engine.Profile {
		if name != p.Name {
			return nil
		}
		return p
	}, before.state, after.state, changes, engine.Objects{Before: of(before), After: of(after)}, func(pod *state.Pod, plugin string, e *engine.Event) {
		out = append(out, fmt.Sprintf("%s %s %s", pod.Name, plugin, e.Label()))
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(out)
	return out
}

func hintNode(name string, cpu int64, edit ...func(*corev1.Node)) *corev1.Node {
	n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"zone": "a"}}}
	n.Status.Allocatable = corev1.ResourceList{
		corev1.ResourceCPU: *resource.NewQuantity(cpu, resource.DecimalSI), corev1.ResourcePods: *resource.NewQuantity(10, resource.DecimalSI),
	}
	for _, f := range edit {
		f(n)
	}
	return n
}

func hintPod(name string, cpu int64, edit ...func(*corev1.Pod)) *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "d", Name: name, UID: types.UID("u-" + name), Labels: map[string]string{"app": "web"}}}
	p.Spec.SchedulerName = corev1.DefaultSchedulerName
	p.Spec.Containers = []corev1.Container{{Name: "c", Resources: corev1.ResourceRequirements{
		Requests: corev1.ResourceList{corev1.ResourceCPU: *resource.NewQuantity(cpu, resource.DecimalSI)},
	}}}
	for _, f := range edit {
		f(p)
	}
	return p
}

func onNode(p *corev1.Pod) { p.Spec.NodeName = "n1" }

func priority(n int32) func(*corev1.Pod) { return func(p *corev1.Pod) { p.Spec.Priority = &n } }

// TestWakes changes one object beside pods that wait, and wants those to wake that it may help.
func TestWakes(t *testing.T) {
	profile, err := rules.Build(rules.DefaultSpec())
	if err != nil {
		t.Fatal(err)
	}
	toN := func(p *corev1.Pod) { p.Status.NominatedNodeName = "n1" }
	base := world{}.with(t, []any{
		hintNode("n1", 4), hintPod("runs", 1, onNode), hintPod("big", 99), hintPod("small", 1, priority(5)),
		hintPod("top", 1, priority(50), toN),
		hintPod("gated", 1, func(p *corev1.Pod) { p.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "g"}} }),
		hintPod("other", 1, func(p *corev1.Pod) { p.Spec.SchedulerName = "else" }),
	})
	pod := func(name string) object.Key { return object.Key{Kind: "Pod", Namespace: "d", Name: name} }
	for name, c := range map[string]struct {
		put  []any
		gone []object.Key
		want string
	}{
		"a namespace": {put: []any{&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "x"}}}},
		"a gated pod": {put: []any{hintPod("new", 1, func(p *corev1.Pod) { p.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "g"}} })}},
		"heartbeat": {put: []any{hintNode("n1", 4, func(n *corev1.Node) {
			n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
		})}},
		"an end": {gone: []object.Key{pod("runs")}, want: "big NodeResourcesFit AssignedPodDelete, small NodeResourcesFit AssignedPodDelete, top NodeResourcesFit AssignedPodDelete"},
		"success is an end": {
			put:  []any{hintPod("runs", 1, onNode, func(p *corev1.Pod) { p.Status.Phase = corev1.PodSucceeded })},
			want: "big NodeResourcesFit AssignedPodDelete, small NodeResourcesFit AssignedPodDelete, top NodeResourcesFit AssignedPodDelete",
		},
		"a pod that waits goes":        {gone: []object.Key{pod("big")}},
		"a nomination goes":            {gone: []object.Key{pod("top")}, want: "big NodeResourcesFit AssignedPodDelete, small NodeResourcesFit AssignedPodDelete"},
		"a nomination is taken away":   {put: []any{hintPod("top", 1, priority(50))}, want: "big NodeResourcesFit AssignedPodDelete, small NodeResourcesFit AssignedPodDelete, top NodeResourcesFit AssignedPodDelete"},
		"a bind of a nominated pod":    {put: []any{hintPod("top", 1, priority(50), onNode)}},
		"the last gate":                {put: []any{hintPod("gated", 1)}, want: "gated SchedulingGates UnschedulablePodUpdatePodSchedulingGatesEliminated"},
		"own toleration":               {put: []any{hintPod("big", 99, func(p *corev1.Pod) { p.Spec.Tolerations = []corev1.Toleration{{Key: "x"}} })}, want: "big TaintToleration UnschedulablePodUpdatePodToleration"},
		"less of a pod that waits":     {put: []any{hintPod("big", 9)}, want: "big NodeResourcesFit UnschedulablePodUpdatePodScaleDown"},
		"a taint":                      {put: []any{hintNode("n1", 4, func(n *corev1.Node) { n.Spec.Taints = []corev1.Taint{{Key: "k", Effect: corev1.TaintEffectNoSchedule}} })}, want: "*"},
		"more room, but not for big":   {put: []any{hintNode("n1", 5)}, want: "small DynamicResources NodeUpdateNodeAllocatable, small NodeResourcesFit NodeUpdateNodeAllocatable"},
		"a change of a replaced pod":   {put: []any{hintPod("runs", 1, onNode, func(p *corev1.Pod) { p.UID = "v" })}, want: "big NodeResourcesFit AssignedPodDelete, small NodeResourcesFit AssignedPodDelete, top NodeResourcesFit AssignedPodDelete"},
		"another scheduler's pod runs": {put: []any{hintPod("other", 1, onNode)}},
	} {
		t.Run(name, func(t *testing.T) {
			var keys []object.Key
			for _, o := range c.put {
				keys = append(keys, keyOf(o))
			}
			got := wakes(t, profile, base, base.with(t, c.put, c.gone...), append(keys, c.gone...)...)
			text := strings.Join(got, ", ")
			if c.want == "*" {
				// Who hears of new nodes hears of taints.
				if !strings.Contains(text, "big NodeResourcesFit NodeUpdateNodeTaint") || !strings.Contains(text, "small NodeAffinity NodeUpdateNodeTaint") ||
					strings.Contains(text, "TaintToleration") || strings.Contains(text, "gated") || strings.Contains(text, "other") {
					t.Errorf("%s", text)
				}
				return
			}
			if name == "more room, but not for big" {
				got = slices.DeleteFunc(got, func(s string) bool { return !strings.HasPrefix(s, "small") && !strings.Contains(s, "NodeResourcesFit") })
				got = slices.DeleteFunc(got, func(s string) bool { return strings.HasPrefix(s, "top") })
				text = strings.Join(got, ", ")
			}
			if text != c.want {
				t.Errorf("%s\nwant %s", text, c.want)
			}
		})
	}
}

// TestWakesByRelease: what counts of other pods is for the release to say.
func TestWakesByRelease(t *testing.T) {
	away := func(apps ...string) func(*corev1.Pod) {
		return func(p *corev1.Pod) {
			var terms []corev1.PodAffinityTerm
			for _, app := range apps {
				terms = append(terms, corev1.PodAffinityTerm{TopologyKey: "zone", LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": app}}})
			}
			p.Spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: terms}}
		}
	}
	spread := func(p *corev1.Pod) {
		p.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{
			MaxSkew: 1, TopologyKey: "zone", WhenUnsatisfiable: corev1.DoNotSchedule, LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}},
		}}
	}
	toN := func(p *corev1.Pod) { p.Status.NominatedNodeName = "n1" }
	app := func(name string) func(*corev1.Pod) {
		return func(p *corev1.Pod) { p.Labels = map[string]string{"app": name} }
	}
	key := func(name string) object.Key { return object.Key{Kind: "Pod", Namespace: "d", Name: name} }
	own := func(r *semantics.Release) { r.AffinityWakes = semantics.WakesByOwn }
	any1 := func(r *semantics.Release) { r.AffinityWakes = semantics.WakesByAny }
	unnamed := func(r *semantics.Release) { r.NominationsWake = false }
	const affinity = "waits InterPodAffinity AssignedPodDelete"
	for name, c := range map[string]struct {
		waits, gone []func(*corev1.Pod)
		relabel     string // of the waiting pod, in place of the other's end
		plugin      string
		under       func(*semantics.Release)
		were, want  string // under v1.36 and with the change
	}{
		"one of two terms selects it":              {waits: []func(*corev1.Pod){away("web", "db")}, gone: []func(*corev1.Pod){onNode}, plugin: "InterPodAffinity", under: any1, want: affinity},
		"the only term does":                       {waits: []func(*corev1.Pod){away("web")}, gone: []func(*corev1.Pod){onNode}, plugin: "InterPodAffinity", under: own, were: affinity, want: affinity},
		"its term selects the one that waits":      {gone: []func(*corev1.Pod){onNode, away("web")}, plugin: "InterPodAffinity", under: own, were: affinity},
		"one of its two terms does":                {gone: []func(*corev1.Pod){onNode, away("web", "db")}, plugin: "InterPodAffinity", under: any1, want: affinity},
		"none of its terms does":                   {gone: []func(*corev1.Pod){onNode, away("db", "x")}, plugin: "InterPodAffinity", under: any1},
		"new labels of its own":                    {relabel: "db", plugin: "InterPodAffinity", under: own, were: "waits InterPodAffinity UnschedulablePodUpdatePodLabel"},
		"a nomination, away from it":               {waits: []func(*corev1.Pod){away("web")}, gone: []func(*corev1.Pod){toN}, plugin: "InterPodAffinity", under: unnamed, were: affinity},
		"a nomination beside which it spreads":     {waits: []func(*corev1.Pod){spread}, gone: []func(*corev1.Pod){toN}, plugin: "PodTopologySpread", under: unnamed, were: "waits PodTopologySpread AssignedPodDelete"},
		"a pod on a node beside which it spreads":  {waits: []func(*corev1.Pod){spread}, gone: []func(*corev1.Pod){onNode}, plugin: "PodTopologySpread", under: unnamed, were: "waits PodTopologySpread AssignedPodDelete", want: "waits PodTopologySpread AssignedPodDelete"},
		"a relabelled pod that is in none of them": {waits: []func(*corev1.Pod){away("db", "x")}, gone: []func(*corev1.Pod){onNode}, plugin: "InterPodAffinity", under: any1},
	} {
		t.Run(name, func(t *testing.T) {
			before := world{}.with(t, []any{hintNode("n1", 4), hintPod("waits", 1, c.waits...), hintPod("other", 1, c.gone...)})
			after, changed := before.with(t, nil, key("other")), key("other")
			if c.relabel != "" {
				after, changed = before.with(t, []any{hintPod("waits", 1, append(c.waits, app(c.relabel))...)}), key("waits")
			}
			for i, want := range []string{c.were, c.want} {
				r := *semantics.Default()
				if i == 1 {
					c.under(&r)
				}
				profile, err := rules.BuildUnder(rules.DefaultSpec(), &r)
				if err != nil {
					t.Fatal(err)
				}
				got := slices.DeleteFunc(wakes(t, profile, before, after, changed), func(s string) bool { return !strings.Contains(s, c.plugin) })
				if text := strings.Join(got, ", "); text != want {
					t.Errorf("changed %v: %q, want %q", i == 1, text, want)
				}
			}
		})
	}
	tainted := hintNode("n1", 4, func(n *corev1.Node) { n.Spec.Taints = []corev1.Taint{{Key: "k", Effect: corev1.TaintEffectNoSchedule}} })
	before := world{}.with(t, []any{hintNode("n1", 4), hintPod("big", 99)})
	for _, all := range []bool{false, true} {
		r := *semantics.Default()
		r.NewNodesMeanTaints = all
		profile, err := rules.BuildUnder(rules.DefaultSpec(), &r)
		if err != nil {
			t.Fatal(err)
		}
		got := wakes(t, profile, before, before.with(t, []any{tainted}), keyOf(tainted))
		if heard := slices.Contains(got, "big NodeResourcesFit NodeUpdateNodeTaint"); heard != all {
			t.Errorf("new nodes mean taints %v: %q", all, got)
		}
	}
}

// BenchmarkWakes is a bind beside a thousand pods that wait, of ten templates and each of its own.
func BenchmarkWakes(b *testing.B) {
	profile, err := rules.Build(rules.DefaultSpec())
	if err != nil {
		b.Fatal(err)
	}
	for name, templates := range map[string]int{"templates=10": 10, "templates=1000": 1000} {
		var put []any
		for i := range 1000 {
			put = append(put, hintPod(fmt.Sprint("p", i), 99, func(p *corev1.Pod) { p.Labels["app"] = fmt.Sprint(i % templates) }))
		}
		before := world{}.with(b, append(put, hintNode("n1", 4), hintPod("bound", 1), hintPod("runs", 1, onNode)))
		bound := keyOf(hintPod("bound", 1))
		after := before.with(b, []any{hintPod("bound", 1, onNode)})
		b.Run(name+"/bind", func(b *testing.B) {
			for b.Loop() {
				wakes(b, profile, before, after, bound)
			}
		})
		runs := keyOf(hintPod("runs", 1))
		ended := before.with(b, nil, runs)
		b.Run(name+"/end", func(b *testing.B) {
			for b.Loop() {
				wakes(b, profile, before, ended, runs)
			}
		})
	}
}
