package preempt_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"berth/internal/engine"
	"berth/internal/engine/preempt"
	"berth/internal/engine/rules"
	et "berth/test/enginetest"
)

// The cases of Kubernetes' own documentation on pod priority and preemption,
// and of its scheduling guide, one test each.

// asked decides a pod on a cluster under the default profile.
func asked(t *testing.T, pod *corev1.Pod, objects ...any) *engine.Decision {
	t.Helper()
	c := et.Case{Objects: objects, Pod: pod, Spec: rules.DefaultSpec(), Options: engine.Options{Now: et.Now}}
	d, err := c.Decide()
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// evicted is the outcome of a decision in one line: the node and who has to go.
func evicted(d *engine.Decision) string {
	if d.Outcome != engine.Preempting {
		return fmt.Sprintf("%s: %s", d.Outcome, d.Message)
	}
	return d.NominatedNode + ": " + names(d.Preemption.Victims)
}

func names(victims []engine.Victim) string {
	var out []string
	for _, v := range victims {
		out = append(out, v.Name)
	}
	return strings.Join(out, " ")
}

func want(t *testing.T, d *engine.Decision, outcome string) {
	t.Helper()
	if got := evicted(d); got != outcome {
		t.Errorf("got %q, want %q", got, outcome)
	}
}

// sized is a node with so many cores; cores makes a pod ask for some.
func sized(name string, n string, opts ...et.NodeOption) *corev1.Node {
	return et.Node(name, append([]et.NodeOption{et.Allocatable("cpu", n, "memory", "64Gi", "pods", "110")}, opts...)...)
}

func cores(n string) et.PodOption { return et.Requests("cpu", n) }

func since(hours int) et.PodOption {
	return func(p *corev1.Pod) {
		at := metav1.NewTime(et.Now.Add(-time.Duration(hours) * time.Hour))
		p.Status.StartTime = &at
	}
}

func guard(name, app string, allowed int32) *policyv1.PodDisruptionBudget {
	return &policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}, Spec: policyv1.PodDisruptionBudgetSpec{Selector: et.Match("app", app)},
		Status: policyv1.PodDisruptionBudgetStatus{DisruptionsAllowed: allowed},
	}
}

// "A high-priority data science workload … the user decides that it should be
// prioritized above other workloads, but does not wish to discard existing work
// by preempting running pods".
func TestTheDataScienceClassWithNeverWaitsForRoom(t *testing.T) {
	never := corev1.PreemptNever
	class := &schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: "high-priority-nonpreempting"}, Value: 1000000, PreemptionPolicy: &never}
	s, err := et.State(class, sized("n", "4"), et.Pod("batch", et.On("n"), cores("4")))
	if err != nil {
		t.Fatal(err)
	}
	science := et.Pod("science", cores("2"))
	science.Spec.Priority, science.Spec.PriorityClassName = nil, class.Name
	admitted, ok := s.ResolvePriority(science, nil)
	if !ok {
		t.Fatal("its class is not known")
	}
	science.Spec.Priority, science.Spec.PreemptionPolicy = &admitted.Priority, admitted.Policy
	d := asked(t, science, class, sized("n", "4"), et.Pod("batch", et.On("n"), cores("4")))
	want(t, d, "Unschedulable: 0/1 nodes are available: 1 Insufficient cpu. no new claims to deallocate, preemption: not eligible due to preemptionPolicy=Never.")
	if d.Priority != 1000000 || d.Preemption.Eligible || len(d.Preemption.Candidates) > 0 {
		t.Errorf("%+v", d.Preemption)
	}
}

// "Pod P has zone-wide anti-affinity with Pod Q … in order to schedule Pod P on
// Node N, Pod Q can be preempted, but scheduler does not perform cross-node
// preemption".
func TestCrossNodeAntiAffinityDoesNotPreempt(t *testing.T) {
	p := et.Pod("p", et.Priority(100), et.Away(et.PodTerm(corev1.LabelTopologyZone, et.Match("app", "q"))))
	d := asked(t, p,
		sized("n", "4", et.Zone("z")), sized("m", "4", et.Zone("z")),
		et.Pod("other", et.On("n"), cores("1")),
		et.Pod("q", et.On("m"), et.Labels("app", "q"), cores("1")), et.Pod("above", et.On("m"), et.Priority(200), et.Labels("app", "q")))
	want(t, d, "Unschedulable: 0/2 nodes are available: 2 node(s) didn't match pod anti-affinity rules. no new claims to deallocate, "+
		"preemption: 0/2 nodes are available: 2 node(s) didn't match pod anti-affinity rules.")
	// With Q on the same node it is a victim like any other.
	p.Spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution[0].TopologyKey = corev1.LabelHostname
	want(t, asked(t, p, sized("m", "4"), et.Pod("q", et.On("m"), et.Labels("app", "q"), cores("1"))), "m: q")
}

