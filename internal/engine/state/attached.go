package state

import (
	"slices"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	csiplugins "k8s.io/csi-translation-lib/plugins"
)

// CSIVolume is an interned volume of a CSI driver, which is interned too.
type CSIVolume struct{ ID, Driver int32 }

// Attachments counts the volumes on nodes that CSINodes limit, in columns. Only rows with a limit
// are counted. Each volume counts once, however many pods on the row mount it through whichever
// claims (plugins/nodevolumelimits/csi.go Filter).
type Attachments struct {
	csi, limited Bits           // rows that have a CSINode, and one with limits
	portworx     Bits           // rows whose CSINode has Portworx among what moved; nil where all have
	limits       [][]int64      // by driver, by row: -1 without; nil for a driver without limits
	users        vec[*Postings] // by volume: how often pods on a row mount it
	known        vec[*Postings] // by volume: rows to which a VolumeAttachment attaches it
	held         []vec[int32]   // by driver, by row: the volumes of either kind
	unresolved   vec[int32]     // by row: pods with a volume that cannot be resolved
	scratch      []CSIVolume    // of count
	installed    *installed
}

// Moved returns what counts on a row.
func (a *Attachments) Moved(row int) Moved {
	switch {
	case !a.csi.Has(row):
		return MovedNone
	case a.portworx != nil && !a.portworx.Has(row):
		return MovedButPortworx
	}
	return MovedAll
}

// On returns those of some rows that are of a kind.
func (a *Attachments) On(kind Moved, in Bits) Bits {
	rows := in.Clone()
	switch {
	case kind == MovedNone:
		rows.AndNot(a.csi)
	case a.portworx == nil && kind == MovedButPortworx:
		return rows[:0]
	default:
		rows.And(a.csi)
	}
	switch {
	case a.portworx == nil || kind == MovedNone:
	case kind == MovedButPortworx:
		rows.AndNot(a.portworx)
	default:
		rows.And(a.portworx)
	}
	return rows
}

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

// attachedSet is the attachments of the states that share it, worked out on first use: those where
// Portworx has moved on every node, and those where it has moved where the CSINode lists it.
type attachedSet struct {
	mu sync.Mutex
	of [2]*Attachments
}

// Attachments returns the limited volumes on nodes. declared reports whether Portworx has moved
// only on nodes whose CSINode says so.
func (s *State) Attachments(declared bool) *Attachments {
	set, i := s.attached, 0
	if declared {
		i = 1
	}
	set.mu.Lock()
	defer set.mu.Unlock()
	if set.of[i] == nil {
		set.of[i] = s.attach(declared)
	}
	return set.of[i]
}

// ownAttached returns attachments that the edit may write; nil for those that were not worked out
// yet, so that there is nothing to update.
func (e *Edit) ownAttached() *[2]*Attachments {
	set := e.s.attached
	if !e.attachedOwned {
		e.attachedOwned = true
		own := &attachedSet{}
		set.mu.Lock()
		for i, of := range set.of {
			if of != nil {
				mine := *of
				mine.held, mine.scratch = slices.Clone(mine.held), nil
				own.of[i] = &mine
			}
		}
		set.mu.Unlock()
		e.s.attached, set = own, own
	}
	return &set.of
}

// forgetAttached drops the attachments, to be worked out again.
func (e *Edit) forgetAttached() { e.s.attached, e.attachedOwned = &attachedSet{}, true }

// attach works attachments out.
func (s *State) attach(declared bool) *Attachments {
	rows := s.nodes.Len()
	a := &Attachments{csi: NewBits(rows), limited: NewBits(rows), installed: &installed{}}
	if declared {
		a.portworx = NewBits(rows)
	}
	if s.storage.csiNodes.n == 0 {
		return a
	}
	for row := range s.nodes.alive.All() {
		if n := s.CSINode(s.nodes.rows[row].Name); n != nil {
			a.csi.Set(row)
			if declared && saysMoved(n, csiplugins.PortworxVolumePluginName) {
				a.portworx.Set(row)
			}
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

// saysMoved reports whether a CSINode lists a built-in plugin as moved to its driver.
func saysMoved(n *storagev1.CSINode, plugin string) bool {
	return slices.Contains(strings.Split(n.Annotations[corev1.MigratedPluginsAnnotationKey], ","), plugin)
}

// installed is the rows on which drivers are, by driver, worked out when one is first asked for.
type installed struct {
	mu   sync.Mutex
	rows map[string]Bits
}

// Installed returns the rows whose CSINode lists a driver. Not to be written.
func (s *State) Installed(a *Attachments, driver string) Bits {
	x := a.installed
	x.mu.Lock()
	defer x.mu.Unlock()
	if rows, ok := x.rows[driver]; ok {
		return rows
	}
	rows := NewBits(s.nodes.Len())
	for row := range a.csi.All() {
		n := s.CSINode(s.nodes.rows[row].Name)
		if slices.ContainsFunc(n.Spec.Drivers, func(d storagev1.CSINodeDriver) bool { return d.Name == driver }) {
			rows.Set(row)
		}
	}
	if x.rows == nil {
		x.rows = map[string]Bits{}
	}
	x.rows[driver] = rows
	return rows
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
	volumes, trouble := s.AttachedBy(a.scratch[:0], p, a.Moved(int(p.Row)))
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
