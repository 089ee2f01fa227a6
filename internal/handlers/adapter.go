package handlers

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"runtime/debug"
	"time"

	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"berth/internal/access"
	"berth/internal/handlers/wire"
)

// handlerFunc answers a request or names the reason it cannot; then it has written nothing.
type handlerFunc func(w http.ResponseWriter, r *http.Request) error

// style is how errors are told to a kind of client.
type style int

const (
	// rest clients get problem+json.
	rest style = iota
	// extenderStyle is for kube-scheduler, which sees no more than the status: overload is told
	// without a body.
	extenderStyle
)

// adapt is the one place where errors become answers and log lines.
func (a *admission) adapt(s style, h handlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		err := h(w, r)
		if err == nil {
			return
		}
		a.fail(w, r, s, err)
	}
}

func (a *admission) fail(w http.ResponseWriter, r *http.Request, s style, err error) {
	if cause := context.Cause(r.Context()); errors.Is(err, context.Canceled) && errors.Is(cause, context.DeadlineExceeded) {
		err = cause
	}
	e := translate(err)
	if e.Limit == "memory-budget" && e.Kind == "overload" {
		a.metrics.shed(r.Context(), routePattern(r), e.Limit)
		if a.seldom.allow(routePattern(r) + e.Limit) {
			a.log.LogAttrs(r.Context(), slog.LevelWarn, "overloaded", slog.String("route", routePattern(r)), slog.String("limit", e.Limit), slog.Int("status", e.Status))
		}
	}
	tell, untold := true, slog.Attr{}
	if e.Kind == "forbidden" {
		tell, untold = a.denied(r, e.Kind)
	}
	if tell && !e.quiet() && (e.Kind != "store-unavailable" || a.seldom.allow(routePattern(r)+e.Kind)) { // an outage would bury all else
		level := slog.LevelInfo
		if e.Status >= http.StatusInternalServerError {
			level = slog.LevelError
		}
		a.log.LogAttrs(r.Context(), level, "refused", slog.Int("status", e.Status), slog.String("method", r.Method),
			slog.String("route", routePattern(r)), slog.String("error", clipped(e.Error(), maxDetail)), slog.String("peer", access.Peer(r)), askedBy(r.Context()), untold)
	}
	if s == extenderStyle && e.Status == http.StatusServiceUnavailable {
		w.Header().Set("Content-Length", "0")
		w.WriteHeader(e.Status)
		return
	}
	writeProblem(w, e, RequestID(r.Context()))
}

// observe is around all routes: it sets the id of the request, takes up the caller's trace context,
// catches panics, measures, and refuses what guard refuses.
func (a *admission) observe(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		start := time.Now()
		ctx := r.Context()
		if a.tracer == nil && r.Header.Get("Traceparent") != "" {
			ctx = propagation.TraceContext{}.Extract(ctx, propagation.HeaderCarrier(r.Header))
		}
		x := &exchange{Context: ctx, ResponseWriter: w, id: incomingID(r)}
		setHeader(x, requestIDHeader, x.id)
		r = r.WithContext(x)
		defer a.observed(x, r, start)
		switch answered, err := a.guard(x, r); {
		case err != nil:
			a.fail(x, r, rest, err)
		case !answered:
			next.ServeHTTP(x, r)
		}
		if s := trace.SpanFromContext(ctx); s.IsRecording() {
			s.SetName(r.Method + " " + routePattern(r))
		}
	})
}

// observed ends an exchange, whose handler may have panicked.
func (a *admission) observed(x *exchange, r *http.Request, start time.Time) {
	if p := recover(); p != nil {
		if p == http.ErrAbortHandler { //nolint:errorlint // net/http compares it so, too
			panic(p)
		}
		a.log.LogAttrs(x, slog.LevelError, "panic", slog.Any("panic", p), slog.String("route", routePattern(r)), slog.String("stack", string(debug.Stack())))
		if x.status == 0 {
			clear(x.Header())
			x.Header().Set(requestIDHeader, x.id)
			writeProblem(x, internal(nil), x.id)
		}
	}
	wire.PutBuffer(x.body)
	status := x.status
	if status == 0 {
		status = http.StatusOK
	}
	a.metrics.request(x, routePattern(r), r.Method, status, time.Since(start))
	if a.log.Enabled(x, slog.LevelDebug) {
		a.log.LogAttrs(x, slog.LevelDebug, "answered", slog.Int("status", status), slog.String("method", r.Method),
			slog.String("route", routePattern(r)), slog.Duration("took", time.Since(start)), slog.Int("bytes", x.bytes), slog.String("peer", access.Peer(r)))
	}
}
