package rules_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"

	"berth/internal/engine"
	"berth/internal/engine/rules"
	"berth/internal/semantics"
	et "berth/test/enginetest"
)

// TestDynamicResourcesOfReleases: what releases and gates do otherwise with claims, each by itself.
// The texts are in the message or in the error.
func TestDynamicResourcesOfReleases(t *testing.T) {
	everywhere := func(c *resourcev1.ResourceClaim) *resourcev1.ResourceClaim {
		c.Status.Allocation.NodeSelector = nil
		return c
	}
	given := everywhere(et.Given(et.DeviceClaim("c", et.Wants("r", "gpu", 1)), "", "s/old"))
	wanted := et.DeviceClaim("d", et.Wants("r", "gpu", 1))
	late := everywhere(et.Given(et.DeviceClaim("c", et.Wants("r", "gpu", 1)), "", "s/old"))
	late.Status.Allocation.Devices.Results[0].BindingConditions = []string{"ready"}
	skips := everywhere(et.Given(et.DeviceClaim("c", et.Wants("r", "gpu", 1)), "", "s/old"))
	skips.Status.Allocation.Devices.Results[0].SkipNodeOperations = []resourcev1.SkipNodeOperation{resourcev1.SkipNodeOperationAll}
	used := et.Given(et.DeviceClaim("c", et.Wants("r", "gpu", 1)), "elsewhere", "s/old")
	used.Status.ReservedFor = []resourcev1.ResourceClaimConsumerReference{{Resource: "pods", UID: "other"}}
	name := "example.com/gpu"
	class := change(et.DeviceClass("gpu"), func(c *resourcev1.DeviceClass) { c.Spec.ExtendedResourceName = &name })

	// Each choice of eight of sixteen devices is tried for naught.
	var many []resourcev1.Device
	size := resourcev1.FullyQualifiedName(et.Driver + "/size")
	for i := range 16 {
		many = append(many, et.Device(fmt.Sprint("d", i), "size", fmt.Sprint(i)))
	}
	endless := change(et.DeviceClaim("c", et.Wants("r", "gpu", 8), et.Wants("s", "gpu", 8), et.Wants("t", "gpu", 1)), func(c *resourcev1.ResourceClaim) {
		c.Spec.Devices.Constraints = []resourcev1.DeviceConstraint{{DistinctAttribute: &size}}
	})
	for _, tc := range []struct {
		name          string
		change        func(*semantics.Release)
		objects       []any
		pod           *corev1.Pod
		before, after string
	}{
		{"A3: a claim beside one that is allocated", func(r *semantics.Release) { r.ClaimsScoreInPlace = true }, devicesOf(given, wanted, et.Slice("s", "a", et.Device("x")), et.Slice("t", "b", et.Device("x"))), et.Pod("p", et.Claims("c", "d")), "scheduled", "number of allocations 1 is smaller than number of claims"},
		{"A3: where one node fits", func(r *semantics.Release) { r.ClaimsScoreInPlace = true }, devicesOf(given, wanted, et.Slice("s", "a", et.Device("x"))), et.Pod("p", et.Claims("c", "d")), "scheduled", "scheduled"},
		{"A9: a search without end", func(r *semantics.Release) { r.SlowDevicesReject = true }, devicesOf(endless, et.Slice("s", "a", many...)), et.Pod("p", et.Claims("c")), "node a: gave up trying to allocate devices", "1 cannot allocate all claims, 1 timed out trying to allocate devices"},
		{"B7: a claim that is not given back", func(r *semantics.Release) { r.SilentAboutClaims = true }, devicesOf(used), et.Pod("p", et.Claims("c")), "not available on the node. still not schedulable, preemption: ", "not available on the node. preemption: "},
		{"B20: a claim that skips operations", func(r *semantics.Release) { r.SkippingNeedsFeature = true }, devicesOf(skips), et.Pod("p", et.Claims("c")), "scheduled", "2 resourceclaim not available on the node"},
		{"B20: where nodes may", func(r *semantics.Release) { r.SkippingNeedsFeature = true }, append(devicesOf(skips), change(et.Node("a"), func(n *corev1.Node) {
			n.Status.DeclaredFeatures = []string{"DRAOptionalNodeOperations"}
		})), et.Pod("p", et.Claims("c")), "scheduled", "scheduled"},
		{"DRADeviceBindingConditions: devices that are late", func(r *semantics.Release) { r.DRADeviceBindingConditions = false }, devicesOf(late), et.Pod("p", et.Claims("c")), "2 resourceclaim not available on the node", "scheduled"},
		{"DRAExtendedResource: devices behind a resource", func(r *semantics.Release) { r.DRAExtendedResource = false }, list(et.Node("a"), class, et.Slice("s", "a", et.Device("x"))), et.Pod("p", et.Requests(name, "1")), "scheduled", "1 Insufficient example.com/gpu. no new claims to deallocate"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			for _, change := range []func(*semantics.Release){func(*semantics.Release) {}, tc.change} {
				want := tc.before
				r := releaseWith(change)
				if len(semantics.Differences(r, semantics.Default())) > 0 {
					want = tc.after
				}
				c := et.Case{Objects: tc.objects, Pod: tc.pod, Spec: rules.DefaultSpec(), Under: r, Options: engine.Options{Now: et.Epoch.Add(time.Hour)}}
				d, err := c.Decide()
				var got string
				switch {
				case err != nil:
					got = err.Error()
				case d.Outcome == engine.Scheduled:
					got = "scheduled"
				default:
					got = d.Message
				}
				if !strings.Contains(got, want) {
					t.Errorf("got %q, want %q", got, want)
				}
			}
		})
	}
}
