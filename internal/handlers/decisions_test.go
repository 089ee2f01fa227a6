package handlers

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"berth/internal/handlers/admit"
	"berth/internal/handlers/exchange"
	"berth/internal/handlers/rest"
)

// decided is what the tests look at of an answer.
type decided struct {
	ID, Cluster, Snapshot, Profile, Outcome, Node, Message, Verb, BoundSnapshot, Digest string
	Nodes                                                                               []struct {
		Name     string
		Feasible bool
		Plugin   string
		Reasons  []string
		Details  []struct{ Kind string }
		Scores   []struct{ Plugin string }
	}
	DigestAgrees bool
}

const webRef = `{"podRef":{"namespace":"shop","name":"web"}`

func TestDecide(t *testing.T) {
	h := start(t, nil)
	h.upload("default", small())
	h.upload("prod", small())
	var d decided
	a := h.want(201, &d, "POST", "/v1/decisions", webRef+`,"explain":"full"}`)
	if d.Outcome != "Scheduled" || d.Node != "n1" || d.Snapshot != "default@1" || d.Verb != "decide" || d.Profile != "default-scheduler" || len(d.Nodes) != 3 {
		t.Fatalf("%+v", d)
	}
	if a.Header.Get("Location") != "/v1/decisions/"+d.ID || a.Header.Get("Berth-Decision-Id") != d.ID {
		t.Errorf("%v", a.Header)
	}
	if n := d.Nodes[1]; n.Name != "n2" || n.Plugin != "NodeResourcesFit" || n.Reasons[0] != "Insufficient cpu" || n.Details[0].Kind != "resource" {
		t.Errorf("%+v", n)
	}
	for _, c := range []struct {
		name, body, outcome, node string
		status                    int
	}{
		{"a pod of its own", `{"snapshot":"prod@latest","pod":` + pod("new", "1", "") + `}`, "Scheduled", "n1", 201},
		{"some nodes", `{"snapshot":"prod@1","nodeNames":["n2"],"pod":` + pod("new", "250m", "") + `}`, "Scheduled", "n2", 201},
		{"fits nowhere", `{"pod":` + pod("new", "64", "") + `,"preempt":false}`, "Unschedulable", "", 201},
		{"gated", `{"pod":` + pod("new", "1", `,"schedulingGates":[{"name":"example.com/g"}]`) + `}`, "Gated", "", 201},
		{"dry run", webRef + `,"dryRun":true}`, "Scheduled", "n1", 200},
		{"where would a bound pod go today", `{"podRef":{"namespace":"shop","name":"busy"},"dryRun":true}`, "Scheduled", "n1", 200},
		{"configuration as an object", webRef + `,"config":{"apiVersion":"kubescheduler.config.k8s.io/v1","kind":"KubeSchedulerConfiguration"}}`, "Scheduled", "n1", 201},
		{"configuration as YAML", webRef + `,"config":"apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nprofiles:\n- schedulerName: mine\n","profile":"mine"}`, "Scheduled", "n1", 201},
		{"nulls are absent", `{"snapshot":"prod@1","podRef":null,"config":null,"pod":` + pod("new", "1", "") + `}`, "Scheduled", "n1", 201},
	} {
		var d decided
		a := h.want(c.status, &d, "POST", "/v1/decisions", c.body)
		if d.Outcome != c.outcome || d.Node != c.node || (d.ID == "") != (c.status == 200) {
			t.Errorf("%s: %s", c.name, a.body)
		}
	}
}

