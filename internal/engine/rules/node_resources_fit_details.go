package rules

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"berth/internal/engine"
)

// InsufficientCause returns the code for too little of a resource.
func InsufficientCause(resource string) string {
	switch corev1.ResourceName(resource) {
	case corev1.ResourcePods:
		return engine.CauseTooManyPods
	case corev1.ResourceCPU:
		return engine.CauseInsufficientCPU
	case corev1.ResourceMemory:
		return engine.CauseInsufficientMemory
	case corev1.ResourceEphemeralStorage:
		return engine.CauseInsufficientEphemeralStorage
	}
	return engine.CauseInsufficientExtended
}

// UnitOf returns the unit of a resource's amounts in details.
func UnitOf(resource string) string {
	switch corev1.ResourceName(resource) {
	case corev1.ResourceCPU:
		return "millicores"
	case corev1.ResourceMemory, corev1.ResourceEphemeralStorage:
		return "bytes"
	}
	if strings.HasPrefix(resource, corev1.ResourceHugePagesPrefix) {
		return "bytes"
	}
	return "count"
}

// resourceCause leaves the amount out where the node does not list the resource at all, which is
// for DynamicResources to find.
func resourceCause(d *engine.Detail) engine.Cause {
	c := engine.Cause{Code: InsufficientCause(d.Name), About: d.Name}
	if d.Requested == nil || d.Available == nil {
		return c
	}
	c.Of, c.Unit, c.Short = d.Name, UnitOf(d.Name), *d.Requested-*d.Available
	c.Message, c.Verdict = ReasonInsufficient+d.Name, engine.Unschedulable
	if c.Code == engine.CauseTooManyPods {
		c.Message = ReasonTooManyPods
	}
	if d.Capacity != nil && *d.Requested > *d.Capacity {
		c.Verdict = engine.UnschedulableAndUnresolvable
	}
	return c
}

func resourceWords(d *engine.Detail, amounts engine.AmountsFunc) string {
	if d.Requested == nil || d.Available == nil {
		return d.Name
	}
	list := []int64{*d.Requested, *d.Available, *d.Requested - *d.Available}
	if d.Capacity != nil {
		list = append(list, *d.Capacity)
	}
	text := amounts(d.Name, list)
	s := fmt.Sprintf("needs %s, %s free", text[0], text[1])
	if d.Capacity != nil {
		s += " of " + text[3]
	}
	if list[2] <= 0 {
		return d.Name + ": " + s
	}
	return fmt.Sprintf("%s: short %s (%s)", d.Name, text[2], s)
}
