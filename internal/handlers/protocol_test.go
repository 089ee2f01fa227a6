package handlers

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"

	"berth/internal/handlers/limits"

	extenderv1 "k8s.io/kube-scheduler/extender/v1"
)

// What the extender protocol expects of replies and connections, whatever the verb.

// verbs are the paths that kube-scheduler may call.
func verbs() (list []string) {
	for _, at := range []string{"", "/clusters/default"} {
		for _, verb := range []string{"/filter", "/prioritize", "/preempt", "/bind", "/shadow/filter", "/shadow/prioritize", "/shadow/preempt", "/score-only/filter", "/score-only/prioritize", "/score-only/preempt"} {
			list = append(list, at+verb)
		}
	}
	return list
}

// TestNothingRedirects: a redirect would turn the POST into a GET. GET itself is told what
// is allowed.
func TestNothingRedirects(t *testing.T) {
	h := start(t, nil)
	h.upload("default", small())
	h.client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	for _, path := range verbs() {
		if a := h.do("POST", path, `{}`, "Content-Type", "application/json"); a.StatusCode != 200 && a.StatusCode != 400 {
			t.Errorf("POST %s: %d", path, a.StatusCode)
		}
		if a := h.do("GET", path, ""); a.StatusCode != http.StatusMethodNotAllowed || a.Header.Get("Allow") != "POST" {
			t.Errorf("GET %s: %d, Allow %q", path, a.StatusCode, a.Header.Get("Allow"))
		}
		for _, bent := range []string{path + "/", "/" + path, strings.ToUpper(path), path + "/../filter"} {
			if a := h.do("POST", bent, `{}`); a.StatusCode != http.StatusNotFound {
				t.Errorf("POST %s: %d", bent, a.StatusCode)
			}
		}
	}
}

// TestRepliesArePlain: the reply has a length, is not compressed whatever the caller takes, and
// connections are kept for longer than kube-scheduler's client keeps them; bodies of a large
// cluster in Nodes mode come in.
func TestRepliesArePlain(t *testing.T) {
	h := start(t, nil)
	h.upload("default", small())
	a := h.want(200, nil, "POST", "/filter", filterBody(pod("web", "2", ""), "n1", "n2"), "Accept-Encoding", "gzip, zstd")
	if a.Header.Get("Content-Encoding") != "" || a.Header.Get("Content-Length") != strconv.Itoa(len(a.body)) || !json.Valid(a.body) {
		t.Errorf("%v %s", a.Header, a.body)
	}
	limits := limits.Default()
	if _, _, _, idle := limits.Timeouts(); idle.Seconds() <= 90 {
		t.Errorf("idle connections are closed after %s, the client keeps them for 90s", idle)
	}
	if limits.NodesMaxBytes < 128<<20 {
		t.Errorf("Nodes mode takes %d bytes", limits.NodesMaxBytes)
	}
}

// TestReasonsAreFew: kube-scheduler counts equal texts, so a reason names no node, no pod and no
// amount.
func TestReasonsAreFew(t *testing.T) {
	h := start(t, nil)
	tainted := strings.Replace(node("n3", "64"), `"status"`, `"spec":{"taints":[{"key":"gpu7","value":"true","effect":"NoSchedule"}]},"status"`, 1)
	cordoned := strings.Replace(node("n4", "64"), `"status"`, `"spec":{"unschedulable":true},"status"`, 1)
	port := func(name, at string) string {
		p := strings.Replace(pod(name, "1", at), `"resources"`, `"ports":[{"containerPort":8080,"hostPort":8080}],"resources"`, 1)
		return strings.Replace(p, `"uid"`, `"labels":{"app":"x9"},"uid"`, 1)
	}
	h.upload("default", listOf(node("n1", "1"), node("n2", "2"), tainted, cordoned, node("n5", "64"), node("n6", "4"), pod("busy5", "3", `,"nodeName":"n6"`), port("held", `,"nodeName":"n5"`)))
	body := strings.Replace(filterBody(port("asks", `,"schedulerName":"default-scheduler"`), "n1", "n2", "n3", "n4", "n5", "n6", "n7"), `"cpu":"1"`, `"cpu":"3"`, 1)
	var got extenderv1.ExtenderFilterResult
	a := h.want(200, &got, "POST", "/filter", body)
	if len(got.FailedNodes)+len(got.FailedAndUnresolvableNodes) != 7 {
		t.Fatalf("want seven refusals: %s", a.body)
	}
	particular := regexp.MustCompile(`\d|gpu|busy|held|asks`)
	texts := map[string]bool{}
	for _, m := range []extenderv1.FailedNodesMap{got.FailedNodes, got.FailedAndUnresolvableNodes} {
		for n, why := range m {
			if texts[why] = true; why == "" || particular.MatchString(why) {
				t.Errorf("%s: %q", n, why)
			}
		}
	}
	if len(texts) < 5 {
		t.Errorf("%v", texts)
	}
}

// TestBindsAtOnce: binds come from goroutines of their own; of those that send one pod to several
// nodes one wins, and each that is told yes names that node.
func TestBindsAtOnce(t *testing.T) {
	h := start(t, nil)
	h.upload("default", small())
	var wg sync.WaitGroup
	errs := make([]string, 12)
	for i := range errs {
		wg.Go(func() {
			var r extenderv1.ExtenderBindingResult
			a := h.do("POST", "/bind", fmt.Sprintf(`{"PodName":"web","PodNamespace":"shop","PodUID":"uid-web","Node":"n%d"}`, i%3+1))
			if err := json.Unmarshal(a.body, &r); err != nil || a.StatusCode != 200 {
				r.Error = fmt.Sprintf("%d %s", a.StatusCode, a.body)
			}
			errs[i] = r.Error
		})
	}
	wg.Wait()
	won := map[int]bool{}
	for i, e := range errs {
		if e == "" {
			won[i%3] = true
		}
	}
	if len(won) != 1 {
		t.Errorf("bound to %d nodes: %q", len(won), errs)
	}
}
