package devices

import "berth/internal/semantics"

// Behaviour is what releases of Kubernetes, and their feature gates, make of devices. Values can
// be compared: equal ones share an inventory.
type Behaviour struct {
	// taints, partitions, shares and conditions are the gates DRADeviceTaints,
	// DRAPartitionableDevices, DRAConsumableCapacity and DRADeviceBindingConditions.
	taints, partitions, shares, conditions bool
	// plain reports that upstream takes its allocator without capacities and conditions, which
	// knows no distinct attributes either (structured NewAllocator).
	plain bool
	// The fields of semantics.Release of these names.
	mixesAlternatives, losesCounters, sharesRepeat       bool
	countersByDriver, distinctFromAll, allCountsFull     bool
	badAmountsFail, sharesUseCounters, countersStayLocal bool
	deviceErrorsSayMore                                  bool
}

// Under returns the behaviour of a release.
func Under(r *semantics.Release) Behaviour {
	return Behaviour{
		taints: r.DRADeviceTaints, partitions: r.DRAPartitionableDevices,
		shares: r.DRAConsumableCapacity, conditions: r.DRADeviceBindingConditions,
		plain:             !r.DRAConsumableCapacity && !r.DRADeviceBindingConditions,
		mixesAlternatives: r.MixesAlternatives, losesCounters: r.LosesCounters,
		sharesRepeat:     r.SharesRepeat && (r.DRAConsumableCapacity || r.DRADeviceBindingConditions),
		countersByDriver: r.CountersByDriver, distinctFromAll: r.DistinctFromAll,
		allCountsFull: r.AllCountsFull, badAmountsFail: r.BadAmountsFail,
		sharesUseCounters: r.SharesUseCounters, countersStayLocal: r.CountersStayLocal,
		deviceErrorsSayMore: r.DeviceErrorsSayMore,
	}
}
