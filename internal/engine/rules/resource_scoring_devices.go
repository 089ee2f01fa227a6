package rules

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"berth/internal/engine"
	"berth/internal/engine/state"
)

var (
	_ engine.Abstainer = (*NodeResourcesFit)(nil)
	_ engine.Abstainer = (*NodeResourcesBalancedAllocation)(nil)
)

// scoresByDevices returns what a score leaves out where the profile scores by an extended resource
// that a device class provides: devices on nodes that do not offer the resource themselves
// (plugins/noderesources/resource_allocation.go calculateDRAExtendedResourceAllocatableRequest).
func scoresByDevices(q *engine.Query, resources []ResourceWeight) (string, bool) {
	for _, r := range resources {
		name := corev1.ResourceName(r.Name)
		if q.State.ExtendedClass(name) == nil || !state.IsDeviceResource(name) {
			continue
		}
		id, known := q.ScalarID(r.Name)
		for _, s := range q.Request.Scalars {
			if known && s.ID == id && s.N != 0 {
				return fmt.Sprintf("this version of berth leaves devices behind %s out of the score", r.Name), true
			}
		}
	}
	return "", false
}

// NotEvaluated names what the score leaves out; the filter leaves out nothing.
func (f *NodeResourcesFit) NotEvaluated(q *engine.Query) (string, bool) {
	if !f.extended {
		return "", false
	}
	return scoresByDevices(q, f.scorer.resources)
}

// NotEvaluated names what the score leaves out.
func (b *NodeResourcesBalancedAllocation) NotEvaluated(q *engine.Query) (string, bool) {
	if !b.extended {
		return "", false
	}
	return scoresByDevices(q, b.Resources)
}
