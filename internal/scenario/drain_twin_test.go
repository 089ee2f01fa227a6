package scenario_test

import (
	"cmp"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"berth/internal/decision"
	"berth/internal/engine"
	"berth/internal/engine/state"
	"berth/internal/kube/object"
	"berth/internal/podlife"
	"berth/internal/revision"
	"berth/internal/scenario"
	"berth/internal/world"
	"berth/test/enginetest"
)

// twin drains a node in the plain way: a state for every change, engine.Decide for every attempt.
type twin struct {
	t       *testing.T
	s       *state.State
	profile *engine.Profile
	changes int
	tries   int
	waiting []*twinPod
	placed  map[string]string
}

type twinPod struct {
	pod      *corev1.Pod
	priority int32
	order    int
	seen     int // the changes that its last attempt knew; below 0: it had none
}

func (w *twin) edit(f func(e *state.Edit)) {
	e := w.s.Edit()
	f(e)
	w.s = e.Done()
	w.changes++
}

// attempts tries the pods that wait, in the order of the queue, until nothing has changed since the
// last attempt of each.
func (w *twin) attempts() {
	for {
		due := slices.DeleteFunc(slices.Clone(w.waiting), func(p *twinPod) bool { return p.seen == w.changes })
		if len(due) == 0 {
			return
		}
		slices.SortFunc(due, func(a, b *twinPod) int {
			return cmp.Or(cmp.Compare(b.priority, a.priority), cmp.Compare(a.order, b.order))
		})
		for _, p := range due {
			w.try(p)
		}
		w.waiting = slices.DeleteFunc(w.waiting, func(p *twinPod) bool { return w.placed[p.pod.Namespace+"/"+p.pod.Name] != "" })
	}
}

func (w *twin) try(p *twinPod) {
	asked, _, err := decision.ResolvePriority(w.s, p.pod, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	r, err := engine.Decide(w.s, asked, w.profile, engine.Options{Now: noon, NoPreemption: true, EqualsBy: decision.EqualsBy(asked)})
	if err != nil {
		w.t.Fatal(err)
	}
	node, row := r.Node(), r.Row
	var labels map[string]string
	if node != "" {
		labels = r.Nodes().Node(row).Labels
	}
	r.Release()
	w.tries++
	p.order = w.tries
	if p.seen = w.changes; node == "" {
		return
	}
	bound := object.WithTopology(revision.Bound(asked, node), labels)
	w.edit(func(e *state.Edit) {
		if err := e.Put(bound); err != nil {
			w.t.Fatal(err)
		}
	})
	w.placed[p.pod.Namespace+"/"+p.pod.Name] = node
}

// TestDrainEqualsDecisionsOnCordonedState is the second equality: where ReplicaSets' pods go that a
// drain evicts is where decisions put them, asked one at a time on states in which the node is
// cordoned, its pods are being deleted, and then gone.
func TestDrainEqualsDecisionsOnCordonedState(t *testing.T) {
	n := uint64(500)
	if testing.Short() {
		n = 100
	}
	placed, waiting := 0, 0
	for seed := range n {
		c := enginetest.Generate(seed)
		var objects []any
		var node *corev1.Node
		for _, o := range c.Objects {
			switch x := o.(type) {
			case *corev1.Node:
				if node == nil && !x.Spec.Unschedulable {
					node = x
				}
			case *corev1.Pod:
				if x.Spec.NodeName == "" || x.DeletionTimestamp != nil || len(x.Spec.Volumes)+len(x.Spec.ResourceClaims) > 0 {
					continue // what a controller makes anew beside a pod has tests of its own
				}
				o = running(x.DeepCopy(), "ReplicaSet", "any", 0, 30)
			}
			objects = append(objects, o)
		}
		if node == nil {
			continue
		}
		v, profiles := viewOf(t, objects...), profileOf(t, c.Spec)
		f := world.NewFork(v, world.Options{Profiles: profiles, Now: noon, NoPreemption: true})
		got, err := (&scenario.DrainQuestion{NodeChoice: chosen(node.Name), RespectBudgets: new(bool)}).On(t.Context(), f)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		w := &twin{t: t, s: v.State, profile: profiles[0], placed: map[string]string{}}
		cordoned := node.DeepCopy()
		cordoned.Spec.Unschedulable = true
		cordoned.Spec.Taints = append(cordoned.Spec.Taints, corev1.Taint{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule})
		w.edit(func(e *state.Edit) {
			if err := e.Put(cordoned); err != nil {
				t.Fatal(err)
			}
			for _, d := range got.Pods {
				pod, err := v.Pod(d.Namespace, d.Name)
				if err != nil {
					t.Fatal(err)
				}
				if err := e.Put(podlife.BeginDelete(pod, 30, noon)); err != nil {
					t.Fatal(err)
				}
				next := pod.DeepCopy()
				next.Name, next.UID, next.CreationTimestamp = d.Replacement.Name, object.DerivedUID(object.Key{Kind: "Pod", Namespace: d.Namespace, Name: d.Replacement.Name}), metav1.NewTime(noon)
				next.Spec.NodeName, next.Status = "", corev1.PodStatus{Phase: corev1.PodPending}
				delete(next.Labels, corev1.LabelTopologyZone)
				delete(next.Labels, corev1.LabelTopologyRegion)
				p := &twinPod{pod: next, order: len(w.waiting) - 1<<20, seen: -1}
				if asked, _, err := decision.ResolvePriority(v.State, next, nil); err == nil {
					p.priority = *asked.Spec.Priority
				}
				w.waiting = append(w.waiting, p)
			}
		})
		w.attempts()
		w.edit(func(e *state.Edit) {
			for _, d := range got.Pods {
				e.Delete("Pod", d.Namespace, d.Name)
			}
		})
		w.attempts()
		for _, d := range got.Pods {
			if want := w.placed[d.Namespace+"/"+d.Replacement.Name]; want != d.Replacement.Node {
				t.Errorf("seed %d: %s is on %q, decisions put it on %q", seed, d.Replacement.Name, d.Replacement.Node, want)
			}
		}
		if t.Failed() {
			t.FailNow()
		}
		placed, waiting = placed+got.Totals.Placed, waiting+got.Totals.Pending
	}
	t.Logf("%d placed, %d pending", placed, waiting)
	if placed < int(n)/2 || waiting < int(n)/10 {
		t.Error("too little was tried")
	}
}
