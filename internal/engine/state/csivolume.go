package state

import (
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	csiplugins "k8s.io/csi-translation-lib/plugins"
	"k8s.io/klog/v2"

	"berth/internal/kube/object/stored"
)

// Moved is which built-in plugins a CSI driver serves on a node. Volumes of the others do not
// count there (plugins/nodevolumelimits/utils.go isCSIMigrationOn).
type Moved uint8

// The values of Moved.
const (
	// MovedNone is a node without a CSINode.
	MovedNone Moved = iota
	// MovedButPortworx is one whose CSINode does not list Portworx as moved, where it has to.
	MovedButPortworx
	// MovedAll is every other one.
	MovedAll

	// Moves is the number of values.
	Moves = iota
)

// has reports whether a driver serves the volumes of a built-in plugin. Those of Azure File and
// vSphere are translated elsewhere.
func (m Moved) has(plugin string) bool {
	switch plugin {
	case csiplugins.AWSEBSInTreePluginName, csiplugins.GCEPDInTreePluginName, csiplugins.AzureDiskInTreePluginName, csiplugins.CinderInTreePluginName:
		return m != MovedNone
	case csiplugins.PortworxVolumePluginName:
		return m == MovedAll
	}
	return false
}

// AttachedBy appends the CSI volumes that a pod of the state mounts on a node of a kind; trouble is
// the reason why they cannot be resolved. A missing claim counts for nothing
// (plugins/nodevolumelimits/csi.go filterAttachableVolumes).
func (s *State) AttachedBy(dst []CSIVolume, p *Pod, on Moved) (volumes []CSIVolume, trouble string) {
	return s.attachedBy(dst, p, on, s.t.volume)
}

// AttachedBy is State.AttachedBy with ids that are comparable with those of MountedBy.
func (l *LocalNames) AttachedBy(s *State, dst []CSIVolume, p *Pod, on Moved) (volumes []CSIVolume, trouble string) {
	return s.attachedBy(dst, p, on, l.volume)
}

func (s *State) attachedBy(dst []CSIVolume, p *Pod, on Moved, id func(volumeKey) CSIVolume) (volumes []CSIVolume, trouble string) {
	if p.Volumes == nil {
		return dst, ""
	}
	for i := range p.Volumes.mounts {
		m := &p.Volumes.mounts[i]
		if m.claim == "" {
			if !m.inlineOn(on) {
				continue
			}
			if m.trouble != "" {
				return dst, m.trouble
			}
			dst = append(dst, id(volumeKey{driver: m.driver, handle: m.handle}))
			continue
		}
		c := s.PersistentVolumeClaim(p.Namespace, m.claim)
		if c == nil {
			continue
		}
		if m.ephemeral && !madeFor(c, p.UID) {
			return dst, notMadeFor(c, p.Name)
		}
		if v, ok := s.volumeOf(c, on); ok {
			dst = append(dst, id(v))
		}
	}
	return dst, ""
}

// MountedBy returns the distinct CSI volumes that a pending pod would bring to a node of a kind.
// State.Attachments has interned what the state's pods mount. An error means that they cannot be
// resolved; it is a MissingClaimError where a claim is missing.
func (l *LocalNames) MountedBy(s *State, pod *corev1.Pod, on Moved) (volumes []CSIVolume, err error) {
	for _, m := range mountsOf(pod) {
		var v volumeKey
		ok := false
		switch {
		case m.claim == "" && !m.inlineOn(on):
		case m.claim == "" && m.trouble != "":
			return nil, errors.New(m.trouble)
		case m.claim == "":
			v, ok = volumeKey{driver: m.driver, handle: m.handle}, true
		default:
			c := s.PersistentVolumeClaim(pod.Namespace, m.claim)
			if c == nil {
				return nil, MissingClaimError{pod.Namespace, m.claim}
			}
			if m.ephemeral && !madeFor(c, string(pod.UID)) {
				return nil, errors.New(notMadeFor(c, pod.Name))
			}
			v, ok = s.volumeOf(c, on)
		}
		if !ok {
			continue
		}
		if v := l.volume(v); !slices.Contains(volumes, v) {
			volumes = append(volumes, v)
		}
	}
	return volumes, nil
}

// MissingClaimError is the error for a claim that a pod names and the state does not have.
type MissingClaimError struct{ Namespace, Name string }