func TestDecideAndBind(t *testing.T) {
	h := start(t, nil)
	h.upload("default", small())
	var d decided
	h.want(201, &d, "POST", "/v1/decisions", webRef+`,"snapshot":"default@latest","bind":true}`)
	if d.BoundSnapshot != "default@2" || d.Snapshot != "default@1" || d.Node != "n1" {
		t.Fatalf("%+v", d)
	}
	var p exchange.Problem
	h.want(409, &p, "POST", "/v1/decisions", webRef+`}`)
	h.want(201, nil, "POST", "/v1/decisions", `{"snapshot":"default@1",`+webRef[1:]+`}`) // there it is unbound still
	h.want(409, &p, "POST", "/v1/decisions", `{"snapshot":"default@1","bind":true,`+webRef[1:]+`}`)
	var s rest.Snapshot
	h.want(200, &s, "GET", "/v1/snapshots/default@latest", "")
	if s.Revision != 2 {
		t.Errorf("nothing half done: %+v", s)
	}
	deleted := strings.Replace(pod("going", "1", ""), `"uid"`, `"deletionTimestamp":"2026-01-01T00:00:00Z","uid"`, 1)
	ended := strings.Replace(pod("ended", "1", ""), `"spec"`, `"status":{"phase":"Succeeded"},"spec"`, 1)
	for _, body := range []string{deleted, ended} { // an apiserver binds neither, as /bind does not
		h.want(201, nil, "POST", "/v1/decisions", `{"pod":`+body+`}`)
		h.want(409, &p, "POST", "/v1/decisions", `{"snapshot":"default@latest","pod":`+body+`,"bind":true}`)
		if !strings.Contains(p.Detail, "cannot be bound") {
			t.Errorf("%+v", p)
		}
	}
	// Nor one with gates, which fits where the profile has no rule for them.
	const ungated = `"config":{"apiVersion":"kubescheduler.config.k8s.io/v1","kind":"KubeSchedulerConfiguration","profiles":[{"plugins":{"multiPoint":{"disabled":[{"name":"SchedulingGates"}]}}}]}`
	gated := strings.Replace(pod("gated", "1", ""), `"spec":{`, `"spec":{"schedulingGates":[{"name":"example.com/quota"}],`, 1)
	h.want(201, &d, "POST", "/v1/decisions", `{"pod":`+gated+`,`+ungated+`}`)
	if d.Outcome != "Scheduled" {
		t.Errorf("%+v", d)
	}
	h.want(409, &p, "POST", "/v1/decisions", `{"snapshot":"default@latest","pod":`+gated+`,"bind":true,`+ungated+`}`)
	if !strings.Contains(p.Detail, "has scheduling gates and cannot be bound") {
		t.Errorf("%+v", p)
	}
	h.want(201, &d, "POST", "/v1/decisions", `{"snapshot":"default@latest","pod":`+gated+`,"bind":true}`)
	if d.Outcome != "Gated" {
		t.Errorf("%+v", d)
	}
}

func TestDecisionsAreListedReadAndReplayed(t *testing.T) {
	h := start(t, nil)
	h.upload("default", small())
	before := time.Now().Add(-time.Minute).UTC().Format(time.RFC3339)
	var ids []string
	for i := range 5 {
		var d decided
		h.want(201, &d, "POST", "/v1/decisions", `{"pod":`+pod(fmt.Sprintf("p%d", i), "1", "")+`}`)
		ids = append([]string{d.ID}, ids...)
	}
	var got []string
	cursor := ""
	for {
		var l struct {
			Items  []decided
			Cursor string
		}
		h.want(200, &l, "GET", "/v1/decisions?cluster=default&verb=decide&outcome=Scheduled&limit=2&since="+url.QueryEscape(before)+"&cursor="+url.QueryEscape(cursor), "")
		for _, d := range l.Items {
			got = append(got, d.ID)
		}
		if cursor = l.Cursor; cursor == "" {
			break
		}
	}
	if d := cmp.Diff(ids, got); d != "" {
		t.Error(d)
	}
	for query, want := range map[string]int{"pod=p3": 1, "namespace=shop": 5, "node=n1": 5, "node=n9": 0, "outcome=Gated": 0, "verb=bind": 0, "until=" + url.QueryEscape(before): 0} {
		var l struct{ Items []decided }
		h.want(200, &l, "GET", "/v1/decisions?"+query, "")
		if len(l.Items) != want {
			t.Errorf("%s: %d", query, len(l.Items))
		}
	}
	var rec decided
	h.want(200, &rec, "GET", "/v1/decisions/"+ids[0], "")
	if rec.ID != ids[0] || !rec.DigestAgrees || len(rec.Nodes) == 0 {
		t.Errorf("%+v", rec)
	}
	for body, identical := range map[string]bool{
		"": true, "{}": true, `{"snapshot":"default@latest"}`: true, `{"pod":` + pod("p4", "16", "") + `}`: false,
		`{"config":{"apiVersion":"kubescheduler.config.k8s.io/v1","kind":"KubeSchedulerConfiguration","profiles":[{"plugins":{"filter":{"disabled":[{"name":"TaintToleration"}]}}}]}}`: false,
	} {
		var r struct {
			Identical   bool
			Differences []struct{ Path string }
			Decision    decided
		}
		a := h.want(200, &r, "POST", "/v1/decisions/"+ids[0]+"/replay", body)
		if r.Identical != identical || (len(r.Differences) == 0) != identical {
			t.Errorf("%s: %.300s", body, a.body)
		}
	}
	none := "01938f3e-0000-7000-8000-000000000000"
	h.want(404, nil, "GET", "/v1/decisions/"+none, "")
	h.want(404, nil, "POST", "/v1/decisions/"+none+"/replay", "")
}

