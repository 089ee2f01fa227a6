package gen

import (
	"fmt"
	"math/rand/v2"
	"strings"

	v1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	csiDriver    = "csi.example.com"
	slowDriver   = "slow.example.com"
	gkeZone      = "topology.gke.io/zone"
	migratedBoth = "kubernetes.io/gce-pd,kubernetes.io/aws-ebs,kubernetes.io/azure-disk,kubernetes.io/cinder,kubernetes.io/portworx-volume"
)

// The storage classes of a case. "gone" is named by claims and never there.
var classNames = []string{"fast", "fast", "slow", "slow", "local", "local", "now", "plain"}

// store is a case's storage as it is drawn.
type store struct {
	*maker
	pod      *v1.Pod
	sizes    map[int64]bool // capacities in use, so that no two volumes are equally small
	volumes  int
	claims   []*v1.PersistentVolumeClaim // what incoming mounts; existing pods may mount them too
	existing []*v1.Pod
}

// storage gives volumes to a share of the cases: opts.Storage in a hundred. It
// draws from numbers of its own, so that everything else of a case stays as it
// is. Upstream walks volumes in the order of a Go map and takes the first of
// those equally small, so no two volumes of a case have the same capacity, and no
// two are meant for one claim: there is only one right answer.
func (m *maker) storage(seed uint64, incoming *v1.Pod) {
	d := *m
	d.Rand = rand.New(rand.NewPCG(seed, 0x73746f72616765))
	if !d.chance(m.opts.Storage) {
		return
	}
	s := &store{maker: &d, pod: incoming, sizes: map[int64]bool{}}
	for _, o := range d.objs {
		if p, ok := o.(*v1.Pod); ok && p != incoming {
			s.existing = append(s.existing, p)
		}
	}
	if d.chance(70) {
		// Otherwise other rules refuse most nodes first.
		unbind(incoming)
		incoming.Spec.Overhead, incoming.Spec.RuntimeClassName, incoming.Spec.Resources = nil, nil, nil
		for _, list := range [][]v1.Container{incoming.Spec.Containers, incoming.Spec.InitContainers} {
			for i := range list {
				list[i].Resources = v1.ResourceRequirements{}
			}
		}
		if d.chance(70) {
			incoming.Spec.TopologySpreadConstraints, incoming.Spec.Affinity = nil, nil
		}
	}
	s.nodeSide()
	s.classes()
	s.capacities()
	for range d.between(0, 9) {
		s.spare()
	}
	s.mount()
	for _, p := range s.existing {
		s.occupy(p)
	}
	m.objs, m.serial = d.objs, d.serial
}

// nodeSide draws what drivers say of nodes.
func (s *store) nodeSide() {
	for _, n := range s.nodes {
		if z, ok := n.Labels[v1.LabelTopologyZone]; ok && s.chance(70) {
			n.Labels[gkeZone] = z
		}
		if s.chance(8) {
			n.Labels[v1.LabelFailureDomainBetaZone] = pick(s.maker, "z0", "z1", "z2")
		}
		if s.chance(15) {
			continue
		}
		c := &storagev1.CSINode{TypeMeta: metav1.TypeMeta{APIVersion: "storage.k8s.io/v1", Kind: "CSINode"}, ObjectMeta: s.meta("", n.Name, nil)}
		if s.chance(35) {
			c.Annotations = map[string]string{v1.MigratedPluginsAnnotationKey: pick(s.maker, migratedBoth, migratedBoth, "kubernetes.io/gce-pd", "")}
		}
		for _, name := range []string{csiDriver, slowDriver, "pd.csi.storage.gke.io", "ebs.csi.aws.com"} {
			if !s.chance(70) {
				continue
			}
			driver := storagev1.CSINodeDriver{Name: name, NodeID: n.Name, TopologyKeys: []string{v1.LabelTopologyZone}}
			if s.chance(45) {
				count := int32(pick(s.maker, 0, 1, 2, 3, 8, 8))
				driver.Allocatable = &storagev1.VolumeNodeResources{Count: &count}
			}
			c.Spec.Drivers = append(c.Spec.Drivers, driver)
		}
		s.objs = append(s.objs, c)
	}
	prevents := false
	for _, name := range []string{csiDriver, slowDriver} {
		if s.chance(25) {
			continue
		}
		d := &storagev1.CSIDriver{TypeMeta: metav1.TypeMeta{APIVersion: "storage.k8s.io/v1", Kind: "CSIDriver"}, ObjectMeta: s.meta("", name, nil)}
		yes, no := true, false
		d.Spec.StorageCapacity = pick(s.maker, &yes, &yes, &no, nil)
		if s.chance(10) && !prevents { // of several that are missing upstream tells any
			prevents = true
			s.write(d, func(o tree) { o["spec"].(tree)["preventPodSchedulingIfMissing"] = true })
		}
		s.objs = append(s.objs, d)
	}
}

