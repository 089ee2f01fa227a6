package advice

import (
	corev1 "k8s.io/api/core/v1"

	"berth/internal/engine"
)

// Action is what a person can do about a reason, or who has to act: one of a closed set.
type Action string

// The actions.
const (
	// Wait: the cause may end by itself. Other pods end, a controller removes its gate, or a node
	// becomes ready.
	Wait Action = "wait"
	// ChangePod: the pod's own specification is the cause.
	ChangePod Action = "changePod"
	// AskPlatform: the team that runs the nodes, the classes or the budgets has to act.
	AskPlatform Action = "askPlatform"
)

// The reasons of groups: stable codes for programs. The engine's own reasons are kube-scheduler's
// sentences.
const (
	Gated                        = "Gated"
	Cordoned                     = "Cordoned"
	OtherNode                    = "OtherNode"
	UntoleratedTaint             = "UntoleratedTaint"
	SelectorNotMatched           = "SelectorNotMatched"
	AffinityNotMatched           = "AffinityNotMatched"
	AddedAffinityNotMatched      = "AddedAffinityNotMatched"
	PortTaken                    = "PortTaken"
	TooManyPods                  = "TooManyPods"
	InsufficientCPU              = "InsufficientCPU"
	InsufficientMemory           = "InsufficientMemory"
	InsufficientEphemeralStorage = "InsufficientEphemeralStorage"
	InsufficientExtended         = "InsufficientExtended" // short.of names the resource
	SkewExceeded                 = "SkewExceeded"
	TopologyLabelMissing         = "TopologyLabelMissing"
	PodAffinityNotMatched        = "PodAffinityNotMatched"
	PodAntiAffinityViolated      = "PodAntiAffinityViolated"
	OthersAntiAffinityViolated   = "OthersAntiAffinityViolated"
	FeatureMissing               = "FeatureMissing"
	NotNamed                     = "NotNamed" // the pod's affinity names other nodes
	VolumeLimitExceeded          = "VolumeLimitExceeded"
	VolumeInUse                  = "VolumeInUse"
	VolumeElsewhere              = "VolumeElsewhere" // it can be used on other nodes
	VolumeUnavailable            = "VolumeUnavailable"
	ClaimMissing                 = "ClaimMissing"
	ClaimUnbound                 = "ClaimUnbound" // a claim with immediate binding is not bound yet
	DeviceUnavailable            = "DeviceUnavailable"
	DeviceClaimNotReady          = "DeviceClaimNotReady"
	// Rejected is every other reason; the message names it.
	Rejected = "Rejected"
)

// reasonOf names the cause of a rejection; d is nil for one without structure.
func reasonOf(d *engine.Detail) string {
	if d == nil {
		return Rejected
	}
	switch d.Kind {
	case "unschedulable":
		return Cordoned
	case "nodeName":
		return OtherNode
	case "taint":
		return UntoleratedTaint
	case "nodeAffinity":
		switch d.Name {
		case "nodeSelector":
			return SelectorNotMatched
		case "addedAffinity":
			return AddedAffinityNotMatched
		}
		return AffinityNotMatched
	case "port":
		return PortTaken
	case "resource":
		return shortOf(d.Name)
	case "topologySpread":
		if d.Skew == nil {
			return TopologyLabelMissing
		}
		return SkewExceeded
	case "podAffinity":
		return PodAffinityNotMatched
	case "podAntiAffinity":
		return PodAntiAffinityViolated
	case "existingAntiAffinity":
		return OthersAntiAffinityViolated
	case "declaredFeature":
		return FeatureMissing
	case "narrowed":
		return NotNamed
	case "volumeLimit":
		return VolumeLimitExceeded
	case "volume", "claimInUse":
		return VolumeInUse
	case "volumeAffinity", "volumeZone", "allowedTopologies", "selectedNode":
		return VolumeElsewhere
	case "volumeMissing", "volumeMatch", "storageCapacity":
		return VolumeUnavailable
	case "device", "devicePool":
		return DeviceUnavailable
	case "resourceClaim":
		return DeviceClaimNotReady
	}
	return Rejected
}

func shortOf(resource string) string {
	switch corev1.ResourceName(resource) {
	case corev1.ResourcePods:
		return TooManyPods
	case corev1.ResourceCPU:
		return InsufficientCPU
	case corev1.ResourceMemory:
		return InsufficientMemory
	case corev1.ResourceEphemeralStorage:
		return InsufficientEphemeralStorage
	}
	return InsufficientExtended
}

// actionFor returns the action for a reason. A cause that evicting pods could remove may end by
// itself when they end; any other one needs a person.
func actionFor(reason string, d *engine.Detail, unresolvable bool) Action {
	switch reason {
	case Cordoned, AddedAffinityNotMatched, TopologyLabelMissing, FeatureMissing:
		return AskPlatform
	case UntoleratedTaint:
		switch {
		case d.Key == corev1.TaintNodeUnschedulable:
			return AskPlatform
		case ails(d.Key):
			return Wait
		}
		return ChangePod
	case OtherNode, SelectorNotMatched, AffinityNotMatched, NotNamed, SkewExceeded, VolumeElsewhere, ClaimMissing:
		return ChangePod
	case VolumeUnavailable:
		return AskPlatform
	case Gated, ClaimUnbound, VolumeInUse, VolumeLimitExceeded, DeviceUnavailable, DeviceClaimNotReady:
		return Wait
	case Rejected:
		return AskPlatform
	}
	if unresolvable {
		return ChangePod
	}
	return Wait
}
