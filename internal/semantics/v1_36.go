package semantics

var v136 = &Release{
	Name: "v1.36.3",
	Plugins: []string{
		"SchedulingGates", "NodeUnschedulable", "NodeName", "TaintToleration", "NodeAffinity", "NodePorts",
		"NodeResourcesFit", "VolumeRestrictions", "NodeVolumeLimits", "VolumeBinding", "VolumeZone",
		"PodTopologySpread", "InterPodAffinity", "DynamicResources", "DefaultPreemption",
		"NodeResourcesBalancedAllocation", "ImageLocality", "NodeDeclaredFeatures",
	},
	Balance:           BalanceChange,
	ImageVolumesScore: true,
}
