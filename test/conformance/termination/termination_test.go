package termination

import (
	"encoding/json"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestGenerator: a seed always makes the same questions, each cause occurs, and what runs varies.
func TestGenerator(t *testing.T) {
	one, other := NewGenerator(3), NewGenerator(3)
	causes, going, none := map[string]int{}, 0, 0
	for range 500 {
		q := one.Question()
		a, err := json.Marshal(q)
		if err != nil {
			t.Fatal(err)
		}
		if b, err := json.Marshal(other.Question()); err != nil || string(a) != string(b) {
			t.Fatalf("another question from the same seed: %v", err)
		}
		causes[q.Cause]++
		if q.Pod.DeletionTimestamp != nil {
			going++
		}
		if len(Running(q)) == 0 {
			none++
		}
	}
	if len(causes) != 7 || going < 50 || going > 300 || none < 20 || none > 300 {
		t.Errorf("causes %v, %d are going, nothing runs in %d", causes, going, none)
	}
}

// TestOracle holds the names that the linker binds to what upstream is known to
// do: with the wrong layout of a type this would not come out.
func TestOracle(t *testing.T) {
	period, share, gone := int64(40), int64(9), Now.Add(20*time.Second)
	pod := func(change func(*corev1.Pod)) *corev1.Pod {
		p := &corev1.Pod{}
		p.Name, p.Namespace, p.Spec.NodeName = "p", "default", "n"
		p.Spec.TerminationGracePeriodSeconds = &period
		p.Spec.Containers = []corev1.Container{{Name: "c", Image: "i", LivenessProbe: &corev1.Probe{TerminationGracePeriodSeconds: &share}}}
		if change != nil {
			change(p)
		}
		return p
	}
	going := func(p *corev1.Pod) {
		at := Now.Add(20 * time.Second)
		p.DeletionTimestamp, p.DeletionGracePeriodSeconds = new(metav1.NewTime(at)), &period
	}
	ten, sixty := int64(10), int64(60)
	for what, c := range map[string]struct {
		q         Question
		period    int64
		deletion  time.Time
		effective int64
	}{
		"a delete":                 {Question{Cause: "delete", Pod: pod(nil)}, 40, Now.Add(40 * time.Second), 40},
		"a shorter one":            {Question{Cause: "delete", Pod: pod(nil), GracePeriodSeconds: &ten}, 10, Now.Add(10 * time.Second), 10},
		"a forced one":             {Question{Cause: "delete", Pod: pod(nil), Force: true}, 0, Now, 1},
		"a second one, longer":     {Question{Cause: "delete", Pod: pod(going), GracePeriodSeconds: &sixty}, 40, gone, 40},
		"a second one, too late":   {Question{Cause: "delete", Pod: pod(going), GracePeriodSeconds: &ten}, 1, Now, 1},
		"a hard eviction":          {Question{Cause: "evict-hard", Pod: pod(nil)}, 1, time.Time{}, 1},
		"a soft eviction":          {Question{Cause: "evict-soft", Pod: pod(nil), EvictionMaxPodGracePeriod: 60}, 40, time.Time{}, 40},
		"a liveness probe":         {Question{Cause: "liveness", Container: "c", Pod: pod(nil)}, 9, time.Time{}, 0},
		"a probe of a pod deleted": {Question{Cause: "liveness", Container: "c", Pod: pod(going)}, 40, time.Time{}, 0},
		"a shutdown":               {Question{Cause: "shutdown", Pod: pod(nil), Shutdown: &Shutdown{Period: "30s", Critical: "10s"}}, 20, time.Time{}, 20},
		"a shutdown by priority":   {Question{Cause: "shutdown", Pod: pod(nil), Shutdown: &Shutdown{Shares: []Share{{100, 5}, {0, 7}}}}, 7, time.Time{}, 7},
	} {
		c.q.Now = Now
		e, err := Oracle(c.q)
		deletion := ""
		if !c.deletion.IsZero() {
			deletion = c.deletion.Format(time.RFC3339)
		}
		if err != nil || e.Period != c.period || e.Deletion != deletion || e.Effective != c.effective {
			t.Errorf("%s: %+v, %v", what, e, err)
		}
	}
}

// TestInactive compares the kubelet's workers with what is known of them.
func TestInactive(t *testing.T) {
	runs := []corev1.ContainerStatus{{Name: "c", State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}}}
	ended := []corev1.ContainerStatus{{Name: "c", State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{}}}}
	for _, c := range []struct {
		phase    corev1.PodPhase
		deleted  bool
		statuses []corev1.ContainerStatus
		inactive bool
	}{
		{corev1.PodRunning, false, runs, false},
		{corev1.PodRunning, true, ended, false},
		{corev1.PodSucceeded, false, ended, true},
		{corev1.PodSucceeded, true, ended, true},
		{corev1.PodFailed, true, nil, true},
		{corev1.PodFailed, true, runs, false},
		{corev1.PodFailed, false, runs, false},
	} {
		p := &corev1.Pod{}
		if p.Name, p.Status.Phase, p.Status.ContainerStatuses = "p", c.phase, c.statuses; c.deleted {
			p.DeletionTimestamp = new(metav1.NewTime(Now))
		}
		if got, err := newWorkers([]*corev1.Pod{p}).inactive(p); err != nil || got != c.inactive {
			t.Errorf("%+v: %v, %v", c, got, err)
		}
	}
}

