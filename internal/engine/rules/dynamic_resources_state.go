package rules

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"

	"berth/internal/engine"
	"berth/internal/engine/devices"
	"berth/internal/engine/state"
)

// deviceState is the PreFilter state of DynamicResources: the pod's claims, after them the claim
// for extended resources, and the verdict of each node that was judged.
type deviceState struct {
	rule      *DynamicResources
	inventory *devices.Inventory
	claims    []*resourcev1.ResourceClaim
	selected  []state.Bits // by claim: the nodes on which its allocation is usable; nil for all
	special   int          // the index of the claim for extended resources; -1 without
	resources []state.Scalar
	allocate  bool // some claim is not allocated yet
	budget    int  // how many devices may still be tried
	rows      map[int]*deviceVerdict
}

// deviceVerdict is the verdict on one node.
type deviceVerdict struct {
	reason  string // empty where the node fits
	detail  string // of the reason, where it stands for several causes
	err     error
	asked   []*resourcev1.ResourceClaim // the claims that had to be allocated
	given   []devices.Given             // their allocations; nil where none was needed or found
	missing []int                       // claims that are allocated elsewhere
}

// on judges a node, once.
func (s *deviceState) on(q *engine.Query, row int) *deviceVerdict {
	v := s.rows[row]
	if v == nil {
		v = s.judge(q, row)
		s.rows[row] = v
	}
	return v
}

// judge is upstream's Filter.
func (s *deviceState) judge(q *engine.Query, row int) *deviceVerdict {
	v := &deviceVerdict{}
	special, settled := s.onNode(q, row, v)
	if settled {
		return v
	}
	for i, c := range s.claims {
		if c.Status.Allocation != nil && (!s.reaches(i, row) || s.rule.overdue(q, c) || s.rule.skips(c) && !skipping(q, row)) {
			v.missing = append(v.missing, i)
		}
	}
	if s.allocate {
		for i, c := range s.claims {
			if c.Status.Allocation != nil {
				continue
			}
			if i == s.special && special != nil {
				c = special
			}
			v.asked = append(v.asked, c)
		}
		given, err := s.inventory.Allocate(q.Context(), s.rule.expressions, q.Nodes, row, v.asked, &s.budget)
		switch {
		case s.rule.slowReject && errors.Is(err, devices.ErrGaveUp):
			v.reason = reasonSlowDevices
			return v
		case errors.Is(err, devices.ErrInvalidPools):
			v.reason = ReasonInvalidPools
			return v
		case err != nil:
			v.err = err
			return v
		case given == nil:
			v.reason = ReasonNoDevices
			return v
		}
		v.given = given
	}
	if len(v.missing) > 0 {
		v.reason, v.given = ReasonClaimElsewhere, nil
	}
	return v
}

// skippingFeature is what nodes declare that may leave operations out.
const skippingFeature = "DRAOptionalNodeOperations"

// skips reports whether a device of an allocated claim needs nodes that may leave operations out
// (plugins/dynamicresources allocationResultRequiresDRAOptionalNodeOperations).
func (d *DynamicResources) skips(c *resourcev1.ResourceClaim) bool {
	results := c.Status.Allocation.Devices.Results
	return d.skipping && slices.ContainsFunc(results, func(r resourcev1.DeviceRequestAllocationResult) bool {
		return len(r.SkipNodeOperations) > 0
	})
}

// skipping reports whether a node declares that it may.
func skipping(q *engine.Query, row int) bool {
	return slices.Contains(q.Nodes.Node(row).Features, skippingFeature)
}

// overdue reports whether devices of an allocated claim failed to become ready, or have not become
// ready within the timeout (plugins/dynamicresources isClaimReadyForBinding, isClaimTimeout).
func (d *DynamicResources) overdue(q *engine.Query, c *resourcev1.ResourceClaim) bool {
	if !d.conditions {
		return false
	}
	ready, failed := bindingState(c)
	if failed || ready || c.Status.Allocation.AllocationTimestamp == nil {
		return failed
	}
	late := c.Status.Allocation.AllocationTimestamp.Add(d.bindingTimeout).Before(q.Options.Now)
	return late && slices.ContainsFunc(c.Status.Allocation.Devices.Results, func(r resourcev1.DeviceRequestAllocationResult) bool {
		return r.BindingConditions != nil
	})
}

