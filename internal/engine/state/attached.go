package state

import (
	"slices"
	"sync"

	storagev1 "k8s.io/api/storage/v1"
)

// CSIVolume is an interned volume of a CSI driver, which is interned too.
type CSIVolume struct{ ID, Driver int32 }

// Attachments counts the volumes on nodes that CSINodes limit, in columns. Only rows with a limit
// are counted. Each volume counts once, however many pods on the row mount it through whichever
// claims (plugins/nodevolumelimits/csi.go Filter).
type Attachments struct {
	csi, limited Bits           // rows that have a CSINode, and one with limits
	limits       [][]int64      // by driver, by row: -1 without; nil for a driver without limits
	users        vec[*Postings] // by volume: how often pods on a row mount it
	known        vec[*Postings] // by volume: rows to which a VolumeAttachment attaches it
	held         []vec[int32]   // by driver, by row: the volumes of either kind
	unresolved   vec[int32]     // by row: pods with a volume that cannot be resolved
	scratch      []CSIVolume    // of count
}

// HasCSINode returns the rows that have a CSINode. Not to be written.
func (a *Attachments) HasCSINode() Bits { return a.csi }

// Limited returns the rows whose CSINode has any limit. Not to be written.
func (a *Attachments) Limited() Bits { return a.limited }

// Limits returns a driver's limits by row, -1 without one; nil where no row has one. Not to be
// written.
func (a *Attachments) Limits(driver int32) []int64 {
	if int(driver) < len(a.limits) {
		return a.limits[driver]
	}
	return nil
}

// Held counts the distinct volumes of a driver that are attached to a row or mounted there.
func (a *Attachments) Held(driver, row int32) int32 {
	if int(driver) < len(a.held) {
		return a.held[driver].at(int(row))
	}
	return 0
}

// Users returns where pods mount a volume.
func (a *Attachments) Users(volume int32) *Postings {
	if volume < 0 { // a local id of the question
		return nil
	}
	return a.users.at(int(volume))
}

// Known reports whether a VolumeAttachment attaches a volume to a row.
func (a *Attachments) Known(volume, row int32) bool {
	return volume >= 0 && a.known.at(int(volume)).At(row) > 0
}

// Unresolved counts the pods on a row with a volume that cannot be resolved.
func (a *Attachments) Unresolved(row int32) int32 { return a.unresolved.at(int(row)) }

// attachedSet is the attachments of the states that share it, worked out on first use.
type attachedSet struct {
	mu sync.Mutex
	of *Attachments
}

// Attachments returns the limited volumes on nodes.
func (s *State) Attachments() *Attachments {
	set := s.attached
	set.mu.Lock()
	defer set.mu.Unlock()
	if set.of == nil {
		set.of = s.attach()
	}
	return set.of
}

// ownAttached returns attachments that the edit may write; nil where they were not worked out yet,
// so that there is nothing to update.
func (e *Edit) ownAttached() *Attachments {
	set := e.s.attached
	if !e.attachedOwned {
		e.attachedOwned = true
		own := &attachedSet{}
		set.mu.Lock()
		if set.of != nil {
			of := *set.of
			of.held, of.scratch = slices.Clone(of.held), nil
			own.of = &of
		}
		set.mu.Unlock()
		e.s.attached, set = own, own
	}
	return set.of
}

// forgetAttached drops the attachments, to be worked out again.
func (e *Edit) forgetAttached() { e.s.attached, e.attachedOwned = &attachedSet{}, true }

// attach works attachments out.
func (s *State) attach() *Attachments {
	rows := s.nodes.Len()
	a := &Attachments{csi: NewBits(rows), limited: NewBits(rows)}
	if s.storage.csiNodes.n == 0 {
		return a
	}
	for row := range s.nodes.alive.All() {
		if n := s.CSINode(s.nodes.rows[row].Name); n != nil {
			a.csi.Set(row)
			a.limit(s.t, n, row, rows)
		}
	}
	if a.limited.Empty() {
		return a
	}
	edit := lastEdit.Add(1) // an id that no edit has, so that all later edits copy
	for _, v := range s.VolumeAttachments() {
		a.know(edit, s, v)
	}
	for row := range a.limited.All() {
		for p := range s.PodsOn(row).All() {
			if p.Volumes != nil {
				a.count(edit, s, p, 1)
			}
		}
	}
	return a
}

// limit reads the limits of one node.
func (a *Attachments) limit(t *Tables, n *storagev1.CSINode, row, rows int) {
	for i := range n.Spec.Drivers {
		d := &n.Spec.Drivers[i]
		if d.Allocatable == nil || d.Allocatable.Count == nil {
			continue
		}
		id := int(t.driver(d.Name))
		for len(a.limits) <= id {
			a.limits = append(a.limits, nil)
		}
		if a.limits[id] == nil {
			a.limits[id] = slices.Repeat([]int64{-1}, rows)
		}
		a.limits[id][row] = int64(*d.Allocatable.Count)
		a.limited.Set(row)
	}
}

// know counts a VolumeAttachment: the node holds the CSI volume of a PersistentVolume
// (plugins/nodevolumelimits/csi.go getNodeVolumeAttachmentInfo).
func (a *Attachments) know(edit uint64, s *State, v *storagev1.VolumeAttachment) {
	row := s.nodes.Row(v.Spec.NodeName)
	if row < 0 || !a.limited.Has(row) || v.Spec.Attacher == "" || v.Spec.Source.PersistentVolumeName == nil {
		return
	}
	pv := s.PersistentVolume(*v.Spec.Source.PersistentVolumeName)
	if pv == nil || pv.Spec.CSI == nil {
		return
	}
	id := s.t.volume(volumeKey{driver: v.Spec.Attacher, handle: pv.Spec.CSI.VolumeHandle})
	if a.Known(id.ID, int32(row)) {
		return
	}
	at := a.known.edit(edit, int(id.ID))
	*at = (*at).add(0, int32(row), 1)
	a.hold(edit, id.Driver, row, 1)
}

// count adds a pod's volumes to its row (n = 1), or removes them (-1).
func (a *Attachments) count(edit uint64, s *State, p *Pod, n int32) {
	if !a.limited.Has(int(p.Row)) {
		return
	}
	volumes, trouble := s.AttachedBy(a.scratch[:0], p)
	a.scratch = volumes
	if trouble != "" {
		*a.unresolved.edit(edit, int(p.Row)) += n
		return
	}
	for _, v := range volumes {
		at := a.users.edit(edit, int(v.ID))
		before := (*at).At(p.Row)
		*at = (*at).add(0, p.Row, n)
		if (before == 0 || before+n == 0) && !a.Known(v.ID, p.Row) {
			a.hold(edit, v.Driver, int(p.Row), n)
		}
	}
}

func (a *Attachments) hold(edit uint64, driver int32, row int, n int32) {
	for len(a.held) <= int(driver) {
		a.held = append(a.held, vec[int32]{})
	}
	*a.held[driver].edit(edit, row) += n
}