// Error implements error.
func (m MissingClaimError) Error() string {
	return fmt.Sprintf("looking up PVC %s/%s: %s", m.Namespace, m.Name, ClaimNotFound(m.Name))
}

// ClaimNotFound is the error text of upstream's listers for a missing claim.
func ClaimNotFound(name string) string {
	return fmt.Sprintf("persistentvolumeclaim %q not found", name)
}

// madeFor reports whether a claim was made for an ephemeral volume of the pod
// (k8s.io/component-helpers/storage/ephemeral VolumeIsForPod).
func madeFor(c *corev1.PersistentVolumeClaim, podUID string) bool {
	owner := metav1.GetControllerOfNoCopy(c)
	return owner != nil && string(owner.UID) == podUID
}

func notMadeFor(c *corev1.PersistentVolumeClaim, pod string) string {
	return fmt.Sprintf("PVC %s/%s was not created for pod %s/%s (pod is not owner)", c.Namespace, c.Name, c.Namespace, pod)
}

// volumeOf returns the key of a claim's CSI volume: that of its PersistentVolume, or one that its
// class would provision, which differs from all that exist. ok is false for a claim that does not
// count (plugins/nodevolumelimits/csi.go getCSIDriverInfo).
func (s *State) volumeOf(c *corev1.PersistentVolumeClaim, on Moved) (v volumeKey, ok bool) {
	if c.Spec.VolumeName != "" {
		if pv := s.PersistentVolume(c.Spec.VolumeName); pv != nil {
			src := pv.Spec.CSI
			if src == nil {
				src = translated(pv, on)
			}
			if src == nil || src.Driver == "" || src.VolumeHandle == "" {
				return v, false
			}
			return volumeKey{driver: src.Driver, handle: src.VolumeHandle}, true
		}
	}
	driver := s.provisionerOf(c, on)
	if driver == "" {
		return v, false
	}
	return volumeKey{driver: driver, namespace: c.Namespace, claim: c.Name}, true
}

// translated is the CSI source of a PersistentVolume of a built-in plugin; nil
// where it has none.
func translated(pv *corev1.PersistentVolume, on Moved) *corev1.CSIPersistentVolumeSource {
	if on == MovedNone || !migration.IsPVMigratable(pv) {
		return nil
	}
	if plugin, err := migration.GetInTreePluginNameFromSpec(pv, nil); err != nil || !on.has(plugin) {
		return nil
	}
	out, err := migration.TranslateInTreePVToCSI(klog.Logger{}, pv)
	if err != nil {
		return nil
	}
	return out.Spec.CSI
}

// provisionerOf is the CSI driver that would provision the claim's volume. It is "" where the class
// names none, or names a built-in plugin that does not count (plugins/nodevolumelimits/csi.go
// getCSIDriverInfoFromSC).
func (s *State) provisionerOf(c *corev1.PersistentVolumeClaim, on Moved) string {
	name := stored.ClaimClass(c)
	if name == "" {
		return ""
	}
	class := s.StorageClass(name)
	switch {
	case class == nil:
		return ""
	case !migration.IsMigratableIntreePluginByName(class.Provisioner):
		return class.Provisioner
	case !on.has(class.Provisioner):
		return ""
	}
	driver, err := migration.GetCSINameFromInTreeName(class.Provisioner)
	if err != nil {
		return ""
	}
	return driver
}

// DiskConflicts appends the interned disks that d cannot share a node with.
func (s *State) DiskConflicts(dst []int32, d *Disk) []int32 { return s.t.conflictingDisks(dst, d) }

// Disk returns an interned disk.
func (s *State) Disk(id int32) Disk {
	s.t.mu.RLock()
	defer s.t.mu.RUnlock()
	return s.t.disks[id]
}

// DiskPostings returns where an interned disk is mounted.
func (s *State) DiskPostings(id int32) *Postings { return s.disks.at(int(id)) }

// ClaimPostings returns where pods name a claim in a volume; ephemeral volumes do not.
func (s *State) ClaimPostings(namespace, name string) *Postings {
	s.t.mu.RLock()
	id, ok := s.t.claimIDs[[2]string{namespace, name}]
	s.t.mu.RUnlock()
	if !ok {
		return nil
	}
	return s.claims.at(int(id))
}

// DriverName returns an interned CSI driver's name.
func (s *State) DriverName(id int32) string {
	s.t.mu.RLock()
	defer s.t.mu.RUnlock()
	for name, i := range s.t.driverIDs {
		if i == id {
			return name
		}
	}
	return ""
}