func bindingState(c *resourcev1.ResourceClaim) (ready, failed bool) {
	for i := range c.Status.Allocation.Devices.Results {
		r := &c.Status.Allocation.Devices.Results[i]
		if len(r.BindingConditions) == 0 {
			continue
		}
		k := slices.IndexFunc(c.Status.Devices, func(s resourcev1.AllocatedDeviceStatus) bool {
			return s.Driver == r.Driver && s.Pool == r.Pool && s.Device == r.Device
		})
		if k < 0 {
			return false, false
		}
		holds := func(name string) bool {
			for _, cond := range c.Status.Devices[k].Conditions {
				if cond.Type == name {
					return cond.Status == "True"
				}
			}
			return false
		}
		if slices.ContainsFunc(r.BindingFailureConditions, holds) {
			return false, true
		}
		for _, name := range r.BindingConditions {
			if !holds(name) {
				return false, false
			}
		}
	}
	return true, false
}

// releasable reports whether some claim that was unavailable on one of the nodes is reserved for
// this pod alone.
func (s *deviceState) releasable(q *engine.Query, rows state.Bits) bool {
	found := false
	for row := range rows.All() {
		for _, i := range s.on(q, row).missing {
			if i == s.special {
				continue
			}
			r := s.claims[i].Status.ReservedFor
			found = found || len(r) == 0 || len(r) == 1 && r[0].UID == q.Pod.UID
		}
	}
	return found
}

// selectedBy returns the nodes on which an allocation is usable. Like upstream it fails where the
// selector cannot be read.
func selectedBy(set *state.NodeSet, sel *corev1.NodeSelector) (state.Bits, error) {
	for i := range sel.NodeSelectorTerms {
		if _, ok := set.TermRows(&sel.NodeSelectorTerms[i]); !ok {
			return nil, fmt.Errorf("node selector of an allocation: term %d does not parse", i)
		}
	}
	return set.NodeSelectorRows(sel), nil
}

// reaches reports whether an allocated claim is usable on a node.
func (s *deviceState) reaches(claim, row int) bool {
	return s.selected == nil || s.selected[claim] == nil || s.selected[claim].Has(row)
}

// claimsOf returns the claims that a pod refers to, or the reason why one is missing. A reference
// that resolves to no claim on purpose is left out (plugins/dynamicresources
// foreachPodResourceClaim, k8s.io/dynamic-resource-allocation/resourceclaim Name, IsForPod).
func (d *DynamicResources) claimsOf(s *state.State, pod *corev1.Pod) (claims []*resourcev1.ResourceClaim, why string) {
	for i := range pod.Spec.ResourceClaims {
		ref := &pod.Spec.ResourceClaims[i]
		name, generated := ref.ResourceClaimName, false
		switch {
		case name != nil:
		case ref.ResourceClaimTemplateName != nil:
			k := slices.IndexFunc(pod.Status.ResourceClaimStatuses, func(s corev1.PodResourceClaimStatus) bool { return s.Name == ref.Name })
			if k < 0 {
				return nil, fmt.Sprintf(`pod "%s/%s": ResourceClaim not created yet`, pod.Namespace, pod.Name)
			}
			name, generated = pod.Status.ResourceClaimStatuses[k].ResourceClaimName, true
		default:
			return nil, fmt.Sprintf(`pod "%s/%s", spec.resourceClaim %q: none of the supported fields are set`, pod.Namespace, pod.Name, ref.Name)
		}
		if name == nil {
			continue
		}
		c := s.ResourceClaim(pod.Namespace, *name)
		switch {
		case c == nil:
			return nil, fmt.Sprintf("could not find ResourceClaim %q", pod.Namespace+"/"+*name)
		case c.DeletionTimestamp != nil:
			return nil, fmt.Sprintf("resourceclaim %q is being deleted", c.Name)
		case generated && !controls(pod, c):
			return nil, fmt.Sprintf(d.notOwned, c.Namespace, c.Name, pod.Namespace, pod.Name)
		}
		claims = append(claims, c)
	}
	return claims, ""
}

