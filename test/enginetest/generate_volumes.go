package enginetest

import (
	"fmt"
	"math/rand/v2"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// The drivers and built-in plugins that volumes of generated cases are of.
const (
	csiPlain, csiGCE, csiEBS = "csi.example.com", "pd.csi.storage.gke.io", "ebs.csi.aws.com"
	claimNames               = 5 // data0 to data4
)

// mounts gives one case in three volumes: nodes with limits, claims bound to
// volumes that several of them share or to none, and pods that mount them, or
// disks of their own. It draws from numbers of its own, so that everything else of
// a case stays as it is.
func mounts(seed uint64, c *Case) {
	g := &generator{r: rand.New(rand.NewPCG(seed, 0x766f6c756d6573))}
	if !g.in(3) {
		return
	}
	var add []any
	var names []string
	for _, o := range c.Objects {
		switch o := o.(type) {
		case *corev1.Node:
			names = append(names, o.Name)
			if !g.in(6) {
				add = append(add, g.csiNode(o.Name))
			}
		case *corev1.Pod:
			if o != c.Pod && g.in(2) {
				add = append(add, g.mount(o, 1+g.r.IntN(2), 5)...)
			}
		}
	}
	all := g.in(3) // whether no claim is missing
	for _, ns := range []string{"default", "dev", "prod", "ghost"} {
		for i := range claimNames {
			if all || !g.in(6) {
				add = append(add, g.claim(ns, fmt.Sprintf("data%d", i)))
			}
		}
	}
	for i := range 6 {
		if !g.in(8) {
			add = append(add, g.volume(fmt.Sprintf("pv%d", i)))
		}
	}
	for _, class := range [][2]string{{"files", "kubernetes.io/azure-file"}, {"none", "kubernetes.io/no-provisioner"}, {"old", "kubernetes.io/gce-pd"}, {"plain", csiPlain}} {
		add = append(add, &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: class[0]}, Provisioner: class[1]})
	}
	for i := range g.r.IntN(8) {
		if len(names) > 0 {
			add = append(add, g.attachment(fmt.Sprintf("at%d", i), g.of(names...)))
		}
	}
	add = append(add, g.mount(c.Pod, 1+g.r.IntN(3), 9)...)
	c.Objects = append(c.Objects, add...)
}

func (g *generator) csiNode(name string) *storagev1.CSINode {
	n := &storagev1.CSINode{ObjectMeta: metav1.ObjectMeta{Name: name}}
	for _, driver := range []string{csiPlain, csiGCE, csiEBS} {
		if g.in(4) {
			continue
		}
		d := storagev1.CSINodeDriver{Name: driver, NodeID: name}
		if !g.in(5) {
			count := int32(g.r.IntN(5))
			d.Allocatable = &storagev1.VolumeNodeResources{Count: &count}
		}
		n.Spec.Drivers = append(n.Spec.Drivers, d)
	}
	return n
}

func (g *generator) claim(ns, name string) *corev1.PersistentVolumeClaim {
	c := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: name, UID: types.UID("claim-" + ns + "-" + name)}}
	c.Spec.AccessModes = []corev1.PersistentVolumeAccessMode{corev1.PersistentVolumeAccessMode(g.of("ReadWriteOnce", "ReadWriteOncePod", "ReadWriteMany"))}
	if !g.in(3) {
		c.Spec.VolumeName = fmt.Sprintf("pv%d", g.r.IntN(7))
	}
	if !g.in(4) {
		class := g.of("plain", "plain", "old", "files", "none", "gone", "")
		c.Spec.StorageClassName = &class
	}
	if g.in(10) {
		c.Annotations = map[string]string{corev1.BetaStorageClassAnnotation: g.of("plain", "")}
	}
	return c
}

func (g *generator) volume(name string) *corev1.PersistentVolume {
	v := &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{}}}
	g.some(v.Labels, corev1.LabelTopologyZone, "a-b-c", "a-b-c__a-b-d", "odd__zones")
	switch g.r.IntN(9) {
	case 0:
		v.Spec.GCEPersistentDisk = &corev1.GCEPersistentDiskVolumeSource{PDName: g.of("one", "two")}
	case 1:
		v.Spec.AWSElasticBlockStore = &corev1.AWSElasticBlockStoreVolumeSource{VolumeID: g.of("vol-1", "aws://zone/vol-1", "aws://zone/odd")}
	case 2:
		kind := corev1.AzureDataDiskKind(g.of("Managed", "Shared"))
		v.Spec.AzureDisk = &corev1.AzureDiskVolumeSource{DiskName: "disk", DataDiskURI: "uri", Kind: &kind}
	case 3:
		v.Spec.NFS = &corev1.NFSVolumeSource{Server: "server", Path: "/"}
	default:
		v.Spec.CSI = &corev1.CSIPersistentVolumeSource{Driver: g.of(csiPlain, csiPlain, csiEBS), VolumeHandle: g.of("vol-1", "vol-2", "vol-3", "vol-4")}
	}
	return v
}

func (g *generator) attachment(name, node string) *storagev1.VolumeAttachment {
	a := &storagev1.VolumeAttachment{ObjectMeta: metav1.ObjectMeta{Name: name}}
	a.Spec.NodeName, a.Spec.Attacher = node, g.of(csiPlain, csiPlain, csiEBS)
	if !g.in(8) {
		pv := fmt.Sprintf("pv%d", g.r.IntN(7))
		a.Spec.Source.PersistentVolumeName = &pv
	}
	return a
}

// mount adds volumes to a pod and returns the objects that they need. One in rare of them cannot be
// judged.
func (g *generator) mount(p *corev1.Pod, n, rare int) (add []any) {
	for i := range n {
		v := corev1.Volume{Name: fmt.Sprintf("vol%d", i)}
		readOnly := g.in(2)
		switch g.r.IntN(12) {
		case 0:
			v.GCEPersistentDisk = &corev1.GCEPersistentDiskVolumeSource{PDName: g.of("one", "two", "three"), ReadOnly: readOnly}
		case 1:
			id := g.of("vol-1", "vol-2", "aws://zone/vol-2")
			if g.in(4 * rare) {
				id = "aws://zone/odd"
			}
			v.AWSElasticBlockStore = &corev1.AWSElasticBlockStoreVolumeSource{VolumeID: id, ReadOnly: readOnly}
		case 2:
			v.ISCSI = &corev1.ISCSIVolumeSource{TargetPortal: "portal", IQN: g.of("iqn.2026-01.example:one", "iqn.2026-01.example:two"), ReadOnly: readOnly}
		case 3:
			monitors := []string{g.of("m1", "m2"), "m3"}
			v.RBD = &corev1.RBDVolumeSource{CephMonitors: monitors[:1+g.r.IntN(2)], RBDPool: g.of("rbd", "rbd", "other"), RBDImage: g.of("one", "two"), ReadOnly: readOnly}
		case 4:
			v.Ephemeral = &corev1.EphemeralVolumeSource{VolumeClaimTemplate: &corev1.PersistentVolumeClaimTemplate{}}
			c := g.claim(p.Namespace, p.Name+"-"+v.Name)
			yes, owner := true, p.UID
			if g.in(4 * rare) {
				owner = "somebody"
			}
			c.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "Pod", Name: p.Name, UID: owner, Controller: &yes}}
			if !g.in(12) {
				add = append(add, c)
			}
		default:
			v.PersistentVolumeClaim = &corev1.PersistentVolumeClaimVolumeSource{ClaimName: fmt.Sprintf("data%d", g.r.IntN(claimNames))}
		}
		p.Spec.Volumes = append(p.Spec.Volumes, v)
	}
	return add
}
