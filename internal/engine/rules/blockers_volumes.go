package rules

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"

	"berth/internal/engine"
	"berth/internal/engine/devices"
	"berth/internal/engine/state"
)

// The order in which objects of storage are named: the claim first, and then what it leads to.
var storageOrder = []string{kindClaim, kindVolume, kindStorageClass, kindNode}

// storageBlockers lists objects in their order, not by kind.
func storageBlockers(d *engine.Detail, list ...engine.Blocker) {
	list = slices.DeleteFunc(list, func(b engine.Blocker) bool { return b.Name == "" })
	slices.SortStableFunc(list, func(a, b engine.Blocker) int {
		return slices.Index(storageOrder, a.Kind) - slices.Index(storageOrder, b.Kind)
	})
	d.BlockersOmitted = max(0, len(list)-engine.MaxBlockers)
	d.Blockers = list[:min(len(list), engine.MaxBlockers)]
}

// NameBlockers names the claim, and the volume, the class and the nodes that it leads to.
func (VolumeBinding) NameBlockers(q *engine.Query, _ *bindings, _ int, d *engine.Detail) {
	claim := engine.Blocker{Kind: kindClaim, Namespace: q.Pod.Namespace, Name: d.Claim}
	volume := engine.Blocker{Kind: kindVolume, Name: d.Volume}
	class := engine.Blocker{Kind: kindStorageClass, Name: d.Name}
	switch d.Kind {
	case "volumeAffinity":
		list := []engine.Blocker{claim, volume}
		if pv := q.State.PersistentVolume(d.Volume); pv != nil && pv.Spec.NodeAffinity != nil {
			list = append(list, unknownPlaces(q, pv.Spec.NodeAffinity.Required)...)
		}
		storageBlockers(d, list...)
	case "selectedNode":
		storageBlockers(d, claim, nodeBlocker(q, d.Value))
	case "volumeMissing":
		volume.State, volume.Why = engine.BlockerMissing, notHere
		storageBlockers(d, claim, volume)
	default:
		storageBlockers(d, claim, class)
	}
}

// unknownPlaces names the nodes that a volume can be used on and that the cluster does not have.
// Where no node has one of the labels' values, the value is named.
func unknownPlaces(q *engine.Query, sel *corev1.NodeSelector) (out []engine.Blocker) {
	if sel == nil {
		return nil
	}
	for i := range sel.NodeSelectorTerms {
		t := &sel.NodeSelectorTerms[i]
		for k, list := range [][]corev1.NodeSelectorRequirement{t.MatchExpressions, t.MatchFields} {
			for _, r := range list {
				if r.Operator != corev1.NodeSelectorOpIn {
					continue
				}
				for _, v := range r.Values {
					named := k == 1 && q.Nodes.Row(v) < 0
					if named || k == 0 && q.Nodes.Column(r.Key).Lookup(v) < 0 {
						b := engine.Blocker{Kind: kindNode, Name: v, State: engine.BlockerMissing, Why: notHere}
						if k == 0 && r.Key != corev1.LabelHostname {
							b.Name, b.Why = r.Key+"="+v, "no node has it"
						}
						out = append(out, b)
					}
				}
			}
		}
	}
	return out
}

// NameBlockers names the claim, and the volume with its zones.
func (VolumeZone) NameBlockers(q *engine.Query, _ *zonesOfVolumes, _ int, d *engine.Detail) {
	list := []engine.Blocker{{Kind: kindClaim, Namespace: q.Pod.Namespace, Name: d.Claim}, {Kind: kindVolume, Name: d.Volume}}
	for _, zone := range strings.Split(d.Term, ",") {
		if q.Nodes.Column(d.Key).Lookup(zone) < 0 {
			list = append(list, engine.Blocker{Kind: kindNode, Name: d.Key + "=" + zone, State: engine.BlockerMissing, Why: "no node has it"})
		}
	}
	storageBlockers(d, list...)
}