// controls reports whether the pod is the claim's controller.
func controls(pod *corev1.Pod, c *resourcev1.ResourceClaim) bool {
	for i := range c.OwnerReferences {
		if o := &c.OwnerReferences[i]; o.Controller != nil && *o.Controller {
			return o.UID == pod.UID
		}
	}
	return false
}

// extendedClaimName is kube-scheduler's name for the claim for extended resources before it is
// written.
const extendedClaimName = "<extended-resources>"

// deviceResources lists the extended resources that the pod requests and that a device class
// provides.
func (d *DynamicResources) deviceResources(q *engine.Query) []state.Scalar {
	var out []state.Scalar
	if !d.extended {
		return nil
	}
	for _, s := range q.Request.Scalars {
		name := corev1.ResourceName(q.ScalarName(s.ID))
		if s.N != 0 && q.State.ExtendedClass(name) != nil && state.IsDeviceResource(name) {
			out = append(out, s)
		}
	}
	return out
}

// scalarResources lists all requested resources that a device class may provide.
func scalarResources(q *engine.Query) []state.Scalar {
	var out []state.Scalar
	for _, s := range q.Request.Scalars {
		if s.N != 0 && state.IsDeviceResource(corev1.ResourceName(q.ScalarName(s.ID))) {
			out = append(out, s)
		}
	}
	return out
}

// extendedClaim returns the claim that an earlier attempt made for the pod's extended resources, or
// a new one.
func extendedClaim(q *engine.Query) *resourcev1.ResourceClaim {
	for _, c := range q.State.ResourceClaims() {
		if c.Annotations[resourcev1.ExtendedResourceClaimAnnotation] != "true" {
			continue
		}
		for i := range c.OwnerReferences {
			if o := &c.OwnerReferences[i]; o.Name == q.Pod.Name && o.UID == q.Pod.UID && o.Controller != nil && *o.Controller {
				return c
			}
		}
	}
	c := &resourcev1.ResourceClaim{}
	c.Namespace, c.Name = q.Pod.Namespace, extendedClaimName
	return c
}

// onNode works out what the claim for extended resources must hold on a node: what the node does
// not offer itself. settled reports that nothing is left to allocate (plugins/dynamicresources
// filterExtendedResources).
func (s *deviceState) onNode(q *engine.Query, row int, v *deviceVerdict) (claim *resourcev1.ResourceClaim, settled bool) {
	if s.special < 0 {
		return nil, false
	}
	c := s.claims[s.special]
	if c.Spec.Devices.Requests != nil {
		v.reason = ReasonStaleExtended
		return nil, true
	}
	names := s.driven(q, row)
	for _, r := range s.resources {
		name := corev1.ResourceName(q.ScalarName(r.ID))
		if _, listed := q.Nodes.Offers(r.ID, row); !listed && !slices.Contains(names, name) {
			v.reason, v.detail = ReasonNoResource, string(name)
			return nil, true
		}
	}
	if s.special == 0 && len(names) == 0 {
		return nil, true
	}
	if c.Status.Allocation != nil {
		return nil, s.special == 0
	}
	made := *c
	made.Spec.Devices.Requests = devices.ExtendedRequests(q.Pod, names, q.State.ExtendedClass)
	return &made, false
}

// driven lists the extended resources, by name, that a driver has to provide on a
// node, since the node does not offer them itself.
func (s *deviceState) driven(q *engine.Query, row int) (names []corev1.ResourceName) {
	for _, r := range s.resources {
		name := corev1.ResourceName(q.ScalarName(r.ID))
		if offered, _ := q.Nodes.Offers(r.ID, row); offered == 0 && q.State.ExtendedClass(name) != nil {
			names = append(names, name)
		}
	}
	slices.SortFunc(names, func(a, b corev1.ResourceName) int { return strings.Compare(string(a), string(b)) })
	return names
}
