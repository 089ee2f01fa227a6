package rules

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"berth/internal/engine"
	"berth/internal/engine/state"
)

// The reasons of VolumeRestrictions.
const (
	ReasonDiskConflict = "node(s) had no available disk"
	ReasonClaimInUse   = "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod"
)

// VolumeRestrictions rejects nodes on which a disk of the pod is mounted in a conflicting way. It
// rejects all nodes while another pod uses one of the pod's ReadWriteOncePod claims
// (plugins/volumerestrictions/volume_restrictions.go).
type VolumeRestrictions struct{}

var (
	_ engine.PreFilterer[restricted] = VolumeRestrictions{}
	_ engine.Filterer[restricted]    = VolumeRestrictions{}
	_ engine.Detailer[restricted]    = VolumeRestrictions{}
	_ engine.Local                   = VolumeRestrictions{}
)

// volumeRestrictionsDescriptor is the rule's entry in the registry.
var volumeRestrictionsDescriptor = Descriptor{
	Plugin: "VolumeRestrictions", Phases: []string{phasePreFilter, phaseFilter},
	Needs: filterNeeds,
	Judges: "Inline disks that another pod on the node mounts in a conflicting way: GCE PD, iSCSI and RBD unless both are read-only, EBS always. " +
		"Also claims with the access mode ReadWriteOncePod that another pod uses, on any node. " +
		"A pod whose claim does not exist is rejected before any node is judged.",
	Code: codeUnschedulable + "; " + codeUnresolvable + " for a missing claim",
	Reasons: []string{
		ReasonDiskConflict, ReasonClaimInUse,
	},
	Upstream: "volumerestrictions/volume_restrictions.go",
	Details: []*engine.DetailKind{
		unreadyKinds[0],
		{
			Name: "diskInUse", Fields: "key: the volume source, name", Named: ", mounted by ",
			Cause: func(d *engine.Detail) engine.Cause { return engine.Cause{Code: engine.CauseVolumeInUse, About: d.Name} },
			Words: func(d *engine.Detail, _ engine.AmountsFunc) string { return d.Key + " " + d.Name },
		},
		ofClaim("claimInUse", "claim, value: namespace/name of the pod that uses it, domain: that pod's node", engine.CauseVolumeInUse,
			func(*engine.Detail) string { return "it may be used by one pod" }),
	},
	build: always[restricted](VolumeRestrictions{}),
}

// Name is the plugin's name.
func (VolumeRestrictions) Name() string { return "VolumeRestrictions" }

// Locality returns OwnRow for disks, which conflict on one node. Users of a claim are counted on
// every node.
func (VolumeRestrictions) Locality(q *engine.Query) engine.Locality {
	near := engine.NodesOnly
	for i := range q.Pod.Spec.Volumes {
		switch v := &q.Pod.Spec.Volumes[i]; {
		case v.PersistentVolumeClaim != nil:
			return engine.Anywhere
		case exclusive(v):
			near = engine.OwnRow
		}
	}
	return near
}

// exclusive reports whether a volume may conflict with the same one on a node.
func exclusive(v *corev1.Volume) bool {
	return v.GCEPersistentDisk != nil || v.AWSElasticBlockStore != nil || v.RBD != nil || v.ISCSI != nil
}

// restricted is the PreFilter state: the pod's ReadWriteOncePod claims by name, and how many of
// them are in use.
type restricted struct {
	claims []string
	users  int32
}

// PreFilter rejects pods whose claims do not exist, and skips those without a disk or a claim in
// use.
func (VolumeRestrictions) PreFilter(q *engine.Query) (restricted, engine.PreFilterResult) {
	disks := false
	var r restricted
	for i := range q.Pod.Spec.Volumes {
		v := &q.Pod.Spec.Volumes[i]
		disks = disks || exclusive(v)
		if v.PersistentVolumeClaim == nil {
			continue
		}
		name := v.PersistentVolumeClaim.ClaimName
		c := q.State.PersistentVolumeClaim(q.Pod.Namespace, name)
		if c == nil {
			return restricted{}, engine.PreFilterResult{Code: engine.UnschedulableAndUnresolvable, Reason: state.ClaimNotFound(name)}
		}
		if slices.Contains(c.Spec.AccessModes, corev1.ReadWriteOncePod) && !slices.Contains(r.claims, name) {
			r.claims = append(r.claims, name)
		}
	}
	// Each claim counts once if it is used at all, as upstream has it. Of pods added in a trial
	// every volume counts, whatever their namespace.
	for _, name := range r.claims {
		if q.State.ClaimPostings(q.Pod.Namespace, name).Total() > 0 {
			r.users++
		}
	}
	for _, p := range q.Added() {
		r.users += p.References(r.claims)
	}
	if !disks && r.users == 0 {
		return restricted{}, engine.PreFilterResult{Skip: true}
	}
	return r, engine.PreFilterResult{}
}

// Filter rejects nodes with a conflicting disk, and every node while a claim is in use.
func (VolumeRestrictions) Filter(q *engine.Query, r restricted, in state.Bits, rej *engine.Rejected) error {
	taken := q.Bits()
	disks := state.Disks(q.Pod)
	for i := range disks {
		for _, id := range q.State.DiskConflicts(nil, &disks[i]) {
			q.State.DiskPostings(id).Each(func(row, _ int32) { taken.Set(int(row)) })
		}
	}
	taken.And(in)
	rej.Add(ReasonDiskConflict, engine.Unschedulable, taken)
	if r.users > 0 {
		rest := q.Bits()
		copy(rest, in)
		rest.AndNot(taken)
		rej.Add(ReasonClaimInUse, engine.Unschedulable, rest)
	}
	return nil
}

// Details names the disks that are mounted on the node, or else the claims in use with their users,
// in order.
func (VolumeRestrictions) Details(q *engine.Query, r restricted, row int) []engine.Detail {
	var out []engine.Detail
	disks := state.Disks(q.Pod)
	for i := range disks {
		for _, id := range q.State.DiskConflicts(nil, &disks[i]) {
			d := engine.Detail{Kind: "diskInUse", Key: disks[i].Kind, Name: disks[i].String()}
			if q.State.DiskPostings(id).At(int32(row)) > 0 && !slices.ContainsFunc(out, func(o engine.Detail) bool { return o.Key == d.Key && o.Name == d.Name }) {
				out = append(out, d)
			}
		}
	}
	if len(out) == 0 {
		for _, name := range r.claims {
			out = appendUsers(out, q, name)
		}
	}
	slices.SortFunc(out, func(a, b engine.Detail) int {
		return cmp.Or(cmp.Compare(a.Key, b.Key), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Claim, b.Claim), cmp.Compare(a.Domain, b.Domain), cmp.Compare(a.Value, b.Value))
	})
	return out
}

// appendUsers lists the pods that use one of the pod's claims.
func appendUsers(dst []engine.Detail, q *engine.Query, claim string) []engine.Detail {
	q.State.ClaimPostings(q.Pod.Namespace, claim).Each(func(row, _ int32) {
		for p := range q.State.PodsOn(int(row)).All() {
			if p.Namespace == q.Pod.Namespace && p.References([]string{claim}) > 0 {
				dst = append(dst, engine.Detail{Kind: "claimInUse", Claim: claim, Value: p.Namespace + "/" + p.Name, Domain: p.NodeName})
			}
		}
	})
	return dst
}
