package handlers

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptrace"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	extenderv1 "k8s.io/kube-scheduler/extender/v1"

	"berth/internal/handlers/admit"
	"berth/internal/handlers/exchange"
	"berth/internal/handlers/extender"
	"berth/internal/handlers/rest"
)

func filterBody(pod string, names ...string) string {
	if names == nil {
		names = []string{}
	}
	js, err := json.Marshal(names)
	if err != nil {
		panic(err)
	}
	return `{"Pod":` + pod + `,"Nodes":null,"NodeNames":` + string(js) + `}`
}

// TestTypesAreUpstreams keeps the described bodies from drifting from extender/v1's.
func TestTypesAreUpstreams(t *testing.T) {
	for _, c := range []struct{ own, upstream any }{
		{extender.ExtenderArgs{}, extenderv1.ExtenderArgs{}},
		{extender.ExtenderFilterResult{}, extenderv1.ExtenderFilterResult{}},
		{extender.HostPriority{}, extenderv1.HostPriority{}},
		{extender.ExtenderPreemptionArgs{}, extenderv1.ExtenderPreemptionArgs{}},
		{extender.ExtenderPreemptionResult{}, extenderv1.ExtenderPreemptionResult{}},
		{extender.ExtenderVictims{}, extenderv1.Victims{}},
		{extender.ExtenderMetaVictims{}, extenderv1.MetaVictims{}},
		{extender.ExtenderMetaPod{}, extenderv1.MetaPod{}},
		{extender.ExtenderBindingArgs{}, extenderv1.ExtenderBindingArgs{}},
		{extender.ExtenderBindingResult{}, extenderv1.ExtenderBindingResult{}},
	} {
		own, up := reflect.TypeOf(c.own), reflect.TypeOf(c.upstream)
		if own.NumField() != up.NumField() {
			t.Errorf("%s has %d fields, upstream's %d", own, own.NumField(), up.NumField())
			continue
		}
		for i := range own.NumField() {
			if o, u := own.Field(i), up.Field(i); o.Name != u.Name || o.Tag.Get("json") != u.Name {
				t.Errorf("%s.%s (%s), upstream %s", own, o.Name, o.Tag.Get("json"), u.Name)
			}
		}
	}
}

func TestFilterInNames(t *testing.T) {
	h := start(t, nil)
	h.upload("default", small())
	for _, c := range []struct {
		name string
		pod  string
		ask  []string
		want extenderv1.ExtenderFilterResult
	}{
		{"every node is in the result or in a map, by what eviction can mend", pod("web", "700m", ""), []string{"n3", "n2", "n1"}, extenderv1.ExtenderFilterResult{
			NodeNames: &[]string{"n1"}, FailedNodes: extenderv1.FailedNodesMap{"n2": "Insufficient cpu"},
			FailedAndUnresolvableNodes: extenderv1.FailedNodesMap{"n3": "node(s) had untolerated taint(s)"},
		}},
		{"the input's order is kept, and only what was asked comes back (12)", pod("web", "100m", ""), []string{"n2", "n1"}, extenderv1.ExtenderFilterResult{
			NodeNames: &[]string{"n2", "n1"}, FailedNodes: extenderv1.FailedNodesMap{}, FailedAndUnresolvableNodes: extenderv1.FailedNodesMap{},
		}},
		{"a node that berth does not know yet is named (9)", pod("web", "2", ""), []string{"new", "n1", ""}, extenderv1.ExtenderFilterResult{
			NodeNames: &[]string{"n1"}, FailedNodes: extenderv1.FailedNodesMap{"new": "node(s) not known to berth yet", "": "node(s) not known to berth yet"}, FailedAndUnresolvableNodes: extenderv1.FailedNodesMap{},
		}},
		{"no name is asked: an empty list, not null (12)", pod("web", "2", ""), nil, extenderv1.ExtenderFilterResult{
			NodeNames: &[]string{}, FailedNodes: extenderv1.FailedNodesMap{}, FailedAndUnresolvableNodes: extenderv1.FailedNodesMap{},
		}},
		{"only unknown ones", pod("web", "2", ""), []string{"x"}, extenderv1.ExtenderFilterResult{
			NodeNames: &[]string{}, FailedNodes: extenderv1.FailedNodesMap{"x": "node(s) not known to berth yet"}, FailedAndUnresolvableNodes: extenderv1.FailedNodesMap{},
		}},
		{"a nominated node does not hide the others (16)", strings.Replace(pod("web", "100m", ""), `"spec"`, `"status":{"nominatedNodeName":"n1"},"spec"`, 1), []string{"n1", "n2"}, extenderv1.ExtenderFilterResult{
			NodeNames: &[]string{"n1", "n2"}, FailedNodes: extenderv1.FailedNodesMap{}, FailedAndUnresolvableNodes: extenderv1.FailedNodesMap{},
		}},
		{"a gated pod: every node says so (9)", pod("web", "100m", `,"schedulingGates":[{"name":"g"}]`), []string{"n1"}, extenderv1.ExtenderFilterResult{
			NodeNames: &[]string{}, FailedNodes: extenderv1.FailedNodesMap{}, FailedAndUnresolvableNodes: extenderv1.FailedNodesMap{"n1": "Scheduling is blocked due to non-empty scheduling gates"},
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			h.T = t
			var got extenderv1.ExtenderFilterResult
			a := h.want(200, &got, "POST", "/filter", filterBody(c.pod, c.ask...))
			if d := cmp.Diff(c.want, got); d != "" {
				t.Errorf("(-want +got)\n%s", d)
			}
			if a.ContentLength != int64(len(a.body)) || len(a.TransferEncoding) > 0 || a.Header.Get("Content-Encoding") != "" || a.body[len(a.body)-1] != '}' {
				t.Errorf("the reply is not whole, plain and bare: %v", a.Header)
			}
			if a.Header.Get("Berth-Decision-Id") == "" {
				t.Error("no decision id")
			}
		})
	}
}

