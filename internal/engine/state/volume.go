package state

import (
	"iter"
	"slices"

	corev1 "k8s.io/api/core/v1"
	csitranslation "k8s.io/csi-translation-lib"
	csiplugins "k8s.io/csi-translation-lib/plugins"
	"k8s.io/klog/v2"
)

// Volumes is what a pod mounts that rules about volumes read. Most pods mount nothing of the kind
// and have none. It belongs to the pod and not to its class: pods of one template share a class but
// have claims of their own.
type Volumes struct {
	disks  []int32 // interned disks that volumes give in the pod, one for each volume
	claims []int32 // interned claims that volumes name, one for each volume
	mounts []mount // what may count towards a node's limits, in order of the volumes
}

// mount is one volume of a pod that may be attached to its node.
type mount struct {
	claim     string // its name; "" for an inline volume
	ephemeral bool   // the claim was made for this pod
	// Of an inline volume: its CSI volume, or the reason why it has none.
	driver, handle, trouble string
}

// inlineOn reports whether the mount, of an inline volume, counts on a node of a kind.
func (m *mount) inlineOn(on Moved) bool {
	return on == MovedAll || on == MovedButPortworx && m.driver != csiplugins.PortworxDriverName
}

// Disk is a disk as pods mount it without a claim. Kind is the volume source's
// field, Name the disk's within Pool, which only RBD has.
type Disk struct {
	Kind, Pool, Name string
	Monitors         []string // of RBD
	ReadOnly         bool
}

// The kinds of disks that must not be mounted twice.
const (
	diskGCE   = "gcePersistentDisk"
	diskAWS   = "awsElasticBlockStore"
	diskISCSI = "iscsi"
	diskRBD   = "rbd"
)

// Conflicts reports whether two pods on one node cannot both mount these: the same EBS volume at
// all, any other the same disk unless both are read-only (plugins/volumerestrictions
// isVolumeConflict).
func (d *Disk) Conflicts(o *Disk) bool {
	if d.Kind != o.Kind || d.Pool != o.Pool || d.Name != o.Name {
		return false
	}
	switch d.Kind {
	case diskAWS:
		return true
	case diskRBD:
		if !slices.ContainsFunc(d.Monitors, func(m string) bool { return slices.Contains(o.Monitors, m) }) {
			return false
		}
	}
	return !d.ReadOnly || !o.ReadOnly
}

// String is the disk's name with its pool.
func (d *Disk) String() string {
	if d.Pool == "" {
		return d.Name
	}
	return d.Pool + "/" + d.Name
}

// diskName is what disks that conflict share.
type diskName struct{ kind, pool, name string }

// disksOf appends the disks of one volume.
func disksOf(dst []Disk, v *corev1.Volume) []Disk {
	if s := v.GCEPersistentDisk; s != nil {
		dst = append(dst, Disk{Kind: diskGCE, Name: s.PDName, ReadOnly: s.ReadOnly})
	}
	if s := v.AWSElasticBlockStore; s != nil {
		dst = append(dst, Disk{Kind: diskAWS, Name: s.VolumeID, ReadOnly: s.ReadOnly})
	}
	if s := v.ISCSI; s != nil {
		dst = append(dst, Disk{Kind: diskISCSI, Name: s.IQN, ReadOnly: s.ReadOnly})
	}
	if s := v.RBD; s != nil {
		dst = append(dst, Disk{Kind: diskRBD, Pool: s.RBDPool, Name: s.RBDImage, Monitors: s.CephMonitors, ReadOnly: s.ReadOnly})
	}
	return dst
}

// Disks lists the disks that a pod mounts without a claim.
func Disks(pod *corev1.Pod) []Disk {
	var out []Disk
	for i := range pod.Spec.Volumes {
		out = disksOf(out, &pod.Spec.Volumes[i])
	}
	return out
}

// migration is Kubernetes' own translation of in-tree volumes to those of the CSI drivers that
// replaced them.
var migration = csitranslation.New()

// Attachable reports whether a volume may count towards a node's limits: it has a claim, or is of a
// plugin that moved to a CSI driver.
func Attachable(v *corev1.Volume) bool {
	return v.PersistentVolumeClaim != nil || v.Ephemeral != nil || migration.IsInlineMigratable(v)
}

// mountOf compiles an attachable volume of a pod. ok is false for one that never
// counts.
func mountOf(pod *corev1.Pod, v *corev1.Volume) (m mount, ok bool) {
	switch {
	case v.PersistentVolumeClaim != nil:
		return mount{claim: v.PersistentVolumeClaim.ClaimName}, true
	case v.Ephemeral != nil:
		return mount{claim: pod.Name + "-" + v.Name, ephemeral: true}, true
	case !migration.IsInlineMigratable(v):
		return mount{}, false
	}
	plugin, err := migration.GetInTreePluginNameFromSpec(nil, v)
	if err != nil || !MovedAll.has(plugin) {
		return mount{}, false
	}
	pv, err := migration.TranslateInTreeInlineVolumeToCSI(klog.Logger{}, v, pod.Namespace)
	if err != nil {
		return mount{trouble: "converting volume(" + v.Name + ") from inline to csi: " + err.Error()}, true
	}
	driver, err := migration.GetCSINameFromInTreeName(plugin)
	if err != nil || pv.Spec.CSI == nil {
		return mount{}, false
	}
	return mount{driver: driver, handle: pv.Spec.CSI.VolumeHandle}, true
}

