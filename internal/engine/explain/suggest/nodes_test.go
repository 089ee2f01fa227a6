package suggest_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"berth/internal/engine"
	"berth/internal/engine/explain/suggest"
	"berth/internal/engine/rules"
	"berth/test/enginetest"
)

// offered returns the suggestions, in order, for a pod under the default rules.
func offered(t *testing.T, pod *corev1.Pod, objects ...any) (out []string) {
	t.Helper()
	c := ready(t, &enginetest.Case{Objects: objects, Pod: pod, Spec: rules.DefaultSpec()})
	_, list, _, ok := c.advise()
	if !ok {
		t.Fatal("it cannot be judged")
	}
	for _, g := range list {
		if g.VerifiedBy == "" || g.Fits == 0 {
			t.Errorf("%+v", g)
		}
		if g.Kind != "priorityClass" { // every trial has some
			out = append(out, g.Kind+": "+g.Change+" ("+string(g.Action)+")")
		}
	}
	return out
}

// TestWhatIsWrongWithANodeIsNotTolerated: a pod that tolerates the taint of a dead
// node is sent to a dead node.
func TestWhatIsWrongWithANodeIsNotTolerated(t *testing.T) {
	dead := enginetest.Node("dead", enginetest.Taint(corev1.TaintNodeUnreachable, "", corev1.TaintEffectNoSchedule), enginetest.Taint(corev1.TaintNodeUnreachable, "", corev1.TaintEffectNoExecute))
	sick := enginetest.Node("sick", enginetest.Taint("team", "a", corev1.TaintEffectNoSchedule), enginetest.Taint(corev1.TaintNodeDiskPressure, "", corev1.TaintEffectNoSchedule))
	if d := cmp.Diff([]string{"recover: repair node dead (the taint node.kubernetes.io/unreachable is removed automatically once it is healthy) (askPlatform)", "node: add one more node like dead (askPlatform)"}, offered(t, enginetest.Pod("p"), dead, sick)); d != "" {
		t.Error(d)
	}
	// A controller removes what a controller set; out-of-service is an administrator's.
	out := enginetest.Node("out", enginetest.Taint(corev1.TaintNodeOutOfService, "nodeshutdown", corev1.TaintEffectNoExecute), enginetest.Taint(corev1.TaintNodeNotReady, "", corev1.TaintEffectNoExecute))
	want := "recover: repair node out (the taint node.kubernetes.io/not-ready is removed automatically once it is healthy; the taint node.kubernetes.io/out-of-service has to be removed by hand) (askPlatform)"
	if got := offered(t, enginetest.Pod("p"), out, sick); len(got) == 0 || got[0] != want {
		t.Errorf("%q", got)
	}
	// Taints of people's own below the same domain are tolerated as any other.
	windows := enginetest.Node("w", enginetest.Taint("node.kubernetes.io/os", "windows", corev1.TaintEffectNoSchedule))
	if d := cmp.Diff([]string{"toleration: tolerate the taint node.kubernetes.io/os=windows:NoSchedule (changePod)"}, offered(t, enginetest.Pod("p"), sick, windows)); d != "" {
		t.Error(d)
	}
}

// TestLabelsThatStateFactsStay: a node in zone b is not in zone a for being called
// so.
func TestLabelsThatStateFactsStay(t *testing.T) {
	selects := func(key, value string) *corev1.Pod {
		p := enginetest.Pod("p")
		p.Spec.NodeSelector = map[string]string{key: value}
		return p
	}
	node := enginetest.Node("n", enginetest.Zone("b"))
	for _, key := range []string{corev1.LabelTopologyZone, corev1.LabelHostname, corev1.LabelArchStable, "beta.kubernetes.io/instance-type", "topology.ebs.csi.aws.com/zone", "topology.gke.io/zone", corev1.LabelWindowsBuild} {
		if d := cmp.Diff([]string{"nodeSelector: drop " + key + "=a from nodeSelector (changePod)"}, offered(t, selects(key, "a"), node)); d != "" {
			t.Errorf("%s: %s", key, d)
		}
	}
	for _, key := range []string{"disk", "topology.disk", "example.com/topology.disk", "node.kubernetes.io/pool"} {
		// A value that no node has may be misspelt, so it is written onto none.
		if d := cmp.Diff([]string{"nodeSelector: drop " + key + "=ssd from nodeSelector (changePod)"}, offered(t, selects(key, "ssd"), node)); d != "" {
			t.Errorf("%s: %s", key, d)
		}
		dead := enginetest.Node("dead", enginetest.NodeLabels(key, "ssd"), enginetest.Taint(corev1.TaintNodeUnreachable, "", corev1.TaintEffectNoSchedule))
		if got := offered(t, selects(key, "ssd"), node, dead); !slices.Contains(got, "label: label node n with "+key+"=ssd (askPlatform)") {
			t.Errorf("%s: %q", key, got)
		}
	}
}

