package decision

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"

	"berth/internal/engine"
	"berth/internal/kube/object"
	"berth/internal/revision"
)

// Placement is a list of pods to place one after the other, each on the state that those before
// left.
type Placement struct {
	Cluster  string // "default" if empty
	Revision int64  // 0: the newest
	// Members returns the pods on a view, and how many of them have to be placed where the request
	// does not say; 0: any number.
	Members func(ctx context.Context, v *revision.View) (list []Member, minCount int, err error)
	// InOrder decides the pods in the order of the list; else as the queue sorts them, those of one
	// priority in the order of the list.
	InOrder bool
	// Atomic binds all pods or none, and MinCount, where it is above 0, that many at least or none.
	Atomic       bool
	MinCount     int
	NoPreemption bool
	// Hold is for how long the pods are on their nodes, unless that is committed; 0: for good.
	Hold time.Duration
	// Removals are sets of pods, of which Try looks for the first without which the placement
	// holds.
	Removals [][]object.Key
	Now      time.Time // zero: the time of the call
}

// Member is a pod of a placement: one of the request, or the name of one that the snapshot has.
type Member struct {
	Field   string // where it stands in the request, which errors name
	Pod     *corev1.Pod
	PodJSON []byte // Pod in canonical JSON, where the caller has it
	Ref     *object.Key
	// Claims are made with the pod, where the snapshot does not have them.
	Claims []object.Object
}

// Named returns the pod's namespace and name.
func (m *Member) Named() (namespace, name string) {
	if m.Ref != nil {
		return m.Ref.Namespace, m.Ref.Name
	}
	return m.Pod.Namespace, m.Pod.Name
}

// NotTried is the outcome of pods that a placement did not come to.
const NotTried engine.Outcome = "NotTried"

// PlacementAnswer is what became of a placement.
type PlacementAnswer struct {
	// ID names the placement; absent of a dry one.
	ID       string `json:"id,omitempty"`
	Snapshot string `json:"snapshot" example:"plat@41"`
	// BoundSnapshot is the revision that was made: it has the pods on their nodes, and why others
	// wait. Absent where nothing was written.
	BoundSnapshot string `json:"boundSnapshot,omitempty" example:"plat@42"`
	// Committed is false for a placement that did not hold, of which nothing was written but its
	// records, and for a dry one.
	Committed bool `json:"committed"`
	Placed    int  `json:"placed"`
	Failed    int  `json:"failed"`
	// Results are in the order of the request.
	Results []PlacementResult `json:"results"`
	// StoppedBy is the pod with which it was clear that the placement does not hold.
	StoppedBy *PlacementStop `json:"stoppedBy,omitempty"`
	// FirstSet is which of the removals, from 0, is the first with which the placement holds, and
	// MayReturn are the pods of that set which can stay, all of them together.
	FirstSet  *int     `json:"firstSet,omitempty"`
	MayReturn []PodKey `json:"mayReturn,omitempty"`
	Warnings  []string `json:"warnings,omitempty"`
	// Hold is what keeps the pods on their nodes; absent without hold, and where no pod was placed.
	Hold *PlacementHold `json:"hold,omitempty"`

	// Bound reports whether a pod was bound.
	Bound bool `json:"-"`
} // @name Placement

// PlacementHold is the hold of a placement's pods.
type PlacementHold struct {
	ID string `json:"id"`
	// Expires is when its pods go, unless it was committed.
	Expires time.Time `json:"expires"`
} // @name PlacementHold

// PodKey names a pod.
type PodKey struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
} // @name PlacementPod

// PlacementResult is what became of one pod.
type PlacementResult struct {
	Namespace string         `json:"namespace"`
	Name      string         `json:"name"`
	Outcome   engine.Outcome `json:"outcome" enums:"Scheduled,Preempting,Unschedulable,Gated,NotTried" swaggertype:"string"`
	// Node is the node that the pod gets, or that it is nominated to.
	Node string `json:"node,omitempty"`
	// Decision is the id of the record; absent of a dry placement, and where the pod was not tried.
	Decision string `json:"decision,omitempty"`
	// Message is kube-scheduler's about a pod that found no node.
	Message string `json:"message,omitempty"`
	// Failures count the nodes that plugins rejected; absent unless explain is failures.
	Failures []engine.FailureCount `json:"failures,omitempty"`
	Victims  []engine.Victim       `json:"victims,omitempty"`

	Profile string        `json:"-"`
	Counts  engine.Counts `json:"-"`
} // @name PlacementResult

// PlacementStop is the pod that ended a placement, and why it got no node.
type PlacementStop struct {
	PodKey
	Message string `json:"message"`
} // @name PlacementStop

// Check fills in the default of the cluster, and refuses what is no placement.
func (p *Placement) Check() error {
	if p.Cluster == "" {
		p.Cluster = "default"
	}
	if err := revision.CheckName(p.Cluster); err != nil {
		return Errorf(Malformed, "snapshot", "%v", err)
	}
	if p.MinCount < 0 {
		return Errorf(Invalid, "minCount", "want a number above 0")
	}
	return nil
}
