package handlers

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/go-chi/chi/v5"
	"github.com/google/go-cmp/cmp"

	"berth/api"
	"berth/internal/handlers/admit"
	"berth/internal/handlers/exchange"
)

// TestDescriptionListsTheRoutes holds the description to the router, in both directions.
func TestDescriptionListsTheRoutes(t *testing.T) {
	doc, err := openapi3.NewLoader().LoadFromData(api.OpenAPI)
	if err != nil {
		t.Fatal(err)
	}
	var want, got []string
	// An unknown parameter is 400 everywhere, and a body of another type 415.
	always := map[string]string{"GET": "400", "POST": "415", "PUT": "415"}
	for path, item := range doc.Paths.Map() {
		for method, op := range item.Operations() {
			want = append(want, method+" "+path)
			if status := always[method]; strings.HasPrefix(path, "/v1/") && status != "" && op.Responses.Value(status) == nil {
				t.Errorf("%s %s: %s is not described", method, path, status)
			}
		}
	}
	a, err := New(admit.Options{})
	if err != nil {
		t.Fatal(err)
	}
	err = chi.Walk(a.Router(), func(method, route string, _ http.Handler, _ ...func(http.Handler) http.Handler) error {
		got = append(got, method+" "+route)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(want)
	slices.Sort(got)
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("api/openapi.yaml and the router differ (-description +router):\n%s", d)
	}
}

func TestWhatIsNotThereIsAProblem(t *testing.T) {
	h := start(t, nil)
	for _, c := range []struct {
		method, path string
		status       int
	}{
		{"GET", "/nothing", 404},
		{"POST", "/preempt/", 404},
		{"POST", "/filter/", 404}, // a redirect would turn kube-scheduler's POST into a GET
		{"POST", "/clusters/prod/filter/", 404},
		{"POST", "/v1//decisions", 404},
		{"GET", "/filter", 405},
		{"PUT", "/v1/decisions", 405},
		{"DELETE", "/v1/clusters", 405},
		{"GET", "/docs/../secret", 404},
		{"GET", "/docs/openapi.yaml", 404},
		{"GET", "/docs/swagger-ui.js.map", 404},
	} {
		var p exchange.Problem
		a := h.want(c.status, &p, c.method, c.path, "")
		if p.Status != c.status || p.Title == "" || p.Detail == "" || p.RequestID != a.Header.Get("X-Request-Id") {
			t.Errorf("%s %s: %+v", c.method, c.path, p)
		}
		if c.status == 405 && !strings.Contains(strings.Join(a.Header.Values("Allow"), ","), "POST") && c.path != "/v1/clusters" {
			t.Errorf("%s %s: Allow %v", c.method, c.path, a.Header.Values("Allow"))
		}
	}
}

func TestPanicIsAProblem(t *testing.T) {
	h := start(t, func(o *admit.Options) {
		o.Checks = []admit.Check{{Name: "boom"}} // a nil probe panics
	})
	r := h.api.Router()
	w := httptest.NewRecorder()
	r.ServeHTTP(w, httptest.NewRequest("GET", "/readyz", nil))
	var p exchange.Problem
	if err := json.Unmarshal(w.Body.Bytes(), &p); err != nil || w.Code != 500 || p.Status != 500 {
		t.Fatalf("%d %s %v", w.Code, w.Body, err)
	}
	if w.Header().Get("X-Request-Id") == "" || strings.Contains(w.Body.String(), "nil pointer") {
		t.Errorf("%v %s", w.Header(), w.Body)
	}
	w = httptest.NewRecorder()
	r.ServeHTTP(w, httptest.NewRequest("GET", "/livez", nil))
	if w.Code != 200 {
		t.Error("the server did not survive")
	}
	if !strings.Contains(h.log.String(), `"panic"`) {
		t.Error("the panic is not in the log")
	}
}

func TestRequestID(t *testing.T) {
	h := start(t, nil)
	for sent, kept := range map[string]bool{
		"abc-123": true, "a b": false, "x\"y": false, strings.Repeat("a", 129): false, strings.Repeat("a", 128): true, "": false,
	} {
		a := h.do("GET", "/livez", "", "X-Request-Id", sent)
		if got := a.Header.Get("X-Request-Id"); (got == sent) != kept {
			t.Errorf("sent %q, got %q", sent, got)
		}
	}
}

func TestAround(t *testing.T) {
	h := start(t, nil)
	h.want(200, nil, "GET", "/livez", "")
	h.want(200, nil, "GET", "/readyz", "")
	if a := h.want(200, nil, "GET", "/readyz?verbose", ""); !strings.Contains(string(a.body), "[+]shutdown: ok") {
		t.Errorf("%s", a.body)
	}
	if a := h.want(200, nil, "GET", "/openapi.yaml", ""); string(a.body) != string(api.OpenAPI) {
		t.Error("another description")
	}
	page := h.want(200, nil, "GET", "/docs", "")
	if strings.Contains(string(page.body), "http://") || strings.Contains(string(page.body), "https://") {
		t.Error("the page loads something from elsewhere")
	}
	if csp := page.Header.Get("Content-Security-Policy"); !strings.Contains(csp, "default-src 'none'") || strings.Contains(csp, "script-src 'self' 'unsafe") {
		t.Errorf("policy %q", csp)
	}
	for _, name := range []string{"swagger-ui.css", "swagger-ui-bundle.js", "start.js", "favicon-32x32.png"} {
		if !strings.Contains(string(page.body), "/docs/"+name) {
			t.Errorf("the page does not use %s", name)
		}
		a := h.want(200, nil, "GET", "/docs/"+name, "")
		h.want(304, nil, "GET", "/docs/"+name, "", "If-None-Match", a.Header.Get("ETag"))
	}
	// The bundle names it in its first line.
	if a := h.want(200, nil, "GET", "/docs/swagger-ui-bundle.js.LICENSE.txt", ""); !strings.Contains(string(a.body), "The MIT License") {
		t.Error("no licences of what Swagger UI bundles")
	}
	h.api.Drain()
	if a := h.want(503, nil, "GET", "/readyz", ""); !strings.Contains(string(a.body), "[-]shutdown") {
		t.Errorf("%s", a.body)
	}
	h.want(200, nil, "GET", "/livez", "")
}

func TestMetricsNameNoPodAndNoNode(t *testing.T) {
	h := start(t, nil)
	h.upload("default", small())
	h.want(201, nil, "POST", "/v1/decisions", `{"podRef":{"namespace":"shop","name":"web"}}`)
	h.want(200, nil, "POST", "/filter", `{"Pod":`+pod("web", "2", "")+`,"NodeNames":["n1","n2"]}`)
	h.want(500-96, nil, "GET", "/made/up/path", "")
	text := string(h.want(200, nil, "GET", "/metrics", "").body)
	for _, want := range []string{
		`berth_decisions_total{outcome="Scheduled",profile="default-scheduler",verb="decide"} 1`,
		`http_server_request_duration_seconds_count{http_request_method="POST",http_response_status_code="201",http_route="/v1/decisions"}`,
		"berth_decision_duration_seconds_bucket", "berth_node_rejections_total{", `berth_snapshot_nodes{cluster="default"} 3`, `berth_snapshot_pods{cluster="default"} 2`,
		"berth_snapshot_received_timestamp_seconds", `berth_decisions_total{outcome="Scheduled",profile="",verb="filter"} 1`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in\n%s", want, text)
		}
	}
	for _, not := range []string{`"n1"`, `"web"`, "/made/up"} {
		if strings.Contains(text, not) {
			t.Errorf("%s is a label", not)
		}
	}
}