// mountsOf compiles what of a pod may count towards a node's limits.
func mountsOf(pod *corev1.Pod) []mount {
	var out []mount
	for i := range pod.Spec.Volumes {
		if m, ok := mountOf(pod, &pod.Spec.Volumes[i]); ok {
			out = append(out, m)
		}
	}
	return out
}

// volumes compiles what rules about volumes read; nil where there is nothing.
func (t *Tables) volumes(pod *corev1.Pod) *Volumes {
	if len(pod.Spec.Volumes) == 0 {
		return nil
	}
	v := Volumes{mounts: mountsOf(pod)}
	for _, d := range Disks(pod) {
		v.disks = append(v.disks, t.disk(d))
	}
	for i := range v.mounts {
		if m := &v.mounts[i]; m.claim != "" && !m.ephemeral {
			v.claims = append(v.claims, t.claim(pod.Namespace, m.claim))
		}
	}
	if len(v.mounts) == 0 && len(v.disks) == 0 {
		return nil
	}
	return &v
}

// References counts a pod's volumes with a claim of one of these names, without ephemeral volumes.
func (p *Pod) References(claims []string) (n int32) {
	if p.Volumes == nil {
		return 0
	}
	for i := range p.Volumes.mounts {
		if m := &p.Volumes.mounts[i]; !m.ephemeral && slices.Contains(claims, m.claim) {
			n++
		}
	}
	return n
}

// Claims lists the names of the claims of its volumes, those that are made for it as well.
func (p *Pod) Claims() iter.Seq[string] {
	return func(yield func(string) bool) {
		if p.Volumes == nil {
			return
		}
		for i := range p.Volumes.mounts {
			if name := p.Volumes.mounts[i].claim; name != "" && !yield(name) {
				return
			}
		}
	}
}

// Disks lists the interned disks that the pod mounts, one for each volume.
func (v *Volumes) Disks() []int32 {
	if v == nil {
		return nil
	}
	return v.disks
}

// volumeTables interns what pods mount.
type volumeTables struct {
	disks      []Disk
	diskIDs    map[string]int32
	disksNamed map[diskName][]int32
	claimIDs   map[[2]string]int32
	volumeIDs  map[volumeKey]int32
	drivenBy   []int32 // by volume: its driver
	driverIDs  map[string]int32
}

func newVolumeTables() volumeTables {
	return volumeTables{
		diskIDs: map[string]int32{}, disksNamed: map[diskName][]int32{}, claimIDs: map[[2]string]int32{},
		volumeIDs: map[volumeKey]int32{}, driverIDs: map[string]int32{},
	}
}

func diskKey(d Disk) string {
	return string(memoKey(nil).text(d.Kind).text(d.Pool).text(d.Name).flag(d.ReadOnly).texts(d.Monitors))
}

func (t *Tables) disk(d Disk) int32 {
	return interned(t, t.diskIDs, diskKey(d), func() int32 {
		id, name := int32(len(t.disks)), diskName{d.Kind, d.Pool, d.Name}
		t.disks = append(t.disks, d)
		t.disksNamed[name] = append(t.disksNamed[name], id)
		return id
	})
}

// conflictingDisks appends the ids of the known disks that d conflicts with.
func (t *Tables) conflictingDisks(dst []int32, d *Disk) []int32 {
	t.mu.RLock()
	defer t.mu.RUnlock()
	for _, id := range t.disksNamed[diskName{d.Kind, d.Pool, d.Name}] {
		if d.Conflicts(&t.disks[id]) {
			dst = append(dst, id)
		}
	}
	return dst
}

func (t *Tables) claim(namespace, name string) int32 {
	return interned(t, t.claimIDs, [2]string{namespace, name}, func() int32 { return int32(len(t.claimIDs)) })
}

func (t *Tables) driver(name string) int32 {
	return interned(t, t.driverIDs, name, func() int32 { return int32(len(t.driverIDs)) })
}

// volumeKey identifies a CSI volume: by its handle, which is the same through every claim, or,
// where a claim has no volume yet, by the claim for which a driver would provision it.
type volumeKey struct{ driver, handle, namespace, claim string }

// lookupVolume returns the id of a volume that the state has.
func (t *Tables) lookupVolume(key volumeKey) (id int32, known bool) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	id, known = t.volumeIDs[key]
	return id, known
}

// volume interns a CSI volume.
func (t *Tables) volume(key volumeKey) CSIVolume {
	by := t.driver(key.driver)
	id := interned(t, t.volumeIDs, key, func() int32 {
		t.drivenBy = append(t.drivenBy, by)
		return int32(len(t.drivenBy) - 1)
	})
	return CSIVolume{id, by}
}
