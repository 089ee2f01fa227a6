package recall_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"berth/internal/engine"
	"berth/internal/engine/recall"
	"berth/internal/engine/rules"
	"berth/internal/engine/state"
	"berth/test/enginetest"
)

// trio asks Decide, a Decider and a Walk about the same states.
type trio struct {
	t *testing.T
	s *state.State
	d *recall.Decider
	w *recall.Walk
	p *engine.Profile
}

func newTrio(t *testing.T, p *engine.Profile, objects ...any) *trio {
	s := enginetest.Fresh(t, objects...)
	return &trio{t, s, recall.NewDecider(0), recall.NewDecider(0).Walk(s), p}
}

func (x *trio) do(steps ...func(*state.Edit) error) {
	x.t.Helper()
	x.s = changed(x.t, x.s.Edit(), steps).Done()
	changed(x.t, x.w.Changes(), steps)
}

func (x *trio) put(o any) {
	x.t.Helper()
	x.do(func(e *state.Edit) error { return e.Put(o) })
}

func (x *trio) remove(kind, ns, name string) {
	x.t.Helper()
	x.do(func(e *state.Edit) error { e.Delete(kind, ns, name); return nil })
}

// ask decides with all three, and returns what they agree on.
func (x *trio) ask(pod *corev1.Pod) string {
	x.t.Helper()
	want := enginetest.Everything(x.t, engine.Decide, x.s, pod, x.p, engine.Options{})
	for how, decide := range map[string]enginetest.DecideFunc{"Decider": x.d.Decide, "Walk": func(_ *state.State, pod *corev1.Pod, p *engine.Profile, o engine.Options) (*engine.Result, error) {
		return x.w.Decide(pod, p, o)
	}} {
		if diff := cmp.Diff(want, enginetest.Everything(x.t, decide, x.s, pod, x.p, engine.Options{})); diff != "" {
			x.t.Fatalf("%s (-Decide +%s):\n%s", pod.Name, how, diff)
		}
	}
	return want
}

// changesAnswer asks before and after a step that has to make a difference.
func (x *trio) changesAnswer(what string, pod *corev1.Pod, step func()) {
	x.t.Helper()
	before := x.ask(pod)
	step()
	if x.ask(pod) == before {
		x.t.Fatalf("%s changes nothing, so this case shows nothing", what)
	}
}

func defaults(t *testing.T) *engine.Profile {
	t.Helper()
	p, err := rules.Build(rules.DefaultSpec())
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestSurroundingsAreNoticed changes, twice each, what a rule's Locality depends
// on beside nodes and pods.
func TestSurroundingsAreNoticed(t *testing.T) {
	host := corev1.LabelHostname
	x := newTrio(t, defaults(t), enginetest.Node("a", enginetest.Zone("z1")), enginetest.Node("b", enginetest.Zone("z2")), enginetest.Node("c", enginetest.Zone("z3")))
	pod := func(name string, opts ...enginetest.PodOption) *corev1.Pod {
		return enginetest.Pod(name, append([]enginetest.PodOption{enginetest.Labels("app", "web", "tier", "front"), enginetest.Requests("cpu", "100m")}, opts...)...)
	}
	asked := pod("asked")
	x.put(pod("there", enginetest.On("a")))
	x.put(enginetest.Pod("front", enginetest.Labels("app", "other", "tier", "front"), enginetest.On("b")))
	service := func(selector map[string]string) func() {
		return func() {
			x.put(&corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "svc"}, Spec: corev1.ServiceSpec{Selector: selector}})
		}
	}
	service(map[string]string{"app": "nobody"})()
	x.changesAnswer("a service", asked, service(map[string]string{"app": "web"}))
	x.changesAnswer("no service", asked, func() { x.remove("Service", "default", "svc") })
	x.changesAnswer("the service again", asked, service(map[string]string{"app": "web"}))
	x.changesAnswer("another selector", asked, service(map[string]string{"tier": "front"}))
	x.changesAnswer("a selector of others", asked, service(map[string]string{"app": "nobody"}))

	x.changesAnswer("a pod that wants it away", asked, func() {
		x.put(enginetest.Pod("lonely", enginetest.Away(enginetest.PodTerm(host, enginetest.Match("app", "web"))), enginetest.On("c")))
	})
	x.changesAnswer("that pod leaving", asked, func() { x.remove("Pod", "default", "lonely") })

	// The term of the one that left is still known, and selects asked for good.
	asked = enginetest.Pod("asked-2", enginetest.Labels("app", "api"), enginetest.Requests("cpu", "100m"))
	red := enginetest.PodTerm(host, enginetest.Match("app", "api"))
	red.NamespaceSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"team": "red"}}
	namespace := func(team string) func() {
		return func() {
			x.put(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "default", Labels: map[string]string{"team": team}}})
		}
	}
	namespace("blue")()
	x.put(enginetest.Pod("picky", enginetest.In("elsewhere"), enginetest.Away(red), enginetest.On("b")))
	x.changesAnswer("a namespace's label", asked, namespace("red"))
	x.changesAnswer("another label", asked, namespace("blue"))
	x.changesAnswer("the label again", asked, namespace("red"))

	x.changesAnswer("a taint", asked, func() {
		x.put(enginetest.Node("a", enginetest.Zone("z1"), enginetest.Taint("k", "", corev1.TaintEffectNoSchedule)))
	})
	x.changesAnswer("no taint", asked, func() { x.put(enginetest.Node("a", enginetest.Zone("z1"))) })
	x.changesAnswer("a node leaving", asked, func() { x.remove("Node", "", "c") })
	x.changesAnswer("the node with its pods", asked, func() { x.put(enginetest.Node("c")) })
}

