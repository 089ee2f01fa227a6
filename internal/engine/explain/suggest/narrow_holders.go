package suggest

import (
	"slices"

	"berth/internal/engine"
	"berth/internal/engine/explain"
	"berth/internal/engine/state"
)

// Holder is who has what nodes lack: the top owner of pods, or a pod without an owner.
type Holder struct {
	Kind      string `json:"kind" example:"Deployment"`
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
}

const (
	// maxHolders is how many holders an obstacle names: of more, none.
	maxHolders = 2
	// maxHeldNodes is of how many nodes the holders are looked for.
	maxHeldNodes = 256
)

// heldCauses are of what pods on the nodes, or their claims, have.
var heldCauses = []string{
	engine.CausePortTaken, engine.CauseInsufficientCPU, engine.CauseInsufficientMemory, engine.CauseInsufficientEphemeralStorage,
	engine.CauseInsufficientExtended, engine.CauseDeviceUnavailable, engine.CauseVolumeInUse, engine.CauseVolumeLimitExceeded,
	engine.CausePodAntiAffinityViolated, engine.CauseOthersAntiAffinityViolated,
}

// held names who has what the nodes of an obstacle lack, where they are few on all of the nodes
// together. of tells the obstacle's detail.
func (n *narrowing) held(o *Obstacle, rows state.Bits, of func(*engine.NodeVerdict, *engine.Detail) bool) {
	if !n.names || o.Nodes > maxHeldNodes || !slices.Contains(heldCauses, o.Reason) {
		return
	}
	var list []Holder
	whole := true
	for row := range n.r.Nodes().ByName(rows) {
		v := explain.NamedVerdict(n.r, row)
		there := false
		for i := range v.Details {
			d := &v.Details[i]
			if there || !of(&v, d) {
				continue
			}
			there = true
			if len(d.Blockers) == 0 || d.BlockersOmitted > 0 {
				return
			}
			for k := range d.Blockers {
				if list = n.addHolder(list, &d.Blockers[k]); len(list) > maxHolders {
					return
				}
			}
			whole = whole && d.Available != nil && *d.Available <= 0
		}
		if !there {
			return
		}
	}
	o.Holders, o.AllHeld = list, whole
}

// addHolder adds who has a pod, or the claim that has a device, once.
func (n *narrowing) addHolder(list []Holder, b *engine.Blocker) []Holder {
	h := Holder{b.Kind, b.Namespace, b.Name}
	if p := n.r.Query.State.Pod(b.Namespace, b.Name); p != nil && b.Kind == "Pod" {
		if o, owned := n.r.Query.State.TopOwner(p); owned {
			h.Kind, h.Name = o.Kind, o.Name
		}
	}
	if slices.Contains(list, h) {
		return list
	}
	return append(list, h)
}
