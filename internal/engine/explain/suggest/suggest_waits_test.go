package suggest_test

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"berth/internal/engine"
	"berth/internal/engine/explain/suggest"
	"berth/internal/engine/rules"
	"berth/test/enginetest"
)

// ownedBy makes a pod one of a controller's.
func ownedBy(kind, name string) enginetest.PodOption {
	return func(p *corev1.Pod) {
		yes := true
		p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: kind, Name: name, UID: "o", Controller: &yes}}
		p.Labels["pod-template-hash"] = "5d"
	}
}

// deferred makes a pod one that has less cpu than it requests.
func deferred(cpu string) enginetest.PodOption {
	return func(p *corev1.Pod) {
		p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodResizePending, Status: corev1.ConditionTrue, Reason: corev1.PodReasonDeferred}}
		has := corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu)}
		p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: p.Spec.Containers[0].Name, AllocatedResources: has, Resources: &corev1.ResourceRequirements{Requests: has}}}
	}
}

// gpu is a node with one device, which a claim has; reserved for the pod "user" where the claim is
// named.
func gpu(used string) []any {
	held := enginetest.Given(enginetest.DeviceClaim("theirs", enginetest.Wants("r", "gpu", 1)), "n", "s/d0")
	held.Status.ReservedFor = nil
	if used != "" {
		held.Status.ReservedFor = []resourcev1.ResourceClaimConsumerReference{{Resource: "pods", Name: "user", UID: "u"}}
	}
	return []any{
		enginetest.Node("n"), enginetest.DeviceClass("gpu"), enginetest.Slice("s", "n", enginetest.Device("d0")), held,
		enginetest.DeviceClaim("mine", enginetest.Wants("r", "gpu", 1)),
	}
}

