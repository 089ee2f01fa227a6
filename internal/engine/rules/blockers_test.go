package rules_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"berth/internal/engine"
	"berth/internal/engine/explain"
	"berth/internal/engine/rules"
	et "berth/test/enginetest"
)

// named returns the objects of a node's first detail, each in short.
func named(t *testing.T, tc ruleCase, node string) (list []string, omitted int) {
	t.Helper()
	s := et.Fresh(t, tc.objects...)
	spec := et.NoDefaults()
	if tc.spec != nil {
		spec = *tc.spec
	}
	p, err := rules.Build(spec)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)
	r, err := engine.Decide(s, tc.pod, p, engine.Options{Now: now, NoPreemption: true})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Release()
	v := explain.NamedVerdict(r, s.Nodes().Row(node))
	if len(v.Details) == 0 {
		t.Fatalf("%s has no details: %+v", node, v)
	}
	for _, b := range v.Details[0].Blockers {
		text := b.Kind + " " + b.Namespace + "/" + b.Name
		if b.Amount != nil {
			text += fmt.Sprint(" ", *b.Amount)
		}
		if b.Owner != "" {
			text += " of " + b.Owner
		}
		if b.State != "" {
			text += " " + string(b.State)
		}
		list = append(list, text)
	}
	return list, v.Details[0].BlockersOmitted
}

// TestBlockersOfResources: the largest first, of equals by name, each with what is to become of it;
// the rest is counted.
func TestBlockersOfResources(t *testing.T) {
	ends := func(at time.Time) et.PodOption {
		return func(p *corev1.Pod) {
			grace := int64(30)
			p.DeletionTimestamp, p.DeletionGracePeriodSeconds = &metav1.Time{Time: at}, &grace
		}
	}
	now := time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)
	objects := list(
		et.Node("n", et.Allocatable("cpu", "8", "pods", "100")),
		et.Pod("stays", et.On("n"), et.Requests("cpu", "2"), et.Priority(100)),
		et.Pod("low", et.On("n"), et.Requests("cpu", "1500m"), et.Owner("apps/v1", "ReplicaSet", "web-1")),
		et.Pod("ends", et.On("n"), et.Requests("cpu", "1"), et.Priority(100), ends(now.Add(time.Minute))),
		et.Pod("late", et.On("n"), et.Requests("cpu", "1"), et.Priority(100), ends(now.Add(-time.Minute))),
		et.Pod("next", et.NominatedTo("n"), et.Requests("cpu", "2500m"), et.Priority(200)),
		et.Pod("none", et.On("n")),
	)
	for i := range 10 {
		objects = append(objects, et.Pod(fmt.Sprintf("small-%d", i), et.On("n"), et.Requests("cpu", "10m"), et.Priority(100)))
	}
	got, omitted := named(t, ruleCase{objects: objects, pod: et.Pod("p", et.Requests("cpu", "1"), et.Priority(100))}, "n")
	want := []string{
		"Pod default/next 2500 nominated", "Pod default/stays 2000", "Pod default/low 1500 of ReplicaSet/web-1 evictable", "Pod default/ends 1000 ending", "Pod default/late 1000 overdue",
		"Pod default/small-0 10", "Pod default/small-1 10", "Pod default/small-2 10", "Pod default/small-3 10", "Pod default/small-4 10",
	}
	if diff := cmp.Diff(want, got); diff != "" || omitted != 5 {
		t.Errorf("%d more (-want +got):\n%s", omitted, diff)
	}
	if got, _ := named(t, ruleCase{objects: objects, pod: et.Pod("p", et.Requests("cpu", "9"))}, "n"); got != nil {
		t.Errorf("the pods of a node that is too small: %v", got)
	}
}

