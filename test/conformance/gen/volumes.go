package gen

import (
	"fmt"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// volume draws a persistent volume of a class; min is the least it may hold, in
// GiB.
func (s *store) volume(class string, min int) *v1.PersistentVolume {
	s.volumes++
	pv := &v1.PersistentVolume{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "PersistentVolume"}, ObjectMeta: s.meta("", fmt.Sprintf("pv%02d", s.volumes), map[string]string{"tier": pick(s.maker, tiers...)})}
	size := int64(min+s.between(0, 12)) << 30
	for s.sizes[size] {
		size += 1 << 20
	}
	s.sizes[size] = true
	pv.Spec = v1.PersistentVolumeSpec{
		StorageClassName: class, AccessModes: []v1.PersistentVolumeAccessMode{v1.ReadWriteOnce},
		Capacity:                      v1.ResourceList{v1.ResourceStorage: *resource.NewQuantity(size, resource.BinarySI)},
		PersistentVolumeReclaimPolicy: v1.PersistentVolumeReclaimRetain,
	}
	if s.chance(30) {
		pv.Spec.AccessModes = pick(s.maker, []v1.PersistentVolumeAccessMode{v1.ReadOnlyMany}, []v1.PersistentVolumeAccessMode{v1.ReadWriteMany, v1.ReadWriteOnce}, []v1.PersistentVolumeAccessMode{v1.ReadWriteOncePod})
	}
	if s.chance(25) {
		mode := pick(s.maker, v1.PersistentVolumeBlock, v1.PersistentVolumeFilesystem)
		pv.Spec.VolumeMode = &mode
	}
	if class != "" && s.chance(6) { // as it was written before the field
		pv.Annotations = map[string]string{v1.BetaStorageClassAnnotation: class}
		pv.Spec.StorageClassName = pick(s.maker, "", "other")
	}
	if s.chance(75) {
		pv.Spec.NodeAffinity = &v1.VolumeNodeAffinity{Required: s.reach()}
	}
	s.source(pv)
	return pv
}

// reach is the nodes that a volume can be used on.
func (s *store) reach() *v1.NodeSelector {
	in := func(key string, values ...string) v1.NodeSelectorTerm {
		return v1.NodeSelectorTerm{MatchExpressions: []v1.NodeSelectorRequirement{{Key: key, Operator: v1.NodeSelectorOpIn, Values: values}}}
	}
	switch n := s.IntN(100); {
	case n < 35:
		return &v1.NodeSelector{NodeSelectorTerms: []v1.NodeSelectorTerm{in(v1.LabelTopologyZone, pick(s.maker, "z0", "z1", "z2"))}}
	case n < 50:
		return &v1.NodeSelector{NodeSelectorTerms: []v1.NodeSelectorTerm{in(v1.LabelTopologyZone, "z0", "z1")}}
	case n < 80:
		return &v1.NodeSelector{NodeSelectorTerms: []v1.NodeSelectorTerm{in(v1.LabelHostname, s.someNode(), s.someNode())}}
	case n < 84:
		t := s.nodeTerm()
		s.byName(&t)
		return &v1.NodeSelector{NodeSelectorTerms: []v1.NodeSelectorTerm{t}}
	case n < 88:
		return &v1.NodeSelector{NodeSelectorTerms: []v1.NodeSelectorTerm{in(v1.LabelFailureDomainBetaZone, "z0", "z1")}}
	}
	return &v1.NodeSelector{NodeSelectorTerms: []v1.NodeSelectorTerm{s.nodeTerm(), s.nodeTerm()}}
}

// source draws what a volume is made of; volumes of the old kinds have zone
// labels, and are looked at as CSI volumes on nodes that say so.
func (s *store) source(pv *v1.PersistentVolume) {
	src := &pv.Spec.PersistentVolumeSource
	disk := func() {
		pv.Labels[pick(s.maker, v1.LabelTopologyZone, v1.LabelTopologyZone, v1.LabelFailureDomainBetaZone)] = s.zones()
		if s.chance(25) {
			pv.Labels[pick(s.maker, v1.LabelTopologyRegion, v1.LabelFailureDomainBetaRegion)] = pick(s.maker, "r0", "r1", "r0__r1")
		}
	}
	switch n := s.IntN(100); {
	case n < 50:
		src.CSI = &v1.CSIPersistentVolumeSource{Driver: pick(s.maker, csiDriver, csiDriver, slowDriver), VolumeHandle: pv.Name}
		if s.chance(4) {
			name := "gold"
			pv.Spec.VolumeAttributesClassName = &name
		}
	case n < 65 && pv.Spec.NodeAffinity != nil:
		src.Local = &v1.LocalVolumeSource{Path: "/mnt/" + pv.Name}
	case n < 72:
		src.NFS = &v1.NFSVolumeSource{Server: "nfs", Path: "/" + pv.Name}
	case n < 82:
		src.GCEPersistentDisk = &v1.GCEPersistentDiskVolumeSource{PDName: pick(s.maker, pv.Name, "disk1")}
	case n < 90:
		src.AWSElasticBlockStore = &v1.AWSElasticBlockStoreVolumeSource{VolumeID: "vol-0123" + pv.Name[2:]}
	case n < 94:
		kind := v1.AzureManagedDisk
		src.AzureDisk = &v1.AzureDiskVolumeSource{DiskName: pv.Name, DataDiskURI: "/subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/disks/" + pv.Name, Kind: &kind}
	case n < 97:
		src.Cinder = &v1.CinderPersistentVolumeSource{VolumeID: pv.Name}
	default:
		src.PortworxVolume = &v1.PortworxVolumeSource{VolumeID: pv.Name}
	}
	old := src.GCEPersistentDisk != nil || src.AWSElasticBlockStore != nil || src.AzureDisk != nil || src.Cinder != nil
	if old && s.chance(75) || s.chance(12) {
		disk()
	}
	if old && s.chance(60) {
		pv.Spec.NodeAffinity = nil
	}
}