func TestFilterIsRecordedAndHasNoSideEffect(t *testing.T) {
	h := start(t, nil)
	before := h.upload("default", small())
	body := filterBody(pod("web", "2", ""), "n1", "n2", "n3")
	first := h.want(200, nil, "POST", "/filter", body)
	again := h.want(200, nil, "POST", "/filter", body)
	if string(first.body) != string(again.body) {
		t.Errorf("asked again: %s", again.body)
	}
	var after rest.Snapshot
	h.want(200, &after, "GET", "/v1/snapshots/default@latest", "")
	if after.ID != before.ID {
		t.Errorf("%s became %s", before.ID, after.ID)
	}
	var rec struct {
		Verb         string
		DigestAgrees bool
	}
	h.want(200, &rec, "GET", "/v1/decisions/"+first.Header.Get("Berth-Decision-Id"), "")
	if rec.Verb != "filter" || !rec.DigestAgrees {
		t.Errorf("%+v", rec)
	}
	var rep struct{ Identical bool }
	h.want(200, &rep, "POST", "/v1/decisions/"+first.Header.Get("Berth-Decision-Id")+"/replay", "")
	if !rep.Identical {
		t.Error("the replay differs")
	}
}

func TestFilterInNodes(t *testing.T) {
	h := start(t, nil)
	h.upload("default", small())
	// n2 as sent is larger than the snapshot's; tmpl is in no cluster; fields that berth does not
	// keep come back.
	big := strings.Replace(node("n2", "16"), `"labels"`, `"managedFields":[{"manager":"x"}],"annotations":{"a":"b"},"labels"`, 1)
	tmpl := node("tmpl", "1")
	body := `{"Pod":` + pod("web", "2", "") + `,"Nodes":{"metadata":{},"items":[` + tmpl + `,` + big + `,` + node("n1", "4") + `]},"NodeNames":null}`
	for range 2 { // the second time the nodes are known
		a := h.want(200, nil, "POST", "/filter", body)
		want := `{"Nodes":{"metadata":{},"items":[` + big + `,` + node("n1", "4") + `]},"NodeNames":null,"FailedNodes":{},"FailedAndUnresolvableNodes":{"tmpl":"Insufficient cpu"},"Error":""}`
		alt := strings.Replace(want, `"FailedNodes":{},"FailedAndUnresolvableNodes":{"tmpl":"Insufficient cpu"}`, `"FailedNodes":{"tmpl":"Insufficient cpu"},"FailedAndUnresolvableNodes":{}`, 1)
		if string(a.body) != want && string(a.body) != alt {
			t.Errorf("got  %s\nwant %s", a.body, want)
		}
	}
	var scores extenderv1.HostPriorityList
	h.want(200, &scores, "POST", "/prioritize", body)
	if len(scores) != 3 || scores[0].Host != "tmpl" || scores[0].Score != 0 || scores[1].Score+scores[2].Score < 10 {
		t.Errorf("%+v", scores)
	}
	h.want(200, nil, "POST", "/filter", `{"Pod":`+pod("web", "2", "")+`,"Nodes":{"items":null}}`)
}

