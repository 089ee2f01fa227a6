package preempt_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"berth/internal/engine"
	"berth/internal/engine/rules"
	et "berth/test/enginetest"
)

// packed is a node whose pods take all of its cores, which is all that they ask for.
type packed struct {
	name string
	pods []*corev1.Pod
}

func coresOf(p *corev1.Pod) int64 { return p.Spec.Containers[0].Resources.Requests.Cpu().Value() }

// victims are the pods that have to go for a pod, the most important first, with "!" where a budget
// forbids it: all of lower priority go, then each comes back for which there is room, first those
// that budgets protect, and of these the most important.
func (n *packed) victims(pod *corev1.Pod, budgets []*policyv1.PodDisruptionBudget) (out []string) {
	room := -coresOf(pod)
	var lower []*corev1.Pod
	for _, p := range n.pods {
		if *p.Spec.Priority < *pod.Spec.Priority {
			lower = append(lower, p)
			room += coresOf(p)
		}
	}
	if room < 0 {
		return nil
	}
	slices.SortFunc(lower, func(a, b *corev1.Pod) int {
		return cmp.Or(cmp.Compare(*b.Spec.Priority, *a.Spec.Priority), cmp.Compare(a.Name, b.Name))
	})
	forbidden := make([]bool, len(lower))
	for _, b := range budgets {
		left := b.Status.DisruptionsAllowed
		for i, p := range lower {
			_, leaves := b.Status.DisruptedPods[p.Name]
			if leaves || !selects(b.Spec.Selector, p) {
				continue
			}
			left--
			forbidden[i] = forbidden[i] || left < 0
		}
	}
	goes := make([]bool, len(lower))
	for _, protected := range []bool{true, false} {
		for i, p := range lower {
			if forbidden[i] != protected {
				continue
			}
			if goes[i] = room < coresOf(p); !goes[i] {
				room -= coresOf(p)
			}
		}
	}
	for i, p := range lower {
		switch {
		case goes[i] && forbidden[i]:
			out = append(out, p.Name+"!")
		case goes[i]:
			out = append(out, p.Name)
		}
	}
	return out
}

func selects(s *metav1.LabelSelector, p *corev1.Pod) bool {
	for k, v := range s.MatchLabels {
		if p.Labels[k] != v {
			return false
		}
	}
	return true
}

// TestManyPodsOnANode compares every candidate's victims with a count of cores, on nodes whose pods
// take several words of a set, under budgets of all kinds.
func TestManyPodsOnANode(t *testing.T) {
	t.Parallel()
	violations := 0
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 17))
		c := et.Case{Spec: rules.DefaultSpec(), Options: engine.Options{Now: et.Now}, Pod: et.Pod("p", et.Priority(int32(5+r.IntN(40))), cores(fmt.Sprint(1+r.IntN(40))))}
		var nodes []*packed
		for i := range 3 {
			n, cpu := &packed{name: fmt.Sprint("n", i)}, 0
			nodes = append(nodes, n)
			for k := range 60 + r.IntN(80) {
				asks := r.IntN(3)
				cpu += asks
				n.pods = append(n.pods, et.Pod(fmt.Sprintf("%s-%d", n.name, k), et.On(n.name), et.Priority(int32(r.IntN(5)*10)), cores(fmt.Sprint(asks)), et.Labels("app", fmt.Sprint(r.IntN(30)), "tier", fmt.Sprint(r.IntN(9)))))
				c.Objects = append(c.Objects, n.pods[k])
			}
			c.Objects = append(c.Objects, sized(n.name, fmt.Sprint(cpu), et.Allocatable("cpu", fmt.Sprint(cpu), "pods", "200")))
		}
		var budgets []*policyv1.PodDisruptionBudget
		for app := range 20 {
			b := guard(fmt.Sprint("app-", app), fmt.Sprint(app), int32(r.IntN(4)-1))
			if r.IntN(5) == 0 {
				b.Spec.Selector = et.Match("tier", fmt.Sprint(r.IntN(9)))
			}
			if r.IntN(5) == 0 {
				b.Status.DisruptedPods = map[string]metav1.Time{"n0-3": {}, "n1-70": {}, fmt.Sprint("n2-", r.IntN(60)): {}}
			}
			budgets = append(budgets, b)
			c.Objects = append(c.Objects, b)
		}
		d, err := c.Decide()
		if err != nil {
			t.Fatal(err)
		}
		want, got := map[string][]string{}, map[string][]string{}
		for _, n := range nodes {
			if list := n.victims(c.Pod, budgets); list != nil {
				want[n.name] = list
			}
		}
		if p := d.Preemption; p != nil {
			violations += p.NumPDBViolations
			for _, cand := range p.Candidates {
				for _, v := range cand.Victims {
					name := v.Name
					if v.ViolatesPDB {
						name += "!"
					}
					got[cand.Node] = append(got[cand.Node], name)
				}
			}
		}
		if diff := gocmp.Diff(want, got); diff != "" {
			t.Errorf("seed %d (-counted +searched):\n%s", seed, diff)
		}
	}
	if violations < 10 {
		t.Errorf("only %d violations", violations)
	}
}
