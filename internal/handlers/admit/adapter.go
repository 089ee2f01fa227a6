package admit

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
	"berth/internal/handlers/exchange"
	"berth/internal/handlers/extender/wire"
)

// handlerFunc answers a request or names the reason it cannot; then it has written nothing.
type handlerFunc func(w http.ResponseWriter, r *http.Request) error

// style is how errors are told to a kind of client.
type style int

const (
	// REST clients get problem+json.
	REST style = iota
	// ExtenderStyle is for kube-scheduler, which sees no more than the status: overload is told
	// without a body.
	ExtenderStyle
)

// Adapt is the one place where errors become answers and log lines.
func (a *Admission) Adapt(s style, h handlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		err := h(w, r)
		if err == nil {
			return
		}
		a.fail(w, r, s, err)
	}
}

func (a *Admission) fail(w http.ResponseWriter, r *http.Request, s style, err error) {
	if cause := context.Cause(r.Context()); errors.Is(err, context.Canceled) && errors.Is(cause, context.DeadlineExceeded) {
		err = cause
	}
	e := exchange.Translate(err)
	if e.Limit == "memory-budget" && e.Kind == "overload" {
		a.Metrics.Shed(r.Context(), exchange.RoutePattern(r), e.Limit)
		if a.Seldom.Allow(exchange.RoutePattern(r) + e.Limit) {
			a.Log.LogAttrs(r.Context(), slog.LevelWarn, "overloaded", slog.String("route", exchange.RoutePattern(r)), slog.String("limit", e.Limit), slog.Int("status", e.Status))
		}
	}
	a.countDenial(r, err, e)
	tell, untold := true, slog.Attr{}
	if e.Kind == "forbidden" {
		tell, untold = a.denied(r, e.Kind)
	}
	if tell && !e.Quiet() && (e.Kind != "store-unavailable" || a.Seldom.Allow(exchange.RoutePattern(r)+e.Kind)) { // an outage would bury all else
		level := slog.LevelInfo
		if e.Status >= http.StatusInternalServerError {
			level = slog.LevelError
		}
		a.Log.LogAttrs(r.Context(), level, "refused", slog.Int("status", e.Status), slog.String("method", r.Method),
			slog.String("route", exchange.RoutePattern(r)), slog.String("error", exchange.Clipped(e.Error(), exchange.MaxDetail)), slog.String("peer", access.Peer(r)), askedBy(r.Context()), untold)
	}
	if s == ExtenderStyle && e.Status == http.StatusServiceUnavailable {
		w.Header().Set("Content-Length", "0")
		w.WriteHeader(e.Status)
		return
	}
	exchange.WriteProblem(w, e, exchange.RequestID(r.Context()))
}

// Observe is around all routes: it sets the id of the request, takes up the caller's trace context,
// catches panics, measures, and refuses what guard refuses.
func (a *Admission) Observe(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		start := time.Now()
		ctx := r.Context()
		if a.Tracer == nil && r.Header.Get("Traceparent") != "" {
			ctx = propagation.TraceContext{}.Extract(ctx, propagation.HeaderCarrier(r.Header))
		}
		x := &exchange.Exchange{Context: ctx, ResponseWriter: w, ID: exchange.IncomingID(r)}
		exchange.SetHeader(x, exchange.RequestIDHeader, x.ID)
		r = r.WithContext(x)
		defer a.observed(x, r, start)
		switch answered, err := a.guard(x, r); {
		case err != nil:
			a.fail(x, r, REST, err)
		case !answered:
			next.ServeHTTP(x, r)
		}
		if s := trace.SpanFromContext(ctx); s.IsRecording() {
			s.SetName(r.Method + " " + exchange.RoutePattern(r))
		}
	})
}

// observed ends an exchange, whose handler may have panicked.
func (a *Admission) observed(x *exchange.Exchange, r *http.Request, start time.Time) {
	if p := recover(); p != nil {
		if p == http.ErrAbortHandler { //nolint:errorlint // net/http compares it so, too
			panic(p)
		}
		a.Log.LogAttrs(x, slog.LevelError, "panic", slog.Any("panic", p), slog.String("route", exchange.RoutePattern(r)), slog.String("stack", string(debug.Stack())))
		if x.Status == 0 {
			clear(x.Header())
			x.Header().Set(exchange.RequestIDHeader, x.ID)
			exchange.WriteProblem(x, exchange.Internal(nil), x.ID)
		}
	}
	wire.PutBuffer(x.Body)
	status := x.Status
	if status == 0 {
		status = http.StatusOK
	}
	a.Metrics.Request(x, exchange.RoutePattern(r), r.Method, status, time.Since(start))
	if a.Log.Enabled(x, slog.LevelDebug) {
		a.Log.LogAttrs(x, slog.LevelDebug, "answered", slog.Int("status", status), slog.String("method", r.Method),
			slog.String("route", exchange.RoutePattern(r)), slog.Duration("took", time.Since(start)), slog.Int("bytes", x.Bytes), slog.String("peer", access.Peer(r)))
	}
}
