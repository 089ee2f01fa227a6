package planted

// VolumesStayAttached leaves the volumes of a pod that goes on its node.
const VolumesStayAttached Fault = "volumes-stay-attached"

func init() {
	All = append(All,
		Plant{VolumesStayAttached, "a node is full of volumes of pods that are gone", "./internal/engine", "TestAttachmentsFollowPods"},
	)
}