// TestRequestsOfThePodAsAWhole are lowered as far as the containers' own.
func TestRequestsOfThePodAsAWhole(t *testing.T) {
	pod := func(total, container string) *corev1.Pod {
		p := enginetest.Pod("p", enginetest.Requests("cpu", container))
		p.Spec.Resources = &corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(total)}}
		return p
	}
	node := enginetest.Node("n", enginetest.Allocatable("cpu", "4"))
	more := func(n string) string { return "capacity: " + n + " more cpu on node n (askPlatform)" }
	if d := cmp.Diff([]string{"resource: lower the cpu request of the pod from 6 to 4 (changePod)", more("2")}, offered(t, pod("6", "1"), node)); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{more("2")}, offered(t, pod("6", "5"), node)); d != "" {
		t.Error(d)
	}
	// Pod overhead is in no container's request.
	heavy := enginetest.Pod("p", enginetest.Requests("cpu", "1"))
	heavy.Spec.Overhead = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("8")}
	if d := cmp.Diff([]string{more("5")}, offered(t, heavy, node)); d != "" {
		t.Error(d)
	}
	full := enginetest.Node("n", enginetest.Allocatable("pods", "0"))
	if d := cmp.Diff([]string{"capacity: room for 1 pod more on node n (askPlatform)"}, offered(t, enginetest.Pod("p"), full)); d != "" {
		t.Error(d)
	}
}

// TestHugePagesAreAskedForWhole: an API server refuses a request for part of a page,
// so none is offered.
func TestHugePagesAreAskedForWhole(t *testing.T) {
	for _, c := range []struct {
		page, asked, there string
		want               []string
	}{
		{"2Mi", "8Mi", "5Mi", []string{"resource: lower the hugepages-2Mi request of %s from 8Mi to 4Mi (changePod)", "capacity: 3Mi more hugepages-2Mi on node n (askPlatform)"}},
		{"2Mi", "8Mi", "6Mi", []string{"resource: lower the hugepages-2Mi request of %s from 8Mi to 6Mi (changePod)", "capacity: 2Mi more hugepages-2Mi on node n (askPlatform)"}},
		{"1Gi", "1Gi", "512Mi", []string{"capacity: 512Mi more hugepages-1Gi on node n (askPlatform)"}},
	} {
		name := "hugepages-" + c.page
		node := enginetest.Node("n", enginetest.Allocatable(name, c.there))
		amounts := corev1.ResourceList{corev1.ResourceName(name): resource.MustParse(c.asked)}
		one, whole := enginetest.Pod("p"), enginetest.Pod("p")
		one.Spec.Containers[0].Resources = corev1.ResourceRequirements{Requests: amounts, Limits: amounts}
		whole.Spec.Resources = &corev1.ResourceRequirements{Requests: amounts, Limits: amounts}
		for who, pod := range map[string]*corev1.Pod{"container " + one.Spec.Containers[0].Name: one, "the pod": whole} {
			var want []string
			for _, s := range c.want {
				want = append(want, strings.Replace(s, "%s", who, 1))
			}
			if d := cmp.Diff(want, offered(t, pod, node)); d != "" {
				t.Errorf("%s of %s for %s: %s", c.asked, name, who, d)
			}
		}
	}
	// Where less is looked for, since others are nominated to the roomiest node.
	other := enginetest.Pod("other", enginetest.Requests("hugepages-2Mi", "4Mi"))
	other.Spec.Priority, other.Status.NominatedNodeName = new(int32(100)), "n"
	pod := enginetest.Pod("p", enginetest.Requests("hugepages-2Mi", "16Mi"))
	got := offered(t, pod, enginetest.Node("n", enginetest.Allocatable("hugepages-2Mi", "9Mi")), other)
	if len(got) == 0 || !strings.HasPrefix(got[0], "resource: lower the hugepages-2Mi request of container "+pod.Spec.Containers[0].Name+" from 16Mi to 4Mi ") {
		t.Errorf("%q", got)
	}
}