// TestUnscoredStepsAreCaughtUp changes rows while a kind of pod has one node to
// go to, or none, and so is not scored.
func TestUnscoredStepsAreCaughtUp(t *testing.T) {
	x := newTrio(t, defaults(t), enginetest.Node("a"), enginetest.Node("b"), enginetest.Node("c"))
	asked := enginetest.Pod("asked", enginetest.Requests("cpu", "1"))
	fill := func(name, node, cpu string) {
		x.put(enginetest.Pod(name, enginetest.Requests("cpu", cpu, "memory", "3Gi"), enginetest.On(node)))
	}
	fill("some-b", "b", "1")
	fill("some-c", "c", "1")
	x.ask(asked) // a is best
	fill("full-b", "b", "4")
	fill("full-c", "c", "4")
	fill("some-a", "a", "10m")
	x.ask(asked) // a alone
	x.remove("Pod", "default", "full-b")
	x.ask(asked)
	x.remove("Pod", "default", "full-c")
	x.ask(asked)
	fill("full-a", "a", "4")
	fill("full-b", "b", "4")
	fill("full-c", "c", "4")
	x.ask(asked) // none
	x.remove("Pod", "default", "full-b")
	x.remove("Pod", "default", "full-c")
	x.ask(asked) // a is still full
}

// made is a rule of the test's own: it judges by the number of pods on a row.
type made struct {
	near   engine.Locality
	full   int64
	weight int64
	own    bool // normalised scores of its own making
	turns  bool // its scores stand as they are until a row has two pods
}

func (m *made) Name() string                            { return fmt.Sprintf("made-%+v", *m) }
func (m *made) Locality(*engine.Query) engine.Locality  { return m.near }
func (m *made) pods(q *engine.Query, row int) (n int64) { return int64(q.State.PodsOn(row).Len()) }

func (m *made) Filter(q *engine.Query, _ engine.NoState, in state.Bits, rej *engine.Rejected) error {
	odd, full := q.Bits(), q.Bits()
	for row := range in.All() {
		if n := m.pods(q, row); n >= m.full {
			full.Set(row)
			if n%2 == 1 {
				odd.Set(row)
			}
		}
	}
	// The order is its own, and the first may come later than the second.
	rej.Add("odd", engine.Unschedulable, odd)
	rej.Add("full", engine.UnschedulableAndUnresolvable, full)
	return nil
}

func (m *made) Score(q *engine.Query, _ engine.NoState, feasible state.Bits, out *engine.Scores) error {
	few := m.turns
	for row := range feasible.All() {
		n := m.pods(q, row)
		out.Raw[row] = n * m.weight
		few = few && n < 2
	}
	switch {
	case few:
		out.Same()
		return nil
	case !m.own:
		engine.NormalizeByMax(feasible, out, true)
		return nil
	}
	first := out.Raw[feasible.First()]
	for row := range feasible.All() {
		out.Norm[row] = min(out.Raw[row], first)
	}
	return nil
}

// TestRulesMayBeOfAnyMake puts rules to a Decider that the default profile has
// none like: normalised scores that follow the rows, or are of the rule's own
// making, scores that are no bytes, several reasons in an order of the rule's own.
func TestRulesMayBeOfAnyMake(t *testing.T) {
	for _, m := range []*made{
		{near: engine.OwnRow, full: 4, weight: 1},
		{near: engine.OwnRow, full: 4, weight: 1, own: true},
		{near: engine.OwnRow, full: 4, weight: 200},
		{near: engine.OwnRow, full: 4, weight: 1, turns: true},
		{near: engine.Anywhere, full: 3, weight: 1},
	} {
		p := defaults(t)
		q := *p
		q.Rules = append(slices.Clone(p.Rules), engine.Adapt[engine.NoState](m))
		q.Filter = append(append([]int{}, p.Filter...), len(p.Rules))
		q.Score = append(append([]engine.WeightedRule{}, p.Score...), engine.WeightedRule{Rule: len(p.Rules), Weight: 3})
		x := newTrio(t, &q)
		for i := range 70 {
			x.put(enginetest.Node(fmt.Sprintf("n%02d", i)))
		}
		for i := range 150 {
			x.put(enginetest.Pod(fmt.Sprintf("p%03d", i%90), enginetest.On(fmt.Sprintf("n%02d", i*i%(7+i/2)%70))))
			if i%3 == 0 {
				x.ask(enginetest.Pod(fmt.Sprintf("asked-%d", i), enginetest.Requests("cpu", "10m")))
			}
		}
		if c := x.d.Counters(); c.Plain > 0 || c.Kept < 40 {
			t.Errorf("%s: %+v", m.Name(), c)
		}
	}
}

