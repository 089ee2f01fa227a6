package main

import (
	"context"
	"io"
	"log/slog"
	"os"

	"go.opentelemetry.io/otel/trace"

	"berth/internal/handlers"
)

// newLogger writes text on a terminal, else JSON. Each line names the request and the trace it belongs to.
func newLogger(w io.Writer, format, level string) *slog.Logger {
	var min slog.Level
	if err := min.UnmarshalText([]byte(level)); err != nil {
		min = slog.LevelInfo // kong lets no other level through
	}
	o := &slog.HandlerOptions{Level: min}
	var h slog.Handler = slog.NewJSONHandler(w, o)
	if format == "text" || format == "auto" && isTerminal(w) {
		h = slog.NewTextHandler(w, o)
	}
	return slog.New(contextual{h})
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// contextual adds what a context knows of the request.
type contextual struct{ slog.Handler }

// Handle implements slog.Handler.
func (c contextual) Handle(ctx context.Context, r slog.Record) error {
	if id := handlers.RequestID(ctx); id != "" {
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