// TestGatesOfAPodThatEvicts: with the gates gone it may have to make room, and
// that is said.
func TestGatesOfAPodThatEvicts(t *testing.T) {
	pod := enginetest.Pod("p", enginetest.Requests("cpu", "3"))
	pod.Spec.Priority, pod.Spec.SchedulingGates = new(int32(10)), []corev1.PodSchedulingGate{{Name: "a.b/quota"}}
	c := ready(t, &enginetest.Case{
		Objects: []any{enginetest.Node("n", enginetest.Allocatable("cpu", "4")), enginetest.Pod("low", enginetest.On("n"), enginetest.Requests("cpu", "2"))},
		Pod:     pod, Spec: rules.DefaultSpec(),
	})
	_, list, _, ok := c.advise()
	if !ok || len(list) != 1 || list[0].Kind != "gate" || list[0].Outcome != engine.Preempting || list[0].Action != suggest.Wait || list[0].Fits != 1 {
		t.Errorf("%+v", list)
	}
}

// TestClaimsThatAreNotBound say so in a reason of their own.
func TestClaimsThatAreNotBound(t *testing.T) {
	claim := &corev1.PersistentVolumeClaim{}
	claim.Namespace, claim.Name, claim.Status.Phase = "default", "data", corev1.ClaimPending
	claim.Spec.StorageClassName = new("")
	pod := enginetest.Pod("p")
	pod.Spec.Volumes = []corev1.Volume{{Name: "v", VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "data"}}}}
	c := ready(t, &enginetest.Case{Objects: []any{enginetest.Node("n"), claim}, Pod: pod, Spec: rules.DefaultSpec()})
	groups, list, _, ok := c.advise()
	if !ok || len(groups) != 1 || groups[0].Reason != engine.CauseClaimUnbound || groups[0].Action != suggest.Wait || len(list) != 0 {
		t.Errorf("%+v, %+v", groups, list)
	}
}