// TestPreemptionIsNoticed changes, time and again, what the search for victims
// remembers: who is on a node, and what priority a class gives to pods that have
// none of their own.
func TestPreemptionIsNoticed(t *testing.T) {
	x := newTrio(t, defaults(t), enginetest.Node("a"), enginetest.Node("b"))
	class := func(value int32) func() {
		return func() {
			x.put(&schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: "batch"}, Value: value})
		}
	}
	fill := func(name, node string) {
		p := enginetest.Pod(name, enginetest.Requests("cpu", "3"), enginetest.On(node))
		p.Spec.Priority, p.Spec.PriorityClassName = nil, "batch"
		x.put(p)
	}
	priority := int32(100)
	asked := enginetest.Pod("asked", enginetest.Requests("cpu", "3"))
	asked.Spec.Priority = &priority
	class(10)()
	fill("one", "a")
	fill("two", "b")
	if got := x.ask(asked); !strings.Contains(got, string(engine.Preempting)) {
		t.Fatalf("nothing is preempted: %s", got)
	}
	x.changesAnswer("a class above the pod", asked, class(1000))
	x.changesAnswer("one below it", asked, class(20))
	x.changesAnswer("and above again", asked, class(500))
	x.changesAnswer("and below again", asked, class(1))
	own := enginetest.Pod("one", enginetest.Requests("cpu", "3"), enginetest.On("a"))
	high := int32(200)
	own.Spec.Priority = &high
	x.changesAnswer("the victim's own priority", asked, func() { x.put(own) })
	x.changesAnswer("the other leaving", asked, func() { x.remove("Pod", "default", "two") })
	x.changesAnswer("it coming back", asked, func() { fill("two", "b") })
	x.changesAnswer("a budget", asked, func() {
		x.put(enginetest.Pod("two", enginetest.Requests("cpu", "3"), enginetest.Labels("app", "kept"), enginetest.On("b")))
		x.put(&policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "kept"}, Spec: policyv1.PodDisruptionBudgetSpec{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "kept"}}}})
	})
	x.changesAnswer("no budget", asked, func() { x.remove("PodDisruptionBudget", "default", "kept") })
}

// TestNominationsAreRemembered asks about kinds of pods while others wait for
// nodes that they were given: some nodes fail for those alone.
func TestNominationsAreRemembered(t *testing.T) {
	x := newTrio(t, defaults(t), enginetest.Node("a"), enginetest.Node("b"), enginetest.Node("c"))
	waits := func(name, node, cpu string, priority int32) {
		p := enginetest.Pod(name, enginetest.Requests("cpu", cpu))
		p.UID = types.UID("uid-" + name)
		p.Status.NominatedNodeName, p.Spec.Priority = node, &priority
		x.put(p)
	}
	asked := enginetest.Pod("asked", enginetest.Requests("cpu", "2"))
	asked.UID = "asked"
	x.ask(asked)
	x.changesAnswer("a pod that waits", asked, func() { waits("first", "a", "3", 5) })
	x.changesAnswer("one of lower priority instead", asked, func() { waits("first", "a", "3", -5) })
	x.changesAnswer("one for each of two", asked, func() { waits("first", "a", "3", 5); waits("second", "b", "3", 5) })
	x.changesAnswer("a full node beside", asked, func() { x.put(enginetest.Pod("full", enginetest.Requests("cpu", "4"), enginetest.On("c"))) })
	x.changesAnswer("one that leaves", asked, func() { x.remove("Pod", "default", "second") })
	x.changesAnswer("the full node's pod gone", asked, func() { x.remove("Pod", "default", "full") })
	x.changesAnswer("none that waits", asked, func() { x.remove("Pod", "default", "first") })
	if c := x.w.Counters(); c.Kept < 5 {
		t.Errorf("little was remembered: %+v", c)
	}
}

// TestWalkRanksByTheClassesOfNow lets a walk alone look for victims while their
// class changes: no state beside it makes it forget how it ranked them.
func TestWalkRanksByTheClassesOfNow(t *testing.T) {
	p := defaults(t)
	there := enginetest.Pod("there", enginetest.Requests("cpu", "3"), enginetest.On("a"))
	there.Spec.Priority, there.Spec.PriorityClassName = nil, "batch"
	asked := enginetest.Pod("asked", enginetest.Requests("cpu", "3"), enginetest.Priority(100))
	w := recall.NewDecider(0).Walk(enginetest.Fresh(t, enginetest.Node("a"), there))
	for _, value := range []int32{10, 1000, 20, 500, 1} {
		if err := w.Changes().Put(&schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: "batch"}, Value: value}); err != nil {
			t.Fatal(err)
		}
		r, err := w.Decide(asked, p, engine.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if want := value < 100; (r.Outcome == engine.Preempting) != want {
			t.Errorf("a victim of priority %d, a pod of 100: %s", value, r.Outcome)
		}
		r.Release()
	}
}
