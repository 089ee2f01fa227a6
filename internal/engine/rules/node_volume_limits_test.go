package rules_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"berth/internal/engine"
	"berth/internal/engine/rules"
	"berth/internal/semantics"
	et "berth/test/enginetest"
)

const driver = "csi.example.com"

// shelf is a node that can attach one volume of the driver, and claims: a and b are
// bound to volumes of their own, twin to the volume of a, loose to none.
func shelf(more ...any) []any {
	class := &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: "plain"}, Provisioner: driver}
	loose := et.BoundClaim("loose", "")
	loose.Spec.StorageClassName = ptr("plain")
	old := et.BoundClaim("old", "gce")
	gce := &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: "gce"}}
	gce.Spec.GCEPersistentDisk = &corev1.GCEPersistentDiskVolumeSource{PDName: "disk"}
	return append(list(
		et.Node("n"), et.CSINode("n", driver, 1), class, loose, old, gce,
		et.CSIVolume("pv-a", driver, "a"), et.CSIVolume("pv-b", driver, "b"), et.CSIVolume("pv-twin", driver, "a"),
		et.BoundClaim("a", "pv-a"), et.BoundClaim("b", "pv-b"), et.BoundClaim("twin", "pv-twin"), et.BoundClaim("lost", "pv-lost"),
	), more...)
}

func TestNodeVolumeLimits(t *testing.T) {
	full, ok := map[string]string{"n": rules.ReasonVolumeLimit}, map[string]string{"n": "ok"}
	there := func(claims ...string) *corev1.Pod {
		p := et.Pod("there", et.On("n"))
		for _, c := range claims {
			et.Mounts(c)(p)
		}
		return p
	}
	asks := func(claims ...string) *corev1.Pod {
		p := there(claims...)
		p.Name, p.UID, p.Spec.NodeName = "p", "p", ""
		return p
	}
	disk := et.MountsVolume(corev1.VolumeSource{GCEPersistentDisk: &corev1.GCEPersistentDiskVolumeSource{PDName: "inline"}})
	gce := et.CSINode("n", "pd.csi.storage.gke.io", 1)
	scratch := et.BoundClaim("p-v0", "pv-b")
	scratch.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "Pod", Name: "p", UID: "p", Controller: ptr(true)}}
	ephemeral := et.Pod("p", et.MountsVolume(corev1.VolumeSource{Ephemeral: &corev1.EphemeralVolumeSource{}}))
	ephemeral.UID = "p"
	cases := []ruleCase{
		{name: "one volume fits", objects: shelf(), pod: asks("a"), want: ok},
		{name: "two do not", objects: shelf(), pod: asks("a", "b"), want: full},
		{name: "two claims of one volume are one", objects: shelf(), pod: asks("a", "twin"), want: ok},
		{name: "a pod that is there has its volume", objects: shelf(there("b")), pod: asks("a"), want: full},
		{name: "and shares it", objects: shelf(there("twin")), pod: asks("a"), want: ok},
		{name: "a pod that ended has none", objects: shelf(et.Pod("done", et.On("n"), et.Mounts("b"), et.Phase(corev1.PodSucceeded))), pod: asks("a"), want: ok},
		{name: "an attachment counts though nobody mounts it", objects: shelf(et.Attachment("x", driver, "pv-b", "n")), pod: asks("a"), want: full},
		{name: "and once where somebody does", objects: append(shelf(there("b"), et.Attachment("x", driver, "pv-b", "n")), et.CSINode("n", driver, 2)), pod: asks("a"), want: ok},
		{name: "the pod's own volume that hangs there already counts twice", objects: shelf(et.Attachment("x", driver, "pv-a", "n")), pod: asks("a"), want: full},
		{name: "attachments elsewhere, of other drivers and of volumes that are gone do not count", objects: shelf(et.Attachment("x", driver, "pv-b", "m"), et.Attachment("y", "other", "pv-b", "n"), et.Attachment("z", driver, "gone", "n")), pod: asks("a"), want: ok},
		{name: "a claim without a volume counts by its class", objects: shelf(there("loose")), pod: asks("a"), want: full},
		{name: "the same claim is the same volume to come", objects: shelf(there("loose")), pod: asks("loose"), want: ok},
		{name: "a claim that leads nowhere counts for nothing", objects: shelf(there("lost")), pod: asks("a"), want: ok},
		{name: "no limit, no matter", objects: append(shelf(there("b")), et.CSINode("n", driver, -1)), pod: asks("a"), want: ok},
		{name: "a limit of another driver is no matter", objects: append(shelf(there("b")), et.CSINode("n", "other", 0)), pod: asks("a"), want: ok},
		{name: "a disk of a plugin that moved is the new driver's", objects: append(shelf(there("old")), gce), pod: et.Pod("p", disk), want: full},
		{name: "on a node without CSINode it counts nowhere", objects: list(et.Node("n")), pod: et.Pod("p", disk), want: ok},
		{name: "an ephemeral volume has the pod's claim", objects: shelf(there("a"), scratch), pod: ephemeral, want: full},
		{name: "a claim that is not there", objects: shelf(), pod: asks("none"), want: map[string]string{"n": `looking up PVC default/none: persistentvolumeclaim "none" not found!`}},
	}
	for i := range cases {
		cases[i].spec = alone("NodeVolumeLimits")
	}
	check(t, "NodeVolumeLimits", cases)
}