func TestKeysInAnyCase(t *testing.T) {
	h := start(t, nil)
	h.upload("default", small())
	var got extenderv1.ExtenderFilterResult
	h.want(200, &got, "POST", "/filter", `{"pod":`+pod("web", "2", "")+`,"nodes":null,"nodenames":["n1"],"future":{"x":1}}`)
	if got.NodeNames == nil || len(*got.NodeNames) != 1 {
		t.Errorf("%+v", got)
	}
}

// TestPodWithoutContainers: the protocol is spoken by others than apiservers' clients, whose pods
// may have no containers. Such a pod requests nothing, and its record replays.
func TestPodWithoutContainers(t *testing.T) {
	h := start(t, nil)
	h.upload("default", small())
	bare := `{"metadata":{"name":"bare","uid":"u","creationTimestamp":null},"spec":{"containers":null},"status":{}}`
	var got extenderv1.ExtenderFilterResult
	a := h.want(200, &got, "POST", "/filter", filterBody(bare, "n1", "n2"))
	if got.Error != "" || got.NodeNames == nil || len(*got.NodeNames)+len(got.FailedNodes)+len(got.FailedAndUnresolvableNodes) != 2 || len(*got.NodeNames) == 0 {
		t.Errorf("%s", a.body)
	}
	var rep struct{ Identical bool }
	h.want(200, &rep, "POST", "/v1/decisions/"+a.Header.Get("Berth-Decision-Id")+"/replay", "")
	if !rep.Identical {
		t.Error("the replay differs")
	}
	h.want(200, nil, "POST", "/prioritize", filterBody(bare, "n1", "n2"))
	h.want(200, nil, "POST", "/preempt", `{"Pod":`+bare+`,"NodeNameToMetaVictims":{"n1":{"Pods":[]}}}`)
	h.want(422, nil, "POST", "/v1/decisions", `{"pod":`+bare+`}`) // an apiserver would not have it
}

func TestPrioritize(t *testing.T) {
	h := start(t, nil)
	h.upload("default", listOf(node("a", "16"), node("b", "4"), node("c", "1"), pod("web", "2", ""), pod("busy", "8", `,"nodeName":"a"`)))
	a := h.want(200, nil, "POST", "/prioritize", filterBody(pod("web", "2", ""), "c", "b", "a", "x"))
	var got extenderv1.HostPriorityList
	if err := json.Unmarshal(a.body, &got); err != nil || a.body[0] != '[' {
		t.Fatalf("%v %s", err, a.body)
	}
	best := int64(0)
	for i, host := range []string{"c", "b", "a", "x"} {
		if got[i].Host != host || got[i].Score < 0 || got[i].Score > 10 {
			t.Errorf("%+v", got)
		}
		best = max(best, got[i].Score)
	}
	if best != 10 || got[0].Score != 0 || got[3].Score != 0 {
		t.Errorf("the best of the asked gets 10, what does not fit 0: %+v", got)
	}
	one := h.want(200, nil, "POST", "/prioritize", filterBody(pod("web", "2", ""), "b"))
	if string(one.body) != `[{"Host":"b","Score":10}]` {
		t.Errorf("%s", one.body)
	}
	if none := h.want(200, nil, "POST", "/prioritize", filterBody(pod("web", "2", ""))); string(none.body) != `[]` {
		t.Errorf("%s", none.body)
	}
}

