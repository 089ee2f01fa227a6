package cli

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"berth/internal/kube/follow"
	"berth/test/kubetest"
)

// cluster starts an apiserver that holds the fixture, and makes a call that
// finds it as kubectl would.
func liveFixture(t *testing.T) (*kubetest.Server, string, call) {
	t.Helper()
	s, kubeconfig := kubetest.NewTLS(t)
	resources := map[string]string{}
	for _, k := range follow.Kinds() {
		resources[k.Kind] = k.Resource
	}
	f, err := os.Open(filepath.Join("testdata", "cluster.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	err = eachObject(f, func(kind string, raw json.RawMessage) error {
		o := &unstructured.Unstructured{}
		if err := json.Unmarshal(raw, o); err != nil {
			return err
		}
		s.Put(t, resources[kind], o)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return s, kubeconfig, call{env: map[string]string{"KUBECONFIG": kubeconfig}}
}

// The cluster of the kubeconfig has the same answer as a dump of it.
func TestClusterSaysTheSame(t *testing.T) {
	_, _, live := liveFixture(t)
	here := snapshot()
	for _, name := range []string{"small", "huge", "gated", "checkout", "web-4", "web-1"} {
		for _, args := range [][]string{{"explain", "shop/" + name}, {"victims", "shop/" + name}, {"spread", "shop/" + name}, {"lifecycle", "shop/" + name}} {
			a, b := here.run(t, args...), live.run(t, args...)
			if a != b || a.out == "" {
				t.Errorf("%v: of the dump\n%+v\nof the cluster\n%+v", args, a, b)
			}
		}
	}
}

// --kubeconfig, --context and -n mean what they mean to kubectl, ~/.kube/config
// is found, and nothing but lists is requested.
func TestContexts(t *testing.T) {
	s, kubeconfig, _ := liveFixture(t)
	var wrote atomic.Int32
	s.Intercept(func(_ http.ResponseWriter, r *http.Request) bool {
		if r.Method != http.MethodGet || r.URL.Query().Has("watch") {
			wrote.Add(1)
		}
		return false
	})
	c, err := clientcmd.LoadFromFile(kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	c.Contexts["shop"] = &clientcmdapi.Context{Cluster: "c", AuthInfo: "u", Namespace: "shop"}
	home := t.TempDir()
	if err := clientcmd.WriteToFile(*c, filepath.Join(home, ".kube", "config")); err != nil {
		t.Fatal(err)
	}
	at := call{env: map[string]string{"HOME": home}}
	for _, args := range [][]string{
		{"explain", "huge", "--context", "shop"},
		{"explain", "huge", "-n", "shop"},
		{"explain", "huge", "-n", "shop", "--kubeconfig", kubeconfig},
		{"explain", "shop/huge", "--context", "x"},
	} {
		if r := at.run(t, args...); r.code != exitNo || !strings.HasPrefix(r.out, "PENDING  shop/huge\n") {
			t.Errorf("%v: %+v", args, r)
		}
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"explain", "huge"}, "default/huge"},
		{[]string{"explain", "huge", "--context", "none"}, `context "none" does not exist`},
		{[]string{"explain", "huge", "--kubeconfig", "nowhere"}, "there is no kubeconfig nowhere"},
		{[]string{"explain", "huge", "--context", "x", "--snapshot", "f"}, "give one of"},
	} {
		if r := at.run(t, c.args...); r.code != exitBroken || !strings.Contains(r.err, c.want) {
			t.Errorf("%v: %+v", c.args, r)
		}
	}
	if n := wrote.Load(); n > 0 {
		t.Errorf("%d calls were no lists", n)
	}
}

// A kubeconfig that runs a program for its token works as it does for kubectl.
func TestExecPlugin(t *testing.T) {
	s, kubeconfig, _ := liveFixture(t)
	var with atomic.Value
	s.Intercept(func(_ http.ResponseWriter, r *http.Request) bool {
		with.Store(r.Header.Get("Authorization"))
		return false
	})
	c, err := clientcmd.LoadFromFile(kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	c.AuthInfos["u"] = &clientcmdapi.AuthInfo{Exec: &clientcmdapi.ExecConfig{
		APIVersion: "client.authentication.k8s.io/v1", InteractiveMode: clientcmdapi.NeverExecInteractiveMode, Command: "/bin/sh",
		Args: []string{"-c", `echo '{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","status":{"token":"made"}}'`},
	}}
	if err := clientcmd.WriteToFile(*c, kubeconfig); err != nil {
		t.Fatal(err)
	}
	if r := (call{}).run(t, "explain", "shop/small", "--kubeconfig", kubeconfig); r.code != exitYes || with.Load() != "Bearer made" {
		t.Errorf("asked with %v: %+v", with.Load(), r)
	}
}

// What may not be listed is said above the verdict; without pods there is none.
func TestForbiddenKinds(t *testing.T) {
	s, _, live := liveFixture(t)
	refused := "poddisruptionbudgets"
	s.Intercept(func(w http.ResponseWriter, r *http.Request) bool {
		if !strings.HasSuffix(r.URL.Path, "/"+refused) {
			return false
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusForbidden)
		_, _ = fmt.Fprint(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","code":403,"reason":"Forbidden","message":"forbidden: u may not"}`)
		return true
	})
	r := live.run(t, "victims", "shop/checkout")
	if r.code != exitYes || !strings.HasPrefix(r.out, "(the cluster does not let you list PodDisruptionBudgets: answers about these are\nguesses)\n") || !strings.Contains(r.out, "20s  ?  ") {
		t.Errorf("%+v", r)
	}
	refused = "pods"
	if r := live.run(t, "victims", "shop/checkout"); r.code != exitBroken || !strings.Contains(r.err, "list pods: forbidden: u may not") || !strings.Contains(r.err, "kubectl get nodes,pods") {
		t.Errorf("%+v", r)
	}
}

// An incomplete dump says so, and an answer that rests on what it lacks is
// no verdict.
func TestIncompleteDump(t *testing.T) {
	dump := filepath.Join(t.TempDir(), "min.json")
	err := os.WriteFile(dump, []byte(`{"kind":"List","apiVersion":"v1","items":[
{"kind":"Node","apiVersion":"v1","metadata":{"name":"n1"},"status":{"allocatable":{"cpu":"2","memory":"4Gi","pods":"10"}}},
{"kind":"Pod","apiVersion":"v1","metadata":{"name":"pg","namespace":"data"},"spec":{"volumes":[{"name":"v","persistentVolumeClaim":{"claimName":"pg"}}],"containers":[{"name":"c"}]}},
{"kind":"Pod","apiVersion":"v1","metadata":{"name":"low","namespace":"data"},"spec":{"priority":0,"nodeName":"n1","containers":[{"name":"c","resources":{"requests":{"cpu":"2"}}}]}},
{"kind":"Pod","apiVersion":"v1","metadata":{"name":"stray","namespace":"data"},"spec":{"priority":0,"nodeName":"gone","containers":[{"name":"c"}]}},
{"kind":"Pod","apiVersion":"v1","metadata":{"name":"high","namespace":"data"},"spec":{"priority":9,"containers":[{"name":"c","resources":{"requests":{"cpu":"2"}}}]}}]}`), 0o600)
	if err != nil {
		t.Fatal(err)
	}
	c := call{env: map[string]string{"BERTH_SNAPSHOT": dump}}
	// Of a pod without volumes no claims are of interest, and without evictions no budgets.
	const (
		plain   = "(the dump has no PriorityClasses, Namespaces and Services and their controllers:\nanswers about these are guesses)\n"
		storage = "(the dump has no PersistentVolumeClaims, PriorityClasses, Namespaces,\nPersistentVolumes and 3 more kinds: answers about these are guesses)\n"
		budgets = "(the dump has no PodDisruptionBudgets, PriorityClasses, Namespaces and Services\nand their controllers: answers about these are guesses)\n"
	)
	r := c.run(t, "explain", "data/pg")
	if r.code != exitNo || !strings.HasPrefix(r.out, storage+"UNKNOWN  data/pg\n\nCould not know: the dump has no PersistentVolumeClaims.\n") {
		t.Errorf("%d %s%s", r.code, r.out, r.err)
	}
	if r = c.run(t, "explain", "data/pg", "-o", "html"); !strings.Contains(r.out, ">unknown</span>") || !strings.Contains(r.out, "Could not know: the dump has no PersistentVolumeClaims.") {
		t.Errorf("%d %s%s", r.code, r.out, r.err)
	}
	if r := c.run(t, "victims", "data/high"); r.code != exitYes || !strings.HasPrefix(r.out, budgets) || !strings.Contains(r.out, "data/low         0    30s  ?  ") {
		t.Errorf("%d %s%s", r.code, r.out, r.err)
	}
	if r := c.run(t, "explain", "data/stray"); !strings.HasPrefix(r.out, plain) || !strings.Contains(r.out, "Its node gone is not among the nodes of the dump") {
		t.Errorf("%d %s%s", r.code, r.out, r.err)
	}
}

// Where no nodes were dumped, no verdict about a pod is given.
func TestDumpWithoutNodes(t *testing.T) {
	pod := podOf("web", `{"phase":"Pending"}`, "")
	for _, args := range [][]string{{"explain", "shop/web"}, {"explain", "-f", "-"}, {"explain", "shop/web", "--all"}, {"explain", "shop/web", "--node", "n"}, {"victims", "shop/web"}, {"spread", "shop/web"}, {"pending", "-A"}} {
		dump := filepath.Join(t.TempDir(), "pods.json")
		if err := os.WriteFile(dump, []byte(pod), 0o600); err != nil {
			t.Fatal(err)
		}
		r := call{in: pod, env: map[string]string{"BERTH_SNAPSHOT": dump}}.run(t, args...)
		if r.code != exitBroken || r.out != "" || !strings.Contains(r.err, "the dump has no Nodes: no pod can be judged\nInclude them: kubectl get nodes,") {
			t.Errorf("%v: %+v", args, r)
		}
	}
}
