package engine

import (
	"cmp"
	"slices"
	"sync"

	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// budget is a PodDisruptionBudget, ready to match.
type budget struct {
	namespace, name string
	allowed         int32
	disrupted       map[string]metav1.Time
	selector        labels.Selector
}

// budgetSet is all budgets of the states that share it, worked out when the
// first of them looks for victims, and which shapes of pods each is about.
type budgetSet struct {
	mu    sync.Mutex
	built bool
	list  []budget // by namespace and name
	byNS  map[string][]int32
	shape [][]int32 // by shape: the budgets that it is under
}

// of gives the budgets, and by shape which of them it is under. Both are only
// ever added to, so what was given stays as it is.
func (b *budgetSet) of(s *State) ([]budget, [][]int32) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.built {
		b.build(s)
	}
	if len(b.list) == 0 {
		return nil, nil
	}
	// Shapes that came since are few, and so are the budgets of a namespace.
	s.t.mu.RLock()
	defer s.t.mu.RUnlock()
	for _, sh := range s.t.shapes[len(b.shape):] {
		b.shape = append(b.shape, b.matching(sh))
	}
	return b.list, b.shape
}

func (b *budgetSet) matching(sh *Shape) []int32 {
	if len(sh.Labels) == 0 {
		return nil // a pod without labels is under no budget, whatever the selector says
	}
	var out []int32
	for _, i := range b.byNS[sh.Namespace] {
		if b.list[i].selector.Matches(sh.Labels) {
			out = append(out, i)
		}
	}
	return out
}

// build sorts the budgets and matches them with the shapes that are known so
// far, budget by budget, which an equality in its selector makes short. One
// whose selector is empty, absent or not valid is about no pod
// (plugins/defaultpreemption filterPodsWithPDBViolation).
func (b *budgetSet) build(s *State) {
	b.built = true
	var list []*policyv1.PodDisruptionBudget
	for _, o := range s.objects {
		for _, p := range o.budgets {
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
		b.list = append(b.list, budget{p.Namespace, p.Name, p.Status.DisruptionsAllowed, p.Status.DisruptedPods, sel})
	}
	if len(b.list) == 0 {
		return
	}
	b.shape = make([][]int32, s.t.Size())
	var found []*Shape
	for i := range b.list {
		found = s.t.matchShapes(found[:0], b.list[i].selector, b.list[i].namespace, nil, func() {})
		for _, sh := range found {
			if len(sh.Labels) > 0 && int(sh.ID) < len(b.shape) {
				b.shape[sh.ID] = append(b.shape[sh.ID], int32(i))
			}
		}
	}
}

// ledger counts what evictions take from the budgets, on one node at a time.
type ledger struct {
	list    []budget
	shape   [][]int32
	left    []int32
	touched []int32
	// disrupts says which budgets name pods that are gone already.
	disrupts []bool
}

func (s *State) ledger() *ledger {
	list, shape := s.budgets.of(s)
	l := &ledger{list: list, shape: shape, left: make([]int32, len(list)), disrupts: make([]bool, len(list))}
	for i := range list {
		l.left[i], l.disrupts[i] = list[i].allowed, len(list[i].disrupted) > 0
	}
	return l
}

// reset gives everything back, for the next node.
func (l *ledger) reset() {
	for _, i := range l.touched {
		l.left[i] = l.list[i].allowed
	}
	l.touched = l.touched[:0]
}

// take counts a pod against its budgets and says whether one of them has no
// room for that. A pod that a budget counts as disrupted already takes nothing
// more from it. The pod itself is looked at only for that: it is far away in
// memory.
func (l *ledger) take(under []int32, p *Pod) (violates bool) {
	for _, i := range under {
		if l.disrupts[i] {
			if _, done := l.list[i].disrupted[p.Name]; done {
				continue
			}
		}
		l.left[i]--
		l.touched = append(l.touched, i)
		violates = violates || l.left[i] < 0
	}
	return violates
}
