package enginetest

import (
	"fmt"
	"math/rand/v2"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// stores completes the volumes of a case. Claims are bound completely or wait for a node, volumes
// have places and sizes, some are reserved for no claim, and drivers publish the capacity left to
// provision. What is broken on purpose sometimes stays so. It draws from numbers of its own.
func stores(seed uint64, c *Case) {
	g := &generator{r: rand.New(rand.NewPCG(seed, 0x73746f726573))}
	there := map[string]bool{}
	claims := map[string]*corev1.PersistentVolumeClaim{}
	for _, o := range c.Objects {
		switch o := o.(type) {
		case *corev1.Node:
			g.nodes = append(g.nodes, o.Name)
		case *corev1.PersistentVolume:
			there[o.Name] = true
			g.shape(o)
			o.Spec.StorageClassName, o.Status.Phase = "plain", corev1.VolumeBound
		case *corev1.PersistentVolumeClaim:
			g.bindOrWait(o)
			claims[o.Namespace+"/"+o.Name] = o
		case *storagev1.StorageClass:
			g.late(o)
		case *storagev1.CSINode:
			if g.in(3) {
				o.Annotations = map[string]string{corev1.MigratedPluginsAnnotationKey: g.of("kubernetes.io/gce-pd,kubernetes.io/aws-ebs", "kubernetes.io/gce-pd", "")}
			}
		}
	}
	if len(claims) == 0 {
		return
	}
	var add []any
	for i := range 7 {
		if name := fmt.Sprintf("pv%d", i); !there[name] && !g.in(6) {
			v := g.volume(name)
			g.shape(v)
			v.Status.Phase = corev1.VolumeBound
			add = append(add, v)
		}
	}
	for i := range g.r.IntN(8) {
		add = append(add, g.spare(fmt.Sprintf("free%d", i), c, claims))
	}
	for _, name := range []string{csiPlain, "kubernetes.io/gce-pd"} {
		if g.in(2) {
			yes := !g.in(4)
			add = append(add, &storagev1.CSIDriver{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: storagev1.CSIDriverSpec{StorageCapacity: &yes}})
		}
	}
	for i := range g.r.IntN(5) {
		add = append(add, g.pool(fmt.Sprintf("pool%d", i)))
	}
	c.Objects = append(c.Objects, add...)
}

// shape sets a volume's size, node affinity and access modes.
func (g *generator) shape(v *corev1.PersistentVolume) {
	v.Spec.Capacity = corev1.ResourceList{corev1.ResourceStorage: resource.MustParse(g.of("1Gi", "2Gi", "4Gi", "8Gi"))}
	v.Spec.AccessModes = []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}
	if !g.in(3) {
		v.Spec.AccessModes = append(v.Spec.AccessModes, corev1.ReadWriteMany, corev1.ReadWriteOncePod)
	}
	if g.in(6) {
		block := corev1.PersistentVolumeBlock
		v.Spec.VolumeMode = &block
	}
	if v.Labels == nil {
		v.Labels = map[string]string{}
	}
	delete(v.Labels, corev1.LabelTopologyZone)
	if g.in(4) {
		v.Labels[g.of(corev1.LabelTopologyZone, corev1.LabelFailureDomainBetaZone)] = g.of("z1", "z1__z2", "z2__z3", "z1____z2", "")
	}
	if g.in(10) {
		v.Labels[corev1.LabelTopologyRegion] = g.of("r1", "r1__r2")
	}
	if g.in(2) {
		v.Spec.NodeAffinity = &corev1.VolumeNodeAffinity{Required: g.place()}
	}
}

func (g *generator) place() *corev1.NodeSelector {
	switch g.r.IntN(6) {
	case 0:
		return &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{
			{MatchExpressions: []corev1.NodeSelectorRequirement{Expr(corev1.LabelHostname, corev1.NodeSelectorOpIn, g.aNode())}},
		}}
	case 1: // fields are no labels, and a volume's terms know labels only
		t := FieldTerm(Expr("metadata.name", corev1.NodeSelectorOpIn, g.aNode()))
		if g.in(2) {
			t.MatchExpressions = []corev1.NodeSelectorRequirement{Expr("disk", corev1.NodeSelectorOpIn, "ssd")}
		}
		return &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{t}}
	case 2: // neither of the terms parses
		return &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{
			{MatchExpressions: []corev1.NodeSelectorRequirement{Expr("cores", corev1.NodeSelectorOpGt, "many")}},
			{},
			FieldTerm(Expr("metadata.name", corev1.NodeSelectorOpExists)),
			{MatchExpressions: []corev1.NodeSelectorRequirement{Expr("rack", corev1.NodeSelectorOpExists)}},
		}}
	}
	return &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{
		{MatchExpressions: []corev1.NodeSelectorRequirement{Expr(corev1.LabelTopologyZone, corev1.NodeSelectorOpIn, "z1", g.of("z2", "z3"))}},
		{MatchExpressions: []corev1.NodeSelectorRequirement{Expr("disk", corev1.NodeSelectorOpNotIn, "hdd", "ssd")}},
	}}
}

