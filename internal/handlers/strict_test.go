package handlers

import (
	"strings"
	"testing"
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
		var p Problem
		h.want(c.status, &p, "POST", c.path, c.body)
		if len(p.Errors) != 1 || p.Errors[0].Field != c.field || !strings.Contains(p.Errors[0].Message, c.message) || !strings.Contains(p.Detail, c.field) {
			t.Errorf("%s %s: %+v", c.path, c.body, p)
		}
	}
}
