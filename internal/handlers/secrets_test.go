package handlers

import (
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"berth/internal/handlers/admit"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
)

// TestSecretsAreNowhere calls every route with tokens, headers and pods that hold secrets: none is
// in a span, in the log at any level, or in what a later call reads.
func TestSecretsAreNowhere(t *testing.T) {
	spans, log := tracetest.NewSpanRecorder(), &syncBuffer{}
	g := startGuarded(t, func(o *admit.Options) {
		o.Tracer = sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(spans))
		o.Log = slog.New(slog.NewJSONHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	})
	token := g.token("root", "admin", "*", "*")
	secrets := map[string]string{
		"token": token[len("berth_"):30], "unknown token": "cnry-bearer", "password": "cnry-basic", "cookie": "cnry-cookie", "environment": "cnry-env", "annotation": "cnry-annotation",
		"command": "cnry-command", "parameter": "cnry-parameter",
	}
	hide := strings.NewReplacer(
		`"metadata":{`, `"metadata":{"annotations":{"example.com/password":"cnry-annotation"},`,
		`"name":"c",`, `"name":"c","command":["cnry-command"],"env":[{"name":"PASSWORD","value":"cnry-env"}],`)
	g.upload("prod", hide.Replace(small()))
	g.upload("lab", small())
	d := g.decide(`{"snapshot":"prod@latest","pod":` + hide.Replace(pod("known", "1", "")) + `}`)
	var job struct{ ID string }
	g.want(http.StatusCreated, &job, "POST", "/v1/replays", `{"cluster":"prod"}`)
	check := func(where, text string) {
		t.Helper()
		for name, secret := range secrets {
			if strings.Contains(text, secret) {
				t.Errorf("%s holds the %s: %.600s", where, name, text)
			}
		}
	}
	callers := map[string]identity{
		"root":    bearing(token),
		"unknown": bearing("cnry-bearer"),
		"basic":   func(r *http.Request) { r.SetBasicAuth("root", "cnry-basic") },
	}
	for _, route := range slices.Sorted(maps.Keys(needs)) { // those that read before those that write
		method, path, body := callsOf(route, d.ID, job.ID)
		if strings.Contains(route, "DELETE") || route == "POST /v1/tokens" || strings.Contains(route, "rotate") {
			body = strings.ReplaceAll(body, "stolen", "made")
			path = strings.ReplaceAll(path, "prod", "lab")
			if strings.Contains(route, "tokens") {
				continue // they answer secrets, or end the one in use
			}
		}
		if !strings.Contains(route, "priorityclasses") { // a stored class is answered as it was sent
			body = hide.Replace(body)
		}
		at := path + "?cluster=prod&access_token=cnry-parameter"
		if before, query, ok := strings.Cut(path, "?"); ok {
			at = before + "?" + query + "&access_token=cnry-parameter"
		}
		for name, who := range callers {
			for _, target := range []string{path, at} {
				w := g.as(func(r *http.Request) {
					who(r)
					r.Header.Set("Cookie", "session=cnry-cookie")
				}, method, target, body)
				if method == "GET" || name != "root" || w.Code >= 400 {
					check(fmt.Sprintf("the answer of %s to %s", route, name), w.Body.String())
				}
			}
		}
	}
	check("the log", log.String())
	if len(spans.Ended()) < len(needs) || !strings.Contains(log.String(), "unauthenticated") {
		t.Errorf("%d spans of %d routes, and the log %.300s", len(spans.Ended()), len(needs), log)
	}
	for _, s := range spans.Ended() {
		text := fmt.Sprint(s.Name(), s.Attributes(), s.Status(), s.Links(), s.SpanContext().TraceState())
		for _, e := range s.Events() {
			text += fmt.Sprint(e.Name, e.Attributes)
		}
		check("span "+s.Name(), text)
	}
}
