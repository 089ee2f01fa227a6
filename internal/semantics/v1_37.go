package semantics

var v137 = v136.but(func(r *Release) {
	r.Name = "v1.37.2"
	r.Locked = []string{"DRAExtendedResource", "NodeDeclaredFeatures"}
	r.DRADeviceTaintRules = true    // B19
	r.StorageCapacityScoring = true // B4
	r.VolumeLimitScaling = true     // B5

	r.Plugins = ahead(r.Plugins, "NodeName", "NodeUnschedulable")          // B1
	r.NodePreFilters = true                                                // B2
	r.Features = append([]string{"VolumeBindMountOptions"}, r.Features...) // B21
	r.ImageVolumesRaiseTop = true                                          // B6
	r.SilentWithoutClaims = true                                           // B7
})