// TestComparisonFinds: a trial whose comparison sees nothing would always pass.
func TestComparisonFinds(t *testing.T) {
	q := Question{Cause: "delete", Pod: &corev1.Pod{}}
	q.Pod.Spec.NodeName, q.Pod.Spec.Containers = "n", []corev1.Container{{Name: "c"}}
	want := Ending{Period: 30, Deletion: "x", Timeouts: map[string]int64{"c": 30}}
	want.Phase, want.Zero, want.Judged = "Failed", "Succeeded", true
	same := want
	if d := Compare(q, want, same); d != "" {
		t.Errorf("a difference where there is none: %s", d)
	}
	for what, change := range map[string]func(*Ending){
		"the period":    func(e *Ending) { e.Period++ },
		"the deletion":  func(e *Ending) { e.Deletion = "y" },
		"the wait":      func(e *Ending) { e.Eviction = 10 },
		"the phase":     func(e *Ending) { e.Phase = "" },
		"the other one": func(e *Ending) { e.Zero = "Failed" },
		"the reason":    func(e *Ending) { e.Reason = "Evicted" },
		"a timeout":     func(e *Ending) { e.Timeouts = map[string]int64{"c": 29} },
		"one too much":  func(e *Ending) { e.Timeouts = map[string]int64{"c": 30, "d": 30} },
		"one too few":   func(e *Ending) { e.Timeouts = map[string]int64{} },
		"another one's": func(e *Ending) { e.Timeouts = map[string]int64{"d": 30} },
	} {
		got := want
		change(&got)
		if Compare(q, want, got) == "" {
			t.Errorf("%s: not found", what)
		}
		unmeasured := want
		unmeasured.Timeouts = nil
		if what != "a timeout" && Compare(q, unmeasured, got) == "" {
			t.Errorf("%s: not found without measuring", what)
		}
	}
	patch := func(js string) (m map[string]any) {
		if err := json.Unmarshal([]byte(js), &m); err != nil {
			t.Fatal(err)
		}
		return m
	}
	now := time.Now().UTC().Format(time.RFC3339)
	a := `{"status":{"phase":"Failed","conditions":[{"type":"A","lastTransitionTime":"` + now + `"}]}}`
	for _, b := range []string{`{"status":{"phase":"Failed"}}`, `{"status":{"phase":"Failed","conditions":[{"type":"A"}]}}`, `{"status":{"phase":"Failed","conditions":[{"type":"A","lastTransitionTime":"2020-01-01T00:00:00Z"}]}}`} {
		if comparePatches(patch(a), patch(b), time.Now()) == "" {
			t.Errorf("%s: not found", b)
		}
	}
	if d := comparePatches(patch(a), patch(a), time.Now()); d != "" {
		t.Errorf("a difference where there is none: %s", d)
	}
}

// TestSweepFindsEachReason: a cluster that has nothing of a kind would not try
// it.
func TestSweepFindsEachReason(t *testing.T) {
	g := NewGenerator(5)
	reasons, patched, ordered := map[string]int{}, 0, 0
	for range 10 {
		c := g.Cluster(40)
		out, order, err := c.Sweep()
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range out {
			reasons[s.Reason]++
			if s.Patch != nil {
				patched++
			}
		}
		ordered += len(order)
	}
	if len(reasons) != 4 || patched == 0 || ordered == 0 {
		t.Errorf("%v, %d patched, %d in order", reasons, patched, ordered)
	}
}

// TestKillWaitsForSidecars measures one pod in real time.
func TestKillWaitsForSidecars(t *testing.T) {
	always, period := corev1.ContainerRestartPolicyAlways, int64(2)
	q := Question{Cause: "delete", Now: Now, Pod: &corev1.Pod{}}
	q.Pod.Name, q.Pod.Spec.NodeName, q.Pod.Spec.TerminationGracePeriodSeconds = "p", "n", &period
	q.Pod.Spec.InitContainers = []corev1.Container{{Name: "side", Image: "i", RestartPolicy: &always}}
	q.Pod.Spec.Containers = []corev1.Container{{Name: "main", Image: "i"}}
	e, err := Oracle(q)
	if err == nil {
		err = Kill(q, &e)
	}
	if err != nil || len(e.Timeouts) != 2 || e.Timeouts["main"] != 2 || e.Timeouts["side"] != 2 {
		t.Errorf("%+v, %v", e, err)
	}
}