// TestBadInput sends what is wrong, and wants it said which field is and that nothing came of it.
func TestBadInput(t *testing.T) {
	h := start(t, func(o *admit.Options) { o.Limits.DecisionMaxBytes, o.Limits.DecisionMaxTokens = 4096, 400 })
	h.upload("default", small())
	good := pod("new", "1", "")
	dup := `{"kind":"List","apiVersion":"v1","items":[` + node("n1", "1") + `,` + node("n1", "2") + `]}`
	id := "01938f3e-0000-7000-8000-000000000000"
	for _, c := range []struct {
		name, method, path, body string
		status                   int
		field                    string // in errors, or a part of detail after "~"
	}{
		{"malformed", "POST", "/v1/decisions", `{"pod":`, 400, "~malformed JSON"},
		{"no body", "POST", "/v1/decisions", ``, 400, "~empty"},
		{"no object", "POST", "/v1/decisions", `[]`, 400, "~not a JSON object"},
		{"trailing data", "POST", "/v1/decisions", `{"pod":` + good + `}{}`, 400, "~malformed"},
		{"unknown field", "POST", "/v1/decisions", `{"pod":` + good + `,"podd":1}`, 400, "podd"},
		{"unknown field inside", "POST", "/v1/decisions", `{"podRef":{"name":"web","uid":"x"}}`, 400, "podRef.uid"},
		{"another case is another field", "POST", "/v1/decisions", `{"Pod":` + good + `}`, 400, "Pod"},
		{"a field twice", "POST", "/v1/decisions", `{"bind":true,"bind":false,"pod":` + good + `}`, 400, "bind"},
		{"wrong type", "POST", "/v1/decisions", `{"pod":` + good + `,"bind":"yes"}`, 400, "bind"},
		{"wrong type of a list", "POST", "/v1/decisions", `{"pod":` + good + `,"nodeNames":"n1"}`, 400, "nodeNames"},
		{"neither pod nor podRef", "POST", "/v1/decisions", `{}`, 400, "pod"},
		{"both", "POST", "/v1/decisions", `{"pod":` + good + `,"podRef":{"name":"x"}}`, 400, "pod"},
		{"podRef without name", "POST", "/v1/decisions", `{"podRef":{}}`, 400, "podRef.name"},
		{"explain", "POST", "/v1/decisions", `{"pod":` + good + `,"explain":"everything"}`, 400, "explain"},
		{"bind without a snapshot", "POST", "/v1/decisions", `{"pod":` + good + `,"bind":true}`, 400, "snapshot"},
		{"bind a dry run", "POST", "/v1/decisions", `{"pod":` + good + `,"bind":true,"dryRun":true}`, 400, "bind"},
		{"snapshot without revision", "POST", "/v1/decisions", `{"snapshot":"default","pod":` + good + `}`, 400, "snapshot"},
		{"unknown snapshot", "POST", "/v1/decisions", `{"snapshot":"default@77","pod":` + good + `}`, 404, "~default@77"},
		{"unknown cluster", "POST", "/v1/decisions", `{"snapshot":"none@latest","pod":` + good + `}`, 404, "~none"},
		{"unknown pod", "POST", "/v1/decisions", `{"podRef":{"namespace":"shop","name":"nobody"}}`, 404, "~nobody"},
		{"unknown node", "POST", "/v1/decisions", `{"pod":` + good + `,"nodeNames":["n1","nowhere"]}`, 422, "nodeNames[1]"},
		{"unknown profile", "POST", "/v1/decisions", `{"pod":` + good + `,"profile":"nope"}`, 422, "profile"},
		{"unknown class", "POST", "/v1/decisions", `{"pod":` + pod("new", "1", `,"priorityClassName":"nope"`) + `}`, 422, "pod.spec.priorityClassName"},
		{"config of another kind", "POST", "/v1/decisions", `{"pod":` + good + `,"config":{"kind":"Pod"}}`, 422, "config"},
		{"config of another type", "POST", "/v1/decisions", `{"pod":` + good + `,"config":7}`, 400, "config"},
		{"config with an unknown plugin", "POST", "/v1/decisions", `{"pod":` + good + `,"config":"apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nprofiles: [{plugins: {filter: {enabled: [{name: Nope}]}}}]"}`, 422, "config"},
		{"another kind", "POST", "/v1/decisions", `{"pod":{"kind":"Service","metadata":{"name":"x"}}}`, 422, "pod.kind"},
		{"negative quantity", "POST", "/v1/decisions", `{"pod":` + pod("new", "-1", "") + `}`, 422, "pod.spec.containers[0].resources.requests[cpu]"},
		{"no quantity", "POST", "/v1/decisions", `{"pod":` + pod("new", "much", "") + `}`, 422, "~cpu"},
		{
			"invalid selector", "POST", "/v1/decisions", `{"pod":` + pod("new", "1", `,"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[{"matchExpressions":[{"key":"a","operator":"Near","values":["b"]}]}]}}}`) + `}`, 422,
			"pod.spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchExpressions[0].operator",
		},
		{"pod of another type", "POST", "/v1/decisions", `{"pod":"web"}`, 400, "pod"},
		{"body over the limit", "POST", "/v1/decisions", `{"pod":"` + strings.Repeat("x", 5000) + `"}`, 413, "~decision-max-bytes"},
		{"too many values", "POST", "/v1/decisions", `{"nodeNames":[` + strings.Repeat(`"",`, 500) + `""]}`, 413, "~decision-max-tokens"},
		{"too deep", "POST", "/v1/decisions", `{"pod":` + strings.Repeat("[", 100) + strings.Repeat("]", 100) + `}`, 413, "~max-json-depth"},
		{"compressed", "POST", "/v1/decisions", `x`, 415, "~Content-Encoding"},

		{"cluster's name", "POST", "/v1/snapshots?cluster=No.Name", small(), 400, "cluster"},
		{"malformed snapshot", "POST", "/v1/snapshots", `{"kind":"List","apiVersion":"v1","items":[{]}`, 400, "~byte"},
		{"empty snapshot", "POST", "/v1/snapshots", " \n", 400, "~empty"},
		{"no list", "POST", "/v1/snapshots", `[1]`, 400, "~"},
		{"duplicate names", "POST", "/v1/snapshots", dup, 422, "~n1"},
		{"invalid node", "POST", "/v1/snapshots", listOf(node("n1", "-4")), 422, "items[0].status.allocatable.cpu"},
		{"invalid YAML", "POST", "/v1/snapshots", "kind: List\n  x: [", 400, "~"},
		{"truncated", "POST", "/v1/snapshots", `{"kind":"List","apiVersion":"v1","items":[`, 400, "~"},

		{"change of nothing", "POST", "/v1/snapshots/default@1/changes", `{}`, 422, "apply"},
		{"unknown field of a change", "POST", "/v1/snapshots/default@1/changes", `{"applied":[]}`, 400, "applied"},
		{"unknown field of a delete", "POST", "/v1/snapshots/default@1/changes", `{"delete":[{"kind":"Node","name":"n1","uid":"x"}]}`, 400, "delete[0].uid"},
		{"invalid object of a change", "POST", "/v1/snapshots/default@1/changes", `{"apply":[` + node("x", "-1") + `]}`, 422, "apply[0].status.allocatable.cpu"},
		{"kind that is not kept", "POST", "/v1/snapshots/default@1/changes", `{"apply":[{"kind":"Nope","apiVersion":"v1","metadata":{"name":"x"}}]}`, 422, "apply[0].kind"},
		{"delete of a kind that is not kept", "POST", "/v1/snapshots/default@1/changes", `{"delete":[{"kind":"Nope","name":"x"}]}`, 422, "delete[0].kind"},
		{"delete without name", "POST", "/v1/snapshots/default@1/changes", `{"delete":[{"kind":"Node"}]}`, 422, "delete[0].name"},
		{"delete with a namespace too many", "POST", "/v1/snapshots/default@1/changes", `{"delete":[{"kind":"Node","name":"n1","namespace":"x"}]}`, 422, "delete[0].namespace"},
		{"delete of what is not there", "POST", "/v1/snapshots/default@1/changes", `{"strict":true,"delete":[{"kind":"Node","name":"n77"}]}`, 404, "~n77"},
		{"the same twice", "POST", "/v1/snapshots/default@1/changes", `{"apply":[` + node("x", "1") + `,` + node("x", "2") + `]}`, 422, "~x"},

		{"id of a snapshot", "GET", "/v1/snapshots/default", "", 400, "id"},
		{"revision 0", "GET", "/v1/snapshots/default@0", "", 400, "id"},
		{"escape", "GET", "/v1/snapshots/default%2540latest", "", 400, "id"},
		{"kind", "GET", "/v1/snapshots/default@1/objects?kind=Nope", "", 400, "kind"},
		{"cursor of objects", "GET", "/v1/snapshots/default@1/objects?cursor=!", "", 400, "cursor"},
		{"cursor of snapshots", "GET", "/v1/snapshots?cursor=x", "", 400, "cursor"},
		{"limit", "GET", "/v1/snapshots?limit=0", "", 400, "limit"},
		{"limit over the page", "GET", "/v1/decisions?limit=501", "", 400, "limit"},
		{"unknown parameter", "GET", "/v1/decisions?podd=x", "", 400, "podd"},
		{"outcome", "GET", "/v1/decisions?outcome=Maybe", "", 400, "outcome"},
		{"verb", "GET", "/v1/decisions?verb=guess", "", 400, "verb"},
		{"since", "GET", "/v1/decisions?since=yesterday", "", 400, "since"},
		{"cursor", "GET", "/v1/decisions?cursor=AAAA", "", 400, "cursor"},
		{"after without its cluster", "GET", "/v1/decisions?after=0", "", 400, "cluster"},
		{"after of what is no cluster", "GET", "/v1/decisions?after=0&cluster=A_B", "", 400, "cluster"},
		{"after below zero", "GET", "/v1/decisions?after=-1&cluster=default", "", 400, "after"},
		{"after that is no number", "GET", "/v1/decisions?after=&cluster=default", "", 400, "after"},
		{"after with a cursor", "GET", "/v1/decisions?after=0&cluster=default&cursor=AAAA", "", 400, "cursor"},
		{"after with a filter", "GET", "/v1/decisions?after=0&cluster=default&pod=p", "", 400, "pod"},
		{"after with limit over the page", "GET", "/v1/decisions?after=0&cluster=default&limit=501", "", 400, "limit"},
		{"id", "GET", "/v1/decisions/7", "", 400, "id"},
		{"replay of what is no id", "POST", "/v1/decisions/7/replay", "", 400, "id"},
		{"unknown field of a replay", "POST", "/v1/decisions/" + id + "/replay", `{"snap":"x"}`, 400, "snap"},
		{"snapshot of a replay", "POST", "/v1/decisions/" + id + "/replay", `{"snapshot":"x"}`, 400, "snapshot"},
		{"pod of a replay", "POST", "/v1/decisions/" + id + "/replay", `{"pod":` + pod("x", "-1", "") + `}`, 422, "pod.spec.containers[0].resources.requests[cpu]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			h.T = t
			var headers []string
			if c.status == 415 {
				headers = []string{"Content-Encoding", "gzip"}
			}
			var p exchange.Problem
			a := h.want(c.status, &p, c.method, c.path, c.body, headers...)
			if a.Header.Get("Content-Type") != "application/problem+json" || p.Status != c.status || !strings.HasPrefix(p.Type, "urn:berth:problem:") || p.Title == "" {
				t.Errorf("%v %s", a.Header, a.body)
			}
			if part, ok := strings.CutPrefix(c.field, "~"); ok {
				if !strings.Contains(p.Detail, part) && !strings.Contains(p.Limit, part) {
					t.Errorf("%q is not in %s", part, a.body)
				}
				return
			}
			for _, f := range p.Errors {
				if f.Field == c.field && f.Message != "" && f.Type != "" {
					return
				}
			}
			t.Errorf("%q is not named in %s", c.field, a.body)
		})
	}
	h.T = t
	var l rest.ClusterList
	h.want(200, &l, "GET", "/v1/clusters", "")
	if len(l.Items) != 1 || l.Items[0].Latest != "default@1" || l.Items[0].Decisions != 0 {
		t.Errorf("something came of it: %+v", l)
	}
}

