package handlers

import (
	"slices"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"berth/internal/handlers/admit"
	"berth/internal/span"
)

// TestTraceHasParts shows that a request's span has a child for each part of the work, in order.
func TestTraceHasParts(t *testing.T) {
	spans := tracetest.NewSpanRecorder()
	provider := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(spans))
	h := start(t, func(o *admit.Options) { o.Tracer = provider })
	const secret = "canary-4711"
	node := `{"apiVersion":"v1","kind":"Node","metadata":{"name":"n1"},"status":{"allocatable":{"cpu":"4","pods":"10"}}}`
	h.want(201, nil, "POST", "/v1/snapshots?cluster=c", node)
	pod := `{"metadata":{"name":"p"},"spec":{"containers":[{"name":"a"}]}}`
	h.want(201, nil, "POST", "/v1/decisions", `{"snapshot":"c@latest","pod":`+pod+`}`)
	h.want(201, nil, "POST", "/v1/decisions", `{"snapshot":"c@latest","bind":true,"pod":`+pod+`}`)
	h.want(200, nil, "POST", "/clusters/c/filter", `{"Pod":{"metadata":{"name":"r"},"spec":{"containers":[{"name":"a"}]}},"NodeNames":["n1"]}`)
	h.want(422, nil, "POST", "/v1/decisions", `{"snapshot":"c@latest","pod":{"metadata":{"name":"q"},"spec":{"priorityClassName":"`+secret+`","containers":[{"name":"a"}]}}}`)

	ended := spans.Ended()
	slices.SortStableFunc(ended, func(a, b sdktrace.ReadOnlySpan) int { return a.StartTime().Compare(b.StartTime()) })
	var got []string
	for _, parent := range ended {
		if parent.Parent().IsValid() {
			continue
		}
		var parts []string
		for _, s := range ended {
			if s.Parent().SpanID() != parent.SpanContext().SpanID() {
				continue
			}
			part := s.Name()
			if s.Status().Code == codes.Error {
				part += " failed"
			}
			parts = append(parts, part)
			if strings.Contains(s.Status().Description, secret) {
				t.Errorf("%s: what the caller sent is in the trace: %s", s.Name(), s.Status().Description)
			}
		}
		got = append(got, parent.Name()+": "+strings.Join(parts, ", "))
	}
	list := func(parts ...string) string { return strings.Join(parts, ", ") }
	want := []string{
		"POST /v1/snapshots: " + list(span.Wait, "store: list clusters", span.Decode, "store: newest revision", span.Revision, span.Encode),
		"POST /v1/decisions: " + list(span.Wait, span.Read, span.Decode, span.Evaluate, span.Record, span.Encode),
		"POST /v1/decisions: " + list(span.Wait, span.Read, span.Decode, span.Evaluate, span.Revision, span.Encode),
		"POST /clusters/{cluster}/filter: " + list(span.Wait, span.Read, span.Decode, span.Evaluate, span.Record, span.Encode),
		"POST /v1/decisions: " + list(span.Wait, span.Read, span.Decode, span.Evaluate+" failed", span.Encode),
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestExemplars: a scraper that accepts OpenMetrics gets the trace of a measurement with it.
func TestExemplars(t *testing.T) {
	spans := tracetest.NewSpanRecorder()
	h := start(t, func(o *admit.Options) {
		o.Tracer = sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(spans))
	})
	h.upload("default", listOf(node("n1", "4")))
	h.want(201, nil, "POST", "/v1/decisions", `{"pod":`+pod("p", "1", "")+`}`)
	parts(spans)
	got := string(h.want(200, nil, "GET", "/metrics", "", "Accept", "application/openmetrics-text").body)
	found := 0
	for _, s := range spans.Ended() {
		for _, metric := range []string{"http_server_request_duration_seconds_bucket", "berth_decision_duration_seconds_bucket"} {
			for line := range strings.Lines(got) {
				if strings.HasPrefix(line, metric) && strings.Contains(line, `trace_id="`+s.SpanContext().TraceID().String()+`"`) {
					found++
				}
			}
		}
	}
	if found == 0 {
		t.Errorf("no measurement names its trace:\n%s", got)
	}
}