// "If a pending Pod has inter-pod affinity to one or more of the lower-priority
// Pods on the Node, the inter-Pod affinity rule cannot be satisfied in the
// absence of those lower-priority Pods".
func TestAffinityToALowerPriorityPodFindsNoRoom(t *testing.T) {
	p := et.Pod("p", et.Priority(100), cores("3"), et.Near(et.PodTerm(corev1.LabelHostname, et.Match("app", "friend"))))
	friend := func(priority int32) *corev1.Pod {
		return et.Pod("friend", et.On("n"), et.Labels("app", "friend"), et.Priority(priority), cores("2"))
	}
	want(t, asked(t, p, sized("n", "4"), friend(0)), "Unschedulable: 0/1 nodes are available: 1 Insufficient cpu. no new claims to deallocate, "+
		"preemption: 0/1 nodes are available: 1 node(s) didn't match pod affinity rules.")
	// The documentation's advice: affinity to pods of equal or higher priority only.
	d := asked(t, p, sized("n", "6"), friend(100), et.Pod("victim", et.On("n"), cores("2")))
	want(t, d, "n: victim")
}

// "PodDisruptionBudget is supported, but not guaranteed: the scheduler tries to
// find victims whose PDB are not violated … but if no such victims are found,
// preemption will still happen".
func TestBudgetsAreBestEffort(t *testing.T) {
	p := et.Pod("p", et.Priority(100), cores("2"))
	guarded := et.Pod("guarded", et.On("n"), et.Labels("app", "guarded"), et.Priority(1), cores("2"))
	d := asked(t, p, sized("n", "4"), guarded, et.Pod("free", et.On("n"), et.Priority(50), cores("2")), guard("pdb", "guarded", 0))
	want(t, d, "n: free") // though it is the more important of the two
	if r := d.Preemption.Reprieved; len(r) != 1 || r[0].Name != "guarded" || !r[0].ViolatesPDB || r[0].Why == "" {
		t.Errorf("reprieved: %+v", r)
	}
	d = asked(t, p, sized("n", "2"), guarded, guard("pdb", "guarded", 0))
	want(t, d, "n: guarded")
	v := d.Preemption.Victims[0]
	if d.Preemption.NumPDBViolations != 1 || !v.ViolatesPDB || len(v.Budgets) != 1 || v.Budgets[0] != (engine.Budget{Name: "pdb", AllowedBefore: 0, AllowedAfter: -1, Violated: true}) {
		t.Errorf("%+v", d.Preemption)
	}
	d = asked(t, p, sized("n", "2"), guarded, guard("pdb", "guarded", 1))
	if d.Preemption.NumPDBViolations != 0 || d.Preemption.Victims[0].Budgets[0].AllowedAfter != 0 {
		t.Errorf("%+v", d.Preemption)
	}
}

// "If a higher priority Pod arrives while the scheduler is waiting for the
// victims to terminate, the scheduler may give the node to the higher priority
// Pod, and clears nominatedNodeName of the Pod before".
func TestAHigherPriorityPodTakesTheNominatedNode(t *testing.T) {
	waiting := et.Pod("waiting", et.Priority(50), et.NominatedTo("n"), cores("4"))
	victim := et.Pod("victim", et.On("n"), cores("3"))
	// One of lower priority has to count it in, and cannot evict it.
	low := et.Pod("low", et.Priority(10), cores("1"))
	want(t, asked(t, low, sized("n", "4"), victim, waiting), "Unschedulable: 0/1 nodes are available: 1 Insufficient cpu. no new claims to deallocate, "+
		"preemption: 0/1 nodes are available: 1 Insufficient cpu.")
	// One of higher priority does not.
	high := et.Pod("high", et.Priority(100), cores("4"))
	d := asked(t, high, sized("n", "4"), victim, waiting)
	want(t, d, "n: victim")
	if c := d.Preemption.ClearedNominations; len(c) != 1 || c[0].Name != "waiting" {
		t.Errorf("cleared: %+v", c)
	}
	if d := asked(t, et.Pod("small", et.Priority(100), cores("1")), sized("n", "4"), victim, waiting); d.Node != "n" {
		t.Errorf("%+v", d)
	}
}

// "The scheduler chooses a node with higher-priority victims if evicting those
// of the other would violate a PodDisruptionBudget": the number of violations
// comes before the victims' priority.
func TestANodeWithHigherVictimsIsChosenWhereTheOthersBudgetWouldBreak(t *testing.T) {
	p := et.Pod("p", et.Priority(100), cores("2"))
	d := asked(t, p, sized("a", "2"), sized("b", "2"),
		et.Pod("low", et.On("a"), et.Labels("app", "guarded"), et.Priority(1), cores("2")),
		et.Pod("higher", et.On("b"), et.Priority(50), cores("2")), guard("pdb", "guarded", 0))
	want(t, d, "b: higher")
	lost := d.Preemption.Candidates[1]
	if lost.Node != "a" || *lost.Lost != (engine.Tournament{Round: 1, Criterion: "fewest PDB violations", Value: 1, Best: 0}) {
		t.Errorf("%+v", lost)
	}
}

