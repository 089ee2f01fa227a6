package world

import (
	"cmp"
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"

	"berth/internal/decision"
	"berth/internal/engine/state"
	"berth/internal/kube/object"
	"berth/internal/podlife"
	"berth/internal/revision"
)

// budgets are the disruption budgets of a fork with their allowances as pods come and go. They
// begin with the statuses of the base, and follow pods as the disruption controller does once it
// has seen them (pkg/controller/disruption/disruption.go trySync, countHealthyPods).
type budgets struct {
	byNS map[string][]*budget
	// Unseen are budgets without a status: no controller has looked at them, so they allow nothing.
	Unseen []string
}

type budget struct {
	pdb      *policyv1.PodDisruptionBudget
	selector labels.Selector
	// follows reports that the status is one that the controller worked out of its pods. One that
	// it failed to work out allows nothing whatever the pods do.
	follows bool
}

// budgets returns those of the base, to be changed.
func (f *Fork) budgets(ctx context.Context) (*budgets, error) {
	if f.of != nil {
		return f.of.budgets.copied(), nil
	}
	return readBudgets(ctx, f.base)
}

func readBudgets(ctx context.Context, v *revision.View) (*budgets, error) {
	items, _, err := v.List(ctx, "PodDisruptionBudget", object.Key{}, 0)
	if err != nil {
		return nil, err
	}
	b := &budgets{byNS: map[string][]*budget{}}
	for _, raw := range items {
		o, err := object.FromCanonical("PodDisruptionBudget", raw)
		if err != nil {
			return nil, fmt.Errorf("budget in %s: %w", v.ID(), err)
		}
		pdb := o.Value.(*policyv1.PodDisruptionBudget)
		selector, err := metav1.LabelSelectorAsSelector(pdb.Spec.Selector)
		if err != nil {
			continue // selects nothing
		}
		s := &pdb.Status
		if s.DisruptionsAllowed == 0 && s.CurrentHealthy == 0 && s.DesiredHealthy == 0 && s.ExpectedPods == 0 {
			b.Unseen = append(b.Unseen, pdb.Namespace+"/"+pdb.Name)
		}
		follows := s.DisruptionsAllowed == max(0, s.CurrentHealthy-s.DesiredHealthy) && s.ExpectedPods > 0
		b.byNS[pdb.Namespace] = append(b.byNS[pdb.Namespace], &budget{pdb, selector, follows})
	}
	return b, nil
}

// of returns the budgets that select a pod.
func (b *budgets) of(pod *corev1.Pod) (list []*budget) {
	for _, one := range b.byNS[pod.Namespace] {
		if one.selector.Matches(labels.Set(pod.Labels)) {
			list = append(list, one)
		}
	}
	return list
}

// JudgeEviction answers as the Eviction API does, and counts nothing.
func (w *World) JudgeEviction(pod *corev1.Pod) podlife.EvictionVerdict {
	var list []*policyv1.PodDisruptionBudget
	for _, one := range w.budgets.of(pod) {
		list = append(list, one.pdb)
	}
	return podlife.JudgeEviction(pod, list, IsReady(pod))
}

// BudgetOf returns the budget that an eviction of a pod counts against, with its status as it is
// now; nil where it has none, or several. Not to be written.
func (w *World) BudgetOf(pod *corev1.Pod) *policyv1.PodDisruptionBudget {
	if list := w.budgets.of(pod); len(list) == 1 {
		return list[0].pdb
	}
	return nil
}

// changed counts a pod that became healthy (1), or was and is no more (-1). Preemptions read the
// allowances too, from the state.
func (b *budgets) changed(f *Fork, pod *corev1.Pod, by int32) error {
	for _, one := range b.of(pod) {
		was := one.pdb.Status
		f.OnUndo(func() { one.pdb.Status = was })
		if s := &one.pdb.Status; one.follows {
			s.CurrentHealthy += by
			s.DisruptionsAllowed = max(0, s.CurrentHealthy-s.DesiredHealthy)
		} else if by < 0 {
			s.DisruptionsAllowed = max(0, s.DisruptionsAllowed-1)
		}
		if one.pdb.Status.DisruptionsAllowed != was.DisruptionsAllowed {
			if err := f.putBudget(one.pdb, was); err != nil {
				return err
			}
		}
	}
	return nil
}

// scaled has the owner of a pod want more pods, or fewer: budgets that are shares of what owners
// want need another number of healthy pods (disruption.go getExpectedPodCount).
func (b *budgets) scaled(f *Fork, pod *corev1.Pod, by int32) error {
	for _, one := range b.of(pod) {
		spec, was := &one.pdb.Spec, one.pdb.Status
		s := &one.pdb.Status
		whole := spec.MinAvailable != nil && spec.MinAvailable.Type == intstr.Int
		if !one.follows || whole {
			continue
		}
		f.OnUndo(func() { one.pdb.Status = was })
		s.ExpectedPods += by
		if err := desire(one.pdb); err != nil {
			return err
		}
		if s.DisruptionsAllowed != was.DisruptionsAllowed {
			if err := f.putBudget(one.pdb, was); err != nil {
				return err
			}
		}
	}
	return nil
}