// TestWhatPeopleDo has the remedy that people would choose first, its command and what speaks
// against it.
func TestWhatPeopleDo(t *testing.T) {
	now := time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)
	ends := func(at time.Time) enginetest.PodOption {
		return func(p *corev1.Pod) {
			when, grace := metav1.NewTime(at), int64(30)
			p.DeletionTimestamp, p.DeletionGracePeriodSeconds = &when, &grace
		}
	}
	big := enginetest.Requests("cpu", "3")
	disk := enginetest.Match("app", "web")
	apart := enginetest.Away(enginetest.PodTerm(corev1.LabelHostname, disk))
	for name, c := range map[string]struct {
		pod     *corev1.Pod
		objects []any
		want    string // kind, change, command and warning of the first
	}{
		"a pod that ends": {
			enginetest.Pod("p", big),
			[]any{enginetest.Node("n"), enginetest.Pod("old", enginetest.On("n"), big, ends(now.Add(20*time.Second)))},
			"wait|wait until default/old, which was deleted, is gone: by 2026-11-21T10:00:20Z||",
		},
		"one that had to be gone": {
			enginetest.Pod("p", big),
			[]any{enginetest.Node("n"), enginetest.Pod("old", enginetest.On("n"), big, ends(now.Add(-time.Hour))), enginetest.Pod("other", enginetest.On("n"), ends(now.Add(time.Minute)))},
			"delete|delete default/old by force: it had to be gone by 2026-11-21T09:00:00Z|kubectl delete pod old -n default --grace-period=0 --force|its containers may still run on the node",
		},
		"a pod whose rule keeps it out": {
			enginetest.Pod("p", enginetest.Labels("app", "web")),
			[]any{enginetest.Node("n"), enginetest.Pod("old", enginetest.On("n"), apart, ownedBy("ReplicaSet", "db-5d"))},
			"delete|delete pod default/old|kubectl delete pod old -n default|Deployment/db makes another, which may take the place again",
		},
		"a pod that holds the port": {
			enginetest.Pod("p", enginetest.HostPort("", corev1.ProtocolTCP, 80)),
			[]any{enginetest.Node("n"), enginetest.Pod("old", enginetest.On("n"), enginetest.HostPort("", corev1.ProtocolTCP, 80))},
			"hostPort|give up host port 80/TCP||", // the pod's own change comes first
		},
		"its own sibling stays": {
			enginetest.Pod("p", enginetest.Labels("app", "web"), ownedBy("StatefulSet", "web")),
			[]any{enginetest.Node("n"), enginetest.Pod("web-0", enginetest.On("n"), apart, ownedBy("StatefulSet", "web"))},
			"node|add one more node like n||",
		},
		"a label that is misspelt": {
			enginetest.Pod("p", enginetest.Selects("pool", "genral"), ownedBy("ReplicaSet", "web-5d")),
			[]any{enginetest.Node("n", enginetest.NodeLabels("pool", "general"))},
			"nodeSelector|write pool=general for pool=genral in nodeSelector|" +
				`kubectl patch deployment web -n default --type=json -p '[{"op":"replace","path":"/spec/template/spec/nodeSelector/pool","value":"general"}]'|`,
		},
		"a request of a Deployment": {
			enginetest.Pod("p", enginetest.Requests("cpu", "5"), ownedBy("ReplicaSet", "web-5d")),
			[]any{enginetest.Node("n")},
			"resource|lower the cpu request of container main from 5 to 4|kubectl set resources deployment web -n default -c main --requests=cpu=4|",
		},
		"a taint comes behind a node": {
			enginetest.Pod("p"),
			[]any{enginetest.Node("a", enginetest.Cordoned()), enginetest.Node("b", enginetest.Taint("team", "a", corev1.TaintEffectNoSchedule))},
			"uncordon|uncordon node a|kubectl uncordon a|",
		},
		"only a taint": {
			enginetest.Pod("p"),
			[]any{enginetest.Node("b", enginetest.Taint("team", "a", corev1.TaintEffectNoSchedule))},
			"toleration|tolerate the taint team=a:NoSchedule||the taint keeps other pods off on purpose",
		},
		"a DaemonSet's pod": {
			enginetest.Pod("p", enginetest.Requests("cpu", "5"), ownedBy("DaemonSet", "agent"), enginetest.RequireNodes(enginetest.FieldTerm(enginetest.Expr("metadata.name", corev1.NodeSelectorOpIn, "a")))),
			[]any{enginetest.Node("a"), enginetest.Node("b", enginetest.Allocatable("cpu", "8"))},
			"resource|lower the cpu request of container main from 5 to 4|kubectl set resources daemonset agent -n default -c main --requests=cpu=4|",
		},
		"a resize that is deferred": {
			enginetest.Pod("p", enginetest.Requests("cpu", "500m")),
			[]any{enginetest.Node("n"), enginetest.Pod("other", enginetest.On("n"), enginetest.Requests("cpu", "1500m")), enginetest.Pod("grow", enginetest.On("n"), enginetest.Requests("cpu", "3500m"), deferred("1"))},
			"resize|undo the resize of default/grow, which its node defers: cpu of container main from 3500m to 1000m|" +
				`kubectl patch pod grow -n default --subresource=resize --type=json -p '[{"op":"replace","path":"/spec/containers/0/resources/requests/cpu","value":"1"}]'|`,
		},
		"a device of another pod's claim": {
			enginetest.Pod("p", enginetest.Claims("mine")), append(gpu("theirs"), enginetest.Pod("user", enginetest.On("n"), enginetest.Claims("theirs"), ownedBy("ReplicaSet", "db-5d"))),
			"delete|delete pod default/user, which has the device|kubectl delete pod user -n default|Deployment/db makes another, which may take the place again",
		},
		"a claim that no pod uses": {
			enginetest.Pod("p", enginetest.Claims("mine")), gpu(""),
			"delete|delete claim default/theirs, which has the device and no pod|kubectl delete resourceclaim theirs -n default|",
		},
		"pods of the old ReplicaSet": {
			enginetest.Pod("p", enginetest.Labels("app", "web"), ownedBy("ReplicaSet", "web-5d"), enginetest.Spread(corev1.LabelTopologyZone, 1, corev1.DoNotSchedule, disk)),
			[]any{
				enginetest.Node("a", enginetest.Zone("a")), enginetest.Node("b", enginetest.Zone("b"), enginetest.Taint("team", "a", corev1.TaintEffectNoSchedule)),
				enginetest.Pod("old", enginetest.On("a"), enginetest.Labels("app", "web", "pod-template-hash", "4c")),
			},
			"topologySpread|leave pods of other ReplicaSets out of the spread over topology.kubernetes.io/zone (matchLabelKeys pod-template-hash)|" +
				`kubectl patch deployment web -n default --type=json -p '[{"op":"add","path":"/spec/template/spec/topologySpreadConstraints/0/matchLabelKeys","value":["pod-template-hash"]}]'|`,
		},
		"a volume on a node that is gone": {
			enginetest.Pod("p", enginetest.Mounts("data")),
			[]any{
				enginetest.Node("n"), enginetest.Class("local", "local"), enginetest.Claim("data", "local", "1Gi", enginetest.BoundTo("pv")),
				enginetest.Volume("pv", "local", "1Gi", enginetest.ReachableFrom(corev1.LabelHostname, "n9"), enginetest.ReservedFor("data")),
			},
			"claim|bring back n9, or delete claim data, whose volume pv is only there, so that it is made anew|kubectl delete pvc data -n default|the data in the volume is lost with the claim",
		},
		"evictions help already": {
			enginetest.Pod("p", big, enginetest.Priority(9)), []any{enginetest.Node("n"), enginetest.Pod("low", enginetest.On("n"), big)}, "",
		},
	} {
		tr := ready(t, &enginetest.Case{Objects: c.objects, Pod: c.pod, Spec: rules.DefaultSpec(), Options: engine.Options{Now: now}})
		_, list, d, ok := tr.advise()
		if !ok {
			t.Fatal(name)
		}
		got := ""
		if len(list) > 0 {
			g := &list[0]
			got = strings.Join([]string{g.Kind, g.Change, g.Command, g.Warning}, "|")
		}
		if got != c.want {
			t.Errorf("%s (%s):\n got %s\nwant %s", name, d.Message, got, c.want)
		}
		for i := range list {
			if s, pod := tr.edited(t, &list[i], list[i].Edit.Patch); tr.decide(t, s, pod).Outcome != list[i].Outcome {
				t.Errorf("%s: %s does not help", name, list[i].Change)
			}
			if c.pod.OwnerReferences != nil && c.pod.OwnerReferences[0].Kind == "DaemonSet" && list[i].Kind == "nodeAffinity" {
				t.Errorf("%s: %s", name, list[i].Change)
			}
			if list[i].Action != suggest.Wait && list[i].Action != suggest.ChangePod && list[i].Action != suggest.AskPlatform {
				t.Errorf("%s: action %q", name, list[i].Action)
			}
		}
	}
}
