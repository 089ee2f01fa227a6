package main

import (
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"berth/test/kubetest"
)

// launchFollowing launches a server that follows a cluster of two nodes and a pod.
func launchFollowing(t *testing.T, program string) (api *kubetest.Server, again func() *process) {
	t.Helper()
	api, kubeconfig := kubetest.NewTLS(t)
	api.Put(t, "nodes", clusterNode("n1"))
	api.Put(t, "nodes", clusterNode("n2"))
	api.Put(t, "pods", clusterPod("cart"))
	t.Setenv("BERTH_FOLLOW", "prod="+kubeconfig)
	// No call times out while a test holds a bind back, or a machine is slow.
	t.Setenv("BERTH_BIND_TIMEOUT", "1m")
	t.Setenv("BERTH_BIND_UNASKED", "true") // these tests ask for binds alone
	t.Setenv("BERTH_EXTENDER_DEADLINE", "1m")
	dir := t.TempDir()
	return api, func() *process {
		p := launch(t, program, dir)
		p.until(t, "ready", func() bool {
			code, _, err := p.ask(http.MethodGet, "/readyz", "")
			return err == nil && code == http.StatusOK
		})
		return p
	}
}

// until waits for a condition, for as long as the test may take.
func (p *process) until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(60 * time.Second); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("never came: %s\n%s", what, p.stderr)
		}
	}
}

func bindBody(pod, node string) string {
	return `{"PodName":"` + pod + `","PodNamespace":"shop","PodUID":"uid-` + pod + `","Node":"` + node + `"}`
}

// killInBind kills the server while the apiserver has its bind; done binds first.
func killInBind(t *testing.T, api *kubetest.Server, p *process, done bool) {
	t.Helper()
	asked, killed := make(chan struct{}), make(chan struct{})
	api.BeforeBind(func(b *corev1.Binding) error {
		if done {
			pod, _ := api.Pod("shop", "cart")
			pod.Spec.NodeName = b.Target.Name
			api.Put(t, "pods", pod)
		}
		close(asked)
		<-killed
		panic(http.ErrAbortHandler)
	})
	answered := make(chan error, 1)
	go func() {
		_, _, err := p.ask(http.MethodPost, "/clusters/prod/bind", bindBody("cart", "n1"))
		answered <- err
	}()
	select {
	case <-asked:
	case err := <-answered:
		t.Fatalf("the apiserver was not asked: %v\n%s", err, p.stderr)
	}
	p.kill(t)
	close(killed)
	if err := <-answered; err == nil {
		t.Error("a bind was answered that was cut short")
	}
	api.BeforeBind(nil)
}

// killBeforeBind: the bind is on record and never took place. The pod is on its node until berth
// reads it from the apiserver, and then pending again.
func killBeforeBind(t *testing.T, program string) {
	api, again := launchFollowing(t, program)
	killInBind(t, api, again(), false)
	t.Setenv("BERTH_BIND_TIMEOUT", "6s") // and two more until the pod is read
	p := again()
	said := ""
	p.until(t, "the pod is pending again", func() bool {
		_, out, err := p.ask(http.MethodPost, "/clusters/prod/bind", bindBody("cart", "n2"))
		if err != nil {
			t.Fatal(err)
		}
		if said = string(out); said != `{"Error":""}` && !strings.Contains(said, "bound to node n1 already") {
			t.Fatal(said)
		}
		return said == `{"Error":""}`
	})
	if pod, _ := api.Pod("shop", "cart"); pod.Spec.NodeName != "n2" {
		t.Errorf("in the apiserver the pod is on %q", pod.Spec.NodeName)
	}
	verbs(t, p, "bind", "bind", "bind-result")
	p.stop(t)
}

// killAfterBind: the bind took place and its result was not recorded. The watch shows it, and a
// second bind succeeds.
func killAfterBind(t *testing.T, program string) {
	api, again := launchFollowing(t, program)
	killInBind(t, api, again(), true)
	p := again()
	if out := p.must(t, http.StatusOK, http.MethodPost, "/clusters/prod/bind", bindBody("cart", "n2")); !strings.Contains(string(out), "bound to node n1 already") {
		t.Errorf("to another node: %s", out)
	}
	if out := p.must(t, http.StatusOK, http.MethodPost, "/clusters/prod/bind", bindBody("cart", "n1")); string(out) != `{"Error":""}` {
		t.Errorf("again: %s", out)
	}
	verbs(t, p, "bind", "bind-result")
	p.stop(t)
}

// verbs wants binds of certain kinds on record, and no others.
func verbs(t *testing.T, p *process, want ...string) {
	t.Helper()
	text := string(p.must(t, http.StatusOK, http.MethodGet, "/v1/decisions?cluster=prod", ""))
	count := map[string]int{}
	for _, v := range want {
		count[v]++
	}
	for v, n := range count {
		if got := strings.Count(text, `"verb":"`+v+`"`); got != n {
			t.Errorf("%d records of %s, want %d: %s", got, v, n, text)
		}
	}
}

// followsWhileEnding: a server that was told to end, and still is sent calls,
// knows of what happens meanwhile.
func followsWhileEnding(t *testing.T, program string) {
	t.Setenv("BERTH_DRAIN_DELAY", "5m")
	api, again := launchFollowing(t, program)
	p := again()
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	p.until(t, "not ready: new calls", func() bool {
		code, _, err := p.ask(http.MethodGet, "/readyz", "")
		return err == nil && code == http.StatusServiceUnavailable
	})
	api.Put(t, "pods", clusterPod("late"))
	p.until(t, "a pod that came late is bound", func() bool {
		return string(p.must(t, http.StatusOK, http.MethodPost, "/clusters/prod/bind", bindBody("late", "n1"))) == `{"Error":""}`
	})
	p.kill(t)
}