// TestANodeElsewhere has pods that no copy of a node helps, but one in another zone or rack does.
func TestANodeElsewhere(t *testing.T) {
	small := enginetest.Allocatable("cpu", "4", "memory", "8Gi", "pods", "110")
	const rack = "example.com/rack"
	spreadBy := func(key string, min int32) *corev1.Pod {
		same := &metav1.LabelSelector{MatchLabels: map[string]string{"app": "ng"}}
		return enginetest.Pod("ng-2", enginetest.Labels("app", "ng"), enginetest.Spread(key, 1, corev1.DoNotSchedule, same, enginetest.MinDomains(min)))
	}
	spread := func(min int32) *corev1.Pod { return spreadBy(corev1.LabelTopologyZone, min) }
	first := enginetest.Pod("ng-1", enginetest.Labels("app", "ng"), enginetest.On("a1"))
	a1, a2 := enginetest.Node("a1", enginetest.Zone("eu-1a"), small), enginetest.Node("a2", enginetest.Zone("eu-1a"), small)
	ofNodes := func(pod *corev1.Pod, objects ...any) (out []string) {
		for _, text := range offered(t, pod, objects...) {
			if strings.HasPrefix(text, "node: ") {
				out = append(out, text)
			}
		}
		return out
	}
	for name, c := range map[string]struct {
		pod     *corev1.Pod
		objects []any
		want    []string
	}{
		"one zone where two are wanted": {spread(2), []any{a1, a2, first}, []string{"node: add a node like a1 in a zone that has none (askPlatform)"}},
		"a zone of nodes that take no pod": {
			spread(1),
			[]any{a1, first, enginetest.Node("b1", enginetest.Zone("eu-1b"), small, enginetest.Taint("gpu", "", corev1.TaintEffectNoSchedule))},
			[]string{"node: add a node like a1 in zone eu-1b (askPlatform)"},
		},
		"one zone where three are wanted": {spread(3), []any{a1, first}, []string{"node: add a node like a1 in a zone that has none (askPlatform)"}},
		"a volume in another zone": {
			enginetest.Pod("db-0", enginetest.Mounts("data"), enginetest.Selects("cap", "ondemand")),
			[]any{
				enginetest.Node("a1", enginetest.Zone("za"), enginetest.NodeLabels("cap", "spot", "topology.ebs.csi.aws.com/zone", "za"), small),
				enginetest.Node("b1", enginetest.Zone("zb"), enginetest.NodeLabels("cap", "ondemand", "topology.ebs.csi.aws.com/zone", "zb"), small),
				enginetest.Node("c1", enginetest.Zone("zc"), enginetest.NodeLabels("cap", "other"), small),
				enginetest.Claim("data", "", "1Gi", enginetest.BoundTo("pv")), enginetest.Volume("pv", "", "1Gi", enginetest.ReachableFrom("topology.ebs.csi.aws.com/zone", "za")),
			},
			[]string{"node: add a node like b1 in zone za (askPlatform)"},
		},
		"one rack where two are wanted": {
			spreadBy(rack, 2),
			[]any{enginetest.Node("a1", enginetest.NodeLabels(rack, "r1"), small), first},
			[]string{"node: add a node like a1 with a value of example.com/rack that no node has (askPlatform)"},
		},
		"a rack of nodes that take no pod": {
			spreadBy(rack, 1),
			[]any{enginetest.Node("a1", enginetest.NodeLabels(rack, "r1"), small), first, enginetest.Node("b1", enginetest.NodeLabels(rack, "r2"), small, enginetest.Taint("gpu", "", corev1.TaintEffectNoSchedule))},
			[]string{"node: add a node like a1 with example.com/rack=r2 (askPlatform)"},
		},
		"a volume in another rack": {
			enginetest.Pod("db-0", enginetest.Mounts("data"), enginetest.Selects("cap", "ondemand")),
			[]any{
				enginetest.Node("a1", enginetest.Zone("za"), enginetest.NodeLabels("cap", "spot", rack, "r1"), small),
				enginetest.Node("b1", enginetest.Zone("za"), enginetest.NodeLabels("cap", "ondemand", rack, "r2"), small),
				enginetest.Claim("data", "", "1Gi", enginetest.BoundTo("pv")), enginetest.Volume("pv", "", "1Gi", enginetest.ReachableFrom(rack, "r1")),
			},
			[]string{"node: add a node like b1 with example.com/rack=r1 (askPlatform)"},
		},
		"a rack by which nothing of the pod goes": {
			enginetest.Pod("p", enginetest.Selects(rack, "r2")),
			[]any{enginetest.Node("a1", enginetest.NodeLabels(rack, "r1"), small)},
			nil,
		},
		"a copy in its own zone is enough": {
			enginetest.Pod("p", enginetest.Requests("cpu", "3")),
			[]any{a1, enginetest.Pod("full", enginetest.Requests("cpu", "3"), enginetest.On("a1"))},
			[]string{"node: add one more node like a1 (askPlatform)"},
		},
		"a label that no node has":        {enginetest.Pod("p", enginetest.Selects("disk", "nvme")), []any{a1, a2}, nil},
		"a zone that no node is in":       {enginetest.Pod("p", enginetest.Selects(corev1.LabelTopologyZone, "eu-9z")), []any{a1, a2}, nil},
		"a device that no node has":       {enginetest.Pod("p", enginetest.Requests("example.com/gpu", "1")), []any{a1, a2}, nil},
		"a request larger than each node": {enginetest.Pod("p", enginetest.Requests("cpu", "9")), []any{a1, a2}, nil},
	} {
		if d := cmp.Diff(c.want, ofNodes(c.pod, c.objects...)); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}