// "Pods of equal priority are never preempted", nor is the graceful end of a
// victim waived.
func TestEqualsStayAndGracePeriodsAreWaitedFor(t *testing.T) {
	p := et.Pod("p", et.Priority(100), cores("2"))
	want(t, asked(t, p, sized("n", "2"), et.Pod("equal", et.On("n"), et.Priority(100), cores("2"))),
		"Unschedulable: 0/1 nodes are available: 1 Insufficient cpu. no new claims to deallocate, preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod.")
	slow := et.Pod("slow", et.On("n"), cores("1"))
	slow.Spec.TerminationGracePeriodSeconds = new(int64(90))
	d := asked(t, p, sized("n", "2"), slow, et.Pod("quick", et.On("n"), cores("1")))
	want(t, d, "n: quick slow")
	if v := d.Preemption.Victims; v[0].GracePeriodSeconds != 30 || v[1].GracePeriodSeconds != 90 {
		t.Errorf("%+v", d.Preemption)
	}
}

// The rounds of the choice, each deciding between two nodes that are equal in
// those before.
func TestEachRoundOfTheChoice(t *testing.T) {
	p := et.Pod("p", et.Priority(100), cores("2"))
	on := func(node, name string, priority int32, n string, hours int) *corev1.Pod {
		return et.Pod(name, et.On(node), et.Priority(priority), cores(n), since(hours))
	}
	for i, pods := range [][]any{
		1: {on("a", "a1", 20, "2", 1), on("b", "b1", 10, "2", 1)},
		2: {on("a", "a1", 10, "1", 1), on("a", "a2", 10, "1", 1), on("b", "b1", 10, "2", 1)},
		4: {on("a", "a1", 10, "2", 9), on("b", "b1", 10, "2", 1)},
	} {
		if pods == nil {
			continue
		}
		d := asked(t, p, append([]any{sized("a", "2"), sized("b", "2")}, pods...)...)
		want(t, d, "b: b1")
		if lost := d.Preemption.Candidates[1].Lost; lost.Round != i+1 || lost.Criterion != preempt.Criteria[i] {
			t.Errorf("round %d: lost in %+v", i+1, lost)
		}
		if rounds := d.Preemption.Rounds; len(rounds) != 1 || rounds[0] != (engine.PreemptionRound{Round: i + 1, Criterion: preempt.Criteria[i], Fell: 1, Left: 1}) {
			t.Errorf("round %d: counted %+v", i+1, rounds)
		}
	}
}

// A pod waits for those that it evicted before, unless the node is of no use to
// it any more.
func TestAPodWaitsForItsVictimsToEnd(t *testing.T) {
	going := et.Pod("going", et.On("n"), et.Terminating(), cores("2"))
	going.Status.Conditions = []corev1.PodCondition{{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, Reason: corev1.PodReasonPreemptionByScheduler}}
	p := et.Pod("p", et.Priority(100), cores("2"), et.NominatedTo("n"))
	other := []any{sized("m", "2"), et.Pod("there", et.On("m"), cores("2"))}
	d := asked(t, p, append(other, sized("n", "2"), going)...)
	want(t, d, "Unschedulable: 0/2 nodes are available: 2 Insufficient cpu. no new claims to deallocate, preemption: "+preempt.ReasonVictimTerminating)
	want(t, asked(t, p, append(other, sized("n", "2", et.Taint("gone", "", corev1.TaintEffectNoExecute)), going)...), "m: there")
}

// A profile without DefaultPreemption, and a decision that turns it off, look for no victims.
func TestPreemptionCanBeTurnedOff(t *testing.T) {
	objects := []any{sized("n", "2"), et.Pod("victim", et.On("n"), cores("2"))}
	p := et.Pod("p", et.Priority(100), cores("2"))
	off := rules.DefaultSpec()
	off.PostFilter = slices.DeleteFunc(off.PostFilter, func(s string) bool { return s == "DefaultPreemption" })
	for name, c := range map[string]struct {
		spec    rules.Spec
		o       engine.Options
		message string
	}{
		"by the request": {rules.DefaultSpec(), engine.Options{NoPreemption: true}, "0/1 nodes are available: 1 Insufficient cpu."},
		"by the profile": {off, engine.Options{}, "0/1 nodes are available: 1 Insufficient cpu. no new claims to deallocate"},
	} {
		d, err := (&et.Case{Objects: objects, Pod: p, Spec: c.spec, Options: c.o}).Decide()
		if err != nil {
			t.Fatal(err)
		}
		if d.Outcome != engine.UnschedulableOK || d.Preemption != nil || d.Message != c.message {
			t.Errorf("%s: %s %q %+v", name, d.Outcome, d.Message, d.Preemption)
		}
	}
}
