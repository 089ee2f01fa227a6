package semantics

var v135 = v136.but(func(r *Release) {
	r.Name = "v1.35.4"
	r.Gates = Gates{} // NodeDeclaredFeatures, too (A4)

	r.Features = []string{"RestartAllContainersOnContainerExits"} // A4
	r.FeaturesNamed = true                                        // A4
	r.Balance = BalanceAfter                                      // A1
	r.ImageVolumesScore = false                                   // A2
})
