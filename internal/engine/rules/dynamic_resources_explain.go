package rules

import (
	"fmt"
	"slices"

	resourcev1 "k8s.io/api/resource/v1"

	"berth/internal/engine"
)

// Allotted names the devices that the pod's claims would get on a node. A claim that the pod names
// twice is allocated twice, as upstream does, and one result stands.
func (d *DynamicResources) Allotted(q *engine.Query, s *deviceState, row int) []engine.AllottedDevice {
	if s == nil || !s.allocate {
		return nil
	}
	v := s.on(q, row)
	var out []engine.AllottedDevice
	for i := range v.given {
		if slices.Contains(v.asked[:i], v.asked[i]) {
			continue
		}
		for _, dev := range v.given[d.standing(v.asked, i)].Devices {
			out = append(out, engine.AllottedDevice{Claim: v.asked[i].Name, Request: dev.Request, Driver: dev.Driver, Pool: dev.Pool, Device: dev.Device})
		}
	}
	return out
}

// standing returns which allocation counts for the first of equal claims: its own, or in some
// releases that of the last one (plugins/dynamicresources SignalClaimPendingAllocation).
func (d *DynamicResources) standing(claims []*resourcev1.ResourceClaim, first int) int {
	at := first
	for i := first; d.lastStands && i < len(claims); i++ {
		if claims[i] == claims[first] {
			at = i
		}
	}
	return at
}

// deviceCause is about the class alone: what is free differs from node to node.
func deviceCause(d *engine.Detail) engine.Cause {
	return engine.Cause{Code: engine.CauseDeviceUnavailable, About: d.Name}
}

func deviceWords(d *engine.Detail, _ engine.AmountsFunc) string {
	if d.Requested == nil || d.Matching == nil || d.Available == nil {
		return d.Name
	}
	text := fmt.Sprintf("claim %s, request %s", d.Claim, d.Request)
	if d.Name != "" {
		text += ", class " + d.Name
	}
	return fmt.Sprintf("%s: needs %d, %d here match, %d of them free", text, *d.Requested, *d.Matching, *d.Available)
}

// Details names the claims that cannot be allocated on a rejected node. For each request it counts
// the devices that are wanted, that match and that are free. It also names the pools from which
// nothing can be allocated.
func (d *DynamicResources) Details(q *engine.Query, s *deviceState, row int) []engine.Detail {
	if s == nil {
		return nil
	}
	v := s.on(q, row)
	var out []engine.Detail
	switch v.reason {
	case ReasonStaleExtended:
		return []engine.Detail{{Kind: "resourceClaim", Claim: s.claims[s.special].Name, Term: "left behind by an earlier attempt"}}
	case ReasonNoResource:
		return []engine.Detail{{Kind: "resource", Name: v.detail}}
	case ReasonClaimElsewhere:
		for _, i := range v.missing {
			why := "its devices did not become ready"
			switch {
			case !s.reaches(i, row):
				why = "allocated for other nodes"
			case d.skips(s.claims[i]) && !skipping(q, row):
				why = "needs a node that declares " + skippingFeature
			}
			out = append(out, engine.Detail{Kind: "resourceClaim", Claim: s.claims[i].Name, Term: why})
		}
		return slices.CompactFunc(out, func(a, b engine.Detail) bool { return a.Claim == b.Claim && a.Term == b.Term })
	}
	needs, broken := s.inventory.Availability(d.expressions, q.Nodes, row, v.asked)
	for _, n := range needs {
		out = append(out, engine.Detail{Kind: "device", Claim: n.Claim, Request: n.Request, Name: n.Class, Requested: &n.Needed, Matching: &n.Matching, Available: &n.Free})
	}
	for _, p := range broken {
		out = append(out, engine.Detail{Kind: "devicePool", Name: p.Name, Term: p.Why})
	}
	return out
}
