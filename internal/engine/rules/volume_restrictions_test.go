package rules_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"berth/internal/engine"
	"berth/internal/engine/rules"
	et "berth/test/enginetest"
)

// alone is the default profile with nothing but one rule filtering.
func alone(name string) *rules.Spec {
	s := rules.DefaultSpec()
	s.PreFilter, s.Filter, s.PostFilter, s.Score = []string{name}, []string{name}, []string{"DefaultPreemption"}, nil
	return &s
}

func TestVolumeRestrictions(t *testing.T) {
	gce := func(name string, readOnly bool) et.PodOption {
		return et.MountsVolume(corev1.VolumeSource{GCEPersistentDisk: &corev1.GCEPersistentDiskVolumeSource{PDName: name, ReadOnly: readOnly}})
	}
	ebs := func(id string, readOnly bool) et.PodOption {
		return et.MountsVolume(corev1.VolumeSource{AWSElasticBlockStore: &corev1.AWSElasticBlockStoreVolumeSource{VolumeID: id, ReadOnly: readOnly}})
	}
	iscsi := func(portal string, readOnly bool) et.PodOption {
		return et.MountsVolume(corev1.VolumeSource{ISCSI: &corev1.ISCSIVolumeSource{TargetPortal: portal, IQN: "iqn", ReadOnly: readOnly}})
	}
	rbd := func(readOnly bool, pool string, monitors ...string) et.PodOption {
		return et.MountsVolume(corev1.VolumeSource{RBD: &corev1.RBDVolumeSource{CephMonitors: monitors, RBDPool: pool, RBDImage: "image", ReadOnly: readOnly}})
	}
	on := func(o et.PodOption) []any {
		return list(et.Node("n"), et.Node("other"), et.Pod("there", et.On("n"), o))
	}
	taken, free := map[string]string{"n": rules.ReasonDiskConflict, "other": "ok"}, map[string]string{"n": "ok", "other": "ok"}
	one, many := et.BoundClaim("data", "", corev1.ReadWriteOncePod), et.BoundClaim("data", "", corev1.ReadWriteOnce)
	claimed := func(c *corev1.PersistentVolumeClaim, opts ...et.PodOption) []any {
		return list(et.Node("n"), et.Node("other"), c, et.Pod("there", append([]et.PodOption{et.On("n"), et.Mounts("data")}, opts...)...))
	}
	inUse := map[string]string{"n": rules.ReasonClaimInUse, "other": rules.ReasonClaimInUse}
	cases := []ruleCase{
		{name: "a disk is mounted once", objects: on(gce("d", false)), pod: et.Pod("p", gce("d", true)), want: taken},
		{name: "or by many that only read", objects: on(gce("d", true)), pod: et.Pod("p", gce("d", true)), want: free},
		{name: "another disk is another matter", objects: on(gce("d", false)), pod: et.Pod("p", gce("e", false)), want: free},
		{name: "an EBS volume is mounted once even to read", objects: on(ebs("v", true)), pod: et.Pod("p", ebs("v", true)), want: taken},
		{name: "disks of two kinds are two", objects: on(ebs("v", false)), pod: et.Pod("p", gce("v", false)), want: free},
		{name: "iSCSI goes by its name alone", objects: on(iscsi("a", false)), pod: et.Pod("p", iscsi("b", true)), want: taken},
		{name: "RBD by pool, image and a monitor in common", objects: on(rbd(false, "rbd", "a", "b")), pod: et.Pod("p", rbd(true, "rbd", "b", "c")), want: taken},
		{name: "not without a common monitor", objects: on(rbd(false, "rbd", "a")), pod: et.Pod("p", rbd(false, "rbd", "b")), want: free},
		{name: "nor in another pool", objects: on(rbd(false, "rbd", "a")), pod: et.Pod("p", rbd(false, "ssd", "a")), want: free},
		{name: "two volumes of the pod itself do not meet", objects: list(et.Node("n")), pod: et.Pod("p", gce("d", false), gce("d", false)), want: map[string]string{"n": "ok"}},
		{name: "a claim for one pod is in use everywhere", objects: claimed(one), pod: et.Pod("p", et.Mounts("data")), want: inUse},
		{name: "a claim for many is not", objects: claimed(many), pod: et.Pod("p", et.Mounts("data")), want: free},
		{name: "a pod that ended uses none", objects: claimed(one, et.Phase(corev1.PodFailed)), pod: et.Pod("p", et.Mounts("data")), want: free},
		{name: "a claim of that name elsewhere is another", objects: claimed(one, et.In("elsewhere")), pod: et.Pod("p", et.Mounts("data")), want: free},
		{name: "nominated pods are asked for the name alone", objects: list(et.Node("n"), et.Node("other"), one, et.Pod("there", et.On("other"), et.Mounts("data"), et.In("elsewhere")), et.Pod("holds", et.On("n"), gce("d", false)), et.Pod("next", et.In("elsewhere"), et.NominatedTo("other"), et.Mounts("data"))), pod: et.Pod("p", gce("e", false), et.Mounts("data")), want: map[string]string{"n": "ok", "other": rules.ReasonClaimInUse}},
		{name: "the disk is named before the claim", objects: append(claimed(one), et.Pod("holds", et.On("n"), gce("d", false))), pod: et.Pod("p", gce("d", false), et.Mounts("data")), want: map[string]string{"n": rules.ReasonDiskConflict, "other": rules.ReasonClaimInUse}},
		{name: "a claim that is not there", objects: list(et.Node("n")), pod: et.Pod("p", et.Mounts("data")), want: map[string]string{"n": `persistentvolumeclaim "data" not found!`}, message: `0/1 nodes are available: persistentvolumeclaim "data" not found.`},
	}
	for i := range cases {
		cases[i].spec = alone("VolumeRestrictions")
	}
	check(t, "VolumeRestrictions", cases)
}

func TestVolumeRestrictionsSayWhoIsInTheWay(t *testing.T) {
	disk := et.MountsVolume(corev1.VolumeSource{RBD: &corev1.RBDVolumeSource{CephMonitors: []string{"a"}, RBDPool: "rbd", RBDImage: "image"}})
	objects := list(et.Node("n"), et.Node("m"), et.BoundClaim("data", "", corev1.ReadWriteOncePod), et.Pod("reads", et.On("m"), et.Mounts("data")), et.Pod("holds", et.On("n"), disk))
	d := decide(t, ruleCase{objects: objects, pod: et.Pod("p", disk, et.Mounts("data")), spec: alone("VolumeRestrictions")})
	for node, want := range map[string][]engine.Detail{
		"n": {{Kind: "diskInUse", Key: "rbd", Name: "rbd/image"}},
		"m": {{Kind: "claimInUse", Claim: "data", Value: "default/reads", Domain: "m"}},
	} {
		if diff := cmp.Diff(want, details(t, d, node)); diff != "" {
			t.Errorf("details of %s (-want +got):\n%s", node, diff)
		}
	}
}
