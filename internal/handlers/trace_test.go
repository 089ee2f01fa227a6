package handlers

import (
	"slices"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"berth/internal/span"
)

// TestTraceHasParts shows that a request's span has a child for each part of the work, in order.
func TestTraceHasParts(t *testing.T) {
	spans := tracetest.NewSpanRecorder()
	provider := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(spans))
	h := start(t, func(o *Options) { o.Tracer = provider })
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
		"POST /v1/snapshots: " + list(span.Wait, span.Revision),
		"POST /v1/decisions: " + list(span.Wait, span.Read, span.Decode, span.Evaluate, span.Record),
		"POST /v1/decisions: " + list(span.Wait, span.Read, span.Decode, span.Evaluate, span.Revision),
		"POST /clusters/{cluster}/filter: " + list(span.Wait, span.Read, span.Decode, span.Evaluate, span.Record),
		"POST /v1/decisions: " + list(span.Wait, span.Read, span.Decode, span.Evaluate+" failed"),
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