// desire works out how many healthy pods a budget wants, and how many may go (disruption.go
// getExpectedPodCount, updatePdbStatus).
func desire(pdb *policyv1.PodDisruptionBudget) error {
	spec, s := &pdb.Spec, &pdb.Status
	if spec.MaxUnavailable == nil && spec.MinAvailable == nil { // it wants none, and lets none go
		s.ExpectedPods, s.DesiredHealthy, s.DisruptionsAllowed = 0, 0, 0
		return nil
	}
	n, err := intstr.GetScaledValueFromIntOrPercent(cmp.Or(spec.MaxUnavailable, spec.MinAvailable), int(s.ExpectedPods), true)
	if err != nil {
		return decision.Errorf(decision.Invalid, "events", "budget %s/%s: %v", pdb.Namespace, pdb.Name, err)
	}
	if s.DesiredHealthy = int32(n); spec.MaxUnavailable != nil {
		s.DesiredHealthy = max(0, s.ExpectedPods-int32(n))
	}
	if s.DisruptionsAllowed = max(0, s.CurrentHealthy-s.DesiredHealthy); s.ExpectedPods <= 0 {
		s.DisruptionsAllowed = 0
	}
	return nil
}

// SetBudget has a budget want another number of pods: one of the two is nil. It returns why that
// cannot be; empty where it can.
func (w *World) SetBudget(namespace, name string, minAvailable, maxUnavailable *intstr.IntOrString) (refused string, err error) {
	for i, one := range w.budgets.byNS[namespace] {
		if one.pdb.Name != name {
			continue
		}
		now := &budget{one.pdb.DeepCopy(), one.selector, true}
		now.pdb.Spec.MinAvailable, now.pdb.Spec.MaxUnavailable = minAvailable, maxUnavailable
		s := &now.pdb.Status
		if !one.follows {
			if s.ExpectedPods, s.CurrentHealthy, err = w.counted(now); err != nil {
				return "", err
			}
		}
		if err := desire(now.pdb); err != nil {
			return "", err
		}
		list := w.budgets.byNS[namespace]
		list[i] = now
		w.OnUndo(func() { list[i] = one })
		w.tell(Moment{What: BudgetChanged, Owner: "PodDisruptionBudget/" + name, Why: fmt.Sprintf("%d of %d healthy pods may go", s.DisruptionsAllowed, s.CurrentHealthy)})
		return "", w.putBudget(now.pdb, one.pdb.Status)
	}
	return fmt.Sprintf("poddisruptionbudgets.policy %q not found", name), nil
}

// counted returns how many pods a budget selects, and how many of them are healthy.
func (w *World) counted(b *budget) (pods, healthy int32, err error) {
	var names []PodName
	w.State().EachPod(func(p *state.Pod) {
		if p.Namespace == b.pdb.Namespace && !p.Terminal && b.selector.Matches(p.Class.Shape.Labels) {
			names = append(names, PodName{p.Namespace, p.Name})
		}
	})
	for _, n := range names {
		p, err := w.Pod(n.Namespace, n.Name)
		if err != nil {
			return 0, 0, err
		}
		if pods++; IsReady(p) && p.DeletionTimestamp == nil {
			healthy++
		}
	}
	return pods, healthy, w.steps.Take(w.State().PodCount())
}

// putBudget stores a budget whose status was another one. No pod that waits hears of it.
func (f *Fork) putBudget(pdb *policyv1.PodDisruptionBudget, was policyv1.PodDisruptionBudgetStatus) error {
	now, before := *pdb, *pdb
	before.Status = was
	if f.marked {
		f.undo = append(f.undo, func() error { return f.walk.Changes().Put(&before) })
	}
	f.changes++
	if err := f.walk.Changes().Put(&now); err != nil {
		return fmt.Errorf("budget %s/%s: %w", pdb.Namespace, pdb.Name, err)
	}
	return nil
}

// IsReady reports whether a pod's condition Ready is true.
func IsReady(p *corev1.Pod) bool {
	c := ReadyCondition(p)
	return c != nil && c.Status == corev1.ConditionTrue
}

// ReadyCondition returns a pod's condition Ready; nil where it has none.
func ReadyCondition(p *corev1.Pod) *corev1.PodCondition {
	for i := range p.Status.Conditions {
		if c := &p.Status.Conditions[i]; c.Type == corev1.PodReady {
			return c
		}
	}
	return nil
}
