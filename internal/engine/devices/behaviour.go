package devices

import "berth/internal/semantics"

// Behaviour is what releases of Kubernetes, and their feature gates, make of devices. Values can
// be compared: equal ones share an inventory.
type Behaviour struct {
	// taints, rules, partitions, shares and conditions are the gates DRADeviceTaints,
	// DRADeviceTaintRules, DRAPartitionableDevices, DRAConsumableCapacity and
	// DRADeviceBindingConditions.
	taints, rules, partitions, shares, conditions bool
	// plain reports that upstream takes its allocator without capacities and conditions, which
	// knows no distinct attributes either (structured NewAllocator).
	plain bool
	// alpha reports that it takes the one for alpha gates in any case.
	alpha bool
	// The fields of semantics.Release of these names.
	mixesAlternatives, losesCounters, sharesRepeat       bool
	countersByDriver, distinctFromAll, allCountsFull     bool
	badAmountsFail, sharesUseCounters, countersStayLocal bool
	deviceErrorsSayMore, groupsAreHidden                 bool
	distinctByAddress, invalidPoolsFail, poolsByNode     bool
	countingSlicesGive, tolerationsForgotten             bool
	derivedAttributesFail                                bool
}

// Under returns the behaviour of a release.
func Under(r *semantics.Release) Behaviour {
	plain := !r.DRAConsumableCapacity && !r.DRADeviceBindingConditions && !r.AlphaAllocator
	return Behaviour{
		taints: r.DRADeviceTaints, rules: r.DRADeviceTaintRules, partitions: r.DRAPartitionableDevices,
		shares: r.DRAConsumableCapacity, conditions: r.DRADeviceBindingConditions,
		plain: plain, alpha: r.AlphaAllocator, mixesAlternatives: r.MixesAlternatives, losesCounters: r.LosesCounters,
		sharesRepeat:     r.SharesRepeat && !plain,
		countersByDriver: r.CountersByDriver, distinctFromAll: r.DistinctFromAll,
		allCountsFull: r.AllCountsFull, badAmountsFail: r.BadAmountsFail,
		sharesUseCounters: r.SharesUseCounters, countersStayLocal: r.CountersStayLocal,
		deviceErrorsSayMore: r.DeviceErrorsSayMore, distinctByAddress: r.DistinctByAddress,
		invalidPoolsFail: r.InvalidPoolsFail, poolsByNode: r.PoolsByNode,
		countingSlicesGive: r.CountingSlicesGive && !r.DRAPartitionableDevices, tolerationsForgotten: r.TolerationsForgotten,
		groupsAreHidden: r.GroupsAreHidden, derivedAttributesFail: r.DerivedAttributesFail && !plain,
	}
}
