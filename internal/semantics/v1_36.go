package semantics

var v136 = &Release{
	Name: "v1.36.3",
	Plugins: []string{
		"SchedulingGates", "NodeUnschedulable", "NodeName", "TaintToleration", "NodeAffinity", "NodePorts",
		"NodeResourcesFit", "VolumeRestrictions", "NodeVolumeLimits", "VolumeBinding", "VolumeZone",
		"PodTopologySpread", "InterPodAffinity", "DynamicResources", "DefaultPreemption",
		"NodeResourcesBalancedAllocation", "ImageLocality", "NodeDeclaredFeatures",
	},
	Others: []Other{
		{Name: "PrioritySort", Points: []string{"queueSort"}},
		{Name: "DefaultBinder", Points: []string{"bind"}},
		{Name: "GangScheduling", Points: []string{"preEnqueue", "permit"}, Gate: "GangScheduling"},
		{Name: "TopologyPlacementGenerator", Points: []string{"placementGenerate"}, Gate: "TopologyAwareWorkloadScheduling"},
		{Name: "PodGroupPodsCount", Points: []string{"placementScore"}, Gate: "TopologyAwareWorkloadScheduling"},
	},
	Points: []string{
		"preEnqueue", "queueSort", "preFilter", "filter", "postFilter", "preScore", "score", "reserve",
		"permit", "preBind", "bind", "postBind", "placementGenerate", "placementScore",
	},
	RatioOfItsType: true,

	APIs: []API{
		{"DeviceTaintRule", "resource.k8s.io/v1alpha3", true},
		{"DeviceTaintRule", "resource.k8s.io/v1beta2", false},
		{"PodGroup", "scheduling.k8s.io/v1alpha2", false},
		{"Workload", "scheduling.k8s.io/v1alpha2", false},
	},
	Dropped: []Field{{"Pod", "spec.schedulingGroup"}, {"CSIDriver", "spec.preventPodSchedulingIfMissing"}},

	Gates: Gates{
		DRAConsumableCapacity: true, DRADeviceBindingConditions: true, DRADeviceTaints: true,
		DRAExtendedResource: true, DRAPartitionableDevices: true,
		InPlacePodLevelResourcesVerticalScaling: true, NodeDeclaredFeatures: true,
	},
	Features: []string{"RestartAllContainersOnContainerExits", "UserNamespacesHostNetworkSupport"},

	Balance:           BalanceChange,
	ImageVolumesScore: true,

	ClaimNotOwned:     "ResourceClaim %s/%s was not created for Pod %s/%s (Pod is not owner)",
	ExclusionMeansAll: true,
	AffinityWakes:     WakesByBoth,
	NominationsWake:   true,

	NewNodesMeanTaints: true,

	Life: Life{RestartsAll: true, OwnRestarts: true},
}
