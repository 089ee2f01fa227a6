package handlers

import (
	"fmt"
	"strings"
	"testing"

	"berth/internal/handlers/exchange"
	"berth/internal/handlers/rest"
)

// What cannot be decoded is named with its place, and with what would be right.
func TestRefusalsNameTheField(t *testing.T) {
	h := start(t, nil)
	h.upload("default", small())
	const bare = `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{"containers":[{"name":"c"}]}}`
	const at = "want a time as RFC 3339 has it"
	typo := strings.Replace(bare, `"Pod"`, `"Deploymnt"`, 1)
	nul := strings.Replace(bare, `"name":"p"`, `"name":"p","uid":"a\u0000b"`, 1)
	used := func(more string) string { return `"pods":[{"pod":` + bare + `,"usage":{` + more + `}}]` }
	for _, c := range []struct {
		path, body, field, message string
		status                     int
	}{
		{"/v1/nodes/eviction-ranking", `{"signal":"memory",` + used(`"memroy":"1Gi"`) + `}`, "pods[0].usage.memroy", "did you mean memory?", 400},
		{"/v1/nodes/eviction", `{"signals":{},` + used(`"disk":"1Gi"`) + `}`, "pods[0].usage.disk", "ephemeral-storage", 400},
		{"/v1/pods/lifecycle", `{"pod":` + bare + `,"now":1}`, "now", at, 400},
		{"/v1/pods/lifecycle", `{"pod":` + bare + `,"nodeLostSince":true}`, "nodeLostSince", at, 400},
		{"/v1/pods/lifecycle", `{"pod":` + bare + `,"events":[{},{"at":"soon"}]}`, "events[1].at", at, 400},
		{"/v1/pods/lifecycle", `{"pod":{"metadata":{"name":"p","creationTimestamp":5}}}`, "pod.metadata.creationTimestamp", at, 400},
		{"/v1/pods/termination", `{"pod":` + bare + `,"cause":"delete","now":1}`, "now", at, 400},
		{"/v1/pods/admission", `{"operation":"CREATE","pod":` + bare + `,"now":{}}`, "now", at, 400},
		{"/v1/decisions", `{"pod":` + bare + `,"now":1}`, "now", at, 400},
		{"/v1/clusters/default/garbage", `{"now":1}`, "now", at, 400},
		{"/v1/nodes/eviction", `{"signals":{},"pods":[],"now":1}`, "now", at, 400},
		{"/v1/nodes/eviction", `{"signals":{"memory.available":{"available":"1Gi","since":1}},"pods":[]}`, "signals[memory.available].since", at, 400},
		{"/v1/pods/lifecycle", `{"pod":` + typo + `}`, "pod.kind", "did you mean Deployment?", 400},
		{"/v1/decisions", `{"pod":` + typo + `}`, "pod.kind", "did you mean Deployment?", 422},
		{"/v1/decisions", `{"pod":` + typo + `}`, "pod.kind", `"StatefulSet"`, 422},
		{"/v1/priorityclasses", bare, "kind", "want PriorityClass", 400},
		{"/v1/snapshots/default@latest/changes", `{"delete":[{"kind":"Pod","name":"p","gracePeriodSeconds":"30"}]}`, "delete[0].gracePeriodSeconds", "want an integer, not a string", 400},
		{"/v1/pods/admission", bare, "pod", "belongs into the field pod", 400},
		{"/v1/pods/lifecycle", bare, "pod", "belongs into the field pod", 400},
		{"/v1/pods/termination", bare, "pod", "belongs into the field pod", 400},
		{"/v1/decisions", bare, "pod", "belongs into the field pod", 400},
		{"/v1/snapshots/default@latest/changes", bare, "apply", "belongs into the field apply", 400},
		{"/v1/pods/lifecycle", `{"pod":` + nul + `}`, "pod.metadata.uid", "must not hold a NUL", 400},
		{"/v1/pods/termination", `{"cause":"delete","pod":` + nul + `}`, "pod.metadata.uid", "must not hold a NUL", 400},
		{"/v1/pods/admission", `{"operation":"CREATE","pod":` + nul + `}`, "pod.metadata.uid", "must not hold a NUL", 400},
	} {
		var p exchange.Problem
		h.want(c.status, &p, "POST", c.path, c.body)
		if len(p.Errors) != 1 || p.Errors[0].Field != c.field || !strings.Contains(p.Errors[0].Message, c.message) || !strings.Contains(p.Detail, c.field) {
			t.Errorf("%s %s: %+v", c.path, c.body, p)
		}
	}
}

// What a call leaves out is taken from default, and is told where that could surprise.
func TestWhatIsLeftOutIsTold(t *testing.T) {
	h := start(t, nil)
	var s rest.Snapshot
	if h.want(201, &s, "POST", "/v1/snapshots", listOf(node("n", "4"), `{"kind":"Pod","apiVersion":"v1","metadata":{"name":"w"},"spec":{"containers":[{"name":"c"}]}}`)); len(s.Warnings) != 1 || !strings.Contains(s.Warnings[0], "cluster default") {
		t.Errorf("upload without a cluster: %q", s.Warnings)
	}
	var list rest.ObjectList
	if h.want(200, &list, "GET", "/v1/snapshots/default@1/objects?kind=Pod&name=w", ""); len(list.Items) != 1 {
		t.Errorf("without a namespace: %d pods", len(list.Items))
	}
	if h.want(200, &list, "GET", "/v1/snapshots/default@1/objects?kind=Node&name=n", ""); len(list.Items) != 1 {
		t.Errorf("a node: %d", len(list.Items))
	}
	var ad rest.Admission
	if h.want(200, &ad, "POST", "/v1/pods/admission", `{"cluster":"nowhere","operation":"CREATE","pod":`+pod("p", "1", "")+`}`); len(ad.Warnings) != 1 || !strings.Contains(ad.Warnings[0], `"nowhere" has no snapshot`) {
		t.Errorf("admission: %q", ad.Warnings)
	}
}

// The answer of GET …/objects is an upload, in whatever size; a page of it is not.
func TestObjectsArePostedBack(t *testing.T) {
	h := start(t, nil)
	for _, n := range []int{1, 100} {
		var items []string
		for i := range n {
			items = append(items, node(fmt.Sprintf("n%d", i), "4"))
		}
		was := h.upload("prod", listOf(items...))
		back := h.want(200, nil, "GET", "/v1/snapshots/prod@latest/objects", "")
		var s rest.Snapshot
		h.want(201, &s, "POST", fmt.Sprintf("/v1/snapshots?cluster=copy%d", n), string(back.body))
		if s.Digest != was.Digest {
			t.Errorf("%d nodes: digest %s, want %s", n, s.Digest, was.Digest)
		}
	}
	page := h.want(200, nil, "GET", "/v1/snapshots/prod@latest/objects?limit=50", "")
	var p exchange.Problem
	if h.want(400, &p, "POST", "/v1/snapshots?cluster=part", string(page.body)); !strings.Contains(p.Detail, "it is one page") {
		t.Errorf("a page: %+v", p)
	}
}
