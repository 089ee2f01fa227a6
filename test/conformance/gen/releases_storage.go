package gen

import (
	"fmt"
	"slices"

	v1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	poolDriver = "pools.example.com"
	pxDriver   = "pxd.portworx.com"
)

var poolClasses = []string{"pool0", "pool0", "pool1", "shelf"}

// drivers leaves drivers of volumes off nodes, and lets one of them forbid pods there: of several
// that are missing upstream tells any.
func (r *releaser) drivers() {
	var list []*storagev1.CSIDriver
	for _, o := range r.objs {
		switch o := o.(type) {
		case *storagev1.CSIDriver:
			list = append(list, o)
		case *storagev1.CSINode:
			if n := len(o.Spec.Drivers); n > 0 && r.chance(50) {
				o.Spec.Drivers = o.Spec.Drivers[:r.IntN(n)]
			}
		}
	}
	if r.chance(30) {
		name := pick(&r.maker, "pd.csi.storage.gke.io", "ebs.csi.aws.com", pxDriver)
		list = append(list, r.driver(name, nil))
	}
	if len(list) == 0 {
		return
	}
	chosen := pick(&r.maker, list...)
	for _, d := range list {
		r.write(d, func(o tree) { o["spec"].(tree)["preventPodSchedulingIfMissing"] = d == chosen })
	}
}

func (r *releaser) driver(name string, storageCapacity *bool) *storagev1.CSIDriver {
	d := &storagev1.CSIDriver{TypeMeta: metav1.TypeMeta{APIVersion: "storage.k8s.io/v1", Kind: "CSIDriver"}, ObjectMeta: r.meta("", name, nil)}
	d.Spec.StorageCapacity = storageCapacity
	r.objs = append(r.objs, d)
	return d
}

func (r *releaser) class(name, provisioner string) {
	late := storagev1.VolumeBindingWaitForFirstConsumer
	r.objs = append(r.objs, &storagev1.StorageClass{
		TypeMeta:   metav1.TypeMeta{APIVersion: "storage.k8s.io/v1", Kind: "StorageClass"},
		ObjectMeta: r.meta("", name, nil), Provisioner: provisioner, VolumeBindingMode: &late,
	})
}

// mounts adds a volume to a pod.
func (r *releaser) mounts(p *v1.Pod, name string, source v1.VolumeSource) {
	p.Spec.Volumes = append(p.Spec.Volumes, v1.Volume{Name: name, VolumeSource: source})
}

// lighten takes from the pod most of what would keep it from nodes, and at times other claims.
func (r *releaser) lighten() {
	p := r.incoming
	unbind(p)
	p.Spec.TopologySpreadConstraints, p.Spec.Affinity = nil, nil
	for _, list := range [][]v1.Container{p.Spec.Containers, p.Spec.InitContainers} {
		for i := range list {
			list[i].Resources = v1.ResourceRequirements{}
		}
	}
	p.Spec.Overhead, p.Spec.RuntimeClassName, p.Spec.Resources = nil, nil, nil
	if r.chance(70) {
		p.Spec.Volumes = slices.DeleteFunc(p.Spec.Volumes, func(v v1.Volume) bool {
			return v.PersistentVolumeClaim != nil || v.Ephemeral != nil
		})
	}
}

// waiting adds to the pod claims that wait for its node, of classes whose driver publishes how much
// each node or zone has left, and volumes of several sizes.
func (r *releaser) waiting() {
	if r.chance(85) {
		r.lighten()
	}
	yes := true
	r.driver(poolDriver, &yes)
	r.class("pool0", poolDriver)
	r.class("pool1", poolDriver)
	r.class("shelf", "kubernetes.io/no-provisioner")
	for i := range pick(&r.maker, 1, 1, 2, 2, 3, 4) {
		r.waits(fmt.Sprintf("waits%d", i))
	}
	for i, n := range r.nodes {
		for _, class := range poolClasses[1:3] {
			if r.chance(75) {
				r.pool(fmt.Sprintf("%s-%d", class, i), class, map[string]string{v1.LabelHostname: n.Name})
			}
		}
	}
	for _, zone := range []string{"z0", "z1", ""} {
		if r.chance(25) {
			at := map[string]string{v1.LabelTopologyZone: zone}
			if zone == "" {
				at = nil
			}
			r.pool("zone"+zone, pick(&r.maker, poolClasses[1:3]...), at)
		}
	}
	for i := range r.between(0, 2*len(r.nodes)) {
		r.shelved(i)
	}
}

