package gen

import (
	"fmt"
	"math/rand/v2"

	v1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// heldVolumes are what the claims of volumeLimits are bound to.
const heldVolumes = 8

// shelf is a case's shared volumes as they are drawn.
type shelf struct {
	*maker
	claims map[string]bool // namespace/name of those that there are
}

// volumeLimits adds volumes that several pods use to a share of the cases: nodes that can attach
// few of them, claims of several names and namespaces for one volume, ReadWriteOncePod claims that
// several pods mount, inline disks, and attachments that no pod uses. It draws from numbers of its
// own, so that the rest of a case stays as it is.
func (m *maker) volumeLimits(seed uint64, incoming *v1.Pod) {
	d := *m
	d.Rand = rand.New(rand.NewPCG(seed, 0x6c696d697473))
	if !d.chance(m.opts.Storage) || !d.chance(50) {
		return
	}
	s := &shelf{maker: &d, claims: map[string]bool{}}
	if d.chance(60) {
		// Otherwise other rules refuse most nodes first.
		unbind(incoming)
		incoming.Spec.TopologySpreadConstraints, incoming.Spec.Affinity = nil, nil
	}
	if d.chance(40) {
		value := int32(5000)
		incoming.Spec.Priority, incoming.Spec.PriorityClassName = &value, ""
	}
	limited := map[string]bool{}
	var pods []*v1.Pod
	for _, o := range d.objs {
		switch o := o.(type) {
		case *storagev1.CSINode:
			limited[o.Name] = true
			for i := range o.Spec.Drivers {
				if d.chance(60) {
					o.Spec.Drivers[i].Allocatable = s.few()
				}
			}
		case *v1.Pod:
			if o != incoming {
				pods = append(pods, o)
			}
		}
	}
	for _, n := range s.nodes {
		if !limited[n.Name] && !d.chance(10) {
			s.limit(n)
		}
	}
	s.volumes()
	for _, p := range pods {
		if d.chance(60) {
			s.mount(p, d.between(1, 2))
		}
	}
	s.mount(incoming, pick(s.maker, 1, 1, 2, 2, 3))
	for i := range d.between(0, 10) {
		if len(s.nodes) > 0 {
			s.hang(fmt.Sprintf("hung%d", i))
		}
	}
	m.objs, m.serial = d.objs, d.serial
}

func (s *shelf) few() *storagev1.VolumeNodeResources {
	count := int32(pick(s.maker, 0, 1, 1, 2, 2, 3, 4))
	return &storagev1.VolumeNodeResources{Count: &count}
}

// limit draws how many volumes a node can attach.
func (s *shelf) limit(n *v1.Node) {
	c := &storagev1.CSINode{TypeMeta: metav1.TypeMeta{APIVersion: "storage.k8s.io/v1", Kind: "CSINode"}, ObjectMeta: s.meta("", n.Name, nil)}
	if s.chance(35) {
		c.Annotations = map[string]string{v1.MigratedPluginsAnnotationKey: migratedBoth}
	}
	for _, name := range []string{csiDriver, "pd.csi.storage.gke.io", "ebs.csi.aws.com", "disk.csi.azure.com"} {
		if !s.chance(80) {
			continue
		}
		driver := storagev1.CSINodeDriver{Name: name, NodeID: n.Name}
		if s.chance(80) {
			driver.Allocatable = s.few()
		}
		c.Spec.Drivers = append(c.Spec.Drivers, driver)
	}
	s.objs = append(s.objs, c)
}

// volumes draws the classes and volumes that claims are made of. Several volumes
// are one to their driver.
func (s *shelf) volumes() {
	late := storagev1.VolumeBindingWaitForFirstConsumer
	for _, c := range [][2]string{{"many", csiDriver}, {"old", "kubernetes.io/gce-pd"}, {"files", "kubernetes.io/azure-file"}} {
		if s.chance(95) {
			s.objs = append(s.objs, &storagev1.StorageClass{TypeMeta: metav1.TypeMeta{APIVersion: "storage.k8s.io/v1", Kind: "StorageClass"}, ObjectMeta: s.meta("", c[0], nil), Provisioner: c[1], VolumeBindingMode: &late})
		}
	}
	for i := range heldVolumes {
		if s.chance(3) {
			continue
		}
		pv := &v1.PersistentVolume{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "PersistentVolume"}, ObjectMeta: s.meta("", fmt.Sprintf("held%d", i), nil)}
		pv.Spec = v1.PersistentVolumeSpec{
			StorageClassName: "held", AccessModes: []v1.PersistentVolumeAccessMode{v1.ReadWriteOnce},
			Capacity:                      v1.ResourceList{v1.ResourceStorage: *resource.NewQuantity(int64(100+i)<<30, resource.BinarySI)},
			PersistentVolumeReclaimPolicy: v1.PersistentVolumeReclaimRetain,
			ClaimRef:                      &v1.ObjectReference{Kind: "PersistentVolumeClaim", APIVersion: "v1", Namespace: "ops", Name: "whoever", UID: "whoever"},
		}
		pv.Status.Phase = v1.VolumeBound
		switch n := s.IntN(100); {
		case n < 65:
			pv.Spec.CSI = &v1.CSIPersistentVolumeSource{Driver: pick(s.maker, csiDriver, csiDriver, csiDriver, "ebs.csi.aws.com"), VolumeHandle: pick(s.maker, "h0", "h1", "h2", "h3", "h4")}
		case n < 78:
			pv.Spec.GCEPersistentDisk = &v1.GCEPersistentDiskVolumeSource{PDName: pick(s.maker, "disk1", "disk2")}
		case n < 86:
			pv.Spec.AWSElasticBlockStore = &v1.AWSElasticBlockStoreVolumeSource{VolumeID: pick(s.maker, "vol-01230001", "aws://z0/vol-01230001")}
		case n < 94:
			pv.Spec.AzureDisk = &v1.AzureDiskVolumeSource{DiskName: "disk", DataDiskURI: "https://account.blob.core.windows.net/vhds/d.vhd"}
			if s.chance(70) {
				kind := v1.AzureManagedDisk
				pv.Spec.AzureDisk.Kind, pv.Spec.AzureDisk.DataDiskURI = &kind, "/subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/disks/d"
			}
		default:
			pv.Spec.NFS = &v1.NFSVolumeSource{Server: "nfs", Path: "/"}
		}
		s.objs = append(s.objs, pv)
	}
}

