package rules

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	"berth/internal/engine"
	"berth/internal/engine/state"
	"berth/internal/kube/object/stored"
)

// bindings is the PreFilter state of VolumeBinding: the pod's claims and, once worked out for all
// candidate nodes, what excludes which node and which volume each claim would get.
type bindings struct {
	bound, late []*corev1.PersistentVolumeClaim // in order of the pod's volumes

	worked    bool
	filtered  bool // the filter ran
	against   []obstacle
	broken    state.Bits // nodes that cannot be judged, and why
	err       error
	matched   []*match
	provision []provision
}

// obstacle is one cause for which nodes are rejected.
type obstacle struct {
	reason string
	rows   state.Bits
	detail engine.Detail
}

// provision is a claim that needs a new volume on some nodes.
type provision struct {
	claim *corev1.PersistentVolumeClaim
	rows  state.Bits
}

// work judges every candidate node (plugins/volumebinding/binder.go FindPodVolumes). The result
// does not depend on other rules or on pods, so it runs once.
func (b *bindings) work(q *engine.Query) {
	if b.worked {
		return
	}
	b.worked = true
	b.broken = q.Bits()
	b.checkBound(q)
	if len(b.late) == 0 {
		return
	}
	open := q.Bits()
	copy(open, q.Candidates)
	open.AndNot(b.broken)
	var seek []*corev1.PersistentVolumeClaim
	for _, c := range b.late {
		name, tried := c.Annotations[annSelectedNode]
		if !tried {
			seek = append(seek, c)
			continue
		}
		// Its volume is being made for this node alone.
		only := q.Bits()
		if row := q.Nodes.Row(name); row >= 0 {
			only.Set(row)
		}
		rest := q.Bits()
		copy(rest, open)
		rest.AndNot(only)
		b.add(ReasonVolumeNoMatch, rest, engine.Detail{Kind: "selectedNode", Claim: c.Name, Value: name})
		open.And(only)
		b.provision = append(b.provision, provision{c, open})
	}
	slices.SortStableFunc(seek, func(a, c *corev1.PersistentVolumeClaim) int {
		x, y := a.Spec.Resources.Requests[corev1.ResourceStorage], c.Spec.Resources.Requests[corev1.ResourceStorage]
		return x.Cmp(y)
	})
	for _, c := range seek {
		m, err := b.match(q, c, open)
		if err != nil {
			b.broken.Or(open)
			b.err = err
			return
		}
		b.matched = append(b.matched, m)
		b.provision = append(b.provision, provision{c, m.none})
	}
	b.checkProvisions(q, open)
}

// add records a cause for nodes.
func (b *bindings) add(reason string, rows state.Bits, d engine.Detail) {
	if !rows.Empty() {
		b.against = append(b.against, obstacle{reason, rows, d})
	}
}

// checkBound checks the bound claims in order: the first that a node fails is reported (binder.go
// checkBoundClaims).
func (b *bindings) checkBound(q *engine.Query) {
	if len(b.bound) == 0 {
		return
	}
	left := q.Bits()
	copy(left, q.Candidates)
	for _, c := range b.bound {
		pv := q.State.PersistentVolume(c.Spec.VolumeName)
		if pv == nil {
			b.add(ReasonVolumeGone, left, engine.Detail{Kind: "volumeMissing", Claim: c.Name, Volume: c.Spec.VolumeName})
			return
		}
		ok := q.Bits()
		q.Nodes.VolumeReach(pv).AddTo(ok)
		affinity := pv.Spec.NodeAffinity
		if moved := migrated(q, pv, left); moved != nil {
			as, err := translated(pv)
			if err != nil {
				b.err = err
				b.broken.Or(moved)
				left.AndNot(moved)
			} else {
				there := q.Bits()
				if affinity = as.Spec.NodeAffinity; affinity == nil || affinity.Required == nil {
					copy(there, moved)
				} else {
					copy(there, q.Nodes.VolumeRows(affinity.Required))
				}
				there.And(moved)
				ok.AndNot(moved)
				ok.Or(there)
			}
		}
		out := q.Bits()
		copy(out, left)
		out.AndNot(ok)
		d := engine.Detail{Kind: "volumeAffinity", Claim: c.Name, Volume: pv.Name}
		if affinity != nil && affinity.Required != nil {
			d.Term = SelectorWords(affinity.Required)
		}
		b.add(ReasonVolumeAffinity, out, d)
		left.AndNot(out)
	}
}

