package state

import (
	"cmp"
	"slices"
	"sync"

	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// DisruptionBudget is a PodDisruptionBudget, ready to match.
type DisruptionBudget struct {
	Namespace, Name string
	Allowed         int32
	Disrupted       map[string]metav1.Time
	Selector        labels.Selector
}

// budgetSet is all budgets of the states that share it, and which shapes of pods each selects. It
// is worked out on first use.
type budgetSet struct {
	mu    sync.Mutex
	built bool
	list  []DisruptionBudget // by namespace and name
	byNS  map[string][]int32
	shape [][]int32 // by shape: the budgets that select it
	sole  []int32   // by class
}

// Budgets returns the disruption budgets by namespace and name, by shape which of them select it,
// and by class the only one, which is what dry runs read of most pods: len(list) where no budget
// selects them, -1 where several do or one that lists disrupted pods, so that each pod has to be
// looked at. None is to be written.
func (s *State) Budgets() (list []DisruptionBudget, byShape [][]int32, sole []int32) {
	return s.budgets.of(s)
}

// of returns what Budgets does. The columns only grow, so what was returned before stays valid.
func (b *budgetSet) of(s *State) (list []DisruptionBudget, byShape [][]int32, sole []int32) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.built {
		b.build(s)
	}
	if len(b.list) == 0 {
		return nil, nil, nil
	}
	// Shapes that came since are few, and so are the budgets of a namespace.
	s.t.mu.RLock()
	defer s.t.mu.RUnlock()
	for _, sh := range s.t.shapes[len(b.shape):] {
		b.shape = append(b.shape, b.matching(sh))
	}
	for _, c := range s.t.columns.of[len(b.sole):] {
		only := int32(len(b.list))
		switch under := b.shape[c.shape]; {
		case len(under) > 1 || len(under) == 1 && len(b.list[under[0]].Disrupted) > 0:
			only = -1
		case len(under) == 1:
			only = under[0]
		}
		b.sole = append(b.sole, only)
	}
	return b.list, b.shape, b.sole
}

func (b *budgetSet) matching(sh *Shape) []int32 {
	if len(sh.Labels) == 0 {
		return nil // no budget selects a pod without labels, whatever the selector is
	}
	var out []int32
	for _, i := range b.byNS[sh.Namespace] {
		if b.list[i].Selector.Matches(sh.Labels) {
			out = append(out, i)
		}
	}
	return out
}

// build sorts the budgets and matches them with the shapes known so far, budget by budget; an
// equality in the selector makes that short. An empty, absent or invalid selector selects no pod
// (plugins/defaultpreemption filterPodsWithPDBViolation).
func (b *budgetSet) build(s *State) {
	b.built = true
	var list []*policyv1.PodDisruptionBudget
	for _, budgets := range s.budgetsOf {
		for _, p := range budgets {
			list = append(list, p)
		}
	}
	slices.SortFunc(list, func(x, y *policyv1.PodDisruptionBudget) int {
		return cmp.Or(cmp.Compare(x.Namespace, y.Namespace), cmp.Compare(x.Name, y.Name))
	})
	b.byNS = map[string][]int32{}
	for _, p := range list {
		sel, err := metav1.LabelSelectorAsSelector(p.Spec.Selector)
		if err != nil || sel.Empty() {
			continue
		}
		if _, selectable := sel.Requirements(); !selectable {
			continue
		}
		b.byNS[p.Namespace] = append(b.byNS[p.Namespace], int32(len(b.list)))
		b.list = append(b.list, DisruptionBudget{p.Namespace, p.Name, p.Status.DisruptionsAllowed, p.Status.DisruptedPods, sel})
	}
	if len(b.list) == 0 {
		return
	}
	b.shape = make([][]int32, s.t.Size())
	var found []*Shape
	for i := range b.list {
		found = s.t.matchShapes(found[:0], b.list[i].Selector, b.list[i].Namespace, nil, func() {})
		for _, sh := range found {
			if len(sh.Labels) > 0 && int(sh.ID) < len(b.shape) {
				b.shape[sh.ID] = append(b.shape[sh.ID], int32(i))
			}
		}
	}
}
