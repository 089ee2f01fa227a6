package gen

import (
	"fmt"

	v1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// mount adds volumes to the incoming pod.
func (s *store) mount() {
	for i := range pick(s.maker, 1, 1, 1, 2, 2, 3) {
		name := fmt.Sprintf("v%d", i)
		v := v1.Volume{Name: name}
		switch n := s.IntN(100); {
		case n < 72:
			claim := "c" + name
			if i > 0 && s.chance(5) {
				claim = "cv0" // mounted twice
			} else if !s.chance(1) {
				s.fate(s.claim(s.pod.Namespace, claim))
			}
			v.PersistentVolumeClaim = &v1.PersistentVolumeClaimVolumeSource{ClaimName: claim}
		case n < 88:
			v.Ephemeral = &v1.EphemeralVolumeSource{VolumeClaimTemplate: s.template()}
			if s.chance(3) {
				break // the controller has not made the claim yet
			}
			c := s.claim(s.pod.Namespace, s.pod.Name+"-"+name)
			switch s.IntN(30) {
			case 0:
			case 1:
				own(c, s.pod, "another")
			default:
				own(c, s.pod, s.pod.UID)
			}
			s.fate(c)
		default:
			v.VolumeSource = s.inline()
		}
		s.pod.Spec.Volumes = append(s.pod.Spec.Volumes, v)
	}
}

func (s *store) template() *v1.PersistentVolumeClaimTemplate {
	c := s.claim("", "template")
	return &v1.PersistentVolumeClaimTemplate{Spec: c.Spec}
}

// fate decides what state a claim of the incoming pod is in.
func (s *store) fate(c *v1.PersistentVolumeClaim) {
	s.claims = append(s.claims, c)
	switch n := s.IntN(200); {
	case n < 70:
		s.bind(c)
	case n < 73: // half bound
		s.bind(c)
		delete(c.Annotations, "pv.kubernetes.io/bind-completed")
	case n < 76:
		s.bind(c)
		c.Status.Phase = v1.ClaimLost
	case n < 79:
		at, grace := metav1.NewTime(epoch), int64(0)
		c.DeletionTimestamp, c.DeletionGracePeriodSeconds, c.Finalizers = &at, &grace, []string{"kubernetes.io/pvc-protection"}
	case n < 83:
		class := pick(s.maker, "now", "plain", "gone", "")
		c.Spec.StorageClassName = &class
		delete(c.Annotations, v1.BetaStorageClassAnnotation)
	case n < 84:
		c.Spec.StorageClassName = nil
		delete(c.Annotations, v1.BetaStorageClassAnnotation)
	case n < 92: // tried before
		s.annotate(c, "volume.kubernetes.io/selected-node", s.someNode())
	case n < 104:
		s.reserve(c)
	}
	s.objs = append(s.objs, c)
}

// reserve makes a volume that is meant for the claim.
func (s *store) reserve(c *v1.PersistentVolumeClaim) {
	class := "local"
	if c.Spec.StorageClassName != nil && !s.chance(10) {
		class = *c.Spec.StorageClassName
	}
	pv := s.volume(class, pick(s.maker, 1, 6, 30))
	pv.Status.Phase = v1.VolumeAvailable
	pv.Spec.ClaimRef = &v1.ObjectReference{Kind: "PersistentVolumeClaim", APIVersion: "v1", Namespace: namespaceOf(c.Namespace), Name: c.Name}
	if s.chance(30) {
		pv.Spec.ClaimRef.UID = c.UID
	}
	s.objs = append(s.objs, pv)
}

// inline is a volume given in the pod itself.
func (s *store) inline() v1.VolumeSource {
	switch s.IntN(6) {
	case 0:
		return v1.VolumeSource{GCEPersistentDisk: &v1.GCEPersistentDiskVolumeSource{PDName: pick(s.maker, "disk1", "disk2"), ReadOnly: s.chance(40)}}
	case 1:
		return v1.VolumeSource{AWSElasticBlockStore: &v1.AWSElasticBlockStoreVolumeSource{VolumeID: pick(s.maker, "vol-01230001", "vol-01230002"), ReadOnly: s.chance(40)}}
	case 2:
		return v1.VolumeSource{RBD: &v1.RBDVolumeSource{CephMonitors: pick(s.maker, []string{"a:1", "b:1"}, []string{"b:1"}, []string{"c:1"}), RBDImage: "image", RBDPool: pick(s.maker, "", "rbd", "other"), ReadOnly: s.chance(40)}}
	case 3:
		return v1.VolumeSource{ISCSI: &v1.ISCSIVolumeSource{TargetPortal: "10.0.0.1:3260", IQN: pick(s.maker, "iqn.2001-04.com.example:a", "iqn.2001-04.com.example:b"), Lun: int32(s.IntN(2)), ReadOnly: s.chance(40)}}
	case 4:
		return v1.VolumeSource{CSI: &v1.CSIVolumeSource{Driver: pick(s.maker, csiDriver, slowDriver)}}
	}
	return v1.VolumeSource{EmptyDir: &v1.EmptyDirVolumeSource{}}
}

// occupy adds volumes to an existing pod: some of those that the incoming one
// mounts, some of its own, which count against the node's limits.
func (s *store) occupy(p *v1.Pod) {
	if s.chance(50) {
		return
	}
	for i := range s.between(1, 3) {
		v := v1.Volume{Name: fmt.Sprintf("v%d", i)}
		switch n := s.IntN(100); {
		case n < 20 && len(s.claims) > 0 && namespaceOf(p.Namespace) == namespaceOf(s.pod.Namespace):
			v.PersistentVolumeClaim = &v1.PersistentVolumeClaimVolumeSource{ClaimName: s.claims[s.IntN(len(s.claims))].Name}
		case n < 65:
			c := s.claim(p.Namespace, p.Name+"-"+v.Name)
			if s.chance(50) {
				own(c, p, p.UID)
				v.Ephemeral = &v1.EphemeralVolumeSource{VolumeClaimTemplate: s.template()}
			} else {
				v.PersistentVolumeClaim = &v1.PersistentVolumeClaimVolumeSource{ClaimName: c.Name}
			}
			if s.chance(85) {
				s.attach(s.bind(c), p)
			}
			if !s.chance(3) {
				s.objs = append(s.objs, c)
			}
		default:
			v.VolumeSource = s.inline()
		}
		p.Spec.Volumes = append(p.Spec.Volumes, v)
	}
}

// attach reports that a volume hangs on its pod's node, as is so for a while after
// the pod is gone too.
func (s *store) attach(pv *v1.PersistentVolume, p *v1.Pod) {
	if pv.Spec.CSI == nil || p.Spec.NodeName == "" || s.chance(60) {
		return
	}
	a := &storagev1.VolumeAttachment{TypeMeta: metav1.TypeMeta{APIVersion: "storage.k8s.io/v1", Kind: "VolumeAttachment"}, ObjectMeta: s.meta("", "at-"+pv.Name, nil)}
	a.Spec = storagev1.VolumeAttachmentSpec{Attacher: pv.Spec.CSI.Driver, NodeName: p.Spec.NodeName, Source: storagev1.VolumeAttachmentSource{PersistentVolumeName: &pv.Name}}
	a.Status.Attached = true
	s.objs = append(s.objs, a)
}