func TestFailuresOfTheExtender(t *testing.T) {
	h := start(t, nil)
	h.upload("default", small())
	bad := map[string]string{
		"not JSON": `nope`, "empty": ``, "null": `null`, "an array": `[]`, "half": `{"Pod":{}`, "trailing": filterBody(pod("web", "2", ""), "n1") + `{}`,
		"pod of another type": `{"Pod":5,"NodeNames":[]}`, "names of another type": `{"Pod":{},"NodeNames":"n1"}`, "a name of another type": `{"Pod":{},"NodeNames":[1]}`,
		"nothing asked": `{"Pod":` + pod("web", "2", "") + `,"NodeNames":null,"Nodes":null}`, "no pod": `{"NodeNames":["n1"]}`,
		"a field of another type in the pod": `{"Pod":{"metadata":{"name":"p"},"spec":[]},"NodeNames":["n1"]}`,
	}
	for name, body := range bad {
		for _, verb := range []string{"/filter", "/prioritize"} {
			h.want(400, nil, "POST", verb, body)
			_ = name
		}
	}
	semantic := map[string]string{
		"a negative request":  filterBody(pod("web", "-1", ""), "n1"),
		"an unknown class":    filterBody(pod("web", "1", `,"priorityClassName":"nope"`), "n1"),
		"a pod that is bound": filterBody(pod("busy", "1", ""), "n1"),
		"a pod without name":  `{"Pod":{"spec":{"containers":[{"name":"c"}]}},"NodeNames":["n1"]}`,
		"a node twice":        `{"Pod":` + pod("web", "2", "") + `,"Nodes":{"items":[` + node("n1", "1") + `,` + node("n1", "1") + `]}}`,
	}
	for name, body := range semantic {
		var got extenderv1.ExtenderFilterResult
		h.want(200, &got, "POST", "/filter", body)
		if got.Error == "" || got.NodeNames != nil || got.Nodes != nil {
			t.Errorf("%s: %+v", name, got)
		}
		if a := h.do("POST", "/prioritize", body); a.StatusCode < 400 || a.StatusCode >= 500 {
			t.Errorf("%s: /prioritize has no place for an error but its status: %d", name, a.StatusCode)
		}
	}
	var got extenderv1.ExtenderFilterResult
	h.want(200, &got, "POST", "/clusters/absent/filter", filterBody(pod("web", "2", ""), "n1"))
	if !strings.Contains(got.Error, "/v1/snapshots?cluster=absent") {
		t.Errorf("%+v", got)
	}
	h.want(404, nil, "POST", "/clusters/absent/prioritize", filterBody(pod("web", "2", ""), "n1"))
	h.want(200, &got, "POST", "/clusters/Not..A_Name/filter", filterBody(pod("web", "2", ""), "n1"))
	if got.Error == "" {
		t.Errorf("%+v", got)
	}
	if text := string(h.want(200, nil, "GET", "/metrics", "").body); !strings.Contains(text, `berth_prioritize_failures_total{cause="malformed"} 12`) {
		t.Error("failures of /prioritize are not counted")
	}
}

func TestLimitsOfTheExtender(t *testing.T) {
	h := start(t, func(o *admit.Options) {
		o.Limits.FilterMaxBytes, o.Limits.NodesMaxBytes, o.Limits.FilterMaxNames, o.Limits.MaxDepth, o.Limits.NodesMaxNodes = 4096, 8192, 3, 12, 2
	})
	h.upload("default", small())
	for _, c := range []struct{ body, limit string }{
		{`{"Pod":{},"NodeNames":["` + strings.Repeat("x", 10000) + `"]}`, "nodes-max-bytes"},
		{filterBody(pod("web", "1", ""), "a", "b", "c", "d"), "filter-max-names"},
		{`{"Pod":` + strings.Repeat(`{"a":`, 14) + `1` + strings.Repeat(`}`, 14) + `}`, "max-json-depth"},
		{`{"Pod":{},"Nodes":{"items":[{},{},{}]}}`, "nodes-max-nodes"},
	} {
		var p exchange.Problem
		h.want(413, &p, "POST", "/filter", c.body)
		if p.Limit != c.limit {
			t.Errorf("%+v, want %s", p, c.limit)
		}
	}
	h.want(415, nil, "POST", "/filter", filterBody(pod("web", "1", ""), "n1"), "Content-Encoding", "gzip")
}

