package rules

import (
	"slices"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	"berth/internal/engine"
)

// Hints returns those of nodes, of the pod's own claims and any that is freed, of classes and
// slices (plugins/dynamicresources isSchedulableAfterClaimChange, isSchedulableAfterPodChange).
func (d *DynamicResources) Hints() []engine.Hint {
	return []engine.Hint{
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
