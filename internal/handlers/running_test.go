package handlers

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"berth/internal/handlers/rest"
	"berth/internal/report"
)

// running is a cluster with a control plane's pods, and kubelets of several versions.
func running() string {
	kubelet := func(name, version string) string {
		return strings.Replace(node(name, "4"), `"status":{`, `"status":{"nodeInfo":{"kubeletVersion":"`+version+`"},`, 1)
	}
	system := func(name, image string) string {
		p := strings.Replace(pod(name, "100m", `,"nodeName":"n1"`), `"namespace":"shop"`, `"namespace":"kube-system"`, 1)
		return strings.Replace(p, `"image":"i"`, `"image":"`+image+`"`, 1)
	}
	return listOf(kubelet("n1", "v1.37.1"), kubelet("n2", "v1.35.0"), kubelet("n3", "v1.37.1"), node("n4", "4"),
		system("kube-scheduler-a", "registry.k8s.io/kube-scheduler:v1.37.1"), system("kube-scheduler-b", "kube-scheduler:v1.36.9@sha256:0"),
		system("kube-apiserver-a", "r:5000/kube-apiserver:v1.37.1"), system("kube-scheduler-simulator", "simulator:v1.30.0"), system("kube-scheduler-c", "kube-scheduler"))
}

// TestRunning: a cluster's objects say which releases run it, and where that is not the one that
// decisions follow. Who may see a namespace alone does not see the control plane's.
func TestRunning(t *testing.T) {
	h := startUnder(t, "v1.37")
	want := &report.Running{
		APIServers: []report.Component{{Pod: "kube-apiserver-a", Version: "v1.37.1"}},
		Schedulers: []report.Component{{Pod: "kube-scheduler-a", Version: "v1.37.1"}, {Pod: "kube-scheduler-b", Version: "v1.36.9"}},
		Kubelets:   []report.KubeletVersion{{Version: "v1.35.0", Nodes: 1}, {Version: "v1.37.1", Nodes: 2}},
	}
	for cluster, warnings := range map[string][]string{
		"prod": {"kube-scheduler in pod kube-system/kube-scheduler-b is v1.36.9; decisions are as by v1.37.2"},
		"test": {
			"kube-scheduler in pod kube-system/kube-scheduler-a is v1.37.1; decisions are as by v1.36.3",
			"kubelets of 2 nodes are v1.37.1, so that the cluster is newer than v1.36.3, as which decisions are",
		},
	} {
		h.upload(cluster, running())
		var c rest.Cluster
		h.want(200, &c, "GET", "/v1/clusters/"+cluster, "")
		if d := cmp.Diff(want, c.Running); d != "" {
			t.Errorf("%s (-want +got)\n%s", cluster, d)
		}
		if d := cmp.Diff(warnings, c.Warnings); d != "" {
			t.Errorf("%s (-want +got)\n%s", cluster, d)
		}
	}
	h.upload("managed", listOf(node("n1", "4"), strings.Replace(pod("kube-apiserver-x", "1", ""), `"image":"i"`, `"image":"kube-apiserver:v1.35.0"`, 1)))
	var c rest.Cluster
	h.want(200, &c, "GET", "/v1/clusters/managed", "")
	if c.Running != nil || c.Warnings != nil {
		t.Errorf("%+v %v", c.Running, c.Warnings)
	}
	g := startGuarded(t)
	g.upload("prod", running())
	team, all := bearing(g.token("team", "binder", "prod", "shop")), bearing(g.token("all", "binder", "prod", "*"))
	if text := g.as(team, "GET", "/v1/clusters/prod", "").Body.String(); strings.Contains(text, "kube-scheduler-a") || !strings.Contains(text, `"semantics"`) {
		t.Errorf("a caller of one namespace: %s", text)
	}
	if text := g.as(all, "GET", "/v1/clusters/prod", "").Body.String(); !strings.Contains(text, "kube-scheduler-a") {
		t.Errorf("a caller of all namespaces: %s", text)
	}
}
