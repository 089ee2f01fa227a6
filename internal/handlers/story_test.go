package handlers

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"berth/internal/decision"
	"berth/internal/decision/record"
	"berth/internal/engine"
	"berth/internal/engine/explain/suggest"
	"berth/internal/engine/state"
	"berth/internal/handlers/exchange"
	"berth/internal/report"
)

func (h *harness) story(path string) report.Story {
	h.Helper()
	var s report.Story
	h.want(200, &s, "GET", "/v1/clusters/prod/pods/"+path, "")
	if n := utf8.RuneCountInString(s.Summary); n == 0 || n > 120 {
		h.Errorf("%s: a summary of %d characters: %s", path, n, s.Summary)
	}
	return s
}

func (h *harness) decide(body string) decision.Answer {
	h.Helper()
	var a decision.Answer
	h.want(201, &a, "POST", "/v1/decisions", body)
	return a
}

func ref(name, more string) string {
	return fmt.Sprintf(`{"snapshot":"prod@latest","podRef":{"namespace":"shop","name":%q}%s}`, name, more)
}

// shop is a cluster in which big fits nowhere, because of three different things.
func shop() string {
	tainted := strings.Replace(node("n3", "8"), `"status"`, `"spec":{"taints":[{"key":"gpu","value":"true","effect":"NoSchedule"}]},"status"`, 1)
	cordoned := strings.Replace(node("n4", "8"), `"status"`, `"spec":{"unschedulable":true},"status"`, 1)
	return listOf(node("n1", "4"), node("n2", "2"), tainted, cordoned,
		waitingPod("first", at(1), `,"priority":9`, ""), waitingPod("older", at(1), "", ""),
		`{"kind":"Pod","apiVersion":"v1","metadata":{"name":"big","namespace":"shop","uid":"b","creationTimestamp":"2026-03-01T00:00:09Z"},"spec":{"containers":[{"name":"c","resources":{"requests":{"cpu":"6"}}}]}}`,
		waitingPod("gated", at(2), `,"schedulingGates":[{"name":"a/b"}],"nodeSelector":{"disk":"ssd"}`, ""),
		waitingPod("theirs", at(3), `,"schedulerName":"theirs"`, ""),
		waitingPod("ended", at(1), `,"nodeName":"n1"`, `"phase":"Succeeded"`))
}

func TestStoryOfAPendingPod(t *testing.T) {
	h := start(t, nil)
	h.upload("prod", shop())
	for range 3 {
		h.decide(ref("big", ""))
	}
	h.want(200, nil, "POST", "/clusters/prod/filter", filterBody(`{"metadata":{"name":"big","namespace":"shop","uid":"b"},"spec":{"containers":[{"name":"c","resources":{"requests":{"cpu":"6"}}}]}}`, "n1", "n2"))
	s := h.story("shop/big")
	if s.State != report.StatePending || s.Snapshot != "prod@1" || s.Summary != "No node fits: 3 of 4 have no taint against it; 2 lack cpu even when empty, 1 is cordoned." {
		t.Errorf("%s %s: %s", s.State, s.Snapshot, s.Summary)
	}
	if d := cmp.Diff(&report.Place{List: "active", Position: 3, Of: 3, HigherPriority: 1, Sooner: 1, Ahead: s.Queue.Ahead, Queue: state.UnschedulablePods, Attempts: 4, NextTry: s.Queue.NextTry}, s.Queue); d != "" || len(s.Queue.Ahead) != 2 || s.Queue.Ahead[0].Name != "first" {
		t.Errorf("queue (-want +got):\n%s", d)
	}
	if s.Readiness == nil || !s.Readiness.Schedulable || s.Binding != nil || s.Nomination != nil || s.Lifecycle == nil || s.Lifecycle.Status != "Pending" {
		t.Errorf("readiness %+v, binding %+v, lifecycle %+v", s.Readiness, s.Binding, s.Lifecycle)
	}
	// Three answers alike are one attempt; the extender's was about two nodes.
	if len(s.Attempts) != 2 || s.Decisions != 4 || s.More {
		t.Fatalf("%d attempts of %d decisions: %+v", len(s.Attempts), s.Decisions, s.Attempts)
	}
	last, first := s.Attempts[0], s.Attempts[1]
	if last.Count != 1 || last.Verbs[0] != "filter" || first.Count != 3 || first.First.After(first.Last) || first.Message != s.Now.Message {
		t.Errorf("attempts %+v", s.Attempts)
	}
	if d := cmp.Diff([]report.Reason{{Plugin: "NodeUnschedulable", Reason: "node(s) were unschedulable", Nodes: 1}, {Plugin: "TaintToleration", Reason: "node(s) had untolerated taint(s)", Nodes: 1}, {Plugin: "NodeResourcesFit", Reason: "Insufficient cpu", Nodes: 2}}, first.Reasons); d != "" {
		t.Errorf("reasons (-want +got):\n%s", d)
	}
	g := s.Now.Groups[0]
	if g.Rule != "NodeResourcesFit" || g.Reason != engine.CauseInsufficientCPU || g.Nodes != 2 || *g.Short != (suggest.Short{Of: "cpu", Unit: "millicores", Min: 2000, Median: 2000, Max: 4000}) ||
		g.Action != suggest.ChangePod || g.Detail != "cpu short by 2..4, median 2" || !cmp.Equal(g.Sample, []string{"n1", "n2"}) {
		t.Errorf("group %+v %+v", g, g.Short)
	}
	var kinds []string
	for _, g := range s.Suggestions {
		cures := "nothing that is there"
		if len(g.Cures) > 0 {
			cures = g.Cures[0].Reason
		}
		kinds = append(kinds, g.Kind+" "+string(g.Action)+" "+cures)
	}
	if d := cmp.Diff([]string{"resource changePod InsufficientCPU", "uncordon askPlatform Cordoned", "node askPlatform nothing that is there", "capacity askPlatform InsufficientCPU", "toleration changePod UntoleratedTaint"}, kinds); d != "" {
		t.Errorf("suggestions (-want +got):\n%s", d)
	}
	if d := cmp.Diff([]suggest.Op{{Op: "replace", Path: "/spec/containers/0/resources/requests/cpu", Value: json.RawMessage(`"4"`)}}, s.Suggestions[0].Edit.Patch); d != "" {
		t.Errorf("patch (-want +got):\n%s", d)
	}
	if s := h.story("shop/big?suggest=false&attempts=1"); s.Suggestions != nil || len(s.Attempts) != 1 || !s.More || s.Now == nil {
		t.Errorf("less was asked for: %+v", s)
	}
	if s := h.story("shop/big?attempts=0"); len(s.Attempts) != 0 || !s.More {
		t.Errorf("no attempts were asked for: %+v", s.Attempts)
	}
}

