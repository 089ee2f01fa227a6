package semantics

import (
	"slices"
	"strings"
)

var v135 = v136.but(func(r *Release) {
	r.Name = "v1.35.4"
	r.Gates = Gates{} // NodeDeclaredFeatures, too (A4)
	r.APIs = []API{{"DeviceTaintRule", "resource.k8s.io/v1alpha3", false}}
	r.Dropped = append(slices.Clip(r.Dropped), // A4, A5
		Field{"Node", "status.declaredFeatures"},
		Field{"DeviceClass", "spec.extendedResourceName"},
		Field{"ResourceSlice", "spec.sharedCounters"},
		Field{"ResourceSlice", "spec.devices.allowMultipleAllocations"},
		Field{"ResourceSlice", "spec.devices.bindingConditions"},
		Field{"ResourceSlice", "spec.devices.consumesCounters"},
		Field{"ResourceSlice", "spec.devices.taints"},
	)

	r.Others = []Other{r.Others[0], r.Others[1], { // A12
		Name: "GangScheduling", Points: []string{"preEnqueue", "reserve", "permit"}, Gate: "GangScheduling",
	}}
	r.Points = slices.DeleteFunc(slices.Clone(r.Points), func(p string) bool { // A12
		return strings.HasPrefix(p, "placement")
	})
	r.RatioOfItsType = false                                      // A12
	r.Features = []string{"RestartAllContainersOnContainerExits"} // A4
	r.FeaturesNamed = true                                        // A4
	r.Balance = BalanceAfter                                      // A1
	r.ImageVolumesScore = false                                   // A2

	r.PortworxDeclared = true    // A10
	r.EveryDriverRequired = true // A16

	// A13
	r.ClaimNotOwned = "ResourceClaim %s/%s was not created for pod %s/%s (pod is not owner)"
	r.AffinityWakes = WakesByOwn  // H1
	r.NominationsWake = false     // H1
	r.ClaimsScoreInPlace = true   // A3
	r.MixesAlternatives = true    // A8
	r.SlowDevicesReject = true    // A9
	r.LosesCounters = true        // A14
	r.SharesRepeat = true         // A15
	r.LastAllocationStands = true // A17

	r.RestartsAll = false // D1
})
