package handlers

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"berth/internal/decision"
	"berth/internal/engine"
)

// TestNamespaces has a team of namespace shop in a cluster where others have pods too.
func TestNamespaces(t *testing.T) {
	g := startGuarded(t)
	secret := strings.ReplaceAll(strings.ReplaceAll(pod("secret", "3", `,"nodeName":"n1","priority":-5,"affinity":{"podAntiAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[{"topologyKey":"kubernetes.io/hostname","labelSelector":{"matchLabels":{"hush":"hush"}},"namespaceSelector":{}}]}}`), `"shop"`, `"vault"`), "uid-secret", "uid-secret")
	own := pod("own", "500m", `,"nodeName":"n1","priority":-5`)
	g.upload("prod", listOf(node("n1", "4"), secret, own))
	team := bearing(g.token("team", "binder", "prod", "shop"))
	all := bearing(g.token("all", "binder", "prod", "*"))

	ask := func(who identity, about string) (int, string) {
		w := g.as(who, "POST", "/v1/decisions", `{"snapshot":"prod@latest","explain":"full","suggest":true,"pod":`+about+`}`)
		return w.Code, w.Body.String()
	}
	big := pod("big", "4", `,"priority":100`)
	code, text := ask(all, big)
	if code != http.StatusCreated || !strings.Contains(text, "secret") {
		t.Fatalf("a caller of all namespaces: %d %s", code, text)
	}
	code, text = ask(team, big)
	var ans decision.Answer
	if err := json.Unmarshal([]byte(text), &ans); err != nil || code != http.StatusCreated {
		t.Fatalf("%d %v %s", code, err, text)
	}
	if strings.Contains(text, "secret") || strings.Contains(text, "vault") || !strings.Contains(text, "victims: 1 pods of other namespaces") || len(ans.Preemption.Victims) != 1 || ans.Preemption.Victims[0].Name != "own" {
		t.Errorf("victims: %s", text)
	}
	w := g.as(team, "GET", "/v1/decisions/"+ans.ID, "")
	if w.Code != http.StatusOK || strings.Contains(w.Body.String(), "secret") || !strings.Contains(w.Body.String(), `"digestAgrees":true`) {
		t.Errorf("the record: %d %s", w.Code, w.Body)
	}
	hush := strings.Replace(pod("hush", "100m", ""), `"name":"hush"`, `"name":"hush","labels":{"hush":"hush"}`, 1)
	if _, text := ask(all, hush); !strings.Contains(text, `hush in (hush)`) && !strings.Contains(text, "hush=hush") {
		t.Errorf("the anti-affinity of another pod is not explained: %s", text)
	}
	if code, text := ask(team, hush); code != http.StatusCreated || strings.Contains(text, "hush in") || strings.Contains(text, "hush=hush") || !strings.Contains(text, "existingAntiAffinity") {
		t.Errorf("the term of another pod: %d %s", code, text)
	}
	if code, text := ask(team, secret); code != http.StatusForbidden {
		t.Errorf("a pod of another namespace: %d %s", code, text)
	}
	for body, want := range map[string]int{
		`{"snapshot":"prod@latest","podRef":{"namespace":"vault","name":"secret"}}`:           http.StatusForbidden,
		`{"snapshot":"prod@latest","podRef":{"namespace":"vault","name":"nosuch"}}`:           http.StatusForbidden,
		`{"snapshot":"prod@latest","podRef":{"namespace":"shop","name":"own"},"dryRun":true}`: http.StatusOK,
		`{"snapshot":"prod@latest","bind":true,"pod":` + secret + `}`:                         http.StatusForbidden,
		`{"snapshot":"prod@latest","bind":true,"pod":` + pod("tiny", "100m", "") + `}`:        http.StatusCreated,
	} {
		if w := g.as(team, "POST", "/v1/decisions", body); w.Code != want {
			t.Errorf("%s: %d %s", body, w.Code, w.Body)
		}
	}
	for _, how := range []string{`,"dryRun":true`, `,"bind":true`} { // with the default explanation
		w := g.as(team, "POST", "/v1/decisions", `{"snapshot":"prod@latest"`+how+`,"pod":`+big+`}`)
		if text := w.Body.String(); w.Code >= 300 || strings.Contains(text, "secret") || strings.Contains(text, "vault") || !strings.Contains(text, "victims: 1 pods of other namespaces") {
			t.Errorf("victims with %s: %d %s", how, w.Code, text)
		}
	}
	g.as(all, "POST", "/v1/decisions", `{"snapshot":"prod@latest","podRef":{"namespace":"vault","name":"secret"}}`)
	for _, path := range []string{"/v1/decisions?cluster=prod", "/v1/decisions?cluster=prod&after=0", "/v1/decisions"} {
		w := g.as(team, "GET", path, "")
		if w.Code != http.StatusOK || strings.Contains(w.Body.String(), "vault") || !strings.Contains(w.Body.String(), `"big"`) {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
	}
	waiting := listOf(node("n1", "4"), strings.ReplaceAll(pod("hidden", "1", ""), `"shop"`, `"vault"`), pod("ours", "1", ""))
	if w := g.as(bearing(g.token("root", "admin", "*", "*")), "POST", "/v1/snapshots?cluster=prod", waiting); w.Code != http.StatusCreated {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	for path, want := range map[string]int{
		"/v1/clusters/prod/queue": http.StatusOK,
		"/v1/snapshots/prod@latest/objects?kind=Pod&namespace=shop&name=ours":    http.StatusOK,
		"/v1/snapshots/prod@latest/objects?kind=Pod&namespace=vault&name=hidden": http.StatusForbidden,
		"/v1/snapshots/prod@latest/objects?kind=Pod&namespace=vault&name=nosuch": http.StatusForbidden,
		"/v1/snapshots/prod@latest/objects?kind=Node&name=n1":                    http.StatusForbidden,
	} {
		w := g.as(team, "GET", path, "")
		if w.Code != want || want == http.StatusOK && (!strings.Contains(w.Body.String(), "ours") || strings.Contains(w.Body.String(), "hidden")) {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
	}
	for _, path := range []string{"/v1/clusters/prod/nodes", "/v1/clusters/prod/nodes/n1", "/v1/clusters/prod/capacity", "/v1/clusters/prod/classes", "/v1/snapshots/prod@1", "/v1/queries/unschedulable-pods?cluster=prod"} {
		if w := g.as(team, "GET", path, ""); w.Code != http.StatusForbidden {
			t.Errorf("%s, which shows all namespaces: %d %s", path, w.Code, w.Body)
		}
	}
}

// TestBlockersOfOthersAreCounted: what a rejection names of namespaces that the caller may not see
// is counted with what is left out, at each level, and a caller who sees all has the names.
func TestBlockersOfOthersAreCounted(t *testing.T) {
	g := startGuarded(t)
	secret := strings.ReplaceAll(pod("secret", "3", `,"nodeName":"n1"`), `"shop"`, `"vault"`)
	g.upload("prod", listOf(node("n1", "4"), secret, pod("own", "500m", `,"nodeName":"n1"`)))
	team, all := bearing(g.token("team", "binder", "prod", "shop")), bearing(g.token("all", "binder", "prod", "*"))
	for _, level := range []string{"failures", "full", "all", "groups"} {
		ask := func(who identity) (*decision.Answer, string) {
			w := g.as(who, "POST", "/v1/decisions", `{"snapshot":"prod@latest","dryRun":true,"explain":"`+level+`","pod":`+pod("big", "2", "")+`}`)
			var ans decision.Answer
			if err := json.Unmarshal(w.Body.Bytes(), &ans); err != nil || w.Code != http.StatusOK {
				t.Fatalf("%s: %d %v %s", level, w.Code, err, w.Body)
			}
			return &ans, w.Body.String()
		}
		detail := func(a *decision.Answer) *engine.Detail {
			if level == "groups" {
				return &a.Groups[0].Nearest.Detail
			}
			return &a.Nodes[0].Details[0]
		}
		ans, text := ask(all)
		if d := detail(ans); len(d.Blockers) != 2 || d.Blockers[0].Name != "secret" || d.BlockersOmitted != 0 {
			t.Errorf("%s, seen by all: %s", level, text)
		}
		ans, text = ask(team)
		if d := detail(ans); len(d.Blockers) != 1 || d.Blockers[0].Name != "own" || d.BlockersOmitted != 1 || strings.Contains(text, "vault") || strings.Contains(text, "secret") {
			t.Errorf("%s, seen by a team: %s", level, text)
		}
	}
}

// TestTermsOfOthersInScores: what the terms of other pods add to a score is told, and their words
// to who may see those pods.
func TestTermsOfOthersInScores(t *testing.T) {
	g := startGuarded(t)
	away := `,"nodeName":"n1","affinity":{"podAntiAffinity":{"preferredDuringSchedulingIgnoredDuringExecution":[{"weight":9,"podAffinityTerm":{"topologyKey":"kubernetes.io/hostname","namespaceSelector":{},"labelSelector":{"matchExpressions":[{"key":"classified","operator":"DoesNotExist"}]}}}]}}`
	g.upload("prod", listOf(node("n1", "4"), node("n2", "4"), strings.ReplaceAll(pod("secret", "1", away), `"shop"`, `"vault"`)))
	for who, sees := range map[string]bool{g.token("all", "binder", "prod", "*"): true, g.token("team", "binder", "prod", "shop"): false} {
		w := g.as(bearing(who), "POST", "/v1/decisions", `{"snapshot":"prod@latest","dryRun":true,"explain":"all","pod":`+pod("p", "1", "")+`}`)
		if text := w.Body.String(); !strings.Contains(text, `"by":"othersPodAntiAffinity","topologyKey":"kubernetes.io/hostname"`) || !strings.Contains(text, `"weight":-9,"points":-9`) || strings.Contains(text, "classified") != sees {
			t.Errorf("sees all %v: %s", sees, text)
		}
	}
}

// TestEarlierVictimsOfOthers: of the pods that a pod had evicted and that are still there, those of
// other namespaces are counted.
func TestEarlierVictimsOfOthers(t *testing.T) {
	g := startGuarded(t)
	ends := func(name string) string {
		p := pod(name, "1", `,"nodeName":"n1","priority":0`)
		p = strings.Replace(p, `"spec"`, `"status":{"phase":"Running","conditions":[{"type":"DisruptionTarget","status":"True","reason":"PreemptionByScheduler"}]},"spec"`, 1)
		return strings.Replace(p, `"name":`, `"deletionTimestamp":"2026-01-01T00:00:00Z","deletionGracePeriodSeconds":30,"name":`, 1)
	}
	g.upload("prod", listOf(node("n1", "4"), strings.ReplaceAll(ends("secret"), `"shop"`, `"vault"`), ends("own")))
	big := strings.Replace(pod("big", "3", `,"priority":10`), `"spec"`, `"status":{"nominatedNodeName":"n1"},"spec"`, 1)
	for who, want := range map[string]int{g.token("all", "binder", "prod", "*"): 2, g.token("team", "binder", "prod", "shop"): 1} {
		w := g.as(bearing(who), "POST", "/v1/decisions", `{"snapshot":"prod@latest","dryRun":true,"pod":`+big+`}`)
		var ans decision.Answer
		if err := json.Unmarshal(w.Body.Bytes(), &ans); err != nil || ans.Preemption == nil {
			t.Fatalf("%d %v %s", w.Code, err, w.Body)
		}
		if text := w.Body.String(); len(ans.Preemption.WaitsFor) != want || strings.Contains(text, "secret") != (want == 2) || strings.Contains(text, "earlier victims: 1 pods of other namespaces") != (want == 1) {
			t.Errorf("want %d: %s", want, text)
		}
	}
}
