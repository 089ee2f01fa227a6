package rules_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	helper "k8s.io/component-helpers/storage/volume"

	"berth/internal/engine"
	"berth/internal/engine/rules"
	"berth/internal/semantics"
	et "berth/test/enginetest"
)

const noProvisioner = "kubernetes.io/no-provisioner"

// threeNodes are a1 and a2 in zone A and b1 in zone B.
func threeNodes(more ...any) []any {
	return append(list(et.Node("a1", et.Zone("A")), et.Node("a2", et.Zone("A")), et.Node("b1", et.Zone("B"))), more...)
}

func everywhere(s string) map[string]string { return map[string]string{"a1": s, "a2": s, "b1": s} }

func changed[T any](o *T, change func(*T)) *T {
	change(o)
	return o
}

func TestVolumeBindingBeforeTheNodes(t *testing.T) {
	own := func(uid string) *corev1.PersistentVolumeClaim {
		return et.Claim("p-tmp", "local", "1Gi", et.BoundTo("v"), func(c *corev1.PersistentVolumeClaim) {
			yes := true
			c.OwnerReferences = []metav1.OwnerReference{{Kind: "Pod", Name: "p", UID: "pod-" + "p", Controller: &yes}}
			if uid != "" {
				c.OwnerReferences[0].UID = "another"
			}
		})
	}
	made := et.Pod("p", func(p *corev1.Pod) {
		p.Spec.Volumes = []corev1.Volume{{Name: "tmp", VolumeSource: corev1.VolumeSource{Ephemeral: &corev1.EphemeralVolumeSource{}}}}
	})
	v, local := et.Volume("v", "local", "1Gi"), et.Class("local", noProvisioner)
	soon := changed(et.Class("soon", "x"), func(c *storagev1.StorageClass) { c.VolumeBindingMode = ptr(storagev1.VolumeBindingImmediate) })
	pod := et.Pod("p", et.Mounts("c"))
	at := metav1.NewTime(et.Epoch)
	// Only what binds volumes is on, for others look at claims too.
	spec := rules.DefaultSpec()
	spec.PreFilter, spec.Filter = []string{"VolumeBinding"}, []string{"VolumeBinding"}
	unbound := rules.ReasonClaimsUnbound + "!"
	for _, tc := range []ruleCase{
		{name: "no claim", pod: pod, want: everywhere(`persistentvolumeclaim "c" not found!`)},
		{
			name: "lost", objects: list(et.Claim("c", "local", "1Gi", et.BoundTo("v"), func(c *corev1.PersistentVolumeClaim) { c.Status.Phase = corev1.ClaimLost })), pod: pod,
			want: everywhere(`persistentvolumeclaim "c" bound to non-existent persistentvolume "v"!`),
		},
		{name: "being deleted", objects: list(et.Claim("c", "local", "1Gi", func(c *corev1.PersistentVolumeClaim) { c.DeletionTimestamp = &at })), pod: pod, want: everywhere(`persistentvolumeclaim "c" is being deleted!`)},
		{name: "still to be made", pod: made, want: everywhere(`waiting for ephemeral volume controller to create the persistentvolumeclaim "p-tmp"!`)},
		{name: "somebody else's", objects: list(own("another")), pod: made, want: everywhere("PVC default/p-tmp was not created for pod default/p (pod is not owner)!")},
		{name: "the pod's own", objects: list(own(""), v), pod: made, want: everywhere("ok")},
		{name: "immediate, not bound yet", objects: list(soon, et.Claim("c", "soon", "1Gi")), pod: pod, want: everywhere(unbound)},
		{name: "no class", objects: list(et.Claim("c", "", "1Gi")), pod: pod, want: everywhere(unbound)},
		{name: "a class that is not there", objects: list(et.Claim("c", "gone", "1Gi")), pod: pod, want: everywhere(unbound)},
		{name: "a volume without the controller's word is none", objects: list(local, v, et.Claim("c", "local", "1Gi", et.BoundTo("v"), func(c *corev1.PersistentVolumeClaim) { c.Annotations = nil })), pod: pod, want: everywhere(unbound)},
	} {
		t.Run(tc.name, func(t *testing.T) {
			tc.objects, tc.spec = threeNodes(tc.objects...), &spec
			d := decide(t, tc)
			got := map[string]string{}
			for _, n := range d.Nodes {
				got[n.Name] = "ok"
				if !n.Feasible {
					got[n.Name] = n.Reasons[0] + "!"
				}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestVolumeBindingBound(t *testing.T) {
	conflict := rules.ReasonVolumeAffinity + "!"
	claim, pod := et.Claim("c", "x", "1Gi", et.BoundTo("v")), et.Pod("p", et.Mounts("c"))
	fields := et.Volume("v", "x", "1Gi", func(v *corev1.PersistentVolume) {
		v.Spec.NodeAffinity = &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{et.FieldTerm(et.Expr("metadata.name", corev1.NodeSelectorOpIn, "nobody"))}}}
	})
	disk := et.Volume("v", "x", "1Gi", et.ReachableFrom(zoneKey, "A"), func(v *corev1.PersistentVolume) {
		v.Spec.CSI, v.Spec.GCEPersistentDisk = nil, &corev1.GCEPersistentDiskVolumeSource{PDName: "d"}
	})
	moved := func(node string) *storagev1.CSINode {
		return &storagev1.CSINode{ObjectMeta: metav1.ObjectMeta{Name: node, Annotations: map[string]string{corev1.MigratedPluginsAnnotationKey: "kubernetes.io/aws-ebs,kubernetes.io/gce-pd"}}}
	}
	labelled := et.Node("a2", et.Zone("A"), et.NodeLabels("topology.gke.io/zone", "A"))
	check(t, "VolumeBinding", []ruleCase{
		{name: "a volume of one zone", objects: threeNodes(claim, et.Volume("v", "x", "1Gi", et.ReachableFrom(zoneKey, "A"))), pod: pod, want: map[string]string{"a1": "ok", "a2": "ok", "b1": conflict}},
		{name: "a volume of one node", objects: threeNodes(claim, et.Volume("v", "x", "1Gi", et.ReachableFrom(corev1.LabelHostname, "a2"))), pod: pod, want: map[string]string{"a1": conflict, "a2": "ok", "b1": conflict}},
		{name: "fields are no labels", objects: threeNodes(claim, fields), pod: pod, want: everywhere("ok")},
		{
			name: "two volumes that are never together", objects: threeNodes(claim, et.Volume("v", "x", "1Gi", et.ReachableFrom(zoneKey, "A")), et.Claim("d", "x", "1Gi", et.BoundTo("w")), et.Volume("w", "x", "1Gi", et.ReachableFrom(zoneKey, "B"))),
			pod: et.Pod("p", et.Mounts("c", "d")), want: everywhere(conflict),
		},
		{name: "where its driver has taken over, a disk's zone has another name", objects: threeNodes(claim, disk, labelled, moved("a1"), moved("a2")), pod: pod, want: map[string]string{"a1": conflict, "a2": "ok", "b1": conflict}},
	})
	noZone := rules.DefaultSpec()
	noZone.PreFilter, noZone.Filter = []string{"VolumeBinding"}, []string{"VolumeBinding"}
	d := decide(t, ruleCase{objects: threeNodes(claim), pod: pod, spec: &noZone})
	if want := "0/3 nodes are available: 3 " + rules.ReasonVolumeGone + "."; d.Message != want {
		t.Errorf("without the volume: %q, want %q", d.Message, want)
	}
	if diff := cmp.Diff([]engine.Detail{{Kind: "volumeMissing", Claim: "c", Volume: "v"}}, details(t, d, "a1")); diff != "" {
		t.Errorf("details (-want +got):\n%s", diff)
	}
}

// planned is what the waiting claims get on the only feasible node.
func planned(t *testing.T, objects []any, pod *corev1.Pod) (node string, volumes []engine.VolumeBinding) {
	t.Helper()
	d := decide(t, ruleCase{objects: objects, pod: pod})
	return d.Node, d.Volumes
}

func TestVolumeBindingMatches(t *testing.T) {
	local := et.Class("local", noProvisioner)
	on := func(node string) et.VolumeOption { return et.ReachableFrom(corev1.LabelHostname, node) }
	none := rules.ReasonVolumeNoMatch + "!"
	onlyA2 := map[string]string{"a1": none, "a2": "ok", "b1": none}
	one, two := et.Pod("p", et.Mounts("c")), et.Pod("p", et.Mounts("c", "d"))
	c, d := et.Claim("c", "local", "2Gi"), et.Claim("d", "local", "1Gi")
	with := func(change func(*corev1.PersistentVolumeClaim)) *corev1.PersistentVolumeClaim {
		return et.Claim("c", "local", "2Gi", change)
	}
	block := func(v *corev1.PersistentVolume) { v.Spec.VolumeMode = ptr(corev1.PersistentVolumeBlock) }
	check(t, "VolumeBinding", []ruleCase{
		{name: "size, class and phase", objects: threeNodes(local, c, et.Volume("small", "local", "1Gi", on("a1")), et.Volume("fits", "local", "2Gi", on("a2")), et.Volume("other", "", "2Gi", on("b1")),
			changed(et.Volume("released", "local", "2Gi", on("b1")), func(v *corev1.PersistentVolume) { v.Status.Phase = corev1.VolumeReleased })), pod: one, want: onlyA2},
		{name: "labels", objects: threeNodes(local, with(func(c *corev1.PersistentVolumeClaim) { c.Spec.Selector = et.Match("disk", "ssd") }), et.Volume("v", "local", "2Gi", on("a1")), et.Volume("w", "local", "2Gi", on("a2"), et.VolumeLabels("disk", "ssd"))), pod: one, want: onlyA2},
		{name: "ways of access and mode", objects: threeNodes(local, c, et.Volume("v", "local", "2Gi", on("a1"), block), et.Volume("w", "local", "2Gi", on("a2")),
			et.Volume("x", "local", "2Gi", on("b1"), func(v *corev1.PersistentVolume) {
				v.Spec.AccessModes = []corev1.PersistentVolumeAccessMode{corev1.ReadOnlyMany}
			})), pod: one, want: onlyA2},
		{name: "one volume does not serve two claims", objects: threeNodes(local, c, d, et.Volume("v", "local", "2Gi", on("a1")), et.Volume("w", "local", "2Gi", on("a2")), et.Volume("x", "local", "3Gi", on("a2"))), pod: two, want: onlyA2},
		{name: "a reserved volume is the only one", objects: threeNodes(local, c, et.Volume("free", "local", "2Gi"), et.Volume("mine", "local", "5Gi", on("a2"), et.ReservedFor("c"))), pod: one, want: onlyA2},
		{name: "another claim's volume is nobody else's", objects: threeNodes(local, c, et.Volume("theirs", "local", "2Gi", et.ReservedFor("other")), et.Volume("v", "local", "2Gi", on("a2"))), pod: one, want: onlyA2},
		{name: "what is being made is made for one node", objects: threeNodes(et.Class("fast", "csi.example.com"), et.Claim("c", "fast", "1Gi", func(c *corev1.PersistentVolumeClaim) { c.Annotations["volume.kubernetes.io/selected-node"] = "a2" })), pod: one, want: onlyA2},
	})
	// The claim with the smallest request chooses first, and takes the smallest volume.
	node, got := planned(t, threeNodes(local, c, d, et.Volume("w", "local", "9Gi", on("b1")), et.Volume("v", "local", "3Gi", on("b1")), et.Volume("x", "local", "1Gi", on("a1"))), two)
	want := []engine.VolumeBinding{{Claim: "c", Volume: "w"}, {Claim: "d", Volume: "v"}}
	if diff := cmp.Diff(want, got); node != "b1" || diff != "" {
		t.Errorf("on %s (-want +got):\n%s", node, diff)
	}
}

func TestVolumeBindingProvisions(t *testing.T) {
	driver := "csi.example.com"
	fast := changed(et.Class("fast", driver), func(c *storagev1.StorageClass) {
		c.AllowedTopologies = []corev1.TopologySelectorTerm{{MatchLabelExpressions: []corev1.TopologySelectorLabelRequirement{{Key: zoneKey, Values: []string{"A"}}}}}
	})
	anywhere := et.Class("anywhere", driver)
	reports := &storagev1.CSIDriver{ObjectMeta: metav1.ObjectMeta{Name: driver}, Spec: storagev1.CSIDriverSpec{StorageCapacity: ptr(true)}}
	pool := func(name, zone, size, most string) *storagev1.CSIStorageCapacity {
		p := &storagev1.CSIStorageCapacity{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}, StorageClassName: "anywhere", Capacity: ptr(resource.MustParse(size)), NodeTopology: et.Match(zoneKey, zone)}
		if most != "" {
			p.MaximumVolumeSize = ptr(resource.MustParse(most))
		}
		return p
	}
	none, full := rules.ReasonVolumeNoMatch+"!", rules.ReasonVolumeNoSpace+"!"
	pod := et.Pod("p", et.Mounts("c"))
	check(t, "VolumeBinding", []ruleCase{
		{name: "where the class may", objects: threeNodes(fast, et.Claim("c", "fast", "1Gi")), pod: pod, want: map[string]string{"a1": "ok", "a2": "ok", "b1": none}},
		{name: "where there is room", objects: threeNodes(anywhere, reports, et.Claim("c", "anywhere", "5Gi"), pool("a", "A", "4Gi", ""), pool("b", "B", "6Gi", "")), pod: pod, want: map[string]string{"a1": full, "a2": full, "b1": "ok"}},
		{name: "the largest volume counts before the room", objects: threeNodes(anywhere, reports, et.Claim("c", "anywhere", "5Gi"), pool("a", "A", "4Gi", "9Gi"), pool("b", "B", "6Gi", "1Gi")), pod: pod, want: map[string]string{"a1": "ok", "a2": "ok", "b1": full}},
		{name: "a driver that does not report has room", objects: threeNodes(anywhere, et.Claim("c", "anywhere", "5Gi"), pool("a", "A", "1Gi", "")), pod: pod, want: everywhere("ok")},
	})
	_, got := planned(t, threeNodes(anywhere, et.Claim("c", "anywhere", "5Gi")), pod)
	if diff := cmp.Diff([]engine.VolumeBinding{{Claim: "c", Provision: "anywhere"}}, got); diff != "" {
		t.Errorf("volumes (-want +got):\n%s", diff)
	}
	d := decide(t, ruleCase{objects: threeNodes(anywhere, reports, et.Claim("c", "anywhere", "5Gi"), pool("b", "B", "6Gi", "")), pod: pod})
	if diff := cmp.Diff([]engine.Detail{{Kind: "storageCapacity", Claim: "c", Name: "anywhere", Requested: ptr(int64(5 << 30))}}, details(t, d, "a1")); diff != "" {
		t.Errorf("details (-want +got):\n%s", diff)
	}
}

// boundByUpstream matches a pod's waiting claims to volumes as kube-scheduler's binder does, by the
// function that it calls (FindPodVolumes in volumebinding/binder.go); of equal volumes the first by
// name. Claims with no volume are to be made by their class.
func boundByUpstream(t *testing.T, objects []any, pod *corev1.Pod, node string) (out []engine.VolumeBinding) {
	t.Helper()
	var volumes []*corev1.PersistentVolume
	var on *corev1.Node
	claims := map[string]*corev1.PersistentVolumeClaim{}
	for _, o := range objects {
		switch o := o.(type) {
		case *corev1.PersistentVolume:
			volumes = append(volumes, o)
		case *corev1.PersistentVolumeClaim:
			claims[o.Namespace+"/"+o.Name] = o
		case *corev1.Node:
			if o.Name == node {
				on = o
			}
		}
	}
	slices.SortFunc(volumes, func(a, b *corev1.PersistentVolume) int { return strings.Compare(a.Name, b.Name) })
	var late []*corev1.PersistentVolumeClaim
	for _, v := range pod.Spec.Volumes {
		name := pod.Name + "-" + v.Name
		if v.PersistentVolumeClaim != nil {
			name = v.PersistentVolumeClaim.ClaimName
		}
		claim := claims[pod.Namespace+"/"+name]
		if claim != nil && (claim.Spec.VolumeName == "" || claim.Annotations[helper.AnnBindCompleted] == "") {
			late = append(late, claim)
			out = append(out, engine.VolumeBinding{Claim: claim.Name, Provision: helper.GetPersistentVolumeClaimClass(claim)})
		}
	}
	bySize := make([]int, len(late))
	for i := range bySize {
		bySize[i] = i
	}
	slices.SortStableFunc(bySize, func(a, b int) int {
		return late[a].Spec.Resources.Requests.Storage().Cmp(*late[b].Spec.Resources.Requests.Storage())
	})
	taken := map[string]*corev1.PersistentVolume{}
	for _, i := range bySize {
		class := helper.GetPersistentVolumeClaimClass(late[i])
		if _, made := late[i].Annotations[helper.AnnSelectedNode]; made {
			continue
		}
		ofClass := slices.DeleteFunc(slices.Clone(volumes), func(v *corev1.PersistentVolume) bool { return helper.GetPersistentVolumeClass(v) != class })
		v, err := helper.FindMatchingVolume(late[i], ofClass, on, taken, true, true)
		if err != nil {
			t.Fatal(err)
		}
		if v != nil {
			taken[v.Name] = v
			out[i].Volume, out[i].Provision = v.Name, ""
		}
	}
	return out
}

// TestVolumeBindingScores: with StorageCapacityScoring, nodes score by what the waiting claims take
// of their storage.
func TestVolumeBindingScores(t *testing.T) {
	const driver = "csi.example.com"
	reports := &storagev1.CSIDriver{ObjectMeta: metav1.ObjectMeta{Name: driver}, Spec: storagev1.CSIDriverSpec{StorageCapacity: ptr(true)}}
	pool := func(name, class, node, size string) *storagev1.CSIStorageCapacity {
		return &storagev1.CSIStorageCapacity{
			ObjectMeta: metav1.ObjectMeta{Namespace: "ops", Name: name}, StorageClassName: class,
			Capacity: ptr(resource.MustParse(size)), NodeTopology: et.Match(corev1.LabelHostname, node),
		}
	}
	with := func(more ...any) []any {
		return append(threeNodes(et.Class("local", noProvisioner), et.Class("other", noProvisioner), et.Class("fast", driver), et.Class("slow", driver), reports), more...)
	}
	on := func(node string) et.VolumeOption { return et.ReachableFrom(corev1.LabelHostname, node) }
	one, two, three := et.Pod("p", et.Mounts("c")), et.Pod("p", et.Mounts("c", "d")), et.Pod("p", et.Mounts("c", "d", "e"))
	gated := func(r *semantics.Release) { r.StorageCapacityScoring = true }
	fullFirst := rules.DefaultSpec()
	fullFirst.Args.VolumeBinding = &rules.VolumeBindingArgs{Shape: []rules.ShapePoint{{Utilization: 0, Score: 0}, {Utilization: 50, Score: 10}}}
	local, fast := et.Claim("c", "local", "2Gi"), et.Claim("c", "fast", "2Gi")
	volumes := []any{et.Volume("v1", "local", "4Gi", on("a1")), et.Volume("v2", "local", "8Gi", on("a2")), et.Volume("v3", "local", "2Gi", on("b1"))}
	pools := []any{pool("a1", "fast", "a1", "4Gi"), pool("a2", "fast", "a2", "16Gi"), pool("b1", "fast", "b1", "2Gi")}
	check(t, "VolumeBinding", []ruleCase{
		{name: "without the gate there is no score", objects: with(append(volumes, local)...), pod: one, scores: map[string]string{}},
		{name: "a pod without claims", objects: with(), pod: et.Pod("p"), scores: everywhere("0/0"), under: gated},
		{name: "a pod whose claims are bound", objects: with(et.Volume("v", "x", "1Gi"), et.Claim("c", "x", "1Gi", et.BoundTo("v"))), pod: one, scores: everywhere("0/0"), under: gated},
		{name: "a driver that publishes nothing", objects: threeNodes(et.Class("fast", driver), fast), pod: one, scores: everywhere("0/0"), under: gated},
		{name: "what is taken of a volume", objects: with(append(volumes, local)...), pod: one, scores: map[string]string{"a1": "50/50", "a2": "75/75", "b1": "0/0"}, under: gated},
		{name: "what is taken of a pool", objects: with(append(pools, fast)...), pod: one, scores: map[string]string{"a1": "50/50", "a2": "88/88", "b1": "0/0"}, under: gated},
		{name: "by another shape", objects: with(append(pools, fast)...), pod: one, spec: &fullFirst, scores: map[string]string{"a1": "100/100", "a2": "24/24", "b1": "100/100"}, under: gated},
		{
			name: "volumes of a class are added up", pod: two, under: gated, scores: map[string]string{"a1": "70/70"}, want: map[string]string{"a1": "ok", "a2": rules.ReasonVolumeNoMatch + "!", "b1": rules.ReasonVolumeNoMatch + "!"},
			objects: with(local, et.Claim("d", "local", "1Gi"), et.Volume("v", "local", "4Gi", on("a1")), et.Volume("w", "local", "6Gi", on("a1"))),
		},
		{
			name: "the pool of a class counts once", pod: two, under: gated, scores: map[string]string{"a1": "25/25"}, want: map[string]string{"a1": "ok", "a2": rules.ReasonVolumeNoSpace + "!", "b1": rules.ReasonVolumeNoSpace + "!"},
			objects: with(fast, et.Claim("d", "fast", "1Gi"), pools[0]),
		},
		{
			name: "more than the pool has", pod: two, under: gated, scores: map[string]string{"b1": "0/0"}, want: map[string]string{"a1": rules.ReasonVolumeNoSpace + "!", "a2": rules.ReasonVolumeNoSpace + "!", "b1": "ok"},
			objects: with(fast, et.Claim("d", "fast", "1Gi"), pools[2]),
		},
		{ // 50 and 81 by the pools, 65.5 in the mean
			name: "the mean of classes, rounded", pod: two, under: gated, scores: map[string]string{"a1": "66/66"}, want: map[string]string{"a1": "ok", "a2": rules.ReasonVolumeNoSpace + "!", "b1": rules.ReasonVolumeNoSpace + "!"},
			objects: with(fast, et.Claim("d", "slow", "2Gi"), pools[0], pool("slow", "slow", "a1", "10700Mi")),
		},
		{
			name: "pools count only without volumes", pod: two, under: gated, scores: map[string]string{"a1": "50/50", "a2": "75/75", "b1": "0/0"},
			objects: with(append(slices.Concat(volumes, pools), local, et.Claim("d", "fast", "1Gi"))...),
		},
		{
			name: "three claims of two classes", pod: three, under: gated, scores: map[string]string{"a1": "55/55"}, want: map[string]string{"a1": "ok", "a2": rules.ReasonVolumeNoMatch + "!", "b1": rules.ReasonVolumeNoMatch + "!"},
			objects: with(et.Claim("c", "local", "1Gi"), et.Claim("d", "local", "1Gi"), et.Claim("e", "other", "3Gi"),
				et.Volume("v", "local", "2Gi", on("a1")), et.Volume("w", "local", "3Gi", on("a1")), et.Volume("x", "other", "6Gi", on("a1"))),
		},
		{
			name: "of several pools the first by name with room", pod: one, under: gated, scores: map[string]string{"a1": "67/67", "a2": "88/88", "b1": "0/0"},
			objects: with(append(pools, fast, pool("a0", "fast", "a1", "1Gi"), pool("a00", "fast", "a1", "6Gi"))...),
		},
		{
			name: "a product that overflows", pod: one, under: gated, scores: map[string]string{"a1": "100/100"}, want: map[string]string{"a1": "ok", "a2": rules.ReasonVolumeNoSpace + "!", "b1": rules.ReasonVolumeNoSpace + "!"},
			objects: with(et.Claim("c", "fast", "100Pi"), pool("a1", "fast", "a1", "200Pi")),
		},
	})
	// Upstream reads a nil pointer there.
	for _, tc := range []struct {
		claim *corev1.PersistentVolumeClaim
		pool  *storagev1.CSIStorageCapacity
		want  string
	}{
		{changed(et.Claim("c", "fast", "1Gi"), func(c *corev1.PersistentVolumeClaim) {
			c.Annotations, c.Spec.StorageClassName = map[string]string{corev1.BetaStorageClassAnnotation: "fast"}, nil
		}), pool("a1", "fast", "a1", "4Gi"), "claim default/c has its class in an annotation alone"},
		{fast, changed(pool("a1", "fast", "a1", "4Gi"), func(p *storagev1.CSIStorageCapacity) {
			p.Capacity, p.MaximumVolumeSize = nil, p.Capacity
		}), "CSIStorageCapacity ops/a1 has no capacity"},
	} {
		c := et.Case{Objects: with(tc.claim, tc.pool), Pod: one, Spec: rules.DefaultSpec(), Options: engine.Options{ScoreAlways: true}, Under: releaseWith(gated)}
		if _, err := c.Decide(); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%v, want %q", err, tc.want)
		}
	}
	// A filter that is off leaves nothing to score.
	unfiltered := rules.DefaultSpec()
	unfiltered.Filter = slices.DeleteFunc(unfiltered.Filter, func(name string) bool { return name == "VolumeBinding" })
	check(t, "VolumeBinding", []ruleCase{{name: "without its filter", objects: with(append(volumes, local)...), pod: one, spec: &unfiltered, scores: everywhere("0/0"), under: gated}})
}