// waits is a claim of the pod's without a volume.
func (r *releaser) waits(name string) {
	class := pick(&r.maker, poolClasses...)
	c := &v1.PersistentVolumeClaim{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "PersistentVolumeClaim"}, ObjectMeta: r.meta(r.incoming.Namespace, name, nil)}
	c.Spec = v1.PersistentVolumeClaimSpec{StorageClassName: &class, AccessModes: []v1.PersistentVolumeAccessMode{v1.ReadWriteOnce}}
	size := pick(&r.maker, "1Gi", "1Gi", "2Gi", "5Gi", "7G", "1500m", "100Pi")
	if size == "100Pi" && r.chance(70) {
		size = "3Gi"
	}
	c.Spec.Resources.Requests = v1.ResourceList{v1.ResourceStorage: resource.MustParse(size)}
	c.Status.Phase = v1.ClaimPending
	switch r.IntN(40) {
	case 0: // as it was written before the field
		c.Annotations, c.Spec.StorageClassName = map[string]string{v1.BetaStorageClassAnnotation: class}, nil
	case 1:
		c.Annotations = map[string]string{v1.BetaStorageClassAnnotation: class}
		c.Spec.StorageClassName = new("other")
	case 2, 3:
		if len(r.nodes) > 0 {
			c.Annotations = map[string]string{"volume.kubernetes.io/selected-node": pick(&r.maker, r.nodes...).Name}
		}
	}
	r.objs = append(r.objs, c)
	r.mounts(r.incoming, name, v1.VolumeSource{PersistentVolumeClaim: &v1.PersistentVolumeClaimVolumeSource{ClaimName: name}})
}

// pool is what is left for a class on the nodes with some labels.
func (r *releaser) pool(name, class string, labels map[string]string) {
	c := &storagev1.CSIStorageCapacity{
		TypeMeta:   metav1.TypeMeta{APIVersion: "storage.k8s.io/v1", Kind: "CSIStorageCapacity"},
		ObjectMeta: r.meta(pick(&r.maker, "ops", "prod"), name, nil), StorageClassName: class,
		NodeTopology: &metav1.LabelSelector{MatchLabels: labels},
	}
	c.Capacity = new(resource.MustParse(pick(&r.maker, "3Gi", "8Gi", "12Gi", "20Gi", "33G", "100Gi", "200Pi")))
	if r.chance(15) {
		c.MaximumVolumeSize = new(resource.MustParse(pick(&r.maker, "0", "4Gi", "100Gi")))
	}
	if r.chance(2) {
		c.Capacity = nil
	}
	r.objs = append(r.objs, c)
}

// shelved is a volume that no claim has. No two are equally large: of these upstream takes any.
func (r *releaser) shelved(i int) {
	pv := &v1.PersistentVolume{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "PersistentVolume"}, ObjectMeta: r.meta("", fmt.Sprintf("shelved%02d", i), nil)}
	size := resource.NewQuantity(int64(r.between(1, 30))<<30+int64(i)<<20, resource.BinarySI)
	pv.Spec = v1.PersistentVolumeSpec{
		StorageClassName: pick(&r.maker, "shelf", "shelf", "shelf", "pool0", "pool1"), AccessModes: []v1.PersistentVolumeAccessMode{v1.ReadWriteOnce},
		Capacity:                      v1.ResourceList{v1.ResourceStorage: *size},
		PersistentVolumeReclaimPolicy: v1.PersistentVolumeReclaimRetain,
		PersistentVolumeSource:        v1.PersistentVolumeSource{CSI: &v1.CSIPersistentVolumeSource{Driver: poolDriver, VolumeHandle: pv.Name}},
	}
	if len(r.nodes) > 0 && r.chance(80) {
		in := v1.NodeSelectorRequirement{Key: v1.LabelHostname, Operator: v1.NodeSelectorOpIn}
		for range r.between(1, 3) {
			in.Values = append(in.Values, pick(&r.maker, r.nodes...).Name)
		}
		pv.Spec.NodeAffinity = &v1.VolumeNodeAffinity{Required: &v1.NodeSelector{NodeSelectorTerms: []v1.NodeSelectorTerm{{MatchExpressions: []v1.NodeSelectorRequirement{in}}}}}
	}
	pv.Status.Phase = v1.VolumeAvailable
	r.objs = append(r.objs, pv)
}