// TestBlockers names the objects of each rule.
func TestBlockers(t *testing.T) {
	disk := et.MountsVolume(corev1.VolumeSource{RBD: &corev1.RBDVolumeSource{CephMonitors: []string{"a"}, RBDPool: "rbd", RBDImage: "image"}})
	hosts := corev1.LabelHostname
	immediate := storagev1.VolumeBindingImmediate
	atOnce := et.Class("fast", "csi.example.com")
	atOnce.VolumeBindingMode = &immediate
	for _, c := range []struct {
		name, node string
		ruleCase
		want []string
	}{
		{"a port", "n", ruleCase{objects: list(et.Node("n"), et.Pod("b", et.On("n"), et.HostPort("", "TCP", 80)), et.Pod("other", et.On("n"), et.HostPort("", "TCP", 81))), pod: et.Pod("p", et.HostPort("", "TCP", 80))}, []string{"Pod default/b"}},
		{"the number of pods", "n", ruleCase{objects: list(et.Node("n", et.Allocatable("pods", "1")), et.Pod("b", et.On("n"))), pod: et.Pod("p")}, []string{"Pod default/b 1"}},
		{"pods in a domain", "m", ruleCase{
			objects: list(et.Node("n", et.Zone("z")), et.Node("m", et.Zone("z")), et.Pod("b", et.On("n"), et.Labels("app", "a"))),
			pod:     et.Pod("p", et.Away(et.PodTerm(corev1.LabelTopologyZone, et.Match("app", "a")))),
		}, []string{"Pod default/b"}},
		{"others' terms in a domain", "m", ruleCase{
			objects: list(et.Node("n", et.Zone("z")), et.Node("m", et.Zone("z")), et.Node("o", et.Zone("y")), et.Pod("b", et.On("n"), et.In("vault"), et.Away(corev1.PodAffinityTerm{TopologyKey: corev1.LabelTopologyZone, LabelSelector: et.Match("app", "a"), NamespaceSelector: &metav1.LabelSelector{}})), et.Pod("far", et.On("o"), et.Labels("app", "x"))),
			pod:     et.Pod("p", et.Labels("app", "a")),
		}, []string{"Pod vault/b"}},
		{"where the wanted pods are", "m", ruleCase{
			objects: list(et.Node("n"), et.Node("m"), et.Pod("b", et.On("n"), et.Labels("app", "a"))), pod: et.Pod("p", et.Near(et.PodTerm(hosts, et.Match("app", "a")))),
		}, []string{"Pod default/b"}},
		{"pods of a spread domain", "n", ruleCase{
			objects: list(et.Node("n", et.Zone("z")), et.Node("m", et.Zone("y")), et.Pod("b", et.On("n"), et.Labels("app", "a")), et.Pod("ends", et.On("n"), et.Labels("app", "a"), et.Terminating()), et.Pod("elsewhere", et.On("n"), et.In("x"), et.Labels("app", "a"))),
			pod:     et.Pod("p", et.Labels("app", "a"), et.Spread(corev1.LabelTopologyZone, 1, corev1.DoNotSchedule, et.Match("app", "a"))),
		}, []string{"Pod default/b"}},
		{"a disk", "n", ruleCase{objects: list(et.Node("n"), et.Pod("b", et.On("n"), disk)), pod: et.Pod("p", disk)}, []string{"Pod default/b"}},
		{"a claim for one pod", "m", ruleCase{
			objects: list(et.Node("n"), et.Node("m"), et.BoundClaim("data", "", corev1.ReadWriteOncePod), et.Pod("b", et.On("n"), et.Mounts("data"))), pod: et.Pod("p", et.Mounts("data")), spec: alone("VolumeRestrictions"),
		}, []string{"Pod default/b"}},
		{"a volume whose zone is gone", "n", ruleCase{
			objects: list(et.Node("n", et.Zone("a")), et.BoundClaim("data", "pv"), et.Volume("pv", "", "1Gi", et.ReachableFrom(corev1.LabelTopologyZone, "z"))), pod: et.Pod("p", et.Mounts("data")), spec: alone("VolumeBinding"),
		}, []string{"PersistentVolumeClaim default/data", "PersistentVolume /pv", "Node /topology.kubernetes.io/zone=z missing"}},
		{"the zone of a volume", "n", ruleCase{
			objects: list(et.Node("n", et.Zone("a")), et.Node("m", et.Zone("z")), et.BoundClaim("data", "pv"), et.Volume("pv", "", "1Gi", et.VolumeLabels(corev1.LabelTopologyZone, "z"))), pod: et.Pod("p", et.Mounts("data")), spec: alone("VolumeZone"),
		}, []string{"PersistentVolumeClaim default/data", "PersistentVolume /pv"}},
		{"volumes of a driver", "n", ruleCase{
			objects: list(et.Node("n"), et.CSINode("n", "d", 1), et.BoundClaim("one", "v1"), et.CSIVolume("v1", "d", "h1"), et.BoundClaim("two", "v2"), et.CSIVolume("v2", "d", "h2"), et.Pod("b", et.On("n"), et.Mounts("one"))),
			pod:     et.Pod("p", et.Mounts("two")), spec: alone("NodeVolumeLimits"),
		}, []string{"Pod default/b 1"}},
		{"a claim that is not there", "n", ruleCase{objects: list(et.Node("n")), pod: et.Pod("p", et.Mounts("data"))}, []string{"PersistentVolumeClaim default/data missing"}},
		{"a claim whose class binds at once", "n", ruleCase{
			objects: list(et.Node("n"), et.Claim("data", "fast", "1Gi"), atOnce), pod: et.Pod("p", et.Mounts("data")),
		}, []string{"PersistentVolumeClaim default/data", "StorageClass /fast"}},
		{"a claim whose class is not there", "n", ruleCase{
			objects: list(et.Node("n"), et.Claim("data", "fast", "1Gi")), pod: et.Pod("p", et.Mounts("data")),
		}, []string{"PersistentVolumeClaim default/data", "StorageClass /fast missing"}},
		{"a volume that is not there", "n", ruleCase{
			objects: list(et.Node("n"), et.BoundClaim("data", "pv")), pod: et.Pod("p", et.Mounts("data")),
		}, []string{"PersistentVolumeClaim default/data", "PersistentVolume /pv missing"}},
		{"a device class that is not there", "n", ruleCase{
			objects: list(et.Node("n"), et.DeviceClaim("gpu", et.Wants("r", "big", 1))), pod: et.Pod("p", et.Claims("gpu")),
		}, []string{"ResourceClaim default/gpu", "DeviceClass /big missing"}},
		{"the node of a pod that has one", "n", ruleCase{objects: list(et.Node("n"), et.Node("m")), pod: et.Pod("p", et.On("gone")), spec: alone("NodeName")}, []string{"Node /gone missing"}},
	} {
		got, _ := named(t, c.ruleCase, c.node)
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

// TestBlockersHaveAnOrder: whatever the order of the objects, the same ones are named.
func TestBlockersHaveAnOrder(t *testing.T) {
	var objects []any
	for i := range 30 {
		objects = append(objects, et.Pod(fmt.Sprintf("b-%02d", i), et.On("n"), et.Labels("app", "a"), et.Requests("cpu", fmt.Sprint(100+i%3, "m"))))
	}
	pods := []*corev1.Pod{
		et.Pod("p", et.Requests("cpu", "1")), et.Pod("p", et.Away(et.PodTerm(corev1.LabelHostname, et.Match("app", "a")))),
	}
	for _, p := range pods {
		node := et.Node("n", et.Allocatable("cpu", "3100m", "pods", "100"))
		first, _ := named(t, ruleCase{objects: append(slices.Clone(objects), node), pod: p}, "n")
		back := slices.Clone(objects)
		slices.Reverse(back)
		last, left := named(t, ruleCase{objects: append([]any{node}, back...), pod: p}, "n")
		if diff := cmp.Diff(first, last); diff != "" || len(first) != 10 || left != 20 {
			t.Errorf("%d named, %d left (-first +last):\n%s", len(first), left, diff)
		}
	}
}
