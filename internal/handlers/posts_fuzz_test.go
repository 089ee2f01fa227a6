package handlers

import (
	"net/http"
	"testing"
)

// FuzzPosts puts bodies, as JSON and as YAML, to the routes whose bodies have no fuzz target of
// their own. Whatever a body holds, the answer is the route's or a problem that blames the body,
// and never a fault of the server's.
func FuzzPosts(f *testing.F) {
	routes := []postSeed{
		{"/v1/pods/lifecycle", `{"pod":` + pod("p", "1", `,"restartPolicy":"Always"`) + `,"events":[{"at":"2026-01-31T12:00:00Z","container":"c","exitCode":1}],"now":"2026-01-31T12:00:00Z"}`},
		{"/v1/pods/termination", `{"pod":` + pod("p", "1", `,"nodeName":"n1"`) + `,"cause":"delete","node":` + node("n1", "4") + `}`},
		{"/v1/pods/admission", `{"pod":` + pod("p", "1", "") + `,"node":` + node("n1", "4") + `,"pods":[]}`},
		{"/v1/nodes/eviction-ranking", `{"signal":"memory.available","pods":[{"pod":` + pod("p", "1", "") + `,"usage":"1Gi"}]}`},
		{"/v1/nodes/eviction", `{"node":` + node("n1", "4") + `,"pods":[],"kubelet":{"evictionHard":{"memory.available":"100Mi"}},"samples":[]}`},
		{"/v1/priorityclasses?cluster=default", `{"apiVersion":"scheduling.k8s.io/v1","kind":"PriorityClass","metadata":{"name":"high"},"value":1000}`},
		{"/v1/replays", `{"cluster":"default","snapshot":"default@1"}`},
		{"/v1/decisions/0/replay", `{"pod":` + pod("p", "1", "") + `,"snapshot":"default@1"}`},
		{"/v1/clusters/default/garbage", `{"now":"2026-01-31T12:00:00Z"}`},
	}
	fuzzPosts(f, routes, "pod: &a\n  metadata: {name: p}\n  spec: *a\n")
}

// postSeed is a route of a POST and a body to begin with.
type postSeed struct{ path, seed string }

// fuzzPosts posts bodies to the routes, as JSON and as YAML. yaml is one more body of the first
// route.
func fuzzPosts(f *testing.F, routes []postSeed, yaml string) {
	ask := fuzzServer(f)
	for i, route := range routes {
		f.Add(uint8(i), false, route.seed)
		f.Add(uint8(i), true, route.seed) // JSON is YAML
	}
	f.Add(uint8(0), true, yaml)
	f.Fuzz(func(t *testing.T, n uint8, yaml bool, body string) {
		path, media := routes[int(n)%len(routes)].path, "application/json"
		if yaml {
			media = "application/yaml"
		}
		blamed(t, path+" as "+media, ask(http.MethodPost, path, media, body))
	})
}