func (s *store) classes() {
	late, soon := storagev1.VolumeBindingWaitForFirstConsumer, storagev1.VolumeBindingImmediate
	for _, c := range []struct {
		name, provisioner string
		mode              *storagev1.VolumeBindingMode
	}{{"fast", csiDriver, &late}, {"slow", slowDriver, &late}, {"local", "kubernetes.io/no-provisioner", &late}, {"now", csiDriver, &soon}, {"plain", csiDriver, nil}} {
		if s.chance(4) {
			continue
		}
		o := &storagev1.StorageClass{TypeMeta: metav1.TypeMeta{APIVersion: "storage.k8s.io/v1", Kind: "StorageClass"}, ObjectMeta: s.meta("", c.name, nil), Provisioner: c.provisioner, VolumeBindingMode: c.mode}
		if c.name != "local" && s.chance(45) {
			o.AllowedTopologies = s.topologies()
		}
		s.objs = append(s.objs, o)
	}
}

func (s *store) topologies() []v1.TopologySelectorTerm {
	zones := func() []string {
		return pick(s.maker, []string{"z0"}, []string{"z0", "z1"}, []string{"z1", "z2"}, []string{"z0", "z1", "z2"})
	}
	out := []v1.TopologySelectorTerm{{MatchLabelExpressions: []v1.TopologySelectorLabelRequirement{{Key: v1.LabelTopologyZone, Values: zones()}}}}
	if s.chance(25) {
		out[0].MatchLabelExpressions = append(out[0].MatchLabelExpressions, v1.TopologySelectorLabelRequirement{Key: "disk", Values: []string{"ssd"}})
	}
	if s.chance(25) {
		out = append(out, v1.TopologySelectorTerm{MatchLabelExpressions: []v1.TopologySelectorLabelRequirement{{Key: "rack", Values: []string{"k0", "k1"}}}})
	}
	return out
}

// capacities draws what is left to provision from, by topology.
func (s *store) capacities() {
	for i := range s.between(0, 7) {
		c := &storagev1.CSIStorageCapacity{
			TypeMeta:   metav1.TypeMeta{APIVersion: "storage.k8s.io/v1", Kind: "CSIStorageCapacity"},
			ObjectMeta: s.meta("ops", fmt.Sprintf("cap%d", i), nil), StorageClassName: pick(s.maker, "fast", "fast", "slow", "slow", "local"),
		}
		size := func() *resource.Quantity {
			q := resource.MustParse(pick(s.maker, "0", "1Gi", "5Gi", "20Gi", "100Gi"))
			return &q
		}
		if s.chance(90) {
			c.Capacity = size()
		}
		if s.chance(25) {
			c.MaximumVolumeSize = size()
		}
		switch s.IntN(10) {
		case 0:
		case 1:
			c.NodeTopology = &metav1.LabelSelector{}
		case 2:
			c.NodeTopology = &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "disk", Operator: pick(s.maker, metav1.LabelSelectorOpExists, metav1.LabelSelectorOpDoesNotExist)}}}
		case 3, 4:
			c.NodeTopology = &metav1.LabelSelector{MatchLabels: map[string]string{v1.LabelHostname: s.someNode()}}
		default:
			c.NodeTopology = &metav1.LabelSelector{MatchLabels: map[string]string{v1.LabelTopologyZone: pick(s.maker, "z0", "z1", "z2")}}
		}
		s.objs = append(s.objs, c)
	}
}

func (s *store) someNode() string {
	if len(s.nodes) == 0 || s.chance(5) {
		return "nobody"
	}
	return s.nodes[s.IntN(len(s.nodes))].Name
}

// zones draws a zone label's value; of several zones at times.
func (s *store) zones() string {
	switch n := s.IntN(100); {
	case n < 60:
		return pick(s.maker, "z0", "z1", "z2")
	case n < 90:
		return strings.Join(pick(s.maker, []string{"z0", "z1"}, []string{"z1", "z2"}, []string{"z0", "z1", "z2"}), "__")
	case n < 95:
		return pick(s.maker, "z0____z1", "z9", "") // the first and last say nothing that can be read
	}
	return "z1__z1"
}
