package engine

import (
	"strings"

	corev1 "k8s.io/api/core/v1"

	"berth/internal/engine/state"
	"berth/internal/kube/object"
)

// Action is what an event did to its object: one bit in an event, several where a rule registers
// (k8s.io/kube-scheduler/framework ActionType). The order of the bits matters for Registers.
type Action uint32

// The actions, in upstream's order.
const (
	Add Action = 1 << iota
	Delete
	UpdateNodeAllocatable
	UpdateNodeLabel
	UpdateNodeTaint // taints, or an uncordon
	UpdateNodeCondition
	UpdateNodeAnnotation
	UpdateNodeDeclaredFeature
	UpdatePodLabel
	UpdatePodScaleDown
	UpdatePodToleration
	UpdatePodSchedulingGatesEliminated
	UpdatePodGeneratedResourceClaim

	// Update is any change of an object of a kind without actions of its own, and one of a pod that
	// none of the others describes.
	Update = UpdateNodeAllocatable | UpdateNodeLabel | UpdateNodeTaint | UpdateNodeCondition | UpdateNodeAnnotation |
		UpdateNodeDeclaredFeature | UpdatePodLabel | UpdatePodScaleDown | UpdatePodToleration |
		UpdatePodSchedulingGatesEliminated | UpdatePodGeneratedResourceClaim
)

var actionNames = []string{
	"Add", "Delete", "UpdateNodeAllocatable", "UpdateNodeLabel", "UpdateNodeTaint", "UpdateNodeCondition",
	"UpdateNodeAnnotation", "UpdateNodeDeclaredFeature", "UpdatePodLabel", "UpdatePodScaleDown", "UpdatePodToleration",
	"UpdatePodSchedulingGatesEliminated", "UpdatePodGeneratedResourceClaim",
}

// String names the action as upstream does; several are joined by "|".
func (a Action) String() string {
	all := a&Update == Update
	if all {
		a &^= Update
	}
	var out []string
	for i, name := range actionNames {
		if a&(1<<i) != 0 {
			out = append(out, name)
		}
	}
	if all {
		out = append(out, "Update")
	}
	return strings.Join(out, "|")
}

// Event is one change of one object, as kube-scheduler's queue is told of it. An update of several
// properties is several events.
type Event struct {
	Key    object.Key
	Action Action
	// Old and New are the object before and after, typed as in object.Object. Old is nil for Add,
	// New for Delete.
	Old, New any
	// UpTo, where not nil, has only pods up to a priority hear of it: a nomination that went leaves
	// its room to them (pkg/scheduler/eventhandlers.go getLEPriorityPreCheck).
	UpTo *int32

	// self is the pod itself, where it still waits; own reports that no other pod hears of the
	// event.
	self *corev1.Pod
	own  bool
}

// Label names the event as upstream's metrics and logs do, such as NodeAdd or
// AssignedPodUpdatePodLabel (framework ClusterEvent.Label).
func (e *Event) Label() string {
	kind := e.Key.Kind
	switch kind {
	case "Pod":
		kind = "AssignedPod"
		if p, ok := e.New.(*corev1.Pod); ok && p.Spec.NodeName == "" {
			kind = "UnschedulablePod"
		}
	case "CSINode", "CSIDriver", "CSIStorageCapacity", "StorageClass", "VolumeAttachment":
		kind = "storage.k8s.io/" + kind
	case "ResourceClaim", "ResourceSlice", "DeviceClass":
		kind = "resource.k8s.io/" + kind
	case "DeviceTaintRule": // of a slice whose devices it taints or no longer does
		return "resource.k8s.io/ResourceSliceUpdate"
	}
	return kind + e.Action.String()
}

// Waiter is the pod whose rejection an event may undo. It was rejected by the rule whose hint is
// called.
type Waiter struct {
	// State is the one after the event.
	State *state.State
	// Pod is the pod after the event, not to be written. It has its name, UID and status only where
	// Self is set, or where its claims are named by them.
	Pod *corev1.Pod
	// Self reports whether the event is about this pod.
	Self bool
}

// Hint is what a rule registers for: events of a kind, and the function that reports whether such
// an event may have made a pod schedulable that the rule rejected. Without a function every one may
// (framework ClusterEventWithHint).
type Hint struct {
	Kind   string // as in object.Key
	Action Action
	Queue  func(w *Waiter, e *Event) bool
}

// Hinter is a rule that can reject pods: its hints name the events that may change that. It never
// reads the clock, records or attempts, so that every replica gets the same.
type Hinter interface {
	Rule
	Hints() []Hint
}

// Registers reports whether the hint is for an event's kind and action. An update that no action of
// its own describes has all bits of Update, and is only for who registers them all
// (framework/types.go MatchClusterEvents).
func (h *Hint) Registers(kind string, a Action) bool {
	return h.Kind == kind && h.Action&a != 0 && a <= h.Action
}

// HearOfTaints has a rule that hears of new nodes and not of taints hear of each change of taints,
// too (pkg/scheduler/scheduler.go buildQueueingHintMap).
func (p *Plugin) HearOfTaints() {
	var of Action
	for i := range p.Hints {
		if p.Hints[i].Kind == "Node" {
			of |= p.Hints[i].Action
		}
	}
	if of&Add != 0 && of&UpdateNodeTaint == 0 {
		p.Hints = append(p.Hints, Hint{Kind: "Node", Action: UpdateNodeTaint})
	}
}
