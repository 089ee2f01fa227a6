package main

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
)

// sampled lets so many lines of one message through in a second. Errors always pass.
type sampled struct {
	slog.Handler
	*sample
}

// sample is what handlers of one log share.
type sample struct {
	most int
	now  func() time.Time

	mu     sync.Mutex
	second int64          // guarded by mu: that of the counts
	counts map[string]int // guarded by mu: lines by message; messages are constants, so they are few

	info, warn, debug atomic.Int64 // lines left out, by level
}

func newSample(most int) *sample { return &sample{most: most, now: time.Now, counts: map[string]int{}} }

// Handle implements slog.Handler. The first line of a message after some were left out is followed
// by their number.
func (s sampled) Handle(ctx context.Context, r slog.Record) error {
	if r.Level >= slog.LevelError {
		return s.Handler.Handle(ctx, r)
	}
	pass, missed := s.take(r.Level, r.Message)
	for _, m := range missed {
		note := slog.NewRecord(r.Time, slog.LevelInfo, "log lines were left out", 0)
		note.AddAttrs(slog.String("message", m.message), slog.Int("lines", m.lines))
		if err := s.Handler.Handle(context.WithoutCancel(ctx), note); err != nil {
			return err
		}
	}
	if !pass {
		return nil
	}
	return s.Handler.Handle(ctx, r)
}

type missed struct {
	message string
	lines   int
}

// take counts a line and reports whether it passes, and what was left out in the second before.
func (s *sample) take(level slog.Level, message string) (pass bool, before []missed) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if now := s.now().Unix(); now != s.second {
		for message, n := range s.counts {
			if n > s.most {
				before = append(before, missed{message, n - s.most})
			}
		}
		clear(s.counts)
		s.second = now
	}
	s.counts[message]++
	if s.counts[message] <= s.most {
		return true, before
	}
	switch {
	case level >= slog.LevelWarn:
		s.warn.Add(1)
	case level >= slog.LevelInfo:
		s.info.Add(1)
	default:
		s.debug.Add(1)
	}
	return false, before
}

// WithAttrs implements slog.Handler.
func (s sampled) WithAttrs(attrs []slog.Attr) slog.Handler {
	return sampled{s.Handler.WithAttrs(attrs), s.sample}
}

// WithGroup implements slog.Handler.
func (s sampled) WithGroup(name string) slog.Handler {
	return sampled{s.Handler.WithGroup(name), s.sample}
}

// watchLog registers the metric of lines that were left out.
func (t *telemetry) watchLog(s *sample) error {
	_, err := t.meter.Int64ObservableCounter("berth.log.left_out", metric.WithDescription("Log lines left out by --log-sample, by level."),
		metric.WithInt64Callback(func(_ context.Context, o metric.Int64Observer) error {
			o.Observe(s.debug.Load(), metric.WithAttributes(attribute.String("level", "debug")))
			o.Observe(s.info.Load(), metric.WithAttributes(attribute.String("level", "info")))
			o.Observe(s.warn.Load(), metric.WithAttributes(attribute.String("level", "warn")))
			return nil
		}))
	return err
}
