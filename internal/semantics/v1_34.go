package semantics

import "slices"

var v134 = v135.but(func(r *Release) {
	r.Name = "v1.34.4"
	// Alpha gates that v1.34 follows otherwise than later releases do, or does not have.
	r.Fixed = slices.DeleteFunc(gateNames(), func(name string) bool { return name == "StorageCapacityScoring" })

	r.Plugins = slices.DeleteFunc(slices.Clone(r.Plugins), func(name string) bool { // Z7
		return name == "NodeDeclaredFeatures"
	})
	r.Others = slices.Clip(r.Others[:2]) // Z7
	r.NoBindingTimeout = true            // Z7

	r.ClaimsUnscored = true       // Z1
	r.AlphaAllocator = true       // Z2
	r.DistinctByAddress = true    // Z3
	r.InvalidPoolsFail = true     // Z4
	r.PoolsByNode = true          // Z5
	r.CountingSlicesGive = true   // Z6
	r.TolerationsForgotten = true // Z8

	r.OwnRestarts = false // D10
})