// A decision explained by groups has groups in place of nodes. They are neither recorded nor part
// of the digest.
func TestDecisionInGroups(t *testing.T) {
	h := start(t, nil)
	h.upload("prod", shop())
	plain, groups := h.decide(ref("big", "")), h.decide(ref("big", `,"explain":"groups"`))
	if plain.Digest != groups.Digest || plain.Groups != nil || groups.Nodes != nil || len(groups.Groups) != 3 {
		t.Errorf("%d groups and %d nodes; digests %s and %s", len(groups.Groups), len(groups.Nodes), plain.Digest, groups.Digest)
	}
	var again record.Recorded
	h.want(200, &again, "GET", "/v1/decisions/"+groups.ID, "")
	if d := cmp.Diff(groups.Groups, again.Groups, cmp.AllowUnexported(suggest.Group{})); d != "" || !again.DigestAgrees {
		t.Errorf("worked out again (-then +now):\n%s", d)
	}
	var r record.Replay
	h.want(200, &r, "POST", "/v1/decisions/"+groups.ID+"/replay", "{}")
	if !r.Identical {
		t.Errorf("the replay differs: %+v", r.Differences)
	}
}

func TestStoryOfOtherPods(t *testing.T) {
	h := start(t, nil)
	h.upload("prod", shop())
	gated := h.story("shop/gated")
	if gated.State != report.StateGated || gated.Summary != "It waits for a scheduling gate: a/b." || gated.Now.Outcome != "Gated" || gated.Readiness.Schedulable ||
		gated.AfterGates == nil || gated.AfterGates.Groups[0].Reason != engine.CauseSelectorNotMatched || gated.Queue.List != "gated" || len(gated.Suggestions) == 0 {
		t.Errorf("gated: %+v after %+v", gated, gated.AfterGates)
	}
	theirs := h.story("shop/theirs")
	if theirs.State != report.StateElsewhere || theirs.Queue != nil || theirs.Now == nil || theirs.Summary != "It waits for the scheduler theirs, which is not one of this server's." {
		t.Errorf("theirs: %+v", theirs)
	}
	ended := h.story("shop/ended")
	if ended.State != report.StateEnded || ended.Now != nil || ended.Binding.Node != "n1" || ended.Binding.Decision != "" || ended.Summary != "It has ended: Succeeded on node n1." {
		t.Errorf("ended: %+v", ended)
	}
	if first := h.story("shop/first"); first.Now.Outcome != "Scheduled" || first.Queue.Position != 1 || first.Suggestions != nil ||
		first.Summary != "It is not placed yet; a decision now puts it on node "+first.Now.Node+" (2 nodes fit)." {
		t.Errorf("first: %+v", first)
	}
}