// portworx has pods mount volumes of the built-in Portworx plugin, on nodes of which some say that
// its driver took over.
func (r *releaser) portworx() {
	if r.chance(60) {
		r.lighten()
	}
	has := map[string]*storagev1.CSINode{}
	for _, o := range r.objs {
		if n, ok := o.(*storagev1.CSINode); ok {
			has[n.Name] = n
		}
	}
	for _, n := range r.nodes {
		c := has[n.Name]
		if c == nil && r.chance(15) {
			continue
		}
		if c == nil {
			c = &storagev1.CSINode{TypeMeta: metav1.TypeMeta{APIVersion: "storage.k8s.io/v1", Kind: "CSINode"}, ObjectMeta: r.meta("", n.Name, nil)}
			r.objs = append(r.objs, c)
		}
		if r.chance(70) {
			c.Annotations = map[string]string{v1.MigratedPluginsAnnotationKey: pick(&r.maker, migratedBoth, migratedBoth, "kubernetes.io/gce-pd", "")}
		}
		if r.chance(90) {
			driver := storagev1.CSINodeDriver{Name: pxDriver, NodeID: n.Name}
			if r.chance(90) {
				driver.Allocatable = &storagev1.VolumeNodeResources{Count: new(int32(r.IntN(3)))}
			}
			c.Spec.Drivers = append(c.Spec.Drivers, driver)
		}
	}
	r.class("px", "kubernetes.io/portworx-volume")
	for i := range 4 {
		pv := &v1.PersistentVolume{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "PersistentVolume"}, ObjectMeta: r.meta("", fmt.Sprintf("px%d", i), nil)}
		pv.Spec = v1.PersistentVolumeSpec{
			StorageClassName: "px", AccessModes: []v1.PersistentVolumeAccessMode{v1.ReadWriteMany},
			Capacity:                      v1.ResourceList{v1.ResourceStorage: *resource.NewQuantity(int64(200+i)<<30, resource.BinarySI)},
			PersistentVolumeReclaimPolicy: v1.PersistentVolumeReclaimRetain,
			ClaimRef:                      &v1.ObjectReference{Kind: "PersistentVolumeClaim", APIVersion: "v1", Namespace: "ops", Name: "whoever", UID: "whoever"},
		}
		if i == 3 { // the same as px2, as its driver has it
			pv.Spec.CSI = &v1.CSIPersistentVolumeSource{Driver: pxDriver, VolumeHandle: "v2"}
		} else {
			pv.Spec.PortworxVolume = &v1.PortworxVolumeSource{VolumeID: fmt.Sprintf("v%d", i)}
		}
		pv.Status.Phase = v1.VolumeBound
		r.objs = append(r.objs, pv)
	}
	made := map[string]bool{}
	mount := func(p *v1.Pod, n int) {
		for i := range n {
			name := fmt.Sprintf("px%d", i)
			if r.chance(25) {
				r.mounts(p, name, v1.VolumeSource{PortworxVolume: &v1.PortworxVolumeSource{VolumeID: fmt.Sprintf("v%d", r.IntN(4))}})
				continue
			}
			claim := fmt.Sprintf("px%d", r.IntN(5)) // px4 has no volume yet
			if key := namespaceOf(p.Namespace) + "/" + claim; !made[key] {
				made[key] = true
				r.pxClaim(p.Namespace, claim)
			}
			r.mounts(p, name, v1.VolumeSource{PersistentVolumeClaim: &v1.PersistentVolumeClaimVolumeSource{ClaimName: claim}})
		}
	}
	r.existing(50, func(p *v1.Pod) { mount(p, r.between(1, 2)) })
	mount(r.incoming, r.between(1, 2))
}

func (r *releaser) pxClaim(namespace, name string) {
	class := "px"
	c := &v1.PersistentVolumeClaim{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "PersistentVolumeClaim"}, ObjectMeta: r.meta(namespace, name, nil)}
	c.Spec = v1.PersistentVolumeClaimSpec{StorageClassName: &class, AccessModes: []v1.PersistentVolumeAccessMode{v1.ReadWriteMany}}
	c.Spec.Resources.Requests = v1.ResourceList{v1.ResourceStorage: resource.MustParse("1Gi")}
	c.Status.Phase = v1.ClaimPending
	if name != "px4" {
		c.Spec.VolumeName, c.Status.Phase = name, v1.ClaimBound
		c.Annotations = map[string]string{"pv.kubernetes.io/bind-completed": "yes"}
	}
	r.objs = append(r.objs, c)
}