// NameBlockers names the pods that have volumes of the driver on the node, those with most first,
// or the CSINode that lacks the driver.
func (l NodeVolumeLimits) NameBlockers(q *engine.Query, _ *incoming, row int, d *engine.Detail) {
	var out engine.Blockers
	defer func() { out.Done(d) }()
	if d.Kind == "driverMissing" {
		out.Add(engine.Blocker{Kind: kindCSINode, Name: q.Nodes.Node(row).Name, Why: "it does not list the driver"})
		return
	}
	on := q.State.Attachments(l.declared).Moved(row)
	var volumes []state.CSIVolume
	for p := range q.State.PodsOn(row).All() {
		volumes, _ = q.AttachedBy(volumes[:0], p, on)
		n := int64(0)
		for _, v := range volumes {
			if q.State.DriverName(v.Driver) == d.Name {
				n++
			}
		}
		if n > 0 {
			out.AddPod(q, p, &n, "")
		}
	}
}

// NameBlockers names the pods that mount the disk, or use the claim.
func (VolumeRestrictions) NameBlockers(q *engine.Query, _ restricted, row int, d *engine.Detail) {
	var out engine.Blockers
	if d.Kind == "claimInUse" {
		if ns, name, ok := strings.Cut(d.Value, "/"); ok {
			if p := q.State.Pod(ns, name); p != nil {
				out.AddPod(q, p, nil, "")
			}
		}
		out.Done(d)
		return
	}
	disks := state.Disks(q.Pod)
	for i := range disks {
		if disks[i].Kind != d.Key || disks[i].String() != d.Name {
			continue
		}
		ids := q.State.DiskConflicts(nil, &disks[i])
		for p := range q.State.PodsOn(row).All() {
			if slices.ContainsFunc(p.Volumes.Disks(), func(id int32) bool { return slices.Contains(ids, id) }) {
				out.AddPod(q, p, nil, "")
			}
		}
		break
	}
	out.Done(d)
}

// NameBlockers names who holds the devices that a request would take, the pods that use their
// claims, or the claim that is allocated elsewhere and its users.
func (d *DynamicResources) NameBlockers(q *engine.Query, s *deviceState, row int, detail *engine.Detail) {
	if s == nil {
		return
	}
	var out engine.Blockers
	defer func() { out.Done(detail) }()
	switch detail.Kind {
	case "resourceClaim":
		out.Add(engine.Blocker{Kind: kindDeviceClaim, Namespace: q.Pod.Namespace, Name: detail.Claim})
		if c := q.State.ResourceClaim(q.Pod.Namespace, detail.Claim); c != nil {
			addUsers(q, c, "uses the claim", &out)
		}
	case "device":
		v := s.on(q, row)
		held := s.inventory.Held(d.expressions, q.Nodes, row, v.asked, detail.Claim, detail.Request)
		if len(held) == 0 {
			return
		}
		for _, c := range q.State.ResourceClaims() {
			if c.Status.Allocation == nil {
				continue
			}
			names := []string{}
			for i := range c.Status.Allocation.Devices.Results {
				r := &c.Status.Allocation.Devices.Results[i]
				if id := (devices.ID{Driver: r.Driver, Pool: r.Pool, Device: r.Device}); held[id] {
					names = append(names, fmt.Sprintf("%s/%s", r.Pool, r.Device))
				}
			}
			if len(names) == 0 {
				continue
			}
			n := int64(len(names))
			why := "has " + strings.Join(names[:min(len(names), engine.MaxBlockers)], ", ")
			if len(c.Status.ReservedFor) == 0 {
				out.Add(engine.Blocker{Kind: kindDeviceClaim, Namespace: c.Namespace, Name: c.Name, Amount: &n, Why: why + "; no pod uses it"})
				continue
			}
			addUsers(q, c, why+" by claim "+c.Name, &out)
		}
	}
}

// addUsers names the pods that a claim is reserved for. kube-scheduler evicts none of them for a
// device.
func addUsers(q *engine.Query, c *resourcev1.ResourceClaim, why string, out *engine.Blockers) {
	for _, r := range c.Status.ReservedFor {
		if r.Resource != "pods" || r.APIGroup != "" {
			out.Add(engine.Blocker{Kind: r.Resource, Namespace: c.Namespace, Name: r.Name, Why: why})
			continue
		}
		p := q.State.Pod(c.Namespace, r.Name)
		if p == nil {
			out.Add(engine.Blocker{Kind: "Pod", Namespace: c.Namespace, Name: r.Name, State: engine.BlockerMissing, Why: why})
			continue
		}
		b := q.PodBlocker(p)
		if b.Why = why; b.State == engine.BlockerEvictable {
			b.State = ""
		}
		out.Add(b)
	}
}