// claim makes a claim of a namespace, made when it is first asked for; some are
// never made.
func (s *shelf) claim(namespace, name string) {
	key := namespaceOf(namespace) + "/" + name
	if s.claims[key] {
		return
	}
	s.claims[key] = true
	c := &v1.PersistentVolumeClaim{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "PersistentVolumeClaim"}, ObjectMeta: s.meta(namespace, name, nil)}
	class := pick(s.maker, "held", "held", "held", "many", "old", "files")
	c.Spec = v1.PersistentVolumeClaimSpec{StorageClassName: &class, AccessModes: []v1.PersistentVolumeAccessMode{pick(s.maker, v1.ReadWriteOnce, v1.ReadWriteOnce, v1.ReadWriteOncePod)}}
	c.Spec.Resources.Requests = v1.ResourceList{v1.ResourceStorage: resource.MustParse("1Gi")}
	c.Status.Phase = v1.ClaimPending
	if class == "held" {
		c.Spec.VolumeName, c.Status.Phase = fmt.Sprintf("held%d", s.IntN(heldVolumes)), v1.ClaimBound
		c.Annotations = map[string]string{"pv.kubernetes.io/bind-completed": "yes"}
	} else if s.chance(8) {
		c.Annotations = map[string]string{v1.BetaStorageClassAnnotation: "many"}
		c.Spec.StorageClassName = nil
	}
	if !s.chance(2) {
		s.objs = append(s.objs, c)
	}
}

// mount adds to a pod claims that others mount too, or disks.
func (s *shelf) mount(p *v1.Pod, n int) {
	for i := range n {
		v := v1.Volume{Name: fmt.Sprintf("shared%d", i)}
		if s.chance(60) {
			name := fmt.Sprintf("shared%d", s.IntN(6))
			s.claim(p.Namespace, name)
			v.PersistentVolumeClaim = &v1.PersistentVolumeClaimVolumeSource{ClaimName: name}
		} else {
			v.VolumeSource = s.disk()
		}
		p.Spec.Volumes = append(p.Spec.Volumes, v)
	}
}

// disk is a volume that a pod gives itself.
func (s *shelf) disk() v1.VolumeSource {
	readOnly := s.chance(60)
	switch s.IntN(12) {
	case 0, 1, 2:
		return v1.VolumeSource{GCEPersistentDisk: &v1.GCEPersistentDiskVolumeSource{PDName: pick(s.maker, "disk1", "disk2", "disk3", "disk4"), ReadOnly: readOnly}}
	case 3, 4, 5:
		return v1.VolumeSource{AWSElasticBlockStore: &v1.AWSElasticBlockStoreVolumeSource{VolumeID: pick(s.maker, "vol-01230001", "aws://z0/vol-01230002", "vol-01230003", "vol-01230004"), ReadOnly: readOnly}}
	case 6, 7:
		return v1.VolumeSource{RBD: &v1.RBDVolumeSource{CephMonitors: pick(s.maker, []string{"a:1", "b:1"}, []string{"b:1", "c:1"}, []string{"c:1"}), RBDImage: pick(s.maker, "image", "other"), RBDPool: pick(s.maker, "", "rbd", "other"), ReadOnly: readOnly}}
	case 8, 9:
		return v1.VolumeSource{ISCSI: &v1.ISCSIVolumeSource{TargetPortal: pick(s.maker, "10.0.0.1:3260", "10.0.0.2:3260"), IQN: pick(s.maker, "iqn.2001-04.com.example:a", "iqn.2001-04.com.example:b"), Lun: int32(s.IntN(2)), ReadOnly: readOnly}}
	case 10:
		kind := v1.AzureManagedDisk
		return v1.VolumeSource{AzureDisk: &v1.AzureDiskVolumeSource{DiskName: "disk", DataDiskURI: "/subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/disks/" + pick(s.maker, "d", "e"), Kind: &kind}}
	}
	return v1.VolumeSource{Cinder: &v1.CinderVolumeSource{VolumeID: pick(s.maker, "one", "two")}}
}

// hang reports that a volume is attached to some node, whichever pod mounts it.
func (s *shelf) hang(name string) {
	pv := fmt.Sprintf("held%d", s.IntN(heldVolumes))
	a := &storagev1.VolumeAttachment{TypeMeta: metav1.TypeMeta{APIVersion: "storage.k8s.io/v1", Kind: "VolumeAttachment"}, ObjectMeta: s.meta("", name, nil)}
	a.Spec = storagev1.VolumeAttachmentSpec{
		Attacher: pick(s.maker, csiDriver, csiDriver, csiDriver, "ebs.csi.aws.com"), NodeName: s.nodes[s.IntN(len(s.nodes))].Name,
		Source: storagev1.VolumeAttachmentSource{PersistentVolumeName: &pv},
	}
	s.objs = append(s.objs, a)
}
