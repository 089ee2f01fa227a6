package handlers

import (
	"net/http"
	"strings"
	"testing"
)

// What is not there is named, with what was meant.
func TestMissing(t *testing.T) {
	h := start(t, nil)
	h.want(http.StatusCreated, nil, http.MethodPost, "/v1/snapshots?cluster=prod", small())
	for address, want := range map[string]string{
		"/v1/decisions/":                        "did you mean /v1/decisions, without the slash",
		"/v1/nothing/":                          "/docs lists what there is",
		"/v1/clusters/prd":                      `there is no cluster \"prd\": did you mean prod?`,
		"/v1/decisions?cluster=other":           `there is no cluster \"other\"; there are: prod`,
		"/v1/decisions?cluster=other&after=0":   `there is no cluster \"other\"; there are: prod`,
		"/v1/queries/decisions?cluster=other":   `there is no cluster \"other\"; there are: prod`,
		"/v1/replays?cluster=other":             `there is no cluster \"other\"; there are: prod`,
		"/v1/simulations?cluster=other&limit=3": `there is no cluster \"other\"; there are: prod`,
	} {
		if got := h.want(http.StatusNotFound, nil, http.MethodGet, address, ""); !strings.Contains(string(got.body), want) {
			t.Errorf("%s: %s, want %q", address, got.body, want)
		}
	}
	for _, address := range []string{"/v1/decisions?cluster=prod", "/v1/decisions?cluster=prod&after=0", "/v1/queries/decisions?cluster=prod", "/v1/replays?cluster=prod", "/v1/decisions"} {
		h.want(http.StatusOK, nil, http.MethodGet, address, "")
	}
}

// A pod that is there has containers, and a value of the wrong form is told the right one.
func TestNamedFields(t *testing.T) {
	h := start(t, nil)
	h.want(http.StatusCreated, nil, http.MethodPost, "/v1/snapshots?cluster=prod", small())
	for _, c := range []struct{ path, body, want string }{
		{"/v1/pods/termination", `{"cause":"delete","pod":{}}`, "pod.spec.containers: a pod has one container at least"},
		{
			"/v1/pods/termination", `{"cause":"delete","pod":{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"a"},"spec":{"template":{"spec":{}}}}}`,
			"pod.spec.template.spec.containers: a pod has one container at least",
		},
		{"/v1/pods/lifecycle", `{"pod":{}}`, "pod.spec.containers: a pod has one container at least"},
		{"/v1/nodes/eviction-ranking", `{"signal":"memory.available","pods":[{"pod":{}}]}`, "pods[0].pod.spec.containers: a pod has one container at least"},
		{"/v1/clusters/prod/pools", `{"pools":[{"like":"a","cost":"3"}]}`, "pools[0].cost: want a number, not a string"},
	} {
		if got := h.want(http.StatusBadRequest, nil, http.MethodPost, c.path, c.body); !strings.Contains(string(got.body), c.want) {
			t.Errorf("%s %s: %s, want %q", c.path, c.body, got.body, c.want)
		}
	}
}
