package recall_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"berth/test/enginetest"
)

// TestNodesThatAreTaintedAreJudgedAgain taints, cordons, resizes and now and then relabels nodes
// between questions about pods that tolerate some of it. Memos go on over all but the last.
func TestNodesThatAreTaintedAreJudgedAgain(t *testing.T) {
	for seed := range uint64(30) {
		r := rand.New(rand.NewPCG(seed, 1))
		x := newTrio(t, defaults(t))
		plain := func(i int) *corev1.Node {
			n := enginetest.Node(fmt.Sprintf("n%02d", i), enginetest.Zone(fmt.Sprintf("z%d", i%3)))
			if i%2 == 0 {
				enginetest.HoldsImage(int64(i)<<26, "app:1")(n)
			}
			return n
		}
		node := func(i int) *corev1.Node {
			n := plain(i)
			n.Spec.Unschedulable = r.IntN(8) == 0
			for _, effect := range []corev1.TaintEffect{corev1.TaintEffectNoSchedule, corev1.TaintEffectPreferNoSchedule, corev1.TaintEffectNoExecute} {
				if r.IntN(6) == 0 {
					n.Spec.Taints = append(n.Spec.Taints, corev1.Taint{Key: []string{"k", "l"}[r.IntN(2)], Effect: effect})
				}
			}
			if r.IntN(6) == 0 {
				n.Status.Allocatable[corev1.ResourceCPU] = *resource.NewQuantity(int64(1+r.IntN(8)), resource.DecimalSI)
			}
			if r.IntN(60) == 0 {
				n.Labels["disk"] = "ssd"
			}
			return n
		}
		for i := range 20 {
			if seed%2 == 0 {
				x.put(node(i))
			} else {
				x.put(plain(i)) // without a taint that a score reads
			}
		}
		for i := range 120 {
			switch {
			case r.IntN(3) > 0:
				x.put(node(r.IntN(20)))
			default:
				x.put(enginetest.Pod(fmt.Sprintf("p%d", r.IntN(40)), enginetest.Labels("app", "web"), enginetest.Requests("cpu", "500m"), enginetest.On(fmt.Sprintf("n%02d", r.IntN(20)))))
			}
			if r.IntN(2) == 0 {
				continue
			}
			kind := r.IntN(6)
			asked := enginetest.Pod(fmt.Sprintf("asked-%d", i), enginetest.Labels("app", "web", "kind", fmt.Sprint(kind)), enginetest.Requests("cpu", "1"))
			if kind%2 == 0 {
				asked.Spec.Tolerations = []corev1.Toleration{{Key: "k", Operator: corev1.TolerationOpExists}, {Key: corev1.TaintNodeUnschedulable, Operator: corev1.TolerationOpExists}}
			}
			asked.Spec.Containers[0].Image = "app:1"
			if kind > 2 {
				asked.Spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []corev1.PreferredSchedulingTerm{{
					Weight: 5, Preference: corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{{Key: "disk", Operator: corev1.NodeSelectorOpExists}}},
				}}}}
			}
			x.ask(asked)
		}
		if c := x.w.Counters(); c.Kept < c.Whole {
			t.Errorf("seed %d: little was remembered: %+v", seed, c)
		}
	}
}

// TestATaintBeyondTheTrail taints a node before so many changes that no trail reaches back to it.
func TestATaintBeyondTheTrail(t *testing.T) {
	x := newTrio(t, defaults(t), enginetest.Node("a"), enginetest.Node("b"))
	asked := enginetest.Pod("asked", enginetest.Requests("cpu", "1"))
	x.changesAnswer("a taint", asked, func() {
		x.put(enginetest.Node("a", enginetest.Taint("k", "", corev1.TaintEffectNoSchedule)))
		other := enginetest.Pod("other", enginetest.Requests("cpu", "2"))
		for i := range 1200 {
			x.put(enginetest.Pod("moves", enginetest.On([]string{"a", "b"}[i%2])))
			x.ask(other)
		}
	})
}
