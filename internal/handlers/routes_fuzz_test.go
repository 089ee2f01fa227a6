package handlers

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"berth/internal/handlers/exchange"
)

// fuzzServer returns what answers a request over a cluster with a snapshot.
func fuzzServer(f *testing.F) func(method, target, media, body string) *httptest.ResponseRecorder {
	f.Helper()
	m, l, stored, st := openLogAndClasses(f, new(atomic.Int64))
	o := optionsFor(m, l, st)
	o.PriorityClasses = stored
	a, err := New(o)
	if err != nil {
		f.Fatal(err)
	}
	handler := a.Handler()
	ask := func(method, target, media, body string) *httptest.ResponseRecorder {
		r := httptest.NewRequest(method, target, strings.NewReader(body))
		r.Header.Set("Content-Type", media)
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		return w
	}
	if w := ask(http.MethodPost, "/v1/snapshots?cluster=default", "application/json", small()); w.Code != http.StatusCreated {
		f.Fatal(w.Code, w.Body)
	}
	return ask
}

// blamed wants an answer, or a problem that blames the request.
func blamed(t *testing.T, what string, w *httptest.ResponseRecorder) {
	t.Helper()
	var p exchange.Problem
	switch {
	case w.Code >= http.StatusInternalServerError:
		t.Errorf("%s: %d %s", what, w.Code, w.Body)
	case w.Code < http.StatusBadRequest:
	case json.Unmarshal(w.Body.Bytes(), &p) != nil || p.Detail == "":
		t.Errorf("%s: %d %s is no problem with a detail", what, w.Code, w.Body)
	}
}

// FuzzStates puts bodies, as JSON and as YAML, to the routes that read whole states, changes of
// them, and pods to be decided on, with all that happens on the way to the handler's own decoder.
func FuzzStates(f *testing.F) {
	routes := []postSeed{
		{"/v1/snapshots?cluster=fuzzed", small()},
		{"/v1/snapshots?cluster=fuzzed&fieldValidation=Strict", listOf(node("n1", "4"), pod("web", "1", ""))},
		{"/v1/snapshots/default@latest/changes", `{"apply":[` + node("n", "1") + `],"patch":[{"kind":"Node","name":"n1","type":"merge","patch":{"metadata":{"labels":{"a":"b"}}}}],"delete":[{"kind":"Pod","namespace":"shop","name":"web"}]}`},
		{"/v1/snapshots/default@latest/changes", `{"patch":[{"kind":"Pod","namespace":"shop","name":"web","type":"json","patch":[{"op":"remove","path":"/spec/containers/0/resources"}]}],"status":[],"bind":[]}`},
		{"/v1/decisions", `{"snapshot":"default@1","dryRun":true,"explain":"all","suggest":true,"pod":` + pod("p", "1", "") + `}`},
		{"/v1/decisions", `{"snapshot":"default@1","dryRun":true,"podRef":{"namespace":"shop","name":"web"},"config":{"profiles":[{"schedulerName":"s"}]}}`},
	}
	fuzzPosts(f, routes, "apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: Node\n  metadata: {name: n}\n---\nkind: Pod\n")
}

// FuzzQueries puts parameters to every route that has some, cursors, times and ids included, and
// names to the paths.
func FuzzQueries(f *testing.F) {
	paths := []string{
		"/v1/decisions", "/v1/decisions/{}", "/v1/snapshots", "/v1/snapshots/{}", "/v1/snapshots/{}/objects", "/v1/snapshots/{}/diff", "/v1/clusters/{}",
		"/v1/clusters/{}/queue", "/v1/clusters/{}/pending", "/v1/clusters/{}/classes", "/v1/clusters/{}/pods/shop/web", "/v1/clusters/default/pods/shop/{}",
		"/v1/priorityclasses", "/v1/priorityclasses/{}", "/v1/replays", "/v1/replays/{}", "/v1/replays/{}/differences",
	}
	ask := fuzzServer(f)
	for i := range paths {
		f.Add(uint8(i), "default", "limit=1&cluster=default&snapshot=default@1&now=2026-01-31T12:00:00Z")
		f.Add(uint8(i), "default@1", "kind=Pod&name=web&to=default@latest&cursor=MS8yLzM&since=2026-01-31T12:00:00Z&after=1&outcome=Scheduled")
	}
	f.Fuzz(func(t *testing.T, n uint8, name, query string) {
		path := strings.ReplaceAll(paths[int(n)%len(paths)], "{}", url.PathEscape(name))
		u, err := url.Parse(path)
		if err != nil || strings.ContainsFunc(query, func(r rune) bool { return r <= ' ' || r == '#' || r >= 0x7f }) {
			return // net/http takes no such request line
		}
		blamed(t, path+"?"+query, ask(http.MethodGet, u.EscapedPath()+"?"+query, "", ""))
	})
}