// TestPortworxCountsWhereItMoved: a node may have to say that the driver of Portworx took over.
func TestPortworxCountsWhereItMoved(t *testing.T) {
	const px = "pxd.portworx.com"
	node := func(name string, moved ...string) []any {
		n := et.CSINode(name, px, 1)
		n.Annotations = map[string]string{corev1.MigratedPluginsAnnotationKey: strings.Join(moved, ",")}
		return list(et.Node(name), n)
	}
	nodes := slices.Concat(node("says", "kubernetes.io/gce-pd", "kubernetes.io/portworx-volume"), node("silent", "kubernetes.io/gce-pd"), list(et.Node("bare")))
	volume := func(name, id string) *corev1.PersistentVolume {
		v := &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: name}}
		v.Spec.PortworxVolume = &corev1.PortworxVolumeSource{VolumeID: id}
		return v
	}
	disk := et.MountsVolume(corev1.VolumeSource{PortworxVolume: &corev1.PortworxVolumeSource{VolumeID: "disk"}})
	both := append(slices.Clip(nodes), volume("px-a", "a"), volume("px-b", "b"), et.BoundClaim("a", "px-a"), et.BoundClaim("b", "px-b"), et.CSIVolume("csi", px, "c"), et.BoundClaim("csi", "csi"),
		&storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: "px"}, Provisioner: "kubernetes.io/portworx-volume"})
	both = slices.Clip(both)
	toBe := et.BoundClaim("to-be", "")
	toBe.Spec.StorageClassName = ptr("px")
	there := func(o et.PodOption) []any {
		return list(et.Pod("there-1", et.On("says"), o), et.Pod("there-2", et.On("silent"), o))
	}
	full := rules.ReasonVolumeLimit
	declared := func(r *semantics.Release) { r.PortworxDeclared = true }
	says, neither := map[string]string{"says": full, "silent": "ok", "bare": "ok"}, map[string]string{"says": full, "silent": full, "bare": "ok"}
	cases := []ruleCase{
		{name: "two volumes", objects: both, pod: et.Pod("p", et.Mounts("a", "b")), want: neither},
		{name: "two volumes, declared", objects: both, pod: et.Pod("p", et.Mounts("a", "b")), want: says, under: declared},
		{name: "inline", objects: both, pod: et.Pod("p", et.Mounts("a"), disk), want: neither},
		{name: "inline, declared", objects: both, pod: et.Pod("p", et.Mounts("a"), disk), want: says, under: declared},
		{name: "a volume to be made", objects: append(both, toBe), pod: et.Pod("p", et.Mounts("a", "to-be")), want: neither},
		{name: "a volume to be made, declared", objects: append(both, toBe), pod: et.Pod("p", et.Mounts("a", "to-be")), want: says, under: declared},
		{name: "of pods that are there", objects: append(both, there(et.Mounts("a"))...), pod: et.Pod("p", et.Mounts("csi")), want: neither},
		{name: "of pods that are there, declared", objects: append(both, there(et.Mounts("a"))...), pod: et.Pod("p", et.Mounts("csi")), want: says, under: declared},
		{name: "inline of pods that are there", objects: append(both, there(disk)...), pod: et.Pod("p", et.Mounts("csi")), want: neither},
		{name: "inline of pods that are there, declared", objects: append(both, there(disk)...), pod: et.Pod("p", et.Mounts("csi")), want: says, under: declared},
		{name: "its driver's own volumes count all the same", objects: append(both, there(et.Mounts("csi"))...), pod: et.Pod("p", et.Mounts("csi")), want: map[string]string{"says": "ok", "silent": "ok", "bare": "ok"}, under: declared},
	}
	for i := range cases {
		cases[i].spec = alone("NodeVolumeLimits")
	}
	check(t, "NodeVolumeLimits", cases)
}

