package devices_test

import (
	"slices"
	"strings"
	"testing"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/types"

	"berth/internal/engine/devices"
	"berth/internal/semantics"
	et "berth/test/enginetest"
)

// TestReleases: what releases and gates do otherwise about devices, each by itself. The texts are
// what the claim gets, or what the error ends with.
func TestReleases(t *testing.T) {
	t.Parallel()
	two := et.Slice("s", "n", append(numbered(1, "blue"), numbered(2, "red")...)...)
	asking := func(amount string, n int64) *resourcev1.ResourceClaim {
		return with(et.DeviceClaim("c", et.Wants("r", "any", n)), func(c *resourcev1.ResourceClaim) {
			c.Spec.Devices.Requests[0].Exactly.Capacity = &resourcev1.CapacityRequirements{Requests: map[resourcev1.QualifiedName]resource.Quantity{"memory": resource.MustParse(amount)}}
		})
	}
	shared := func(name string) resourcev1.Device { return et.Capacity(et.Device(name), "10Gi", true) }
	share := func(amounts map[resourcev1.QualifiedName]resource.Quantity, device string) *resourcev1.ResourceClaim {
		id := types.UID("share")
		return with(et.Given(et.DeviceClaim("holder"), "n", device), func(c *resourcev1.ResourceClaim) {
			c.Status.Allocation.Devices.Results[0].ShareID, c.Status.Allocation.Devices.Results[0].ConsumedCapacity = &id, amounts
		})
	}
	full := share(map[resourcev1.QualifiedName]resource.Quantity{"memory": resource.MustParse("10Gi")}, "s/d")
	stepped := with(et.Slice("s", "n", shared("d")), func(s *resourcev1.ResourceSlice) {
		least, step := resource.MustParse("1"), resource.MustParse("2Gi")
		memory := s.Spec.Devices[0].Capacity["memory"]
		memory.RequestPolicy = &resourcev1.CapacityRequestPolicy{ValidRange: &resourcev1.CapacityRequestPolicyRange{Min: &least, Step: &step}}
		s.Spec.Devices[0].Capacity["memory"] = memory
	})
	colored := partitions()
	for _, o := range colored {
		if s, ok := o.(*resourcev1.ResourceSlice); ok && len(s.Spec.Devices) > 0 {
			red := "red"
			s.Spec.Devices[1].Attributes = map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{"color": {StringValue: &red}}
		}
	}
	drawn := append(node(), drawing(et.Driver, "set", 3, 2)...)
	for _, o := range drawn {
		if s, ok := o.(*resourcev1.ResourceSlice); ok && len(s.Spec.Devices) > 0 {
			s.Spec.Devices[0] = et.Capacity(s.Spec.Devices[0], "10Gi", true)
		}
	}
	elsewhere := with(et.Slice("other", "m"), func(s *resourcev1.ResourceSlice) {
		s.Spec.SharedCounters = []resourcev1.CounterSet{{Name: "set", Counters: map[string]resourcev1.Counter{"a": count(3)}}}
		s.Spec.Pool.ResourceSliceCount = 2
	})
	tainted := with(et.Slice("s", "n", numbered(2, "red")...), func(s *resourcev1.ResourceSlice) {
		s.Spec.Devices[0].Taints = []resourcev1.DeviceTaint{{Key: "sick", Effect: resourcev1.DeviceTaintEffectNoSchedule}}
	})
	conditional := with(et.Slice("s", "n", et.Device("d")), func(s *resourcev1.ResourceSlice) { s.Spec.Devices[0].BindingConditions = []string{"ready"} })
	namesakes := append(append([]any{et.Node("n"), et.DeviceClass("gpu", `device.driver == "gpu.example.com"`), et.DeviceClass("other", `device.driver == "other.example.com"`)},
		drawing(et.Driver, "set", 3, 2)...), drawing(other, "set", 9, 2)...)
	three := et.Slice("s", "n", et.Device("d0", "color", "blue"), et.Device("d1", "color", "red"), et.Device("d2", "color", "blue"))
	part := func(name, node string, generation, of int64) *resourcev1.ResourceSlice {
		return with(et.Slice(name, node, et.Device("d")), func(s *resourcev1.ResourceSlice) {
			s.Spec.Pool.Name, s.Spec.Pool.Generation, s.Spec.Pool.ResourceSliceCount = "p", generation, of
		})
	}
	counting := with(et.Slice("s", "n", et.Device("d")), func(s *resourcev1.ResourceSlice) {
		s.Spec.SharedCounters = []resourcev1.CounterSet{{Name: "set", Counters: map[string]resourcev1.Counter{"a": count(3)}}}
	})
	twice := node(et.Slice("a", "n", et.Device("d")), et.Slice("s", "n", et.Device("d"), et.Device("d")))
	first := with(et.DeviceClaim("c", et.FirstOf("r", et.Wants("x", "any", 1))), func(c *resourcev1.ResourceClaim) {
		c.Spec.Devices.Requests[0].FirstAvailable[0].Capacity = asking("1Gi", 1).Spec.Devices.Requests[0].Exactly.Capacity
	})
	rule := func(r *semantics.Release) { r.DRADeviceTaintRules = true }
	tolerant := with(et.DeviceClaim("c", et.Wants("r", "any", 1)), func(c *resourcev1.ResourceClaim) {
		c.Spec.Devices.Requests[0].Exactly.Tolerations = []resourcev1.DeviceToleration{{Key: "sick", Operator: resourcev1.DeviceTolerationOpExists}}
	})
	grouped := partitions()
	for _, o := range grouped {
		if s, ok := o.(*resourcev1.ResourceSlice); ok && len(s.Spec.Devices) > 0 {
			s.Spec.Devices[1].ConsumesCounters[0].CompatibilityGroups = []string{"blue"}
		}
	}
	derivation := []resourcev1.DeviceDerivedAttribute{{Name: "derived/x", Expression: "1"}}
	derived := with(et.DeviceClaim("c", et.Wants("r", "any", 1)), func(c *resourcev1.ResourceClaim) {
		c.Spec.Devices.Requests[0].Exactly.DerivedAttributes = derivation
	})
	plain := func(r *semantics.Release) { r.DRAConsumableCapacity, r.DRADeviceBindingConditions = false, false }

	for _, c := range []struct {
		name    string
		change  func(*semantics.Release)
		objects []any
		claim   *resourcev1.ResourceClaim
		before  string
		after   string
	}{
		{"A8: all are judged as for the alternative before", func(r *semantics.Release) { r.MixesAlternatives = true }, node(et.Slice("s", "n", append(numbered(1, "blue"), numbered(1, "red")...)...), et.Given(et.DeviceClaim("holder"), "n", "s/blue0")), et.DeviceClaim("c", et.FirstOf("r", et.Wants("x", "any", 0, `device.attributes["gpu.example.com"].color == "blue"`), et.Wants("y", "red", 0))), "r/y=s/red0", ""},
		{"A8: but some are not", func(r *semantics.Release) { r.MixesAlternatives = true }, node(two), et.DeviceClaim("c", et.FirstOf("r", et.Wants("x", "any", 1), et.Wants("y", "red", 0))), "r/x=s/blue0", "r/x=s/blue0"},
		{"A8: the second of all is for the first alternative", func(r *semantics.Release) { r.MixesAlternatives = true }, node(two), et.DeviceClaim("c", et.FirstOf("r", et.Wants("x", "red", 3), et.Wants("y", "red", 0))), "r/y=s/red0 r/y=s/red1", ""},
		{"A14: counters of what was tried in vain", func(r *semantics.Release) { r.LosesCounters = true }, colored, with(et.DeviceClaim("c", et.Wants("r", "any", 1)), match("color")), "r=p/half1", ""},
		{"A15: two shares of one device", func(r *semantics.Release) { r.SharesRepeat = true }, node(et.Slice("s", "n", shared("d"))), asking("4Gi", 2), "", "r=s/d r=s/d"},
		{"A15: not where none are shared", func(r *semantics.Release) { r.SharesRepeat = true; plain(r) }, node(et.Slice("s", "n", shared("d"))), asking("4Gi", 2), "", ""},
		{"B12: namesakes", func(r *semantics.Release) { r.CountersByDriver = true }, namesakes, et.DeviceClaim("c", et.Wants("r", "gpu", 1), et.Wants("q", "other", 1)), "", "r=p/d0 q=p/d0"},
		{"B13: a third color", func(r *semantics.Release) { r.DistinctFromAll = true }, node(three), with(et.DeviceClaim("c", et.Wants("r", "any", 2), et.Wants("b", "red", 1)), distinct("color")), "r=s/d0 r=s/d2 b=s/d1", ""},
		{"B13: on the way back", func(r *semantics.Release) { r.DistinctFromAll = true }, node(three), with(et.DeviceClaim("c", et.Wants("r", "any", 1), et.Wants("b", "red", 1)), distinct("color")), "r=s/d0 b=s/d1", "r=s/d0 b=s/d1"},
		{"B14: all with a full one", func(r *semantics.Release) { r.AllCountsFull = true }, node(et.Slice("s", "n", shared("d"), shared("e")), full), asking("6Gi", 0), "r=s/e", ""},
		{"B14: all with one that is too small", func(r *semantics.Release) { r.AllCountsFull = true }, node(et.Slice("s", "n", et.Capacity(et.Device("d"), "1Gi", true), shared("e"))), asking("6Gi", 0), "r=s/e", "r=s/e"},
		{"B15: less than nothing", func(r *semantics.Release) { r.BadAmountsFail = true }, node(et.Slice("s", "n", shared("d"))), asking("-1Gi", 1), "r=s/d", `claim default/c, request r: checking capacity for device gpu.example.com/s/d: capacity "memory": capacity value is negative`},
		{"B15: in a request for all", func(r *semantics.Release) { r.BadAmountsFail = true }, node(et.Slice("s", "n", shared("d"))), asking("-1Gi", 0), "r=s/d", `checking capacity for device d: capacity "memory": capacity value is negative`},
		{"B15: more than can be counted", func(r *semantics.Release) { r.BadAmountsFail = true }, node(stepped), asking("9223372036854775808", 1), "r=s/d", `capacity request cannot be represented in the device's range arithmetic: request 9223372036854775808 exceeds MaxInt64`},
		{"B15: nor rounded up", func(r *semantics.Release) { r.BadAmountsFail = true }, node(stepped), asking("9223372036854775807", 1), "r=s/d", `rounding request 9223372036854775807 up to the next step passes MaxInt64`},
		{"B15: of what there is not", func(r *semantics.Release) { r.BadAmountsFail = true }, node(et.Slice("s", "n", et.Device("d"))), asking("-1Gi", 1), "", ""},
		{"B16: a share without amounts", func(r *semantics.Release) { r.SharesUseCounters = true }, append(drawn, share(nil, "p/d0")), asking("4Gi", 1), "", "r=p/d0"},
		{"B17: counters of another node", func(r *semantics.Release) { r.CountersStayLocal = true }, node(two, elsewhere), et.DeviceClaim("c", et.Wants("r", "red", 0)), "asks for all devices, but resource pool gpu.example.com/other is currently being updated", "r=s/red0 r=s/red1"},
		{"B17: counters of the node", func(r *semantics.Release) { r.CountersStayLocal = true }, partitions(), et.DeviceClaim("c", et.Wants("r", "any", 2)), "r=p/half0 r=p/small", "r=p/half0 r=p/small"},
		{"B18: a selector that fails", func(r *semantics.Release) { r.DeviceErrorsSayMore = true }, node(et.Slice("s", "n", et.Device("d"))), et.DeviceClaim("c", et.Wants("r", "any", 1, red)), "claim default/c: selector #0: CEL runtime error: no such key: color", "claim default/c: selector #0 on device gpu.example.com/s/d: CEL runtime error: no such key: color. consider using CEL optional chaining (.? followed by orValue()) or guarding the check with has() for optional fields"},
		{"B18: too many", func(r *semantics.Release) { r.DeviceErrorsSayMore = true }, node(two), et.DeviceClaim("c", et.Wants("r", "any", 30), et.Wants("q", "any", 3)), "claim default/c: number of requested devices 33 exceeds the claim limit of 32", "claim default/c, request q: adding 3 devices exceeds the claim limit of 32, with 30 already accounted for"},
		{"DRADeviceTaints", func(r *semantics.Release) { r.DRADeviceTaints = false }, node(tainted), et.DeviceClaim("c", et.Wants("r", "any", 1)), "r=s/red1", "r=s/red0"},
		{"B19: rules", rule, node(two, et.TaintRule("r", et.Driver, "s", "blue0")), et.DeviceClaim("c", et.Wants("r", "any", 1)), "r=s/blue0", "r=s/red0"},
		{"B19: of a whole driver", rule, node(two, et.TaintRule("r", et.Driver, "", "")), et.DeviceClaim("c", et.Wants("r", "any", 1)), "r=s/blue0", ""},
		{"B19: of another driver", rule, node(two, et.TaintRule("r", other, "", "")), et.DeviceClaim("c", et.Wants("r", "any", 1)), "r=s/blue0", "r=s/blue0"},
		{"B19: of another pool", rule, node(two, et.TaintRule("r", et.Driver, "t", "blue0")), et.DeviceClaim("c", et.Wants("r", "any", 1)), "r=s/blue0", "r=s/blue0"},
		{"B19: without a selector", rule, node(two, with(et.TaintRule("r", "", "", ""), func(r *resourcev1.DeviceTaintRule) { r.Spec.DeviceSelector = nil })), et.DeviceClaim("c", et.Wants("r", "any", 1)), "r=s/blue0", "r=s/blue0"},
		{"B19: that selects all", rule, node(two, et.TaintRule("r", "", "", "")), et.DeviceClaim("c", et.Wants("r", "any", 1)), "r=s/blue0", ""},
		{"B19: whose taint only tells", rule, node(two, with(et.TaintRule("r", "", "", ""), func(r *resourcev1.DeviceTaintRule) { r.Spec.Taint.Effect = resourcev1.DeviceTaintEffectNone })), et.DeviceClaim("c", et.Wants("r", "any", 1)), "r=s/blue0", "r=s/blue0"},
		{"B19: that is tolerated", rule, node(two, et.TaintRule("r", "", "", "")), tolerant, "r=s/blue0", "r=s/blue0"},
		{"B19: beside its own taints", rule, node(tainted, et.TaintRule("r", "", "", "red1")), et.DeviceClaim("c", et.Wants("r", "any", 1)), "r=s/red1", ""},
		{"B19: while taints do not count", func(r *semantics.Release) { rule(r); r.DRADeviceTaints = false }, node(two, et.TaintRule("r", "", "", "")), et.DeviceClaim("c", et.Wants("r", "any", 1)), "r=s/blue0", "r=s/blue0"},
		{"B20: groups of devices", func(r *semantics.Release) { r.GroupsAreHidden = true }, grouped, et.DeviceClaim("c", et.Wants("r", "any", 1)), "r=p/half0", ""},
		{"B20: which leave their pool incomplete", func(r *semantics.Release) { r.GroupsAreHidden = true }, grouped, et.DeviceClaim("c", et.Wants("r", "any", 0)), "", "asks for all devices, but resource pool gpu.example.com/p is currently being updated"},
		{"B20: but not another one", func(r *semantics.Release) { r.GroupsAreHidden = true }, append(slices.Clone(grouped), two), et.DeviceClaim("c", et.Wants("r", "any", 1)), "r=p/half0", "r=s/blue0"},
		{"B20: derived attributes", func(r *semantics.Release) { r.DerivedAttributesFail = true }, node(two), derived, "r=s/blue0", "claim default/c, request r: cannot handle request with derived attributes, the feature is disabled"},
		{"B20: of an alternative", func(r *semantics.Release) { r.DerivedAttributesFail = true }, node(two), with(et.DeviceClaim("c", et.FirstOf("r", et.Wants("x", "any", 1))), func(c *resourcev1.ResourceClaim) {
			c.Spec.Devices.Requests[0].FirstAvailable[0].DerivedAttributes = derivation
		}), "r/x=s/blue0", "claim default/c, request x: cannot handle request with derived attributes, the feature is disabled"},
		{"B20: which the plain allocator does not see", func(r *semantics.Release) { r.DerivedAttributesFail = true; plain(r) }, node(two), derived, "r=s/blue0", "r=s/blue0"},
		{"DRAPartitionableDevices", func(r *semantics.Release) { r.DRAPartitionableDevices = false }, partitions(), et.DeviceClaim("c", et.Wants("r", "any", 1)), "r=p/half0", ""},
		{"DRAConsumableCapacity", func(r *semantics.Release) { r.DRAConsumableCapacity = false }, node(et.Slice("s", "n", shared("d")), full), et.DeviceClaim("c", et.Wants("r", "any", 0)), "", ""},
		{"DRAConsumableCapacity: a share is the whole", plain, node(et.Slice("s", "n", shared("d"), shared("e")), share(nil, "s/d")), et.DeviceClaim("c", et.Wants("r", "any", 1)), "r=s/d", "r=s/e"},
		{"DRAConsumableCapacity: amounts do not count", plain, node(et.Slice("s", "n", shared("d"))), asking("11Gi", 1), "", "r=s/d"},
		{"DRAConsumableCapacity: or are refused beside conditions", func(r *semantics.Release) { r.DRAConsumableCapacity = false }, node(et.Slice("s", "n", shared("d"))), asking("1Gi", 1), "r=s/d", "claim default/c, request r: has capacity requests, but the DRAConsumableCapacity feature is disabled"},
		{"DRAConsumableCapacity: to selectors", plain, node(et.Slice("s", "n", shared("d"))), et.DeviceClaim("c", et.Wants("r", "any", 1, "device.allowMultipleAllocations")), "r=s/d", ""},
		{"DRADeviceBindingConditions", func(r *semantics.Release) { r.DRADeviceBindingConditions = false }, node(conditional), et.DeviceClaim("c", et.Wants("r", "any", 1)), "r=s/d", ""},
		{"A7: distinct needs either", plain, node(three), with(et.DeviceClaim("c", et.Wants("r", "any", 1)), distinct("color")), "r=s/d0", "claim default/c, constraint #0: empty constraint (unsupported constraint type?)"},
		{"Z2: nor where the allocator knows more", func(r *semantics.Release) { plain(r); r.AlphaAllocator = true }, node(three), with(et.DeviceClaim("c", et.Wants("r", "any", 1)), distinct("color")), "r=s/d0", "r=s/d0"},
		{"Z2: which refuses amounts", func(r *semantics.Release) { plain(r); r.AlphaAllocator = true }, node(et.Slice("s", "n", shared("d"))), asking("1Gi", 1), "r=s/d", "claim default/c, request r: has capacity requests, but the DRAConsumableCapacity feature is disabled"},
		{"Z2: also of alternatives", func(r *semantics.Release) { plain(r); r.AlphaAllocator = true }, node(et.Slice("s", "n", shared("d"))), first, "r/x=s/d", "claim default/c, request r: has capacity requests, but the DRAConsumableCapacity feature is disabled"},
		{"DRAConsumableCapacity: of alternatives by their names", func(r *semantics.Release) { r.DRAConsumableCapacity = false }, node(et.Slice("s", "n", shared("d"))), first, "r/x=s/d", "claim default/c, subrequest x: has capacity requests, but the DRAConsumableCapacity feature is disabled"},
		{"Z3: values differ by where they are", func(r *semantics.Release) { r.DistinctByAddress = true }, node(two), with(et.DeviceClaim("c", et.Wants("r", "red", 2)), distinct("color")), "", "r=s/red0 r=s/red1"},
		{"Z3: if there are any", func(r *semantics.Release) { r.DistinctByAddress = true }, node(two), with(et.DeviceClaim("c", et.Wants("r", "red", 2)), distinct("size")), "", ""},
		{"Z4: a device twice", func(r *semantics.Release) { r.InvalidPoolsFail = true }, twice, et.DeviceClaim("c", et.Wants("r", "any", 2)), "invalid resource pools", "pool s is invalid: duplicate device name d"},
		{"Z4: that is not come to", func(r *semantics.Release) { r.InvalidPoolsFail = true }, twice, et.DeviceClaim("c", et.Wants("r", "any", 1)), "r=a/d", "r=a/d"},
		{"Z4: nor in an alternative before", func(r *semantics.Release) { r.InvalidPoolsFail = true }, append(twice, et.Slice("t", "n", et.Device("e", "color", "red"))), et.DeviceClaim("c", et.FirstOf("r", et.Wants("x", "any", 5), et.Wants("y", "any", 1))), "r/y=a/d", "pool s is invalid: duplicate device name d"},
		{"Z5: a slice that is missing", func(r *semantics.Release) { r.PoolsByNode = true }, node(part("s", "n", 0, 2)), et.DeviceClaim("c", et.Wants("r", "any", 1)), "", "r=p/d"},
		{"Z5: but not for all", func(r *semantics.Release) { r.PoolsByNode = true }, node(part("s", "n", 0, 2), part("t", "m", 0, 2)), et.DeviceClaim("c", et.Wants("r", "any", 0)), "r=p/d", "asks for all devices, but resource pool gpu.example.com/p is currently being updated"},
		{"Z5: a generation that is replaced", func(r *semantics.Release) { r.PoolsByNode = true }, node(part("s", "n", 0, 2), part("t", "m", 1, 1), et.Node("m")), et.DeviceClaim("c", et.Wants("r", "any", 1)), "", "r=p/d"},
		{"Z6: counters beside devices", func(r *semantics.Release) { r.DRAPartitionableDevices, r.CountingSlicesGive = false, true }, node(counting), et.DeviceClaim("c", et.Wants("r", "any", 1)), "", "r=s/d"},
		{"Z6: with partitions", func(r *semantics.Release) { r.CountingSlicesGive = true }, partitions(), et.DeviceClaim("c", et.Wants("r", "any", 2)), "r=p/half0 r=p/small", "r=p/half0 r=p/small"},
		{"A7: of the two", func(r *semantics.Release) { r.DRAConsumableCapacity = false }, node(three), with(et.DeviceClaim("c", et.Wants("r", "any", 1)), distinct("color")), "r=s/d0", "r=s/d0"},
	} {
		t.Run(c.name, func(t *testing.T) {
			changed := *semantics.Default()
			c.change(&changed)
			s, err := et.State(c.objects...)
			if err != nil {
				t.Fatal(err)
			}
			for r, want := range map[*semantics.Release]string{semantics.Default(): c.before, &changed: c.after} {
				given, err := allocate(devices.NewInventory(s, devices.Under(r)), s.Nodes(), c.claim)
				got := text(given)
				if err != nil {
					got = err.Error()
				}
				if got != want && (err == nil || want == "" || !strings.HasSuffix(got, want)) {
					t.Errorf("changed %v: got %q, want %q", r == &changed, got, want)
				}
			}
		})
	}
}

// TestTolerationsOfAllocations: v1.34 does not write which taints an allocation tolerates (Z8).
func TestTolerationsOfAllocations(t *testing.T) {
	t.Parallel()
	claim := with(et.DeviceClaim("c", et.Wants("r", "any", 1)), func(c *resourcev1.ResourceClaim) {
		c.Spec.Devices.Requests[0].Exactly.Tolerations = []resourcev1.DeviceToleration{{Operator: resourcev1.DeviceTolerationOpExists}}
	})
	s, err := et.State(node(et.Slice("s", "n", et.Device("d")))...)
	if err != nil {
		t.Fatal(err)
	}
	forgets := *semantics.Default()
	forgets.TolerationsForgotten = true
	for r, want := range map[*semantics.Release]int{semantics.Default(): 1, &forgets: 0} {
		given, err := allocate(devices.NewInventory(s, devices.Under(r)), s.Nodes(), claim)
		if err != nil || len(given) != 1 {
			t.Fatal(given, err)
		}
		if got := given[0].Allocation(claim, "n").Devices.Results[0].Tolerations; len(got) != want {
			t.Errorf("forgotten %v: %v", r == &forgets, got)
		}
	}
}
