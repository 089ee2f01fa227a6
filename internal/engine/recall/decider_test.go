package recall_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"berth/internal/engine"
	"berth/internal/engine/recall"
	"berth/internal/engine/rules"
	"berth/internal/engine/state"
	"berth/test/enginetest"
)

// TestDeciderAgreesWithAFreshState compares what a Decider remembered, of a state that half of the
// pods were missing from, with a plain decision on a state that was made whole.
func TestDeciderAgreesWithAFreshState(t *testing.T) {
	t.Parallel()
	from, to := enginetest.Seeds(t, 600)
	for seed := from; seed < to; seed++ {
		c := enginetest.Mixed(seed)
		p, err := rules.Build(c.Spec)
		if err != nil {
			t.Fatal(err)
		}
		early, late := enginetest.InTwoSteps(t, c.Objects)
		want := enginetest.Everything(t, engine.Decide, enginetest.Fresh(t, c.Objects...), c.Pod, p, c.Options)
		got := enginetest.Everything(t, enginetest.Remembering(early, c.Pod, p, c.Options), late, c.Pod, p, c.Options)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("seed %d (-fresh +Decider):\n%s", seed, diff)
		}
	}
}

// wander goes a random way from a case's cluster: pods are bound, deleted and
// replaced, now and then a node, a namespace, or something that owns pods; if
// calm, hardly anything but pods.
type wander struct {
	t     *testing.T
	r     *rand.Rand
	names int
	calm  bool
	other []any // objects to put
	bound [][2]string
}

// steps are the changes from one state to the next.
func (w *wander) steps(s *state.State, pods []*corev1.Pod) []func(*state.Edit) error {
	var out []func(*state.Edit) error
	for range 1 + w.r.IntN(2) {
		what := w.r.IntN(20)
		if w.calm && w.r.IntN(10) > 0 {
			what += 5
		}
		o := w.other[w.r.IntN(len(w.other))]
		switch what {
		case 0, 1, 2: // an object of another cluster, which may be a node of the same name
			out = append(out, func(e *state.Edit) error { return e.Put(o) })
		case 3, 4:
			kind, ns, name := enginetest.Key(o)
			out = append(out, func(e *state.Edit) error { e.Delete(kind, ns, name); return nil })
		case 5, 6, 7, 8, 9:
			if len(w.bound) > 0 {
				k := w.bound[w.r.IntN(len(w.bound))]
				out = append(out, func(e *state.Edit) error { e.Delete("Pod", k[0], k[1]); return nil })
			}
		default:
			p := *pods[w.r.IntN(len(pods))]
			w.names++
			p.Name = fmt.Sprintf("bound-%d", w.names)
			p.Status.NominatedNodeName = ""
			order := s.Nodes().Order()
			if len(order) == 0 {
				continue
			}
			node := s.Nodes().Node(int(order[w.r.IntN(len(order))])).Name
			out = append(out, func(e *state.Edit) error { return e.Bind(&p, node) })
			w.bound = append(w.bound, [2]string{p.Namespace, p.Name})
		}
	}
	return out
}

func changed(t *testing.T, e *state.Edit, by []func(*state.Edit) error) *state.Edit {
	t.Helper()
	for _, f := range by {
		if err := f(e); err != nil {
			t.Fatal(err)
		}
	}
	return e
}

// calmed takes a pod's nomination away, which sends every question to Decide.
func calmed(o any, calm bool) any {
	if p, ok := o.(*corev1.Pod); ok && calm && p.Status.NominatedNodeName != "" {
		q := *p
		q.Status.NominatedNodeName = ""
		return &q
	}
	return o
}

// options are random: all nodes or some in any order, with and without scores, and now and then
// less work than the question takes.
func options(r *rand.Rand, s *state.State) engine.Options {
	o := engine.Options{ScoreAlways: r.IntN(4) == 0, NoScores: r.IntN(8) == 0}
	if r.IntN(10) == 0 {
		o.MaxSteps = int64(1 + r.IntN(40*s.Nodes().Len()+1))
	}
	if r.IntN(3) > 0 {
		return o
	}
	o.Candidates = []string{"unknown"}
	for _, row := range s.Nodes().Order() {
		if r.IntN(8) > 0 {
			o.Candidates = append(o.Candidates, s.Nodes().Node(int(row)).Name)
		}
	}
	if r.IntN(2) == 0 {
		r.Shuffle(len(o.Candidates), func(i, k int) { o.Candidates[i], o.Candidates[k] = o.Candidates[k], o.Candidates[i] })
	}
	return o
}

