package handlers

import (
	"slices"
	"strings"
	"testing"

	"berth/internal/handlers/rest"
)

// An upload describes what a caller trips over later, and a change only what it has newly caused:
// it repeated 12 warnings about missing kinds.
func TestHygieneIsSaidOnce(t *testing.T) {
	h := start(t, nil)
	has := func(s rest.Snapshot, words string) bool {
		return slices.ContainsFunc(s.Hygiene.Notes, func(n string) bool { return strings.Contains(n, words) })
	}
	s := h.upload("default", listOf(node("n1", "4"), `{"apiVersion":"v1","kind":"Node","metadata":{"name":"bare"}}`, pod("lost", "1", `,"nodeName":"gone"`),
		priorityClass("a", `,"value":1,"globalDefault":true`), priorityClass("b", `,"value":2,"globalDefault":true`),
		`{"apiVersion":"policy/v1","kind":"PodDisruptionBudget","metadata":{"name":"p","namespace":"shop"},"spec":{"minAvailable":1}}`))
	for _, words := range []string{"1 node(s) have no room", "2 priority classes are the global default", "1 PodDisruptionBudget(s) allow no disruption; one without status", "1 pod is on nodes that the snapshot does not have"} {
		if !has(s, words) {
			t.Errorf("the upload does not say %q: %q", words, s.Hygiene.Notes)
		}
	}
	if len(s.Hygiene.MissingKinds) == 0 {
		t.Error("no kind is missing")
	}
	change := func(body string) (s rest.Snapshot) {
		t.Helper()
		h.want(201, &s, "POST", "/v1/snapshots/default@latest/changes", body)
		return s
	}
	if s := change(`{"apply":[` + pod("web", "1", "") + `]}`); len(s.Hygiene.Notes)+len(s.Hygiene.MissingKinds) > 0 || s.Hygiene.PodsOnUnknownNodes.Count != 1 || s.Hygiene.NodesWithoutCapacity != 1 {
		t.Errorf("a change that causes nothing: %+v", s.Hygiene)
	}
	if s := change(`{"apply":[{"apiVersion":"v1","kind":"Node","metadata":{"name":"bare-too"}}]}`); len(s.Hygiene.Notes) != 1 || !has(s, "2 node(s) have no room") {
		t.Errorf("a second node without capacity: %+v", s.Hygiene)
	}
	if s := change(`{"delete":[{"kind":"Node","name":"bare"},{"kind":"PodDisruptionBudget","namespace":"shop","name":"p"}]}`); len(s.Hygiene.Notes) != 0 || len(s.Hygiene.MissingKinds) != 1 || s.Hygiene.MissingKinds[0].Kind != "PodDisruptionBudget" {
		t.Errorf("the last budget deleted: %+v", s.Hygiene)
	}
	if s := change(`{"apply":[` + pod("big", "3", `,"nodeName":"n1"`) + `]}`); len(s.Hygiene.Notes) != 0 || s.Hygiene.NodesOvercommitted != 0 {
		t.Errorf("a pod that fits: %+v", s.Hygiene)
	}
	if s := change(`{"apply":[` + pod("bigger", "2", `,"nodeName":"n1"`) + `]}`); len(s.Hygiene.Notes) != 1 || !has(s, "1 node(s) hold pods that ask together for more than the node has") || s.Hygiene.NodesOvercommitted != 1 {
		t.Errorf("more than the node has: %+v", s.Hygiene)
	}
	if s := change(`{"delete":[{"kind":"Pod","namespace":"shop","name":"big"}]}`); s.Hygiene.NodesOvercommitted != 0 {
		t.Errorf("after it went: %+v", s.Hygiene)
	}
	// The revision itself has all of it.
	h.want(200, &s, "GET", "/v1/snapshots/default@latest", "")
	if !has(s, "1 node(s) have no room") || len(s.Hygiene.MissingKinds) < 2 {
		t.Errorf("%+v", s.Hygiene)
	}
}
