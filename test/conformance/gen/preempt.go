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
	if urgent && d.chance(70) {
		unbind(incoming)
	}
	packed, there := urgent && d.chance(75), map[string]int{}
	for _, o := range m.objs {
		if p, ok := o.(*v1.Pod); ok && p.Status.Phase == v1.PodRunning {
			there[p.Spec.NodeName]++
		}
	}
	for _, o := range m.objs {
		switch o := o.(type) {
		case *v1.Node:
			if packed && d.chance(95) {
				full := *resource.NewQuantity(int64(there[o.Name]-d.IntN(2)), resource.DecimalSI)
				if full.Sign() < 0 {
					full.Set(0)
				}
				for _, list := range []v1.ResourceList{o.Status.Allocatable, o.Status.Capacity} {
					if list != nil {
						list[v1.ResourcePods] = full
					}
				}
			}
		case *v1.Pod:
			if o != incoming && o.DeletionTimestamp != nil && d.chance(60) {
				o.Status.Conditions = append(o.Status.Conditions, v1.PodCondition{
					Type: v1.DisruptionTarget, Status: v1.ConditionTrue,
					Reason: pick(&d, v1.PodReasonPreemptionByScheduler, v1.PodReasonPreemptionByScheduler, "EvictionByEvictionAPI"),
				})
			}
		}
	}
	if d.chance(55) {
		d.budgets()
		m.objs, m.serial = d.objs, d.serial
	}
}

// unbind leaves nothing but other pods in a pod's way.
func unbind(p *v1.Pod) {
	p.Spec.NodeSelector, p.Spec.SchedulingGates = nil, nil
	p.Spec.Tolerations = []v1.Toleration{{Operator: v1.TolerationOpExists}}
	if p.Spec.Affinity != nil {
		p.Spec.Affinity.NodeAffinity = nil
	}
	if p.Spec.HostUsers != nil {
		p.Spec.HostUsers, p.Spec.HostNetwork = nil, false
	}
	p.Spec.Containers[0].RestartPolicy, p.Spec.Containers[0].RestartPolicyRules = nil, nil
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
