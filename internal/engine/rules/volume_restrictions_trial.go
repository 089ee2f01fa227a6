package rules

import (
	"slices"

	"berth/internal/engine"
	"berth/internal/engine/state"
)

var _ engine.Trier[restricted] = VolumeRestrictions{}

// Try returns the trial of the rule: it judges a node by the disks and claims of its pods.
func (VolumeRestrictions) Try(q *engine.Query, r restricted) engine.Trial {
	t := &volumesTrial{q: q, of: r}
	disks := state.Disks(q.Pod)
	for i := range disks {
		t.ids = q.State.DiskConflicts(t.ids, &disks[i])
	}
	slices.Sort(t.ids)
	t.ids = slices.Compact(t.ids)
	return t
}

// volumesTrial is VolumeRestrictions on one node: how many disks conflict there and how many users
// the claims have left. Like upstream it starts with one user for each claim in use, on whichever
// node, and then counts volumes of pods that are added and removed without regard to their
// namespace (plugins/volumerestrictions/volume_restrictions.go AddPod, RemovePod).
type volumesTrial struct {
	q     *engine.Query
	of    restricted
	ids   []int32 // of disks that conflict with the pod's, sorted
	disks int32
	users int32
}

// Begin counts what is on the row.
func (t *volumesTrial) Begin(row int32, nominated []*state.Pod) {
	t.disks, t.users = 0, t.of.users
	for _, id := range t.ids {
		t.disks += t.q.State.DiskPostings(id).At(row)
	}
	for _, p := range nominated {
		t.Move(p, 1)
	}
}

// Move adds or subtracts what a pod mounts.
func (t *volumesTrial) Move(p *state.Pod, n int32) {
	for _, id := range p.Volumes.Disks() {
		if _, ok := slices.BinarySearch(t.ids, id); ok {
			t.disks += n
		}
	}
	if len(t.of.claims) > 0 {
		t.users += n * p.References(t.of.claims)
	}
}

// AffectedBy reports whether pods of the class mount volumes.
func (t *volumesTrial) AffectedBy(c *state.Class) bool { return c.Mounts }

// Fits reports whether no disk is taken and no claim in use.
func (t *volumesTrial) Fits() bool { return t.disks <= 0 && t.users <= 0 }

// Verdict names the disk before the claim.
func (t *volumesTrial) Verdict() (engine.Code, []string) {
	switch {
	case t.disks > 0:
		return engine.Unschedulable, []string{ReasonDiskConflict}
	case t.users > 0:
		return engine.Unschedulable, []string{ReasonClaimInUse}
	}
	return engine.Success, nil
}
