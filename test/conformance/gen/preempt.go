package gen

import (
	"fmt"
	"math/rand/v2"

	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// crowd gives preemption something to judge: disruption budgets, victims of
// earlier preemptions, and in a part of the cases a pod that stands above most
// others on nodes that are full. It draws from numbers of its own, so that
// everything else of a case stays as it is.
func (m *maker) crowd(seed uint64, incoming *v1.Pod) {
	d := *m
	d.Rand = rand.New(rand.NewPCG(seed, 0x7072656d7074))
	urgent := d.chance(45)
	if urgent {
		value := int32(pick(&d, 50, 1500, 5000))
		incoming.Spec.Priority, incoming.Spec.PriorityClassName = &value, ""
	}
	for _, o := range m.objs {
		switch o := o.(type) {
		case *v1.Node:
			if urgent && d.chance(60) {
				full := resource.MustParse(pick(&d, "1", "2", "3", "5"))
				for _, list := range []v1.ResourceList{o.Status.Allocatable, o.Status.Capacity} {
					if list != nil {
						list[v1.ResourcePods] = full
					}
				}
			}
		case *v1.Pod:
			if o != incoming && o.DeletionTimestamp != nil && d.chance(60) {
				o.Status.Conditions = append(o.Status.Conditions, v1.PodCondition{Type: v1.DisruptionTarget, Status: v1.ConditionTrue,
					Reason: pick(&d, v1.PodReasonPreemptionByScheduler, v1.PodReasonPreemptionByScheduler, "EvictionByEvictionAPI")})
			}
		}
	}
	if d.chance(55) {
		d.budgets()
		m.objs, m.serial = d.objs, d.serial
	}
}

// budgets draws disruption budgets, some with an empty selector or none.
func (m *maker) budgets() {
	pods := m.objs
	for i := range m.between(1, 5) {
		b := &policyv1.PodDisruptionBudget{TypeMeta: metav1.TypeMeta{APIVersion: "policy/v1", Kind: "PodDisruptionBudget"}, ObjectMeta: m.meta(pick(m, namespaces...), fmt.Sprintf("pdb%d", i), nil)}
		b.Spec.Selector = m.selector()
		b.Status.DisruptionsAllowed = int32(pick(m, 0, 0, 1, 1, 2, 5))
		for _, o := range pods {
			p, ok := o.(*v1.Pod)
			if ok && p.Namespace == b.Namespace && m.chance(10) {
				if b.Status.DisruptedPods == nil {
					b.Status.DisruptedPods = map[string]metav1.Time{}
				}
				b.Status.DisruptedPods[p.Name] = metav1.NewTime(epoch)
			}
		}
		m.objs = append(m.objs, b)
	}
}