func TestBind(t *testing.T) {
	h := start(t, nil)
	h.upload("default", small())
	bind := func(name, uid, node string) string {
		t.Helper()
		var r extenderv1.ExtenderBindingResult
		a := h.want(200, &r, "POST", "/bind", fmt.Sprintf(`{"PodName":%q,"PodNamespace":"shop","PodUID":%q,"Node":%q}`, name, uid, node))
		if len(a.body) == 0 {
			t.Fatal("empty")
		}
		return r.Error
	}
	for _, c := range []struct{ name, uid, node, want string }{
		{"web", "uid-web", "nowhere", "nowhere"},
		{"nobody", "u", "n1", "nobody"},
		{"web", "other", "n1", "UID"},
		{"web", "uid-web", "n1", ""},
		{"web", "uid-web", "n1", ""}, // idempotent (30)
		{"web", "uid-web", "n2", "n1"},
		{"busy", "uid-busy", "n1", "n2"},
	} {
		if got := bind(c.name, c.uid, c.node); (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%+v: %q", c, got)
		}
	}
	var s rest.Snapshot
	h.want(200, &s, "GET", "/v1/snapshots/default@latest", "")
	if s.Revision != 2 || s.Cause != "bind" {
		t.Errorf("one bind makes one revision: %+v", s)
	}
	var r extenderv1.ExtenderBindingResult
	h.want(200, &r, "POST", "/clusters/absent/bind", `{"PodName":"a","PodNamespace":"b","PodUID":"c","Node":"d"}`)
	if r.Error == "" {
		t.Error("a bind in an unknown cluster succeeded")
	}
	for _, body := range []string{`{}`, `[]`, `x`, `{"PodName":1}`, `{"PodName":"a","PodNamespace":"b","PodUID":"","Node":"d"}`} {
		h.want(400, nil, "POST", "/bind", body)
	}
	h.want(413, nil, "POST", "/bind", `{"PodName":"`+strings.Repeat("a", 20<<10)+`"}`)
}

// TestRealBodies sends what a kube-scheduler v1.36.3 sent, over a cluster made of the nodes in it.
func TestRealBodies(t *testing.T) {
	h := start(t, nil)
	read := func(name string) string {
		t.Helper()
		js, err := os.ReadFile(filepath.Join("extender", "wire", "testdata", "wire", name))
		if err != nil {
			t.Fatal(err)
		}
		return string(js)
	}
	for _, run := range []string{"b", "d", "do", "e"} {
		body := read(run + "_filter.request.json")
		var args extenderv1.ExtenderArgs
		if err := json.Unmarshal([]byte(body), &args); err != nil {
			t.Fatal(err)
		}
		var items, names []string
		if args.Nodes != nil {
			for _, n := range args.Nodes.Items {
				js, err := json.Marshal(n)
				if err != nil {
					t.Fatal(err)
				}
				items, names = append(items, strings.Replace(string(js), "{", `{"kind":"Node","apiVersion":"v1",`, 1)), append(names, n.Name)
			}
		} else {
			for _, n := range *args.NodeNames {
				items, names = append(items, node(n, "4")), append(names, n)
			}
		}
		h.upload(run, listOf(items...))
		var got extenderv1.ExtenderFilterResult
		h.want(200, &got, "POST", "/clusters/"+run+"/filter", body)
		if got.Error != "" {
			t.Errorf("%s: %s", run, got.Error)
		}
		seen := len(got.FailedNodes) + len(got.FailedAndUnresolvableNodes)
		if got.NodeNames != nil {
			seen += len(*got.NodeNames)
		}
		if got.Nodes != nil {
			seen += len(got.Nodes.Items)
		}
		if (got.Nodes != nil) != (args.Nodes != nil) || seen != len(names) {
			t.Errorf("%s: asked %d, answered %d in another form", run, len(names), seen)
		}
	}
	for _, run := range []string{"d", "do"} {
		var got extenderv1.HostPriorityList
		h.want(200, &got, "POST", "/clusters/"+run+"/prioritize", read(run+"_prioritize.request.json"))
		if len(got) == 0 {
			t.Errorf("%s: no scores", run)
		}
	}
}

// TestConnectionIsReused holds replies to what kube-scheduler's client needs to keep its
// connection: it reads one JSON value and closes the body.
func TestConnectionIsReused(t *testing.T) {
	h := start(t, nil)
	names := make([]string, 3000)
	items := make([]string, len(names))
	for i := range names {
		names[i] = fmt.Sprintf("node-%04d.example.internal", i)
		items[i] = node(names[i], "4")
	}
	h.upload("default", listOf(items...))
	reused := 0
	for range 5 {
		req, err := http.NewRequest("POST", h.url+"/filter", strings.NewReader(filterBody(pod("web", "1", ""), names...)))
		if err != nil {
			t.Fatal(err)
		}
		req = req.WithContext(httptrace.WithClientTrace(req.Context(), &httptrace.ClientTrace{GotConn: func(i httptrace.GotConnInfo) {
			if i.Reused {
				reused++
			}
		}}))
		resp, err := h.client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		var got extenderv1.ExtenderFilterResult
		if err := json.NewDecoder(resp.Body).Decode(&got); err != nil || len(*got.NodeNames) != len(names) {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
	}
	if reused != 5 { // the upload made it
		t.Errorf("reused %d of 5 times", reused)
	}
}
