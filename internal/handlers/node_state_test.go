package handlers

import (
	"slices"
	"strings"
	"testing"

	"berth/internal/handlers/rest"
	"berth/internal/scenario"
)

// A node that is not Ready is told of wherever nodes are named: in hygiene, in the list of nodes,
// in the capacity, of which it is no room, and in the story of a pod that is on it.
func TestStateOfNodes(t *testing.T) {
	h := start(t, nil)
	status := func(name, spec, conditions string) string {
		return `{"apiVersion":"v1","kind":"Node","metadata":{"name":"` + name + `"},"spec":{` + spec + `},"status":{"allocatable":{"cpu":"4","memory":"8Gi","pods":"10"},"conditions":[` + conditions + `]}}`
	}
	const ready = `{"type":"Ready","status":"True","lastTransitionTime":"2026-01-01T00:00:00Z"}`
	const lost = `{"type":"Ready","status":"Unknown","lastTransitionTime":"2026-01-02T00:58:00Z"}`
	on := func(name, node, meta string) string {
		return `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"` + name + `","namespace":"shop"` + meta + `},"spec":{"nodeName":"` + node + `","containers":[{"name":"c","image":"i","resources":{"requests":{"cpu":"1"}}}]},"status":{"phase":"Running"}}`
	}
	s := h.upload("prod", listOf(
		status("dead", "", lost), status("full", `"unschedulable":true`, ready+`,{"type":"MemoryPressure","status":"True"}`), status("well", "", ready),
		on("web", "dead", ""), on("late", "well", `,"deletionTimestamp":"2026-01-02T01:00:00Z","deletionGracePeriodSeconds":30`), on("other", "well", ""),
	))
	for _, note := range []string{"1 node(s) are NotReady: dead", "1 node(s) are cordoned: full"} {
		if !slices.Contains(s.Hygiene.Notes, note) {
			t.Errorf("no %q: %q", note, s.Hygiene.Notes)
		}
	}
	var again rest.Snapshot
	h.want(201, &again, "POST", "/v1/snapshots/prod@latest/changes", `{"apply":[`+on("more", "well", "")+`]}`)
	if len(again.Hygiene.Notes) != 0 || again.Hygiene.NodesNotReady.Count != 1 {
		t.Errorf("a change that breaks no node: %+v", again.Hygiene)
	}
	var nodes scenario.NodesUse
	h.want(200, &nodes, "GET", "/v1/clusters/prod/nodes", "")
	for i, want := range []string{"NotReady 2026-01-02 00:58 []", "Ready 2026-01-01 00:00 [MemoryPressure]", "Ready 2026-01-01 00:00 []"} {
		n := &nodes.Nodes[i]
		if got := n.State + " " + n.Since.Format("2006-01-02 15:04") + " [" + strings.Join(n.Conditions, " ") + "]"; got != want {
			t.Errorf("%s: %s, want %s", n.Name, got, want)
		}
	}
	var c scenario.Capacity
	h.want(200, &c, "GET", "/v1/clusters/prod/capacity", "")
	if c.Nodes.NotReady != 1 || c.Nodes.Cordoned != 1 || c.Resources[0].Free != 1000 || c.Shapes[0].Room != 1 {
		t.Errorf("%+v", c)
	}
	for pod, want := range map[string]string{
		"web":   "It is on node dead, which is NotReady since 00:58:00: Running.",
		"other": "It is on node well: Running.",
		"late":  "It is overdue by 22m on node well: it was to be gone at 01:00:00.",
	} {
		if got := h.story("shop/" + pod + "?now=2026-01-02T01:22:00Z").Summary; got != want {
			t.Errorf("%s: %s, want %s", pod, got, want)
		}
	}
}
