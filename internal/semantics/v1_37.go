package semantics

import "slices"

var v137 = v136.but(func(r *Release) {
	r.Name = "v1.37.2"
	r.Locked = []string{"DRAExtendedResource", "NodeDeclaredFeatures"}
	r.APIs = []API{
		{"DeviceTaintRule", "resource.k8s.io/v1alpha3", true},
		{"DeviceTaintRule", "resource.k8s.io/v1beta2", false},
		{"DeviceTaintRule", "resource.k8s.io/v1", false},
		{"PodGroup", "scheduling.k8s.io/v1beta1", false},
		{"Workload", "scheduling.k8s.io/v1beta1", false},
	}
	r.Dropped = r.Dropped[:1]
	r.DRADeviceTaintRules = true    // B19
	r.StorageCapacityScoring = true // B4
	r.VolumeLimitScaling = true     // B5

	r.Plugins = ahead(r.Plugins, "NodeName", "NodeUnschedulable") // B1
	r.Others = slices.Clone(r.Others)                             // B22
	r.Others[2].Gate = "GenericWorkload"
	r.Others = append(r.Others, Other{
		Name: "DeferredPodScheduling", Points: []string{"preFilter", "filter", "permit"},
		Gate: "InPlacePodVerticalScalingSchedulerPreemption",
	})
	r.Points = append(slices.Clone(r.Points), "podGroupPostFilter")        // B22
	r.NodePreFilters = true                                                // B2
	r.Features = append([]string{"VolumeBindMountOptions"}, r.Features...) // B21
	r.SumsOfWholePods = true                                               // B11
	r.ImageVolumesRaiseTop = true                                          // B6
	r.SilentAboutClaims = true                                             // B7

	r.ExclusionMeansAll = false  // B3
	r.TellsPlacement = true      // B8
	r.FirstViolatedOnly = true   // B9
	r.AffinityWakes = WakesByAny // H2
	r.NewNodesMeanTaints = false // H2
	r.DeletedClaimsWake = true   // H2

	r.GatedNominationsCount = true // B23
	r.CountersByDriver = true      // B12
	r.DistinctFromAll = true       // B13
	r.AllCountsFull = true         // B14
	r.BadAmountsFail = true        // B15
	r.SharesUseCounters = true     // B16
	r.CountersStayLocal = true     // B17
	r.DeviceErrorsSayMore = true   // B18
	r.GroupsAreHidden = true       // B20
	r.DerivedAttributesFail = true // B20
	r.SkippingNeedsFeature = true  // B20
	r.ListAttributes = true        // B24

	r.TellsSandbox = true      // D3
	r.ExitedInitialized = true // D4
	r.ExecProbesGoOn = true    // D5
})