// TestMissingDrivers: a node without a driver that has to be there is refused.
func TestMissingDrivers(t *testing.T) {
	asks := func(name string, prevent *bool) *storagev1.CSIDriver {
		return &storagev1.CSIDriver{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: storagev1.CSIDriverSpec{PreventPodSchedulingIfMissing: prevent}}
	}
	missing := func(driver string) string { return driver + " CSI driver is not installed on the node" }
	nodes := append(shelf(et.Node("other"), et.CSINode("other", "other.example.com", 1), et.Node("bare")), et.CSIVolume("pv-o", "other.example.com", "o"), et.BoundClaim("o", "pv-o"))
	nodes = slices.Clip(nodes)
	gate := func(r *semantics.Release) { r.VolumeLimitScaling = true }
	every := func(r *semantics.Release) { r.VolumeLimitScaling, r.EveryDriverRequired = true, true }
	ok := map[string]string{"n": "ok", "other": "ok", "bare": "ok"}
	out := map[string]string{"n": "ok", "other": missing(driver), "bare": missing(driver)}
	yes, no := asks(driver, ptr(true)), asks(driver, ptr(false))
	disk := et.MountsVolume(corev1.VolumeSource{GCEPersistentDisk: &corev1.GCEPersistentDiskVolumeSource{PDName: "inline"}})
	a, both := et.Pod("p", et.Mounts("a")), et.Pod("p", et.Mounts("a", "o"))
	cases := []ruleCase{
		{name: "without the gate", objects: append(nodes, yes), pod: a, want: ok},
		{name: "a driver that asks for it", objects: append(nodes, yes), pod: a, want: out, under: gate},
		{name: "one that does not", objects: append(nodes, no), pod: a, want: ok, under: gate},
		{name: "one that does not say", objects: append(nodes, asks(driver, nil)), pod: a, want: ok, under: gate},
		{name: "one that is not known", objects: nodes, pod: a, want: ok, under: gate},
		{name: "every driver", objects: append(nodes, no), pod: a, want: out, under: every},
		{name: "every one that is known", objects: nodes, pod: a, want: ok, under: every},
		{name: "a claim whose volume is to be made", objects: append(nodes, yes), pod: et.Pod("p", et.Mounts("loose")), want: out, under: gate},
		{
			name: "of two the first by name", objects: append(nodes, yes, asks("other.example.com", ptr(true))), pod: both, under: gate,
			want: map[string]string{"n": missing("other.example.com"), "other": missing(driver), "bare": missing(driver)},
		},
		{
			name: "before the limit", objects: append(nodes, yes), pod: et.Pod("p", et.Mounts("a", "b")), under: gate,
			want: map[string]string{"n": rules.ReasonVolumeLimit, "other": missing(driver), "bare": missing(driver)},
		},
		{
			name: "a disk of a plugin that moved, where there is a CSINode", objects: append(nodes, asks("pd.csi.storage.gke.io", ptr(true))), pod: et.Pod("p", disk), under: gate,
			want: map[string]string{"n": missing("pd.csi.storage.gke.io"), "other": missing("pd.csi.storage.gke.io"), "bare": "ok"},
		},
	}
	for i := range cases {
		cases[i].spec = alone("NodeVolumeLimits")
	}
	check(t, "NodeVolumeLimits", cases)
	d := decide(t, cases[1])
	if diff := cmp.Diff([]engine.Detail{{Kind: "driverMissing", Name: driver}}, details(t, d, "bare")); diff != "" {
		t.Errorf("details (-want +got):\n%s", diff)
	}
}

// TestNodeVolumeLimitsFail: where upstream's cycle ends with an error, so does the
// decision.
func TestNodeVolumeLimitsFail(t *testing.T) {
	stranger := et.BoundClaim("p-v0", "pv-a")
	ephemeral := et.MountsVolume(corev1.VolumeSource{Ephemeral: &corev1.EphemeralVolumeSource{}})
	odd := et.MountsVolume(corev1.VolumeSource{AWSElasticBlockStore: &corev1.AWSElasticBlockStoreVolumeSource{VolumeID: "aws://zone/odd"}})
	for _, tc := range []struct {
		name    string
		objects []any
		pod     *corev1.Pod
		want    string
	}{
		{"a claim of the pod's that was made for another", shelf(stranger), et.Pod("p", ephemeral), "PVC default/p-v0 was not created for pod default/p (pod is not owner)"},
		{"a claim of a pod that is there", shelf(stranger, et.Pod("p", et.On("n"), ephemeral)), et.Pod("q", et.Mounts("a")), "PVC default/p-v0 was not created for pod default/p (pod is not owner)"},
		{"a disk that its driver cannot have", shelf(), et.Pod("p", odd), "converting volume(v0) from inline to csi: "},
	} {
		c := et.Case{Objects: tc.objects, Pod: tc.pod, Spec: *alone("NodeVolumeLimits")}
		if _, err := c.Decide(); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v", tc.name, err)
		}
	}
}

func TestNodeVolumeLimitsSayHowManyAreLeft(t *testing.T) {
	d := decide(t, ruleCase{objects: append(shelf(et.Pod("there", et.On("n"), et.Mounts("loose"))), et.CSINode("n", driver, 2)), pod: et.Pod("p", et.Mounts("a"), et.Mounts("b")), spec: alone("NodeVolumeLimits")})
	want := []engine.Detail{{Kind: "volumeLimit", Name: driver, Requested: ptr(int64(2)), Available: ptr(int64(1)), Capacity: ptr(int64(2))}}
	if diff := cmp.Diff(want, details(t, d, "n")); diff != "" {
		t.Errorf("details (-want +got):\n%s", diff)
	}
}