// A pod that preempted another, from the nomination to the bind, and the one that
// it was for.
func TestStoryOfAPreemption(t *testing.T) {
	h := start(t, nil)
	h.upload("prod", listOf(node("n1", "4"),
		`{"kind":"Pod","apiVersion":"v1","metadata":{"name":"batch","namespace":"shop","uid":"b"},"spec":{"nodeName":"n1","priority":1,"containers":[{"name":"c","resources":{"requests":{"cpu":"3"}}}]},"status":{"phase":"Running"}}`,
		`{"kind":"Pod","apiVersion":"v1","metadata":{"name":"urgent","namespace":"shop","uid":"u"},"spec":{"priority":9,"containers":[{"name":"c","resources":{"requests":{"cpu":"2"}}}]}}`))
	if s := h.story("shop/urgent"); s.Summary != "No node has room; it fits on n1 once 1 pod of lower priority is evicted." || len(s.Now.Victims) != 1 {
		t.Errorf("before: %s", s.Summary)
	}
	d := h.decide(ref("urgent", `,"bind":true`))
	s := h.story("shop/urgent")
	if s.State != report.StateNominated || s.Nomination == nil || s.Nomination.Node != "n1" || s.Nomination.Since == nil || len(s.Nomination.WaitsFor) != 1 || len(s.Evicted) != 1 ||
		s.Evicted[0].Decision != d.ID || s.Summary != "It waits for node n1 until a preempted pod is gone." {
		t.Errorf("nominated: %+v %+v", s, s.Nomination)
	}
	victim := h.story("shop/batch")
	if victim.State != report.StateBound || len(victim.EvictedFor) != 1 || victim.EvictedFor[0].For.Name != "urgent" || !victim.EvictedFor[0].Victims[0].There || victim.Lifecycle == nil {
		t.Errorf("the victim: %+v", victim)
	}
	h.want(201, nil, "POST", "/v1/snapshots/prod@latest/changes", `{"delete":[{"kind":"Pod","namespace":"shop","name":"batch"}]}`)
	bound := h.decide(ref("urgent", `,"bind":true`))
	s = h.story("shop/urgent")
	if s.State != report.StateBound || s.Binding.Decision != bound.ID || s.Binding.Snapshot != bound.BoundSnapshot || s.Now != nil || s.Nomination != nil || s.Evicted[0].Victims[0].There || len(s.Attempts) != 2 {
		t.Errorf("bound: %+v %+v", s, s.Binding)
	}
	h.want(201, nil, "POST", "/v1/snapshots/prod@latest/changes", `{"delete":[{"kind":"Pod","namespace":"shop","name":"urgent"}]}`)
	s = h.story("shop/urgent")
	if s.State != report.StateGone || s.Pod.UID != "u" || len(s.Attempts) != 2 || s.Binding.Node != "n1" || s.Lifecycle != nil || !strings.HasPrefix(s.Summary, "It is no longer in prod@5; the last record, ") {
		t.Errorf("gone: %+v", s)
	}
	// No decision was ever requested for the victim, and it is gone: it is known as a victim.
	if s = h.story("shop/batch"); s.State != report.StateGone || len(s.EvictedFor) != 1 || !strings.HasPrefix(s.Summary, "It is no longer in prod@5; it was a victim of shop/urgent, ") {
		t.Errorf("the victim is gone: %+v", s)
	}
	var p exchange.Problem
	h.want(404, &p, "GET", "/v1/clusters/prod/pods/shop/nobody", "")
	if p.Detail != "pod shop/nobody is not in prod@5, the newest snapshot, nor in the decisions on record of cluster prod" {
		t.Errorf("%+v", p)
	}
}

func TestStoryRefusals(t *testing.T) {
	h := start(t, nil)
	h.upload("prod", shop())
	for path, status := range map[string]int{
		"prod/pods/shop/none": 404, "other/pods/shop/big": 404, "UPPER%20/pods/shop/big": 400,
		"prod/pods/shop/big?attempts=x": 400, "prod/pods/shop/big?attempts=-1": 400, "prod/pods/shop/big?attempts=101": 400, "prod/pods/shop/big?attempts=": 400,
		"prod/pods/shop/big?suggest=maybe": 400, "prod/pods/shop/big?suggest=": 400, "prod/pods/shop/big?other=1": 400, "prod/pods/shop/big?suggest=false&suggest=true": 400,
	} {
		h.want(status, nil, "GET", "/v1/clusters/"+path, "")
	}
}
