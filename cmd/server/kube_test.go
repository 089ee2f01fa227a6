package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"berth/internal/store"
	"berth/internal/store/sqlite"
	"berth/test/kubetest"
)

func clusterNode(name string) *corev1.Node {
	return &corev1.Node{
		TypeMeta: metav1.TypeMeta{Kind: "Node", APIVersion: "v1"}, ObjectMeta: metav1.ObjectMeta{Name: name},
		Status: corev1.NodeStatus{Allocatable: corev1.ResourceList{"cpu": resource.MustParse("4"), "memory": resource.MustParse("8Gi"), "pods": resource.MustParse("110")}},
	}
}

func clusterPod(name string) *corev1.Pod {
	return &corev1.Pod{
		TypeMeta: metav1.TypeMeta{Kind: "Pod", APIVersion: "v1"}, ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, UID: types.UID("uid-" + name)},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}},
	}
}

func (r *running) get(t *testing.T, path string) (int, string) {
	t.Helper()
	resp, err := http.Get(r.url + path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	var b strings.Builder
	if err := resp.Write(&b); err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, b.String()
}

// TestFollowedCluster goes the whole way: a pod in the apiserver, /filter,
// /bind, the pod on its node in the apiserver, all of it on record.
func TestFollowedCluster(t *testing.T) {
	api, kubeconfig := kubetest.NewTLS(t)
	api.Put(t, "nodes", clusterNode("n1"))
	api.Put(t, "pods", clusterPod("cart"))
	r := serve(t, t.TempDir(), func(s *settings) {
		s.Kube.Follow, s.Kube.BindCheck, s.Kube.MaxStaleness = map[string]string{"prod": kubeconfig}, "all", 10*time.Second
	})
	for {
		code, text := r.get(t, "/readyz?verbose")
		if code == http.StatusOK {
			break
		}
		if !strings.Contains(text, "cluster prod") {
			t.Fatalf("not ready, and not for the cluster: %s", text)
		}
		time.Sleep(5 * time.Millisecond)
	}
	pod, err := json.Marshal(clusterPod("cart"))
	if err != nil {
		t.Fatal(err)
	}
	code, out := r.post(t, "/clusters/prod/filter", fmt.Sprintf(`{"Pod":%s,"NodeNames":["n1"]}`, pod))
	if code != http.StatusOK || !strings.Contains(string(out), `"NodeNames":["n1"]`) {
		t.Fatalf("%d %s", code, out)
	}
	code, out = r.post(t, "/clusters/prod/bind", `{"PodName":"cart","PodNamespace":"shop","PodUID":"uid-cart","Node":"n1"}`)
	if code != http.StatusOK || string(out) != `{"Error":""}` {
		t.Fatalf("%d %s", code, out)
	}
	if p, ok := api.Pod("shop", "cart"); !ok || p.Spec.NodeName != "n1" {
		t.Fatalf("in the apiserver the pod is %+v", p)
	}
	code, out = r.post(t, "/clusters/prod/bind", `{"PodName":"cart","PodNamespace":"shop","PodUID":"uid-cart","Node":"n2"}`)
	if code != http.StatusOK || !strings.Contains(string(out), "bound to node n1 already") {
		t.Fatalf("%d %s", code, out)
	}
	_, text := r.get(t, "/v1/decisions?cluster=prod")
	for _, want := range []string{`"verb":"filter"`, `"verb":"bind"`, `"verb":"bind-result"`, `"staleMillis":`} {
		if !strings.Contains(text, want) {
			t.Errorf("the log lacks %s: %s", want, text)
		}
	}
	if code, out := r.post(t, "/v1/snapshots?cluster=prod", oneNode); code != http.StatusConflict || !strings.Contains(string(out), "followed") {
		t.Errorf("an upload: %d %s", code, out)
	}
	if code, out := r.post(t, "/v1/snapshots/prod@latest/changes", `{"delete":[{"kind":"Node","name":"n1"}]}`); code != http.StatusConflict {
		t.Errorf("a change: %d %s", code, out)
	}
	if code, out := r.post(t, "/v1/decisions", `{"snapshot":"prod@latest","bind":true,"podRef":{"namespace":"shop","name":"cart"}}`); code != http.StatusConflict || !strings.Contains(string(out), "/bind") {
		t.Errorf("a decision that binds: %d %s", code, out)
	}
	_, metrics := r.get(t, "/metrics")
	for _, want := range []string{`berth_cluster_staleness_seconds{`, `berth_cluster_leading{cluster="prod"`, `berth_cluster_revisions_total{cluster="prod"`} {
		if !strings.Contains(metrics, want) {
			t.Errorf("no metric %s", want)
		}
	}
	api.Down(true)
	for {
		if code, text := r.get(t, "/readyz"); code == http.StatusOK && strings.Contains(text, "[!]cluster prod: changes of the last") {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	if code, out := r.post(t, "/clusters/prod/filter", fmt.Sprintf(`{"Pod":%s,"NodeNames":["n1"]}`, strings.ReplaceAll(string(pod), "cart", "late"))); code != http.StatusOK {
		t.Errorf("while the apiserver is away: %d %s", code, out)
	}
}

// TestBindUnrecorded: a client that knows a pod's UID cannot place the pod by that alone: not a pod
// of another scheduler, and not where no decision named the node. The flag lifts both.
func TestBindUnrecorded(t *testing.T) {
	for _, lifted := range []bool{false, true} {
		api, kubeconfig := kubetest.NewTLS(t)
		api.Put(t, "nodes", clusterNode("n1"))
		api.Put(t, "nodes", clusterNode("n2"))
		api.Put(t, "pods", clusterPod("cart"))
		theirs := clusterPod("theirs")
		theirs.Spec.SchedulerName = "somebody-elses-scheduler"
		api.Put(t, "pods", theirs)
		r := serve(t, t.TempDir(), func(s *settings) {
			s.Kube.Follow, s.Kube.BindUnrecorded = map[string]string{"prod": kubeconfig}, lifted
		})
		for code := 0; code != http.StatusOK; code, _ = r.get(t, "/readyz") {
			time.Sleep(5 * time.Millisecond)
		}
		for pod, why := range map[string]string{"theirs": "somebody-elses-scheduler", "cart": "no decision on record for its UID uid-cart"} {
			code, out := r.post(t, "/clusters/prod/bind", bindBody(pod, "n2"))
			p, _ := api.Pod("shop", pod)
			switch {
			case code != http.StatusOK:
				t.Errorf("%s: %d %s", pod, code, out)
			case lifted && (string(out) != `{"Error":""}` || p.Spec.NodeName != "n2"):
				t.Errorf("%s with the flag: %s, and it is on %q", pod, out, p.Spec.NodeName)
			case !lifted && (!strings.Contains(string(out), why) || p.Spec.NodeName != ""):
				t.Errorf("%s: %s, and in the apiserver it is on %q", pod, out, p.Spec.NodeName)
			}
		}
	}
}

// TestTwoListeners: kube-scheduler's calls have a listener of their own, and no
// other.
func TestTwoListeners(t *testing.T) {
	r := serve(t, t.TempDir(), func(s *settings) { s.Extender.Listen = "127.0.0.1:0" })
	urls := strings.Split(r.url, "\n")
	if len(urls) != 2 {
		t.Fatalf("the ready file says %q", r.url)
	}
	rest, calls := running{url: urls[0]}, running{url: "http://" + urls[1]}
	for _, test := range []struct {
		at   running
		path string
		want int
	}{
		{rest, "/v1/clusters", http.StatusOK},
		{calls, "/v1/clusters", http.StatusNotFound},
		{rest, "/livez", http.StatusOK},
		{calls, "/livez", http.StatusOK},
		{rest, "/filter", http.StatusNotFound},
		{calls, "/filter", http.StatusMethodNotAllowed},
	} {
		if code, _ := test.at.get(t, test.path); code != test.want {
			t.Errorf("GET %s%s: %d, want %d", test.at.url, test.path, code, test.want)
		}
	}
}

func TestKubeSettings(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--follow", "UP=x"}, "--follow"},
		{[]string{"--follow", "default=x", "--kubeconfig", "y"}, "both name cluster default"},
		{[]string{"--bind-check", "NodePort"}, `no plugin "NodePort"`},
		{[]string{"--follow", "prod=/nowhere/kubeconfig"}, "--follow prod"},
		{[]string{"--extender-listen", "0.0.0.0:1"}, "--extender-tls-client-ca"},
		{[]string{"--tls-cert", "x"}, "--tls-key"},
		{[]string{"--extender-tls-cert", "x", "--extender-tls-key", "y"}, "--extender-listen"},
		{[]string{"--tls-cert", "x", "--tls-key", "y", "--tls-client-names", "z"}, "--tls-client-ca"},
	} {
		args := append([]string{"serve", "--listen", "127.0.0.1:0", "--data-dir", t.TempDir()}, c.args...)
		if code, _, errs := command(t, args...); code == 0 || !strings.Contains(errs, c.want) {
			t.Errorf("%v: %d %s", c.args, code, errs)
		}
	}
}

// TestFollowsAgainAfterACrash: the lease that a killed server left on the embedded
// store is not waited for, and the cluster is read again before the server is ready.
func TestFollowsAgainAfterACrash(t *testing.T) {
	api, kubeconfig := kubetest.NewTLS(t)
	api.Put(t, "nodes", clusterNode("n1"))
	dir := t.TempDir()
	left, err := sqlite.Open(t.Context(), dir, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := left.Lead(t.Context(), store.Lead{Cluster: "prod", Owner: onlyServer, Synced: true}, time.Hour); err != nil {
		t.Fatal(err)
	}
	if err := left.Close(); err != nil {
		t.Fatal(err)
	}
	r := serve(t, dir, func(s *settings) { s.Kube.Follow = map[string]string{"prod": kubeconfig} })
	for {
		if code, _ := r.get(t, "/readyz"); code == http.StatusOK {
			break
		}
		time.Sleep(5 * time.Millisecond)
	}
	code, out := r.post(t, "/clusters/prod/filter", `{"Pod":{"metadata":{"name":"p","namespace":"shop","uid":"u"},"spec":{"containers":[{"name":"c"}]}},"NodeNames":["n1"]}`)
	if code != http.StatusOK || !strings.Contains(string(out), `"NodeNames":["n1"]`) {
		t.Errorf("%d %s", code, out)
	}
}