// checkProvisions checks whether a volume can be provisioned for each unmatched claim. The first
// claim that a node fails is reported (binder.go checkVolumeProvisions).
func (b *bindings) checkProvisions(q *engine.Query, open state.Bits) {
	left := q.Bits()
	copy(left, open)
	for _, p := range b.provision {
		need := q.Bits()
		copy(need, p.rows)
		need.And(left)
		if need.Empty() {
			continue
		}
		name := stored.ClaimClass(p.claim)
		class := q.State.StorageClass(name) // it exists, or the claim would not wait
		d := engine.Detail{Kind: "volumeMatch", Claim: p.claim.Name, Name: name}
		if class.Provisioner == "" || class.Provisioner == noProvisioner {
			b.add(ReasonVolumeNoMatch, need, d)
			left.AndNot(need)
			continue
		}
		if len(class.AllowedTopologies) > 0 {
			out := q.Bits()
			copy(out, need)
			out.AndNot(topologyRows(q, class.AllowedTopologies))
			d.Kind, d.Term = "allowedTopologies", topologyWords(class.AllowedTopologies)
			b.add(ReasonVolumeNoMatch, out, d)
			left.AndNot(out)
			need.AndNot(out)
		}
		b.checkCapacity(q, p.claim, class, need, left)
	}
}

// checkCapacity removes from left the nodes of need that no storage pool with enough capacity
// reaches, for drivers that publish capacity (binder.go hasEnoughCapacity).
func (b *bindings) checkCapacity(q *engine.Query, c *corev1.PersistentVolumeClaim, class *storagev1.StorageClass, need, left state.Bits) {
	bytes, ok := counted(q, c, class)
	if !ok {
		return
	}
	out := q.Bits()
	copy(out, need)
	enough := q.Bits()
	for _, pool := range q.State.ClassCapacities(class.Name) {
		if hasRoom(pool, bytes) {
			q.Nodes.PoolReach(pool.NodeTopology).AddTo(enough)
		}
	}
	out.AndNot(enough)
	b.add(ReasonVolumeNoSpace, out, engine.Detail{Kind: "storageCapacity", Claim: c.Name, Name: class.Name, Requested: &bytes})
	left.AndNot(out)
}

// counted returns how many bytes a claim requests of a driver that publishes capacity; ok is false
// where none has to be there.
func counted(q *engine.Query, c *corev1.PersistentVolumeClaim, class *storagev1.StorageClass) (bytes int64, ok bool) {
	size, asks := c.Spec.Resources.Requests[corev1.ResourceStorage]
	driver := q.State.CSIDriver(class.Provisioner)
	if !asks || driver == nil || driver.Spec.StorageCapacity == nil || !*driver.Spec.StorageCapacity {
		return 0, false
	}
	return size.Value(), true
}

// hasRoom reports whether a storage pool has room for a volume.
func hasRoom(pool *storagev1.CSIStorageCapacity, bytes int64) bool {
	limit := volumeLimit(pool)
	return limit != nil && limit.Value() >= bytes
}

// topologyRows returns the nodes that one of a class's terms allows (pkg/apis/core/v1/helper
// MatchTopologySelectorTerms).
func topologyRows(q *engine.Query, terms []corev1.TopologySelectorTerm) state.Bits {
	out := q.Bits()
	for _, t := range terms {
		var as corev1.NodeSelectorTerm // an empty one selects no node here either
		for _, r := range t.MatchLabelExpressions {
			as.MatchExpressions = append(as.MatchExpressions, corev1.NodeSelectorRequirement{Key: r.Key, Operator: corev1.NodeSelectorOpIn, Values: r.Values})
		}
		if rows, ok := q.TermRows(&as); ok {
			out.Or(rows)
		}
	}
	return out
}

func topologyWords(terms []corev1.TopologySelectorTerm) string {
	var words []string
	for _, t := range terms {
		var parts []string
		for _, r := range t.MatchLabelExpressions {
			parts = append(parts, r.Key+" In "+strings.Join(r.Values, ","))
		}
		words = append(words, strings.Join(parts, " and "))
	}
	return strings.Join(words, ", or ")
}

// on lists the volumes that the waiting claims would get on a node, in order of the pod's volumes.
func (b *bindings) on(row int) []engine.VolumeBinding {
	out := make([]engine.VolumeBinding, 0, len(b.late))
	rest := slices.Clone(b.matched)
	for _, c := range b.late {
		v := engine.VolumeBinding{Claim: c.Name, Provision: stored.ClaimClass(c)}
		// A claim that is mounted twice is matched twice.
		if i := slices.IndexFunc(rest, func(m *match) bool { return m.claim == c }); i >= 0 {
			if pv := rest[i].at(row); pv != nil {
				v.Volume, v.Provision = pv.Name, ""
			}
			rest = slices.Delete(rest, i, i+1)
		}
		out = append(out, v)
	}
	return out
}
