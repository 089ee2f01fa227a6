package planted

// Faults of how pods end.
const (
	// LongerSecondDelete lets a second delete lengthen the period.
	LongerSecondDelete Fault = "longer-second-delete"
	// ProbeBeforeDelete takes a probe's own period though the pod is being deleted.
	ProbeBeforeDelete Fault = "probe-before-delete"
	// ForceLeavesNothing says that nothing runs any more once the object is gone.
	ForceLeavesNothing Fault = "force-leaves-nothing"
	// EvictWithinRequests ranks pods by usage alone.
	EvictWithinRequests Fault = "evict-within-requests"
	// EvictCritical ranks critical pods among the others.
	EvictCritical Fault = "evict-critical"
	// OldestFirst counts among terminated pods the older before the evicted.
	OldestFirst Fault = "oldest-first"
	// PatchOver patches pods that are over, too.
	PatchOver Fault = "patch-over"
)

func init() {
	All = append(All,
		Plant{LongerSecondDelete, "a second delete gives a pod more time", "./internal/podlife", "TestSecondDelete"},
		Plant{ProbeBeforeDelete, "a failing probe gives a pod that is being deleted more time", "./internal/podlife", "TestSeed004ProbeOfADeletedPod"},
		Plant{ForceLeavesNothing, "nobody is told of the processes that a forced delete leaves", "./internal/podlife", "TestForceDelete"},
		Plant{EvictWithinRequests, "a pod within its requests is evicted before one above them", "./internal/podlife", "TestSeed002EvictionRanking"},
		Plant{EvictCritical, "a critical pod is ranked for eviction", "./internal/podlife", "TestProtectedPods"},
		Plant{OldestFirst, "an evicted pod outlives an older one", "./internal/podlife", "TestGarbageOrder"},
		Plant{PatchOver, "a pod that has succeeded is written to have failed", "./internal/podlife", "TestGarbagePatches"},
	)
}
