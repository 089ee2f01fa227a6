package main

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"berth/internal/handlers/admit"
	"berth/internal/kube/follow"
	"berth/test/kubetest"
)

type known struct {
	name   string
	unread bool
	stale  time.Duration
}

func (k known) Cluster() string { return k.name }

func (k known) Ready(context.Context) error {
	if k.unread {
		return errors.New("not read")
	}
	return nil
}

func (k known) Status() follow.Status { return follow.Status{Stale: k.stale} }

// TestReadyForSome: of several clusters one that is out of reach holds a server
// back at its start and for no longer, as long as another is known.
func TestReadyForSome(t *testing.T) {
	good, unread, old := known{name: "good"}, known{name: "unread", unread: true}, known{name: "old", stale: time.Minute}
	for _, test := range []struct {
		name  string
		list  []known
		after time.Duration
		want  string // of each check: + well, ! named, - not ready
	}{
		{"one, read", []known{good}, 0, "+"},
		{"one, unread", []known{unread}, time.Hour, "-"},
		{"one, old", []known{old}, time.Hour, "-"},
		{"at the start all are waited for", []known{good, unread}, waitForAll - 1, "+-"},
		{"later those that are known do", []known{good, unread}, waitForAll, "+!"},
		{"an old one is not waited for", []known{good, old}, 0, "+!"},
		{"none is known", []known{unread, old}, time.Hour, "--"},
		{"three", []known{unread, good, old}, time.Hour, "!+!"},
	} {
		now := time.Unix(0, 0)
		checks := followChecks(test.list, 30*time.Second, func() time.Time { return now })
		now = now.Add(test.after)
		got := ""
		for _, c := range checks {
			var mild *admit.WarningError
			switch err := c.Probe(t.Context()); {
			case err == nil:
				got += "+"
			case errors.As(err, &mild):
				got += "!"
			default:
				got += "-"
			}
		}
		if got != test.want {
			t.Errorf("%s: %s, want %s", test.name, got, test.want)
		}
	}
}

// TestTwoClusters: one is unreachable from the start, and then both are up, and
// then the other goes. What can be answered is, and readiness names those that cannot.
func TestTwoClusters(t *testing.T) {
	one, config1 := kubetest.NewTLS(t)
	two, config2 := kubetest.NewTLS(t)
	for _, api := range []*kubetest.Server{one, two} {
		api.Put(t, "nodes", clusterNode("n1"))
		api.Put(t, "pods", clusterPod("cart"))
	}
	two.Down(true)
	r := serve(t, t.TempDir(), func(s *settings) {
		s.Kube.Follow, s.Kube.MaxStaleness = map[string]string{"one": config1, "two": config2}, 2*time.Second
	})
	until := func(what string, ok func(code int, text string) bool) {
		t.Helper()
		text := ""
		for deadline := time.Now().Add(60 * time.Second); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
			var code int
			if code, text = r.get(t, "/readyz?verbose"); ok(code, text) {
				return
			}
		}
		t.Fatalf("never came: %s: %s", what, text)
	}
	filter := func(cluster string) string {
		_, out := r.post(t, "/clusters/"+cluster+"/filter", `{"Pod":{"metadata":{"name":"p","namespace":"shop","uid":"u"},"spec":{"containers":[{"name":"c"}]}},"NodeNames":["n1"]}`)
		return string(out)
	}
	until("it is not ready for the second alone", func(code int, text string) bool {
		mark := "[-]"
		if code == http.StatusOK { // the first took so long that the second is not waited for any more
			mark = "[!]"
		}
		return strings.Contains(text, "[+]cluster one: ok") && strings.Contains(text, mark+"cluster two: discover resource.k8s.io/v1: down")
	})
	if out := filter("one"); !strings.Contains(out, `"NodeNames":["n1"]`) {
		t.Errorf("the first: %s", out)
	}
	if out := filter("two"); strings.Contains(out, `"NodeNames":["n1"]`) || !strings.Contains(out, "two") {
		t.Errorf("the second, of which nothing is known: %s", out)
	}
	two.Down(false)
	until("both", func(code int, text string) bool {
		return code == http.StatusOK && strings.Contains(text, "[+]cluster two: ok")
	})
	one.Down(true)
	until("ready, and the first is named", func(code int, text string) bool {
		return code == http.StatusOK && strings.Contains(text, "[!]cluster one: changes of the last") && strings.Contains(text, "[+]cluster two: ok")
	})
	if out := filter("two"); !strings.Contains(out, `"NodeNames":["n1"]`) {
		t.Errorf("the second: %s", out)
	}
}

// TestEndsAfterTheBind: a bind that is on its way when the server is told to end
// is answered, and what became of it is on record.
func TestEndsAfterTheBind(t *testing.T) {
	api, kubeconfig := kubetest.NewTLS(t)
	api.Put(t, "nodes", clusterNode("n1"))
	api.Put(t, "pods", clusterPod("cart"))
	dir := t.TempDir()
	follow := func(s *settings) {
		s.Kube.Follow, s.Kube.BindTimeout, s.Limits.ExtenderDeadline = map[string]string{"prod": kubeconfig}, time.Minute, time.Minute
		s.ShutdownTimeout, s.Kube.BindUnrecorded = time.Minute, true
	}
	r := serve(t, dir, follow)
	for code := 0; code != http.StatusOK; code, _ = r.get(t, "/readyz") {
		time.Sleep(5 * time.Millisecond)
	}
	asked, ending := make(chan struct{}), make(chan struct{})
	api.BeforeBind(func(*corev1.Binding) error {
		close(asked)
		<-ending
		return nil
	})
	ended := make(chan error, 1)
	go func() {
		<-asked
		go func() { ended <- r.stop() }()
		for !strings.Contains(r.log.String(), "shutting down: draining in-flight requests") {
			time.Sleep(time.Millisecond)
		}
		close(ending)
	}()
	if code, out := r.post(t, "/clusters/prod/bind", bindBody("cart", "n1")); code != http.StatusOK || string(out) != `{"Error":""}` {
		t.Errorf("%d %s", code, out)
	}
	select {
	case err := <-ended:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(2 * time.Minute):
		t.Fatal("the server does not end")
	}
	again := serve(t, dir, follow)
	if _, text := again.get(t, "/v1/decisions?cluster=prod"); strings.Count(text, `"verb":"bind"`) != 1 || strings.Count(text, `"verb":"bind-result"`) != 1 || !strings.Contains(text, `"outcome":"Scheduled"`) {
		t.Errorf("on record is %s", text)
	}
}
