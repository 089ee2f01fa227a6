package suggest

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"berth/internal/engine"
	"berth/internal/engine/preempt"
)

const (
	maxClasses = 8
	maxBudgets = 4
)

// preemption lets a pod evict others where its policy or its priority prevents that: by another
// policy, or by the lowest priority class of the snapshot that suffices.
func (s *searcher) preemption() {
	if s.base.Outcome != engine.UnschedulableOK || s.q.Options.NoPreemption || !s.q.Profile.Preemption {
		return
	}
	if p := s.q.Pod.Spec.PreemptionPolicy; p != nil && *p == corev1.PreemptNever {
		s.offerEviction("preemptionPolicy", costPreemptionPolicy, AskPlatform, "let the pod preempt others (preemptionPolicy Never -> PreemptLowerPriority)",
			Op{"replace", "/spec/preemptionPolicy", corev1.PreemptLowerPriority})
	}
	have := int32(0)
	if p := s.q.Pod.Spec.Priority; p != nil {
		have = *p
	}
	tried := 0
	for _, c := range s.q.State.PriorityClasses() {
		if c.Value <= have || strings.HasPrefix(c.Name, "system-") && s.q.Pod.Namespace != "kube-system" {
			continue
		}
		if tried++; tried > maxClasses {
			return
		}
		policy := corev1.PreemptLowerPriority
		if c.PreemptionPolicy != nil {
			policy = *c.PreemptionPolicy
		}
		if s.offerEviction("priorityClass", costPriorityClass, AskPlatform, fmt.Sprintf("use the priority class %s (%d) instead of priority %d", c.Name, c.Value, have),
			Op{"add", "/spec/priorityClassName", c.Name}, Op{"add", "/spec/priority", c.Value}, Op{"add", "/spec/preemptionPolicy", policy}) {
			return
		}
	}
}

// budgets lets a budget that the best choice of victims violates allow one more disruption.
func (s *searcher) budgets() {
	if s.base.Outcome != engine.Preempting {
		return
	}
	tried := map[[2]string]bool{}
	for _, v := range preempt.Victims(s.base) {
		for _, b := range v.Budgets {
			key := [2]string{v.Namespace, b.Name}
			if !b.Violated || tried[key] || len(tried) == maxBudgets {
				continue
			}
			tried[key] = true
			n, ok := s.allowed(v.Namespace, b.Name)
			if !ok {
				continue
			}
			s.offerBudget(v.Namespace, b.Name, fmt.Sprintf("let the disruption budget %s allow 1 more disruption (%d -> %d)", key, n, n+1),
				Op{"add", "/status/disruptionsAllowed", n + 1})
		}
	}
}

// allowed returns the disruptions that a budget allows.
func (s *searcher) allowed(namespace, name string) (int32, bool) {
	var b struct {
		Status *struct {
			DisruptionsAllowed int32 `json:"disruptionsAllowed"`
		} `json:"status"`
	}
	js := s.q.Object("PodDisruptionBudget", namespace, name)
	if js == nil || apply(js, nil, &b) != nil || b.Status == nil {
		return 0, false
	}
	return b.Status.DisruptionsAllowed, true
}
