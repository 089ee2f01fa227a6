package main

import (
	"context"
	"io"
	"log/slog"
	"os"
	"time"

	"go.opentelemetry.io/otel/trace"

	"berth/internal/handlers/exchange"
	"berth/internal/ops/admin"
)

// newLogger returns a logger that writes text on a terminal and JSON otherwise. Durations are texts
// such as "1.5s" in both forms.
func newLogger(w io.Writer, format, level string) *slog.Logger {
	var min slog.Level
	if err := min.UnmarshalText([]byte(level)); err != nil {
		min = slog.LevelInfo // kong lets no other level through
	}
	o := &slog.HandlerOptions{Level: min, ReplaceAttr: readable}
	var h slog.Handler = slog.NewJSONHandler(w, o)
	if format == "text" || format == "auto" && isTerminal(w) {
		h = slog.NewTextHandler(w, o)
	}
	return slog.New(h)
}

// logger returns the server's logger over that of the process: each line names the request and the
// trace that it belongs to, lines of one message are left out above --log-sample, and the newest
// ones are kept for the admin listener.
func (s *settings) logger(h slog.Handler, lines *admin.Log, few *sample) *slog.Logger {
	if s.AdminListen != "" {
		h = lines.Handler(h)
	}
	if s.LogSample > 0 {
		h = sampled{h, few}
	}
	return slog.New(contextual{h})
}

// readable writes durations as texts: in JSON slog writes nanoseconds.
func readable(_ []string, a slog.Attr) slog.Attr {
	if a.Value.Kind() != slog.KindDuration {
		return a
	}
	d := a.Value.Duration()
	for _, unit := range []time.Duration{time.Second, time.Millisecond, time.Microsecond} {
		if d.Abs() >= unit {
			d = d.Round(unit / 100)
			break
		}
	}
	return slog.String(a.Key, d.String())
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// contextual adds the request's id and trace to each line.
type contextual struct{ slog.Handler }

// Handle implements slog.Handler.
func (c contextual) Handle(ctx context.Context, r slog.Record) error {
	if id := exchange.RequestID(ctx); id != "" {
		r.AddAttrs(slog.String("requestId", id))
	}
	if span := trace.SpanContextFromContext(ctx); span.HasTraceID() {
		r.AddAttrs(slog.String("traceId", span.TraceID().String()))
	}
	return c.Handler.Handle(ctx, r)
}

// WithAttrs implements slog.Handler.
func (c contextual) WithAttrs(attrs []slog.Attr) slog.Handler {
	return contextual{c.Handler.WithAttrs(attrs)}
}

// WithGroup implements slog.Handler.
func (c contextual) WithGroup(name string) slog.Handler { return contextual{c.Handler.WithGroup(name)} }