// bindOrWait binds a claim wholly, or lets it wait.
func (g *generator) bindOrWait(c *corev1.PersistentVolumeClaim) {
	c.Spec.Resources.Requests = corev1.ResourceList{corev1.ResourceStorage: resource.MustParse(g.of("1Gi", "1Gi", "2Gi", "3Gi"))}
	annotate := func(key, value string) {
		if c.Annotations == nil {
			c.Annotations = map[string]string{}
		}
		c.Annotations[key] = value
	}
	c.Status.Phase = corev1.ClaimPending
	if c.Spec.VolumeName != "" {
		c.Status.Phase = corev1.ClaimBound
		if !g.in(25) {
			annotate("pv.kubernetes.io/bind-completed", "yes")
		}
	} else if class := c.Spec.StorageClassName; !g.in(8) && (class == nil || *class == "" || *class == "gone") {
		name := g.of("plain", "none", "none", "old")
		c.Spec.StorageClassName = &name
	}
	if g.in(30) {
		c.Status.Phase = corev1.ClaimLost
	}
	if g.in(30) {
		at := metav1.NewTime(Epoch)
		c.DeletionTimestamp = &at
	}
	if g.in(12) {
		annotate("volume.kubernetes.io/selected-node", g.aNode())
	}
	if g.in(8) {
		c.Spec.Selector = Match("size", "large")
	}
	if g.in(60) {
		c.Spec.Selector = &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "size", Operator: "Odd"}}}
	}
}

// late makes a class wait for the pod's node, mostly.
func (g *generator) late(c *storagev1.StorageClass) {
	mode := storagev1.VolumeBindingWaitForFirstConsumer
	if g.in(12) {
		mode = storagev1.VolumeBindingImmediate
	}
	if !g.in(40) {
		c.VolumeBindingMode = &mode
	}
	if g.in(2) {
		c.AllowedTopologies = []corev1.TopologySelectorTerm{
			{MatchLabelExpressions: []corev1.TopologySelectorLabelRequirement{{Key: corev1.LabelTopologyZone, Values: []string{"z1", "z2"}}, {Key: "disk", Values: []string{"ssd"}}}},
			{MatchLabelExpressions: []corev1.TopologySelectorLabelRequirement{{Key: "rack", Values: []string{"a", "c"}}}},
			{},
		}
	}
}

// spare is a volume that a waiting claim may get.
func (g *generator) spare(name string, c *Case, claims map[string]*corev1.PersistentVolumeClaim) *corev1.PersistentVolume {
	v := &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{}}}
	g.shape(v)
	g.some(v.Labels, "size", "large", "small")
	v.Spec.StorageClassName = g.of("none", "none", "plain", "old", "")
	v.Status.Phase = corev1.VolumeAvailable
	if g.in(8) {
		v.Status.Phase = corev1.PersistentVolumePhase(g.of("Released", "Failed"))
	}
	if g.in(12) {
		at := metav1.NewTime(Epoch)
		v.DeletionTimestamp = &at
	}
	if g.in(12) {
		v.Annotations = map[string]string{corev1.BetaStorageClassAnnotation: g.of("none", "plain")}
	}
	if g.in(4) { // meant for one of the pod's claims, or once for another pod's of that name
		for _, m := range c.Pod.Spec.Volumes {
			if m.PersistentVolumeClaim == nil {
				continue
			}
			if want := claims[c.Pod.Namespace+"/"+m.PersistentVolumeClaim.ClaimName]; want != nil {
				v.Spec.ClaimRef = &corev1.ObjectReference{Namespace: want.Namespace, Name: want.Name}
				if g.in(2) {
					v.Spec.ClaimRef.UID = want.UID
				} else if g.in(4) {
					v.Spec.ClaimRef.UID = "before"
				}
			}
		}
	}
	return v
}

// pool is what is left to provision somewhere.
func (g *generator) pool(name string) *storagev1.CSIStorageCapacity {
	p := &storagev1.CSIStorageCapacity{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}, StorageClassName: g.of("plain", "plain", "old")}
	size := resource.MustParse(g.of("0", "1Gi", "2Gi", "9Gi"))
	if !g.in(8) {
		p.Capacity = &size
	}
	if g.in(4) {
		most := resource.MustParse("2Gi")
		p.MaximumVolumeSize = &most
	}
	switch g.r.IntN(5) {
	case 0:
	case 1:
		p.NodeTopology = &metav1.LabelSelector{}
	case 2:
		p.NodeTopology = &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelHostname: g.aNode()}}
	case 3:
		p.NodeTopology = &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "disk", Operator: metav1.LabelSelectorOperator(g.of("Exists", "DoesNotExist", "Odd"))}}}
	default:
		p.NodeTopology = Match(corev1.LabelTopologyZone, g.of("z1", "z2"))
	}
	return p
}
