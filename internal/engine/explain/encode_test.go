package explain_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"berth/internal/engine"
	"berth/internal/engine/explain"
	"berth/internal/engine/recall"
	"berth/internal/engine/rules"
	"berth/internal/engine/state"
	"berth/internal/jsonscan"
	"berth/test/enginetest"
)

// decideKept is engine.Decide of a result that others may be given.
func decideKept(s *state.State, pod *corev1.Pod, p *engine.Profile, o engine.Options) (*engine.Result, error) {
	r, err := engine.Decide(s, pod, p, o)
	if err == nil {
		r.Keep()
	}
	return r, err
}

// encoded returns what Encode makes of an answer.
func encoded(t *testing.T, decide enginetest.DecideFunc, s *state.State, pod *corev1.Pod, p *engine.Profile, level engine.Explain) (*engine.Decision, string) {
	t.Helper()
	r, err := decide(s, pod, p, engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Release()
	d, e := explain.Encode(r, level)
	return d, string(e.Append(nil))
}

// written returns what Decision and WriteMembers make of the answer of engine.Decide.
func written(t *testing.T, s *state.State, pod *corev1.Pod, p *engine.Profile, level engine.Explain) (*engine.Decision, string) {
	t.Helper()
	r, err := engine.Decide(s, pod, p, engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Release()
	d, w := explain.Decision(r, level), jsonscan.Writer{}
	if level == engine.ExplainFailures && d.Outcome == engine.Scheduled {
		feasible := slices.DeleteFunc(slices.Clone(d.Nodes), func(v engine.NodeVerdict) bool { return !v.Feasible })
		if len(feasible) != min(10, d.Counts.Feasible) || !slices.ContainsFunc(feasible, func(v engine.NodeVerdict) bool { return v.Name == d.Node }) {
			t.Errorf("%s on %s: of %d feasible nodes, %v are listed", pod.Name, d.Node, d.Counts.Feasible, feasible)
		}
	}
	d.WriteMembers(&w)
	head := *d
	head.Nodes, head.Best, head.Spread, head.Preemption = nil, nil, nil, nil
	return &head, string(w.JSON)
}

// checkEncoded compares what a Decider's answer is encoded to, and that of engine.Decide, with the
// answer of engine.Decide written anew.
func checkEncoded(t *testing.T, name string, d *recall.Decider, s *state.State, pod *corev1.Pod, p *engine.Profile, level engine.Explain) {
	t.Helper()
	wantHead, want := written(t, s, pod, p, level)
	for _, decide := range []enginetest.DecideFunc{decideKept, d.Decide} {
		head, got := encoded(t, decide, s, pod, p, level)
		if diff := cmp.Diff(wantHead, head); diff != "" {
			t.Fatalf("%s, %s, %s (-written +encoded):\n%s", name, pod.Name, level, diff)
		}
		if got != want {
			t.Fatalf("%s, %s, %s: encoded\n%s\nwritten\n%s", name, pod.Name, level, got, want)
		}
	}
}

// TestEncodedIsWhatIsWritten asks about pods of each kind under names of their own, several times
// on each state of a sequence of binds. In some clusters many nodes are rejected, in order of names
// or not, and some have hardly a node to choose from.
func TestEncodedIsWhatIsWritten(t *testing.T) {
	t.Parallel()
	again := 0
	for seed := range uint64(8) {
		r := rand.New(rand.NewPCG(seed, 4))
		objects := enginetest.Large(enginetest.Size{Nodes: 6 + r.IntN(60)*int(seed%4), Pods: 200 + r.IntN(1000), Apps: 50})
		for _, o := range objects {
			if n, ok := o.(*corev1.Node); ok && r.IntN(3) == 0 {
				n.Spec.Taints = append(n.Spec.Taints, corev1.Taint{Key: "dedicated", Value: fmt.Sprint(r.IntN(3)), Effect: corev1.TaintEffectNoSchedule})
			}
		}
		if seed%2 == 1 {
			r.Shuffle(len(objects), func(i, j int) { objects[i], objects[j] = objects[j], objects[i] })
		}
		s, d := enginetest.Fresh(t, objects...), recall.NewDecider(0)
		for range 4 {
			for _, q := range enginetest.Questions() {
				p, err := rules.Build(q.Spec)
				if err != nil {
					t.Fatal(err)
				}
				for i := range 8 {
					pod, level := *q.Pod, []engine.Explain{engine.ExplainFailures, engine.ExplainFailures, engine.ExplainNone}[i%3]
					pod.Name = fmt.Sprintf("asked-%d", r.IntN(100))
					pod.UID = types.UID(pod.Name)
					checkEncoded(t, q.Name, d, s, &pod, p, level)
				}
			}
			e := s.Edit()
			if err := e.Bind(enginetest.LargePod(r.IntN(50), fmt.Sprint(r.Uint64())), s.Nodes().Node(r.IntN(s.Nodes().Len())).Name); err != nil {
				t.Fatal(err)
			}
			s = e.Done()
		}
		again += d.Counters().Again
	}
	if again < 500 {
		t.Errorf("only %d results were given again", again)
	}
}

// TestEncodedOfAnyCluster is the same of random clusters: pods that wait, are held back, are
// nominated or evict others.
func TestEncodedOfAnyCluster(t *testing.T) {
	t.Parallel()
	from, to := enginetest.Seeds(t, 600)
	for seed := from; seed < to; seed++ {
		c := enginetest.Mixed(seed)
		s, err := enginetest.State(c.Objects...)
		if err != nil {
			t.Fatal(err)
		}
		p, err := rules.Build(c.Spec)
		if err != nil {
			t.Fatal(err)
		}
		if r, err := engine.Decide(s, c.Pod, p, engine.Options{}); err == nil {
			r.Release()
			d := recall.NewDecider(0)
			for _, level := range []engine.Explain{engine.ExplainNone, engine.ExplainFailures, engine.ExplainFailures} {
				checkEncoded(t, fmt.Sprint("seed ", seed), d, s, c.Pod, p, level)
			}
		}
	}
}

// TestEncodedAtTwoTimes: a pod in the way is ending at first and overdue later, for an answer that
// is given again too.
func TestEncodedAtTwoTimes(t *testing.T) {
	now := time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)
	ending := enginetest.Pod("holds", enginetest.On("n1"), enginetest.Requests("cpu", "3"))
	ending.DeletionTimestamp = &metav1.Time{Time: now.Add(30 * time.Second)}
	ending.DeletionGracePeriodSeconds = ptr.To[int64](30)
	s := enginetest.Fresh(t, enginetest.Node("n1"), ending)
	p, err := rules.Build(enginetest.Questions()[0].Spec)
	if err != nil {
		t.Fatal(err)
	}
	pod := enginetest.Pod("asks", enginetest.Requests("cpu", "2"))
	r, err := engine.Decide(s, pod, p, engine.Options{Now: now})
	if err != nil {
		t.Fatal(err)
	}
	r.Keep()
	defer r.Release()
	for _, c := range []struct {
		at   time.Duration
		want string
	}{{0, "ending"}, {time.Second, "ending"}, {time.Minute, "overdue"}, {2 * time.Second, "ending"}} {
		if !r.Again(pod, engine.Options{Now: now.Add(c.at)}) {
			t.Fatal("not answered again")
		}
		_, e := explain.Encode(r, engine.ExplainFailures)
		if got := string(e.Append(nil)); !strings.Contains(got, `"state":"`+c.want+`"`) {
			t.Errorf("%v later it is not %s: %s", c.at, c.want, got)
		}
	}
}
