package semantics

var v136 = &Release{
	Name: "v1.36.3",
	Plugins: []string{
		"SchedulingGates", "NodeUnschedulable", "NodeName", "TaintToleration", "NodeAffinity", "NodePorts",
		"NodeResourcesFit", "VolumeRestrictions", "NodeVolumeLimits", "VolumeBinding", "VolumeZone",
		"PodTopologySpread", "InterPodAffinity", "DynamicResources", "DefaultPreemption",
		"NodeResourcesBalancedAllocation", "ImageLocality", "NodeDeclaredFeatures",
	},
	Gates: Gates{
		DRAConsumableCapacity: true, DRADeviceBindingConditions: true, DRADeviceTaints: true,
		DRAExtendedResource: true, DRAPartitionableDevices: true,
		InPlacePodLevelResourcesVerticalScaling: true, NodeDeclaredFeatures: true,
	},
	Features: []string{"RestartAllContainersOnContainerExits", "UserNamespacesHostNetworkSupport"},

	Balance:           BalanceChange,
	ImageVolumesScore: true,
}
