package lifecycle

import (
	"encoding/json"
	"reflect"
	"slices"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
)

func oracle(t *testing.T) *Oracle {
	t.Helper()
	o, err := NewOracle()
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// TestReach: what is reached past upstream's exports still has the shape that is
// assumed. Each field of actions that is read has to come out of a pod that is
// made for it.
func TestReach(t *testing.T) {
	o := oracle(t)
	if o.m.startup == nil || o.m.recorder == nil {
		t.Fatal("the manager has other fields")
	}
	policy := v1.ContainerRestartPolicyNever
	pod := &v1.Pod{Spec: v1.PodSpec{
		NodeName: "n", InitContainers: []v1.Container{{Name: "i"}}, EphemeralContainers: []v1.EphemeralContainer{{EphemeralContainerCommon: v1.EphemeralContainerCommon{Name: "e"}}},
		Containers: []v1.Container{{Name: "a"}, {Name: "b", RestartPolicy: &policy}},
	}}
	ask := func(restarting bool) actions {
		o.m.startup = startups(pod)
		return computePodActions(o.m, o.ctx, pod, runtimeOf(pod), restarting)
	}
	if a := ask(false); !slices.Equal(a.InitContainersToStart, []int{0}) || !slices.Equal(a.EphemeralContainersToStart, []int{0}) || a.KillPod || a.SandboxID != "sandbox" {
		t.Errorf("%+v", a)
	}
	exited := func(name string, code int32) v1.ContainerStatus {
		return v1.ContainerStatus{Name: name, State: v1.ContainerState{Terminated: &v1.ContainerStateTerminated{ExitCode: code}}}
	}
	pod.Status.InitContainerStatuses = []v1.ContainerStatus{exited("i", 0)}
	pod.Status.ContainerStatuses = []v1.ContainerStatus{exited("a", 1), exited("b", 1)}
	if a := ask(false); !slices.Equal(a.ContainersToStart, []int{0}) {
		t.Errorf("%+v", a)
	}
	if a := ask(true); len(a.ContainersToReset) != 3 {
		t.Errorf("%+v", a)
	}
	pod.Spec.RestartPolicy = v1.RestartPolicyNever
	if a := ask(false); !a.KillPod {
		t.Errorf("%+v", a)
	}
}

// TestGenerator: a seed always makes the same question, and every possible result occurs.
func TestGenerator(t *testing.T) {
	o := oracle(t)
	seen := map[string]int{}
	at := time.Now()
	for seed := range uint64(1500) {
		c := Generate(seed, at, o.Write)
		one, _ := json.Marshal(c.Pod)
		if other, _ := json.Marshal(Generate(seed, at, o.Write).Pod); string(one) != string(other) {
			t.Fatalf("another pod from seed %d", seed)
		}
		v, err := o.Judge(c)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		seen["phase "+v.Phase]++
		for _, container := range v.Containers {
			seen["next "+container.Action]++
			if container.At != "" {
				seen["a back-off with an end"]++
			}
		}
		if c.Kubelet {
			seen["written by a kubelet"]++
		}
	}
	for _, what := range []string{
		"phase Pending", "phase Running", "phase Succeeded", "phase Failed", "phase Unknown", "next start", "next restart", "next backoff", "next wait", "next leave", "next reset",
		"a back-off with an end", "written by a kubelet",
	} {
		if seen[what] < 10 {
			t.Errorf("%s: %d times", what, seen[what])
		}
	}
}

// TestComparisonFinds: a trial whose comparison sees nothing would always pass.
func TestComparisonFinds(t *testing.T) {
	v := Verdict{
		Phase: "Running", Status: "Running", Ready: "1/1", Restarts: "0", sandbox: true,
		Conditions: []Condition{{"PodReadyToStartContainers", "True", "", "", 1, ""}, {"Ready", "False", "r", "m", 1, "2026-03-01T12:00:00Z"}},
		Containers: []Container{{"a", "container", "waiting", "CrashLoopBackOff", "backoff", "2026-03-01T12:00:00Z", 3}},
	}
	copied := func() Verdict {
		w := v
		w.Conditions, w.Containers = slices.Clone(v.Conditions), slices.Clone(v.Containers)
		return w
	}
	if d := Compare(v, copied()); d != "" {
		t.Errorf("a difference where there is none: %s", d)
	}
	fault := func(what string, f func(*Verdict)) {
		t.Helper()
		w := copied()
		if f(&w); Compare(v, w) == "" {
			t.Errorf("%s: not found", what)
		}
	}
	// Every field, whatever there will be.
	each := func(what string, of func(*Verdict) reflect.Value) {
		for i := range of(&Verdict{Conditions: make([]Condition, 2), Containers: make([]Container, 1)}).NumField() {
			fault(what, func(w *Verdict) {
				switch field := of(w).Field(i); field.Kind() {
				case reflect.String:
					field.SetString("other")
				case reflect.Int32, reflect.Int64:
					field.SetInt(77)
				case reflect.Slice:
					field.SetZero()
				default:
					w.Phase = "other" // not shown to a caller
				}
			})
		}
	}
	each("verdict", func(w *Verdict) reflect.Value { return reflect.ValueOf(w).Elem() })
	each("sandbox", func(w *Verdict) reflect.Value { return reflect.ValueOf(&w.Conditions[0]).Elem() })
	each("condition", func(w *Verdict) reflect.Value { return reflect.ValueOf(&w.Conditions[1]).Elem() })
	each("container", func(w *Verdict) reflect.Value { return reflect.ValueOf(&w.Containers[0]).Elem() })
}

// TestMinimise keeps what a difference needs and nothing else.
func TestMinimise(t *testing.T) {
	o := oracle(t)
	for seed := range uint64(200) {
		c := Generate(seed, time.Now(), o.Write)
		if len(c.Pod.Spec.Containers) < 3 || len(c.Pod.Spec.InitContainers) == 0 || len(c.Pod.Status.Conditions) == 0 {
			continue
		}
		small := Minimise(c, func(c *Case) bool {
			return slices.ContainsFunc(c.Pod.Spec.Containers, func(c v1.Container) bool { return c.Name == "c1" })
		})
		if p := small.Pod; len(p.Spec.Containers) != 1 || len(p.Spec.InitContainers)+len(p.Status.Conditions)+len(p.Spec.ReadinessGates) != 0 || p.DeletionTimestamp != nil {
			t.Errorf("seed %d: %+v", seed, p)
		}
		return
	}
	t.Error("no pod to make smaller")
}
