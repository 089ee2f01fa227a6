package suggest

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

// actionFor returns the action for a reason. A cause that evicting pods could remove may end by
// itself when they end; any other one needs a person.
func actionFor(reason string, d *engine.Detail, unresolvable bool) Action {
	switch reason {
	case engine.CauseCordoned, engine.CauseAddedAffinityNotMatched, engine.CauseTopologyLabelMissing, engine.CauseFeatureMissing:
		return AskPlatform
	case engine.CauseUntoleratedTaint:
		switch {
		case d.Key == corev1.TaintNodeUnschedulable:
			return AskPlatform
		case ails(d.Key):
			return Wait
		}
		return ChangePod
	case engine.CauseOtherNode, engine.CauseSelectorNotMatched, engine.CauseAffinityNotMatched, engine.CauseNotNamed, engine.CauseSkewExceeded, engine.CauseVolumeElsewhere, engine.CauseClaimMissing:
		return ChangePod
	case engine.CauseVolumeUnavailable:
		return AskPlatform
	case engine.CauseGated, engine.CauseClaimUnbound, engine.CauseVolumeInUse, engine.CauseVolumeLimitExceeded, engine.CauseDeviceUnavailable, engine.CauseDeviceClaimNotReady:
		return Wait
	case engine.CauseRejected:
		return AskPlatform
	}
	if unresolvable {
		return ChangePod
	}
	return Wait
}