// spare is a volume that no claim is bound to, or none any more.
func (s *store) spare() {
	pv := s.volume(pick(s.maker, "local", "local", "fast", "slow", "slow", ""), 1)
	pv.Status.Phase = v1.VolumeAvailable
	if s.chance(12) {
		pv.Status.Phase = pick(s.maker, v1.VolumeReleased, v1.VolumeFailed, v1.VolumeBound, v1.VolumePending)
	}
	if s.chance(5) {
		at, grace := metav1.NewTime(epoch), int64(0)
		pv.DeletionTimestamp, pv.DeletionGracePeriodSeconds, pv.Finalizers = &at, &grace, []string{"kubernetes.io/pv-protection"}
	}
	if s.chance(6) {
		pv.Spec.ClaimRef = &v1.ObjectReference{Kind: "PersistentVolumeClaim", APIVersion: "v1", Namespace: "default", Name: "stranger", UID: "stranger"}
	}
	s.objs = append(s.objs, pv)
}

// claim draws one that is not bound.
func (s *store) claim(namespace, name string) *v1.PersistentVolumeClaim {
	c := &v1.PersistentVolumeClaim{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "PersistentVolumeClaim"}, ObjectMeta: s.meta(namespace, name, nil)}
	class := pick(s.maker, classNames[:6]...)
	c.Spec = v1.PersistentVolumeClaimSpec{StorageClassName: &class, AccessModes: []v1.PersistentVolumeAccessMode{v1.ReadWriteOnce}}
	size := resource.MustParse(pick(s.maker, "1Gi", "1Gi", "2Gi", "4Gi", "6Gi", "30Gi"))
	c.Spec.Resources.Requests = v1.ResourceList{v1.ResourceStorage: size}
	c.Status.Phase = v1.ClaimPending
	if s.chance(15) {
		c.Spec.AccessModes = []v1.PersistentVolumeAccessMode{pick(s.maker, v1.ReadWriteOncePod, v1.ReadWriteMany, v1.ReadOnlyMany)}
	}
	if s.chance(15) {
		c.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"tier": pick(s.maker, tiers...)}}
	}
	if s.chance(10) {
		mode := pick(s.maker, v1.PersistentVolumeBlock, v1.PersistentVolumeFilesystem)
		c.Spec.VolumeMode = &mode
	}
	if s.chance(4) {
		gold := "gold"
		c.Spec.VolumeAttributesClassName = &gold
	}
	if s.chance(5) {
		c.Annotations = map[string]string{v1.BetaStorageClassAnnotation: class}
		c.Spec.StorageClassName = nil
	}
	return c
}

func (s *store) annotate(c *v1.PersistentVolumeClaim, key, value string) {
	if c.Annotations == nil {
		c.Annotations = map[string]string{}
	}
	c.Annotations[key] = value
}

// bind binds a claim to a fresh volume, and to none at times.
func (s *store) bind(c *v1.PersistentVolumeClaim) *v1.PersistentVolume {
	pv := s.volume(pick(s.maker, classNames...), 1)
	c.Spec.VolumeName, c.Status.Phase = pv.Name, v1.ClaimBound
	s.annotate(c, "pv.kubernetes.io/bind-completed", "yes")
	pv.Status.Phase = v1.VolumeBound
	pv.Spec.ClaimRef = &v1.ObjectReference{Kind: "PersistentVolumeClaim", APIVersion: "v1", Namespace: namespaceOf(c.Namespace), Name: c.Name, UID: c.UID}
	if !s.chance(2) {
		s.objs = append(s.objs, pv)
	}
	return pv
}

func namespaceOf(ns string) string {
	if ns == "" {
		return "default"
	}
	return ns
}

// own makes a pod the owner of a claim.
func own(c *v1.PersistentVolumeClaim, p *v1.Pod, uid types.UID) {
	yes := true
	c.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "Pod", Name: p.Name, UID: uid, Controller: &yes}}
}
