package handlers

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-chi/chi/v5"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"berth/internal/handlers/admit"
	"berth/internal/span"
)

// static are the routes that wait for nothing: their answers are bytes in memory.
var static = []string{"/livez", "/metrics", "/openapi.yaml", "/docs", "/docs/{file}"}

// TestEveryRouteHasParts sends a request to each route there is: its span has the parts in which
// its time passes.
func TestEveryRouteHasParts(t *testing.T) {
	spans := tracetest.NewSpanRecorder()
	h := start(t, func(o *admit.Options) {
		o.Tracer = sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(spans))
		o.Checks = []admit.Check{{Name: "store", Probe: func(ctx context.Context) error { return nil }}}
	})
	h.upload("default", listOf(node("n1", "4"), pod("web", "1", "")))
	h.upload("prod", listOf(node("n1", "4"), pod("web", "1", "")))
	var made struct{ ID string }
	h.want(http.StatusCreated, &made, "POST", "/v1/decisions", `{"snapshot":"prod@latest","pod":`+pod("p", "1", "")+`}`)
	extender := `{"Pod":` + pod("x", "1", "") + `,"NodeNames":["n1"]}`
	decided := []string{span.Read, span.Decode, span.Evaluate, span.Record}
	// What is known of single routes: the body to send, and the parts beside those of all.
	known := map[string]struct {
		body  string
		parts []string
	}{
		"POST /clusters/{cluster}/filter":                    {extender, decided},
		"POST /clusters/{cluster}/prioritize":                {extender, decided},
		"POST /clusters/{cluster}/shadow/filter":             {extender, []string{span.Read}},
		"POST /clusters/{cluster}/score-only/prioritize":     {extender, decided},
		"POST /clusters/{cluster}/bind":                      {`{"PodName":"web","PodNamespace":"default","Node":"n1"}`, []string{span.Read}},
		"POST /v1/decisions":                                 {`{"snapshot":"prod@latest","pod":` + pod("q", "1", "") + `}`, decided},
		"POST /v1/previews":                                  {`{"pod":` + pod("q", "1", "") + `}`, []string{span.Read, span.Decode}},
		"GET /v1/decisions":                                  {"", []string{"store: list decisions"}},
		"GET /v1/decisions/{id}":                             {"", []string{"store: decision"}},
		"POST /v1/decisions/{id}/replay":                     {`{}`, []string{"store: decision"}},
		"POST /v1/snapshots":                                 {listOf(node("n1", "4")), []string{span.Decode, span.Revision}},
		"GET /v1/snapshots":                                  {"", []string{"store: list revisions"}},
		"POST /v1/snapshots/{id}/changes":                    {`{"apply":[` + node("n2", "1") + `]}`, []string{span.Read, span.Revision}},
		"GET /v1/clusters":                                   {"", []string{"store: list clusters"}},
		"GET /v1/clusters/{cluster}/queue":                   {"", []string{"store: failed attempts"}},
		"GET /v1/clusters/{cluster}/pods/{namespace}/{name}": {"", []string{"store: list decisions"}},
		"POST /v1/priorityclasses":                           {`{"metadata":{"name":"high"},"value":1}`, []string{"store: put a priority class"}},
		"POST /v1/clusters/{cluster}/fit":                    {`{"pod":` + pod("q", "1", "") + `}`, []string{span.Read, span.Decode, span.Evaluate}},
		"POST /v1/replays":                                   {`{"cluster":"prod"}`, []string{"store: create a replay"}},
		"GET /v1/replays":                                    {"", []string{"store: list jobs"}},
		"GET /v1/replays/{id}":                               {"", []string{"store: job"}},
		"GET /v1/simulations":                                {"", []string{"store: list jobs"}},
		"GET /v1/simulations/{id}":                           {"", []string{"store: job"}},
		"GET /readyz":                                        {"", []string{span.Check + " store"}},
	}
	var routes [][2]string
	err := chi.Walk(h.api.Router(), func(method, route string, _ http.Handler, _ ...func(http.Handler) http.Handler) error {
		routes = append(routes, [2]string{method, route})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	// What deletes comes last.
	slices.SortStableFunc(routes, func(a, b [2]string) int { return strings.Compare(order(a[0]), order(b[0])) })
	for _, r := range routes {
		name := r[0] + " " + r[1]
		of := known[name]
		id := "prod@1"
		if !strings.HasPrefix(r[1], "/v1/snapshots") {
			id = made.ID
		}
		path := strings.NewReplacer("{cluster}", "prod", "{id}", id, "{namespace}", "default", "{name}", "web", "{file}", "none").Replace(r[1])
		body := of.body
		if body == "" && (r[0] == http.MethodPost || r[0] == http.MethodPut) {
			body = "{}"
		}
		spans.Reset()
		a := h.do(r[0], path, body)
		if a.StatusCode >= http.StatusInternalServerError {
			t.Errorf("%s: %d %s", name, a.StatusCode, a.body)
		}
		delete(known, name)
		if slices.Contains(static, r[1]) {
			continue
		}
		want := of.parts
		if r[1] != "/readyz" {
			want = append([]string{span.Wait}, want...)
			if a.StatusCode != http.StatusNoContent {
				want = append(want, span.Encode)
			}
		}
		got := parts(spans)
		for _, part := range want {
			if !slices.Contains(got, part) {
				t.Errorf("%s (%d): its trace lacks %q, and has %q", name, a.StatusCode, part, got)
			}
		}
	}
	for name := range known {
		t.Errorf("there is no route %s", name)
	}
}

func order(method string) string {
	if method == http.MethodDelete {
		return "z"
	}
	return ""
}

// parts returns the names of all spans below a request's. That one ends after its answer is read.
func parts(spans *tracetest.SpanRecorder) (names []string) {
	for began := time.Now(); time.Since(began) < 10*time.Second; time.Sleep(time.Millisecond) {
		if slices.ContainsFunc(spans.Ended(), func(s sdktrace.ReadOnlySpan) bool { return !s.Parent().IsValid() }) {
			break
		}
	}
	for _, s := range spans.Ended() {
		if s.Parent().IsValid() {
			names = append(names, s.Name())
		}
	}
	return names
}
