package handlers

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"berth/internal/blame"
	"berth/internal/handlers/admit"
	"berth/internal/handlers/exchange"
	"berth/internal/kube/object"
)

// TestBlame has room taken by a bind of one caller and given back by a deletion of another, and
// asks as one who sees all and one who sees a namespace.
func TestBlame(t *testing.T) {
	g := startGuarded(t)
	theirs := strings.ReplaceAll(pod("j-17", "2", ""), `"shop"`, `"batch"`)
	g.upload("prod", listOf(node("n1", "4"), pod("web", "3", ""), theirs))
	all, team := bearing(g.token("scheduler", "admin", "prod", "*")), bearing(g.token("team", "viewer", "prod", "shop"))
	stranger := bearing(g.token("stranger", "viewer", "prod", "other"))
	if w := g.as(all, "POST", "/v1/decisions", `{"snapshot":"prod@latest","podRef":{"namespace":"batch","name":"j-17"},"bind":true}`); w.Code != http.StatusCreated {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	if w := g.as(all, "POST", "/v1/snapshots/prod@latest/changes", `{"delete":[{"kind":"Pod","namespace":"batch","name":"j-17"}]}`); w.Code != http.StatusCreated {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	ask := func(who identity, query string) (b blame.Blame) {
		t.Helper()
		w := g.as(who, "GET", "/v1/clusters/prod/pods/shop/web/blame"+query, "")
		if err := json.Unmarshal(w.Body.Bytes(), &b); err != nil || w.Code != http.StatusOK {
			t.Fatalf("%s: %d %s", query, w.Code, w.Body)
		}
		return b
	}
	b := ask(all, "")
	if b.Revisions != 3 || b.Outcome != "Scheduled" || len(b.Turns) != 2 {
		t.Fatalf("%+v", b)
	}
	x := b.Turns[1]
	if x.Snapshot != "prod@2" || x.From != "Scheduled" || x.To != "Unschedulable" || x.By != "token:scheduler" ||
		x.Change != (blame.Change{Verb: "bind", Kind: "Pod", Namespace: "batch", Name: "j-17", Node: "n1"}) ||
		!strings.HasPrefix(x.Message, "would have fit until prod@2, ") || !strings.Contains(x.Message, ", when batch/j-17 was bound to n1 (token:scheduler)") {
		t.Errorf("%+v", x)
	}
	if b := ask(all, "?since=prod@2&until=prod@2"); b.Revisions != 1 || b.Outcome != "Unschedulable" || len(b.Turns) != 0 {
		t.Errorf("one revision: %+v", b)
	}
	if b := ask(all, "?node=n1&until=prod@2"); b.Outcome != "NodeResourcesFit" || len(b.Turns) != 1 || b.Turns[0].From != "fits" {
		t.Errorf("one node: %+v", b)
	}
	if b := ask(all, "?count=9"); b.Outcome != "1" || len(b.Turns) != 2 || b.Turns[0].From != "0" {
		t.Errorf("a count: %+v", b)
	}
	b = ask(team, "")
	text := b.Turns[0].Message + b.Turns[1].Message
	if len(b.Turns) != 2 || strings.Contains(text, "j-17") || strings.Contains(text, "batch") || !strings.Contains(text, "a pod of another namespace was bound to n1") ||
		b.Turns[1].Change != (blame.Change{Verb: "bind", Kind: "Pod", Node: "n1"}) {
		t.Errorf("a caller of one namespace: %+v", b)
	}
	if w := g.as(stranger, "GET", "/v1/clusters/prod/pods/shop/web/blame", ""); w.Code != http.StatusForbidden {
		t.Errorf("a caller of another namespace: %d %s", w.Code, w.Body)
	}
}

// TestBlameOfAFollowedCluster: changes without a caller come from the API server.
func TestBlameOfAFollowedCluster(t *testing.T) {
	h := start(t, func(o *admit.Options) { o.Followed = func(cluster string) bool { return cluster == "prod" } })
	change := func(list ...string) {
		t.Helper()
		var objects []object.Object
		for _, js := range list {
			o, err := object.Decode([]byte(js), object.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			objects = append(objects, o)
		}
		if _, err := h.m.Change(t.Context(), "prod", 0, objects, nil); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, err := h.m.Upload(t.Context(), "prod", func(yield func(object.Object) error) (map[string]int, error) { return nil, nil }); err != nil {
		t.Fatal(err)
	}
	change(node("n1", "4"), pod("web", "3", ""))
	change(node("n1", "2"))
	var b blame.Blame
	h.want(200, &b, "GET", "/v1/clusters/prod/pods/shop/web/blame", "")
	if len(b.Turns) != 2 || b.Turns[0].Change != (blame.Change{Verb: "watch", Kind: "Node", Name: "n1"}) || b.Turns[0].By != "" {
		t.Errorf("%+v", b)
	}
}

// TestBlameRefuses names the field at fault.
func TestBlameRefuses(t *testing.T) {
	h := start(t, nil)
	h.upload("prod", listOf(node("n1", "4"), pod("web", "3", "")))
	for _, c := range []struct {
		status      int
		path, field string
	}{
		{400, "prod/pods/shop/web/blame?count=0", "count"},
		{400, "prod/pods/shop/web/blame?count=many", "count"},
		{400, "prod/pods/shop/web/blame?count=1001", "count"},
		{400, "prod/pods/shop/web/blame?count=3&node=n1", "count"},
		{400, "prod/pods/shop/web/blame?since=yesterday", "since"},
		{400, "prod/pods/shop/web/blame?since=other@1", "since"},
		{400, "prod/pods/shop/web/blame?until=", "until"},
		{400, "prod/pods/shop/web/blame?since=prod@2&until=prod@1", "until"},
		{400, "prod/pods/shop/web/blame?since=2026-01-02T00:00:00Z&until=2026-01-01T00:00:00Z", "until"},
		{400, "NO/pods/shop/web/blame", "cluster"},
		{404, "prod/pods/shop/web/blame?until=prod@9", "until"},
		{404, "prod/pods/shop/web/blame?since=prod@9", "since"},
		{404, "prod/pods/shop/web/blame?until=2001-01-01T00:00:00Z", "until"},
		{404, "prod/pods/shop/web/blame?node=n9", "node"},
		{404, "prod/pods/shop/nobody/blame", "name"},
		{404, "none/pods/shop/web/blame", ""},
	} {
		var p exchange.Problem
		h.want(c.status, &p, "GET", "/v1/clusters/"+c.path, "")
		if c.field == "" && len(p.Errors) > 0 || c.field != "" && (len(p.Errors) != 1 || p.Errors[0].Field != c.field) {
			t.Errorf("%s: %+v", c.path, p)
		}
	}
}
