package rules

import (
	"slices"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	"berth/internal/engine"
	"berth/internal/engine/devices"
)

// Hints returns those of nodes, of the pod's own claims and any that is freed, of classes and
// slices (plugins/dynamicresources isSchedulableAfterClaimChange, isSchedulableAfterPodChange). A
// rule that taints devices updates their slices.
func (d *DynamicResources) Hints() []engine.Hint {
	hints := []engine.Hint{
		{Kind: "Node", Action: engine.Add | engine.UpdateNodeLabel | engine.UpdateNodeAllocatable},
		{Kind: "ResourceClaim", Action: engine.Add | engine.Update, Queue: d.afterClaim},
		{Kind: "Pod", Action: engine.UpdatePodGeneratedResourceClaim, Queue: func(w *engine.Waiter, _ *engine.Event) bool {
			if !w.Self {
				return false
			}
			_, why := d.claimsOf(w.State, w.Pod)
			return why == ""
		}},
		{Kind: "DeviceClass", Action: engine.Add | engine.Update},
		{Kind: "ResourceSlice", Action: engine.Add | engine.Update},
	}
	if d.deletionWakes {
		hints = append(hints, engine.Hint{
			Kind: "ResourceClaim", Action: engine.Delete, Queue: func(_ *engine.Waiter, e *engine.Event) bool {
				was, _ := versions[resourcev1.ResourceClaim](e)
				return was.Status.Allocation != nil // its devices are free for any pod
			},
		})
	}
	if d.taintRules {
		hints = append(hints, engine.Hint{
			Kind: "DeviceTaintRule", Action: engine.Add | engine.Update | engine.Delete, Queue: afterTaintRule,
		})
	}
	return hints
}

// afterTaintRule reports whether some device has other taints after a change of a rule
// (dynamic-resource-allocation/resourceslice/tracker syncSlice).
func afterTaintRule(w *engine.Waiter, e *engine.Event) bool {
	was, is := versions[resourcev1.DeviceTaintRule](e)
	for _, rs := range w.State.ResourceSlices() {
		for i := range rs.Spec.Devices {
			d := &rs.Spec.Devices[i]
			before := was != nil && devices.Selects(was, rs, d)
			after := is != nil && devices.Selects(is, rs, d)
			if before != after || after && !equality.Semantic.DeepEqual(&was.Spec.Taint, &is.Spec.Taint) {
				return true
			}
		}
	}
	return false
}

func (d *DynamicResources) afterClaim(w *engine.Waiter, e *engine.Event) bool {
	was, is := versions[resourcev1.ResourceClaim](e)
	claims, why := d.claimsOf(w.State, w.Pod)
	if why != "" {
		return false
	}
	if was != nil && was.Status.Allocation != nil && is.Status.Allocation == nil {
		return true // its devices are free for any pod
	}
	own := slices.ContainsFunc(claims, func(c *resourcev1.ResourceClaim) bool { return c.Namespace == is.Namespace && c.Name == is.Name })
	return own && (was == nil || !equality.Semantic.DeepEqual(&was.Status, &is.Status))
}