// TestManyAtOnce decides and binds concurrently: each pod ends on a node once, each answer is on
// record.
func TestManyAtOnce(t *testing.T) {
	h := start(t, nil)
	h.upload("default", listOf(node("n1", "64"), node("n2", "64")))
	var group sync.WaitGroup
	ids := make([]string, 60)
	for i := range ids {
		group.Go(func() {
			a := h.do("POST", "/v1/decisions", `{"snapshot":"default@latest","bind":true,"pod":`+pod(fmt.Sprintf("p%d", i), "1", "")+`}`)
			var d decided
			if err := json.Unmarshal(a.body, &d); err != nil || a.StatusCode != 201 && a.StatusCode != 409 {
				t.Errorf("%d %s", a.StatusCode, a.body)
			}
			if a.StatusCode == 201 {
				ids[i] = d.ID
			}
		})
	}
	group.Wait()
	bound := 0
	for _, id := range ids {
		if id != "" {
			bound++
			h.want(200, nil, "GET", "/v1/decisions/"+id, "")
		}
	}
	var c rest.Cluster
	h.want(200, &c, "GET", "/v1/clusters/default", "")
	if c.Revisions != int64(bound+1) || c.Decisions != int64(bound) || bound == 0 {
		t.Errorf("%d bound, %+v", bound, c)
	}
	t.Logf("%d of %d bound at the first try", bound, len(ids))
}

func TestSuggestionsAreTried(t *testing.T) {
	h := start(t, nil)
	h.upload("default", small())
	var d struct {
		Outcome     string
		Suggestions []struct {
			Kind, Change, Target string
			Fits                 int
			Nodes                []string
		}
	}
	h.want(201, &d, "POST", "/v1/decisions", `{"pod":`+pod("new", "1", `,"nodeSelector":{"disk":"ssd"}`)+`,"suggest":true}`)
	if d.Outcome != "Unschedulable" || len(d.Suggestions) == 0 || d.Suggestions[0].Change != "drop disk=ssd from nodeSelector" || d.Suggestions[0].Fits == 0 {
		t.Fatalf("%+v", d)
	}
}
