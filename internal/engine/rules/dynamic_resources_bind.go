package rules

import (
	"crypto/sha256"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"berth/internal/engine"
	"berth/internal/engine/devices"
)

// PreBind allocates the devices found on the node to the pod's claims and reserves all claims for
// the pod. A claim that is allocated already keeps its allocation. For extended resources that a
// driver must provide there, it creates the claim, owned by the pod and named in its status
// (plugins/dynamicresources Reserve, bindClaim, createExtendedResourceClaimInAPI,
// patchPodExtendedResourceClaimStatus). Unlike kube-scheduler's, it does not wait for the devices'
// binding conditions.
func (d *DynamicResources) PreBind(q *engine.Query, s *deviceState, row int, a *engine.Effects) error {
	if s == nil {
		return nil
	}
	var v *deviceVerdict
	if s.allocate {
		if v = s.on(q, row); v.err != nil {
			return v.err
		}
	}
	var claims []*resourcev1.ResourceClaim
	next := 0
	for i, c := range s.claims {
		made := c.DeepCopy()
		switch {
		case c.Status.Allocation != nil:
			if reservedFor(c, q.Pod) {
				continue
			}
		case next >= len(v.given):
			continue // the node itself offers all of it
		default:
			asked, given := v.asked[next], &v.given[d.standing(v.asked, next)]
			next++
			if i == s.special {
				if len(asked.Spec.Devices.Requests) == 0 {
					continue // likewise; upstream's PreBind fails here for want of a mapping
				}
				if c.Name == extendedClaimName {
					made = d.extendedMade(q, asked)
				}
				a.Extended = &corev1.PodExtendedResourceClaimStatus{
					ResourceClaimName: made.Name, RequestMappings: devices.ExtendedMappings(q.Pod, s.driven(q, row), q.State.ExtendedClass),
				}
			}
			made.Status.Allocation = given.Allocation(made, q.Nodes.Node(row).Name)
		}
		if slices.Contains(s.claims[:i], c) {
			continue // the pod names it twice
		}
		if len(made.Status.ReservedFor) >= resourcev1.ResourceClaimReservedForMaxSize {
			return fmt.Errorf("resource claim %s/%s is reserved for %d pods, which is as many as a claim may be", c.Namespace, c.Name, len(made.Status.ReservedFor))
		}
		made.Status.ReservedFor = append(made.Status.ReservedFor, resourcev1.ResourceClaimConsumerReference{Resource: "pods", Name: q.Pod.Name, UID: q.Pod.UID})
		if at := made.Status.Allocation; d.conditions && at != nil && at.AllocationTimestamp == nil {
			at.AllocationTimestamp = devices.AllocatedAt(q.Options.Now)
		}
		claims = append(claims, made)
	}
	a.Claims = append(a.Claims, claims...)
	return nil
}

// reservedFor reports whether a claim is reserved for a pod
// (k8s.io/dynamic-resource-allocation/resourceclaim IsReservedForPod).
func reservedFor(c *resourcev1.ResourceClaim, pod *corev1.Pod) bool {
	return slices.ContainsFunc(c.Status.ReservedFor, func(r resourcev1.ResourceClaimConsumerReference) bool { return r.UID == pod.UID })
}

// The parts of a name that an apiserver makes up (k8s.io/apiserver/pkg/storage/names).
const (
	madeUpLetters = "bcdfghjklmnpqrstvwxz2456789"
	madeUpLength  = 5
	longestName   = 63
)

// extendedMade is the claim for extended resources as it is created. Its name has the form that an
// apiserver would generate, and is derived from the pod.
func (d *DynamicResources) extendedMade(q *engine.Query, asked *resourcev1.ResourceClaim) *resourcev1.ResourceClaim {
	yes := true
	c := &resourcev1.ResourceClaim{Spec: *asked.Spec.DeepCopy()}
	c.Namespace = q.Pod.Namespace
	c.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "Pod", Name: q.Pod.Name, UID: q.Pod.UID, Controller: &yes}}
	c.Annotations = map[string]string{resourcev1.ExtendedResourceClaimAnnotation: "true"}
	base := q.Pod.Name + "-extended-resources-"
	base = base[:min(len(base), longestName-madeUpLength)]
	for attempt := 0; ; attempt++ {
		sum := sha256.Sum256(fmt.Appendf(nil, "%q %q %q %d", q.Pod.Namespace, q.Pod.Name, q.Pod.UID, attempt))
		suffix := make([]byte, madeUpLength)
		for i := range suffix {
			suffix[i] = madeUpLetters[int(sum[i])%len(madeUpLetters)]
		}
		if c.Name = base + string(suffix); q.State.ResourceClaim(c.Namespace, c.Name) == nil {
			return c
		}
	}
}
