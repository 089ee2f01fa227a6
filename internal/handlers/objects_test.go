package handlers

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"berth/internal/handlers/rest"
)

// selection is a cluster with objects that each filter tells apart.
func selection() string {
	owned := func(name, node, labels, owner string) string {
		return fmt.Sprintf(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":%q,"namespace":"shop","uid":"uid-%s","labels":{%s},
			"ownerReferences":[{"apiVersion":"apps/v1","kind":"ReplicaSet","name":%q,"uid":"uid-%s","controller":true}]},
			"spec":{"nodeName":%q,"containers":[{"name":"c","resources":{"requests":{"cpu":"1"}}}]}}`, name, name, labels, owner, owner, node)
	}
	return listOf(node("n1", "8"), node("n2", "8"), `{"apiVersion":"storage.k8s.io/v1","kind":"CSINode","metadata":{"name":"n1"},"spec":{"drivers":[]}}`,
		owned("web-1", "n1", `"app":"web","tier":"front"`, "web"), owned("web-2", "n2", `"app":"web"`, "web"), owned("db-1", "n1", `"app":"db"`, "db"),
		strings.ReplaceAll(pod("else", "1", `,"nodeName":"n1"`), `"shop"`, `"vault"`),
		`{"apiVersion":"apps/v1","kind":"ReplicaSet","metadata":{"name":"web","namespace":"shop","labels":{"app":"web"}},"spec":{"selector":{"matchLabels":{"app":"web"}},"template":{"metadata":{"labels":{"app":"web"}}}}}`,
		`{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"shop"}}`)
}

func names(list *rest.ObjectList) (out []string) {
	for _, js := range list.Items {
		_, rest, _ := strings.Cut(string(js), `"name":"`)
		name, _, _ := strings.Cut(rest, `"`)
		out = append(out, name)
	}
	return out
}

// TestObjectFilters: each filter, and what they have in common; and what any of them lists can be
// posted as it is, and is the same state then.
func TestObjectFilters(t *testing.T) {
	h := start(t, nil)
	h.upload("prod", selection())
	n := 0
	for query, want := range map[string]int{
		"":                               9,
		"kind=Pod":                       4,
		"namespace=shop":                 4,
		"namespace=vault&kind=Pod":       1,
		"node=n1":                        5, // it, its CSINode, three pods
		"node=n1&kind=Pod":               3,
		"node=n9":                        0,
		"labelSelector=app%3Dweb":        3,
		"labelSelector=app,tier!%3Dx":    4,
		"labelSelector=app+in+(db),tier": 0,
		"owner=ReplicaSet/web":           2,
		"owner=uid-db":                   1,
		"owner=web":                      0,
		"owner=ReplicaSet/web&node=n1&namespace=shop&labelSelector=tier%3Dfront&kind=Pod": 1,
		"kind=Pod&namespace=shop&name=db-1":                                               1,
		"kind=Pod&namespace=shop&name=db-1&node=n2":                                       0,
	} {
		for _, of := range []string{"snapshots/prod@1", "snapshots/prod@latest", "clusters/prod"} {
			var list rest.ObjectList
			a := h.want(200, &list, "GET", "/v1/"+of+"/objects?"+query, "")
			if len(list.Items) != want {
				t.Errorf("%s %s: %v, not %d", of, query, names(&list), want)
			}
			n++
			back := fmt.Sprint("back-", n)
			h.want(201, nil, "POST", "/v1/snapshots?cluster="+back, string(a.body))
			if again := h.do("GET", "/v1/clusters/"+back+"/objects", ""); string(again.body) != string(a.body) {
				t.Errorf("%s %s came back as %s, not %s", of, query, again.body, a.body)
			}
			h.want(204, nil, "DELETE", "/v1/clusters/"+back, "")
		}
	}
	// Pages as well, one after the other, and not without the last.
	var pages, cursor string
	for {
		var list rest.ObjectList
		a := h.want(200, &list, "GET", "/v1/clusters/prod/objects?limit=2&labelSelector=app&cursor="+url.QueryEscape(cursor), "")
		pages += string(a.body)
		if cursor = list.Cursor; cursor == "" {
			break
		}
		if p := h.problem(400, "POST", "/v1/snapshots?cluster=part", pages); !strings.Contains(p.Detail, "one page") {
			t.Errorf("%+v", p)
		}
	}
	h.want(201, nil, "POST", "/v1/snapshots?cluster=paged", pages)
	var list rest.ObjectList
	if h.want(200, &list, "GET", "/v1/clusters/paged/objects", ""); len(list.Items) != 4 {
		t.Errorf("the pages came to %v", names(&list))
	}
	var whole, back rest.Snapshot
	h.want(200, &whole, "GET", "/v1/snapshots/prod@1", "")
	h.want(201, &back, "POST", "/v1/snapshots?cluster=whole", string(h.do("GET", "/v1/clusters/prod/objects", "").body))
	if whole.Digest != back.Digest {
		t.Errorf("%s came back as %s", whole.Digest, back.Digest)
	}
}

// TestObjectFiltersOfSomeNamespaces: filters widen nothing.
func TestObjectFiltersOfSomeNamespaces(t *testing.T) {
	g := startGuarded(t)
	g.upload("prod", selection())
	who := bearing(g.token("shop", "viewer", "prod", "shop"))
	for query, want := range map[string]int{
		"node=n1": 200, "labelSelector=app": 200, "namespace=shop": 200, "namespace=vault": http.StatusForbidden, "kind=Pod&namespace=vault&node=n1": http.StatusForbidden,
	} {
		w := g.as(who, "GET", "/v1/clusters/prod/objects?"+query, "")
		if w.Code != want || strings.Contains(w.Body.String(), "else") || strings.Contains(w.Body.String(), `"Node"`) {
			t.Errorf("%s: %d %s", query, w.Code, w.Body)
		}
	}
	if w := g.as(who, "GET", "/v1/clusters/other/objects", ""); w.Code != http.StatusNotFound {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}
