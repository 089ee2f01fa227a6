package devices

import (
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
)

// shareSpace is the name space of the ids of shares.
var shareSpace = uuid.NewSHA1(uuid.NameSpaceDNS, []byte("berth.shares"))

// Allocation returns a claim's allocation on a node as it is written to the claim's status. Driver
// configuration is not part of snapshots and of no allocation here. Where upstream generates the id
// of a share, this derives it from the claim, so that a replay has the same id. It has no time yet
// (structured/internal/incubating Allocator.Allocate, createNodeSelector).
func (g *Given) Allocation(c *resourcev1.ResourceClaim, node string) *resourcev1.AllocationResult {
	a := &resourcev1.AllocationResult{NodeSelector: g.nodeSelector(node)}
	for i := range g.Devices {
		d := &g.Devices[i]
		r := resourcev1.DeviceRequestAllocationResult{
			Request: d.Request, Driver: d.Driver, Pool: d.Pool, Device: d.Device,
		}
		if !d.as.tolerationsForgotten {
			r.Tolerations = d.of.tolerations
		}
		if d.as.conditions {
			r.BindingConditions, r.BindingFailureConditions = d.device.BindingConditions, d.device.BindingFailureConditions
		}
		if d.Admin {
			r.AdminAccess = new(bool)
			*r.AdminAccess = true
		}
		if d.device.multi {
			id := newShare(c, i, d)
			r.ShareID = &id
			if part := d.as.capacityOf(d.device, d.of.capacity); len(part) > 0 {
				r.ConsumedCapacity = part
			}
		}
		a.Devices.Results = append(a.Devices.Results, r)
	}
	return a
}

// AllocatedAt is a time at the precision that JSON keeps.
func AllocatedAt(now time.Time) *metav1.Time {
	at := metav1.NewTime(now.UTC().Truncate(time.Second))
	return &at
}

// nodeSelector selects the nodes on which the allocated devices can be used; nil for all.
func (g *Given) nodeSelector(node string) *corev1.NodeSelector {
	var term corev1.NodeSelectorTerm
	add := func(to *[]corev1.NodeSelectorRequirement, more []corev1.NodeSelectorRequirement) {
		for _, r := range more {
			if !hasRequirement(*to, r) {
				*to = append(*to, r)
			}
		}
	}
	for i := range g.Devices {
		itself, sel := g.Devices[i].device.where(g.Devices[i].as)
		if itself {
			term = corev1.NodeSelectorTerm{MatchFields: []corev1.NodeSelectorRequirement{{
				Key: metav1.ObjectNameField, Operator: corev1.NodeSelectorOpIn, Values: []string{node},
			}}}
			break
		}
		if sel != nil && len(sel.NodeSelectorTerms) == 1 {
			add(&term.MatchFields, sel.NodeSelectorTerms[0].MatchFields)
			add(&term.MatchExpressions, sel.NodeSelectorTerms[0].MatchExpressions)
		}
	}
	if len(term.MatchFields)+len(term.MatchExpressions) == 0 {
		return nil
	}
	return &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{term}}
}

// where reports whether an allocation of the device names the node itself; otherwise it returns the
// device's node selector, nil for all nodes.
func (d *device) where(as *Behaviour) (itself bool, sel *corev1.NodeSelector) {
	name, sel := d.slice.Spec.NodeName, d.slice.Spec.NodeSelector
	if yes(d.slice.Spec.PerDeviceNodeSelection) {
		name, sel = d.NodeName, d.NodeSelector
	}
	return name != nil || !as.plain && yes(d.BindsToNode), sel
}

// hasRequirement reports whether a list has a requirement, whatever the order of its values.
func hasRequirement(list []corev1.NodeSelectorRequirement, want corev1.NodeSelectorRequirement) bool {
	values := sets.New(want.Values...)
	return slices.ContainsFunc(list, func(r corev1.NodeSelectorRequirement) bool {
		return r.Key == want.Key && r.Operator == want.Operator && sets.New(r.Values...).Equal(values)
	})
}

// newShare names the share of a device that a claim gets as its nth.
func newShare(c *resourcev1.ResourceClaim, n int, d *GivenDevice) types.UID {
	return types.UID(uuid.NewSHA1(shareSpace, fmt.Appendf(nil, "%q %q %q %q %d", c.Namespace, c.Name, c.UID, d.ID, n)).String())
}

// capacityOf is what a request takes of a device that several may share
// (structured/internal/incubating GetConsumedCapacityFromRequest).
func (as *Behaviour) capacityOf(d *device, asked *resourcev1.CapacityRequirements) amounts {
	out := amounts{}
	for name, c := range d.Capacity {
		want, some := requested(asked, name)
		n := consumed(want, some, &c)
		if r := rounding(c.RequestPolicy); as.badAmountsFail && some && r != nil && want.Cmp(*r.Min) >= 0 {
			n.Format = r.Step.Format
		}
		out[name] = n
	}
	return out
}
