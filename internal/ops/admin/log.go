package admin

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"sync"
)

// The bounds of a Log: lines, and bytes of each text in one.
const (
	mostLines = 1000
	mostText  = 1 << 10
)

// Log keeps the newest lines of the log in memory. It is safe for concurrent use.
type Log struct {
	mu    sync.Mutex
	lines []line // guarded by mu; a ring once it is full
	next  int    // guarded by mu: where the next line goes
}

// line is a line whose texts are cut.
type line struct {
	record slog.Record
	attrs  []slog.Attr
}

// Handler returns a handler that keeps each line and passes it on.
func (l *Log) Handler(next slog.Handler) slog.Handler { return kept{Handler: next, log: l} }

type kept struct {
	slog.Handler
	log   *Log
	attrs []slog.Attr
	group string
}

// Handle implements slog.Handler.
func (k kept) Handle(ctx context.Context, r slog.Record) error {
	own := slices.Clip(k.attrs)
	r.Attrs(func(a slog.Attr) bool {
		own = append(own, k.cut(a))
		return true
	})
	k.log.add(line{slog.NewRecord(r.Time, r.Level, r.Message, 0), own})
	return k.Handler.Handle(ctx, r)
}

// WithAttrs implements slog.Handler.
func (k kept) WithAttrs(attrs []slog.Attr) slog.Handler {
	k.Handler, k.attrs = k.Handler.WithAttrs(attrs), slices.Clip(k.attrs)
	for _, a := range attrs {
		k.attrs = append(k.attrs, k.cut(a))
	}
	return k
}

// WithGroup implements slog.Handler.
func (k kept) WithGroup(name string) slog.Handler {
	k.Handler, k.group = k.Handler.WithGroup(name), k.group+name+"."
	return k
}

// cut returns an attribute that holds nothing but a number, a time or a short text.
func (k kept) cut(a slog.Attr) slog.Attr {
	a.Key, a.Value = k.group+a.Key, a.Value.Resolve()
	switch a.Value.Kind() {
	case slog.KindString, slog.KindAny, slog.KindGroup:
		text := a.Value.String()
		if len(text) > mostText {
			text = strings.ToValidUTF8(text[:mostText], "") + "…"
		}
		a.Value = slog.StringValue(text)
	}
	return a
}

func (l *Log) add(n line) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.lines) < mostLines {
		l.lines = append(l.lines, n)
		return
	}
	l.lines[l.next] = n
	l.next = (l.next + 1) % mostLines
}

// plainTexts are the attributes whose texts are berth's own words, or the ids of requests and
// records.
var plainTexts = []string{"decision", "job", "kind", "limit", "outcome", "replay", "route", "segment", "stack", "traceId", "verb"}

// write writes the lines, oldest first, as JSON. Hidden are the texts that may hold names.
func (l *Log) write(w io.Writer, hidden bool) {
	l.mu.Lock()
	lines := slices.Concat(l.lines[l.next:], l.lines[:l.next])
	l.mu.Unlock()
	to := json.NewEncoder(w)
	to.SetEscapeHTML(false)
	for _, n := range lines {
		out := map[string]any{"time": n.record.Time, "level": n.record.Level.String(), "msg": n.record.Message}
		for _, a := range n.attrs {
			var v any
			switch a.Value.Kind() {
			case slog.KindString:
				if v = a.Value.String(); hidden && !slices.Contains(plainTexts, a.Key) {
					v = hiddenText
				}
			case slog.KindDuration:
				v = fmt.Sprint(a.Value.Duration())
			default:
				v = a.Value.Any()
			}
			out[a.Key] = v
		}
		if to.Encode(out) != nil {
			return // the reader is gone
		}
	}
}