// TestDeciderTakesPodsOfAServiceAccountForEqual asks about pods as the controllers of a real
// cluster make them: each has a volume of its own name for its token, and one that waited a
// condition.
func TestDeciderTakesPodsOfAServiceAccountForEqual(t *testing.T) {
	t.Parallel()
	f := newFollows(t, 0)
	s := enginetest.Fresh(t, enginetest.Node("a"), enginetest.Node("b"))
	for i := range 5 {
		pod := enginetest.Pod(fmt.Sprintf("web-%d", i), enginetest.Requests("cpu", "1"))
		pod.Spec.Volumes = []corev1.Volume{{Name: fmt.Sprintf("kube-api-access-%d", i)}}
		pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Message: fmt.Sprint(i)}}
		f.ask(s, pod)
	}
	if c := f.d.Counters(); c.Whole != 1 || c.Kept != 4 {
		t.Errorf("five pods of one kind: %+v", c)
	}
}

// TestDeciderAnswersAsDecideDoes asks both over random sequences of states and
// pods, every rule in play. Some steps go back to an older state.
func TestDeciderAnswersAsDecideDoes(t *testing.T) {
	t.Parallel()
	from, to := enginetest.Seeds(t, 150)
	var sum recall.Counters
	for seed := from; seed < to; seed++ {
		c := enginetest.Generate(seed)
		p, err := rules.Build(c.Spec)
		if err != nil {
			t.Fatal(err)
		}
		r := rand.New(rand.NewPCG(seed, 5))
		pods := []*corev1.Pod{c.Pod}
		w := &wander{t: t, r: r, calm: seed%2 == 0}
		for k := range uint64(4) {
			other := enginetest.Generate(seed + 1_000_000*(k+1))
			pods = append(pods, other.Pod)
			for _, o := range other.Objects {
				if _, isNode := o.(*corev1.Node); !isNode || r.IntN(4) == 0 {
					w.other = append(w.other, calmed(o, w.calm))
				}
			}
		}
		w.other = append(w.other, enginetest.Pod("filler"))
		limit := 0
		if seed%3 == 0 {
			limit = 8 << 10 // room for one or two kinds
		}
		d := recall.NewDecider(limit)
		for i := range c.Objects {
			c.Objects[i] = calmed(c.Objects[i], w.calm)
		}
		for i := range pods {
			pods[i] = calmed(pods[i], w.calm).(*corev1.Pod)
		}
		states := []*state.State{enginetest.Fresh(t, c.Objects...)}
		walk := recall.NewDecider(limit).Walk(states[0])
		for i := range 60 {
			newest := states[len(states)-1]
			s := newest
			if r.IntN(10) == 0 {
				s = states[r.IntN(len(states))]
			}
			pod := *pods[r.IntN(len(pods))]
			pod.Name, pod.UID = fmt.Sprintf("asked-%d", i), types.UID(fmt.Sprintf("uid-%d", i))
			o := c.Options
			if r.IntN(4) > 0 {
				o = options(r, s)
			}
			want := enginetest.Everything(t, engine.Decide, s, &pod, p, o)
			if diff := cmp.Diff(want, enginetest.Everything(t, d.Decide, s, &pod, p, o)); diff != "" {
				t.Fatalf("seed %d, step %d (-Decide +Decider):\n%s", seed, i, diff)
			}
			if s == newest {
				if diff := cmp.Diff(want, enginetest.Everything(t, func(_ *state.State, pod *corev1.Pod, p *engine.Profile, o engine.Options) (*engine.Result, error) {
					return walk.Decide(pod, p, o)
				}, s, &pod, p, o)); diff != "" {
					t.Fatalf("seed %d, step %d (-Decide +Walk):\n%s", seed, i, diff)
				}
			}
			if r.IntN(3) > 0 {
				steps := w.steps(newest, pods)
				states = append(states, changed(t, newest.Edit(), steps).Done())
				changed(t, walk.Changes(), steps)
				if r.IntN(4) == 0 {
					walk.State()
				}
			}
		}
		if got, want := walk.Counters(), d.Counters(); want.Kept > 20 && got.Kept < want.Kept/2 {
			t.Errorf("seed %d: a walk knew %+v, a Decider %+v", seed, got, want)
		}
		n := d.Counters()
		sum.Kept, sum.Rows, sum.Whole, sum.Plain, sum.Dropped = sum.Kept+n.Kept, sum.Rows+n.Rows, sum.Whole+n.Whole, sum.Plain+n.Plain, sum.Dropped+n.Dropped
	}
	t.Logf("%+v", sum)
	if to-from >= 150 && (sum.Kept < 600 || sum.Rows < 2000 || sum.Whole < 800 || sum.Dropped < 100) {
		t.Errorf("the sequences try too little: %+v", sum)
	}
}
