package semantics

// behaviours are all fields of Release in which releases differ, and all gates.
var behaviours = []*Behaviour{
	{
		Name: "Plugins", Row: "B1",
		What:  "the order of the plugins: which one is named where several reject a node",
		Where: "apis/config/v1/default_plugins.go getDefaultPlugins",
	},
	{
		Name: "Others", Row: "A12, B22",
		What:  "which plugins without a part in decisions about one pod a configuration may name",
		Where: "plugins/registry.go NewInTreeRegistry",
	},
	{
		Name: "Points", Row: "A12, B22",
		What:  "which extension points a configuration may have plugins for",
		Where: "kube-scheduler/config/v1 Plugins",
	},
	{
		Name: "RatioOfItsType", Row: "A12",
		What:   "whether requestedToCapacityRatio is refused with other types of scores",
		Where:  "apis/config/validation/validation_pluginargs.go ValidateNodeResourcesFitArgs",
		Remedy: "take requestedToCapacityRatio out of arguments of NodeResourcesFit with another type",
	},
	{
		Name: "NodePreFilters", Row: "B2",
		What:   "whether NodeName leaves other nodes out before any filter",
		Where:  "plugins/nodename/node_name.go PreFilter",
		Remedy: "rewrite alerts that match on \"node(s) didn't match the requested node name\"",
	},
	{
		Name: "Features", Row: "A4, B21",
		What:  "which features pods may need of their nodes",
		Where: "component-helpers/nodedeclaredfeatures/features/registry.go AllFeatures",
	},
	{
		Name: "FeaturesNamed", Row: "A4",
		What:  "whether the rejection of a node names the feature that it lacks",
		Where: "plugins/nodedeclaredfeatures/nodedeclaredfeatures.go Filter",
	},
	{
		Name: "Balance", Row: "A1",
		What:   "whether NodeResourcesBalancedAllocation scores a node with the pod, or what the pod changes there",
		Where:  "plugins/noderesources/balanced_allocation.go balancedResourceScorer",
		Remedy: "compare where pods land: scores of nearly all nodes are others, and no setting brings them back",
	},
	{
		Name: "SumsOfWholePods", Row: "B11",
		What:   "whether a running pod counts by sums of the whole pod, or of each container; with overhead that kubelets report, it counts twice",
		Where:  "component-helpers/resource AggregateContainerRequests",
		Remedy: "look at nodes with pods that have an overhead (RuntimeClass): less fits there",
	},
	{
		Name: "ImageVolumesScore", Row: "A2",
		What:  "whether ImageLocality counts the images of image volumes",
		Where: "plugins/imagelocality/image_locality.go sumImageScores",
	},
	{
		Name: "ImageVolumesRaiseTop", Row: "B6",
		What:  "whether images of image volumes raise the sum from which on ImageLocality gives its highest score",
		Where: "plugins/imagelocality/image_locality.go calculatePriority",
	},
	{
		Name: "PortworxDeclared", Row: "A10",
		What:  "whether volumes of the built-in Portworx plugin count only where the CSINode says that its driver took over",
		Where: "plugins/nodevolumelimits/utils.go isCSIMigrationOn",
	},
	{
		Name: "EveryDriverRequired", Row: "A16",
		What:  "whether the gate VolumeLimitScaling wants every CSI driver on the node, or those with preventPodSchedulingIfMissing",
		Where: "plugins/nodevolumelimits/csi.go checkCSIDriverOnNode",
	},
	{
		Name: "SilentAboutClaims", Row: "B7",
		What:   "whether messages have \"no new claims to deallocate\" or \"still not schedulable\"",
		Where:  "plugins/dynamicresources/dynamicresources.go PostFilter",
		Remedy: "rewrite alerts that match on these texts",
	},
	{
		Name: "ClaimNotOwned", Row: "A13",
		What:   "the text about a claim that was made for another pod: \"for Pod\" or \"for pod\"",
		Where:  "dynamic-resource-allocation/resourceclaim/resourceclaim.go IsForPod",
		Remedy: "rewrite alerts that match on this text",
	},
	{
		Name: "ExclusionMeansAll", Row: "B3",
		What:   "whether a namespaceSelector of pod affinity that only excludes (NotIn, DoesNotExist) selects every namespace",
		Where:  "plugins/interpodaffinity/plugin.go mergeAffinityTermNamespacesIfNotEmpty",
		Remedy: "write selectors that say what is meant: {} for every namespace",
	},
	{
		Name: "FirstViolatedOnly", Row: "B9",
		What:   "whether a victim takes from all budgets over it, or from none behind the first that forbids its eviction",
		Where:  "framework/preemption/util.go FilterVictimsWithPDBViolation",
		Remedy: "let no two PodDisruptionBudgets select one pod",
	},
	{
		Name: "TellsPlacement", Row: "B8",
		What:   "whether messages of pods that evict others end with \"preemption: found a potential placement for pod on node …\"",
		Where:  "framework/preemption/preemption.go Preempt",
		Remedy: "let alerts that match on whole messages allow for it",
	},
	{
		Name: "GatedNominationsCount", Row: "B23",
		What:  "whether pods that their gates hold back keep room on the node that they are nominated to",
		Where: "pkg/scheduler/backend/queue/scheduling_queue.go Add",
	},
	{
		Name: "AffinityWakes", Row: "H1, H2",
		What:  "which changes of pods have one tried again that InterPodAffinity rejected",
		Where: "plugins/interpodaffinity/plugin.go isSchedulableAfterPodChange",
	},
	{
		Name: "NominationsWake", Row: "H1",
		What:  "whether nominated pods that go have others tried again that InterPodAffinity or PodTopologySpread rejected",
		Where: "plugins/podtopologyspread/plugin.go involvedInTopologySpreading",
	},
	{
		Name: "NewNodesMeanTaints", Row: "H2",
		What:  "whether each change of a node's taints has pods tried again that plugins rejected which hear of new nodes only",
		Where: "pkg/scheduler/scheduler.go buildQueueingHintMap",
	},
	{
		Name: "ClaimsScoreInPlace", Row: "A3",
		What:  "whether a pod with one claim that is allocated and one that is not fails where two nodes fit",
		Where: "plugins/dynamicresources/dynamicresources.go computeScore",
	},
	{
		Name: "MixesAlternatives", Row: "A8",
		What:  "whether an alternative of a request that asks for all devices is taken for the one before it",
		Where: "dynamic-resource-allocation/structured validateDeviceRequest, allocateOne",
	},
	{
		Name: "SlowDevicesReject", Row: "A9",
		What:  "whether a search for devices that takes too long rejects the node instead of failing the pod",
		Where: "plugins/dynamicresources/dynamicresources.go Filter",
	},
	{
		Name: "LosesCounters", Row: "A14",
		What:  "whether a device that was tried in vain keeps what it consumes of shared counters",
		Where: "dynamic-resource-allocation/structured allocateDevice",
	},
	{
		Name: "SharesRepeat", Row: "A15",
		What:  "whether a request for several devices may get shares of one device",
		Where: "dynamic-resource-allocation/structured allocateOne",
	},
	{
		Name: "CountersByDriver", Row: "B12",
		What:   "whether pools of one name and different drivers have shared counters of their own",
		Where:  "dynamic-resource-allocation/structured checkAvailableCounters",
		Remedy: "give pools of different drivers different names",
	},
	{
		Name: "DistinctFromAll", Row: "B13",
		What:  "whether distinctAttribute compares a device with all others of its claim or with the last of each request",
		Where: "dynamic-resource-allocation/structured distinctAttributeConstraint",
	},
	{
		Name: "AllCountsFull", Row: "B14",
		What:   "whether a request for all devices also wants those whose capacity is taken already",
		Where:  "dynamic-resource-allocation/structured validateDeviceRequest",
		Remedy: "ask for a number of devices where some may be full",
	},
	{
		Name: "BadAmountsFail", Row: "B15",
		What:   "whether amounts of a device's capacity that are negative or too large fail the pod",
		Where:  "dynamic-resource-allocation/structured CmpRequestOverCapacity",
		Remedy: "ask for amounts that the device's range can round up",
	},
	{
		Name: "SharesUseCounters", Row: "B16",
		What:  "whether a device of which a share without amounts is allocated has consumed its counters",
		Where: "dynamic-resource-allocation/structured deviceCapacityInUse",
	},
	{
		Name: "CountersStayLocal", Row: "B17",
		What:  "whether slices with shared counters concern only the nodes that they name",
		Where: "dynamic-resource-allocation/structured GatherPools",
	},
	{
		Name: "DeviceErrorsSayMore", Row: "B18",
		What:   "whether errors about devices name the device and say how to guard an expression",
		Where:  "dynamic-resource-allocation/structured Allocate, selectorsMatch",
		Remedy: "rewrite alerts that match on these texts",
	},
	{
		Name: "ListAttributes", Row: "B24",
		What:  "whether selectors of devices read attributes that are lists, or fail the pod there",
		Where: "dynamic-resource-allocation/cel/compile.go newCompiler, getAttributeValue",
	},
	gate("DRAConsumableCapacity", "A5, A7",
		"whether devices share their capacity between claims (allowMultipleAllocations), and whether distinctAttribute is judged",
		"dynamic-resource-allocation/structured"),
	gate("DRADeviceBindingConditions", "A5, A7",
		"whether binding waits for conditions of devices, and whether distinctAttribute is judged",
		"plugins/dynamicresources/dynamicresources.go PreBind"),
	gate("DRADeviceTaintRules", "B19",
		"whether DeviceTaintRules taint devices",
		"dynamic-resource-allocation/resourceslice/tracker"),
	gate("DRADeviceTaints", "A5",
		"whether taints of devices keep claims away",
		"dynamic-resource-allocation/structured"),
	gate("DRAExtendedResource", "A5",
		"whether extended resources come from devices, by a device class",
		"plugins/dynamicresources/extendeddynamicresources.go"),
	gate("DRAPartitionableDevices", "A5",
		"whether devices may be partitions of others (sharedCounters)",
		"dynamic-resource-allocation/structured"),
	gate("GenericWorkload", "groups",
		"whether pods are scheduled in groups; answers are about a pod alone",
		"pkg/scheduler/schedule_one_podgroup.go"),
	gate("InPlacePodLevelResourcesVerticalScaling", "A11",
		"whether resources in the status of a whole pod count",
		"component-helpers/resource"),
	gate("NodeDeclaredFeatures", "A4",
		"whether pods need the features that their nodes declare",
		"plugins/nodedeclaredfeatures"),
	gate("StorageCapacityScoring", "B4",
		"whether VolumeBinding scores nodes by their free storage",
		"plugins/volumebinding/volume_binding.go Score"),
	gate("VolumeLimitScaling", "B5",
		"whether nodes without a CSI driver that asks for it are refused (preventPodSchedulingIfMissing)",
		"plugins/nodevolumelimits/csi.go Filter"),
}

// gate is the behaviour that a feature gate switches.
func gate(name, row, what, where string) *Behaviour {
	return &Behaviour{
		Name: name, Gate: true, Row: row, What: what, Where: where,
		Remedy: "kube-scheduler can be started with --feature-gates=" + name + "=true or false, where the release has it",
	}
}
