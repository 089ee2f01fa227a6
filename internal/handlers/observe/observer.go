// Package observe counts and logs what is answered.
package observe

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"go.opentelemetry.io/otel/metric"

	"berth/internal/handlers/exchange"
)

// Observer counts and logs what is answered.
type Observer struct {
	Log     *slog.Logger
	Metrics *Metrics
	Seldom  seldom
	sample  *decisionSample
	pages   bool // are served beside the API, which log lines then link to

	mu     sync.Mutex
	logged map[string]bool // guarded by mu: schedulerNames that no profile has
}

// New makes one. pages reports whether pages are served beside the API.
func New(log *slog.Logger, meter metric.Meter, pages bool) (*Observer, error) {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	m, err := newMetrics(meter)
	return &Observer{
		Log: log, Metrics: m, sample: newDecisionSample(), pages: pages, logged: map[string]bool{},
		Seldom: seldom{every: 10 * time.Second, last: map[string]time.Time{}},
	}, err
}

// seldom lets one log line through in a while for each cause.
type seldom struct {
	every time.Duration
	mu    sync.Mutex
	last  map[string]time.Time // guarded by mu; the causes are routes and settings, so they are few
}

// Allow reports whether a line about a cause may be logged now.
func (s *seldom) Allow(cause string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if now := time.Now(); now.Sub(s.last[cause]) >= s.every {
		s.last[cause] = now
		return true
	}
	return false
}

// maxStrangers is how many names are logged. A client may send any number.
const maxStrangers = 1000

// fresh reports whether a name is to be logged.
func (o *Observer) fresh(scheduler string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.logged[scheduler] || len(o.logged) >= maxStrangers {
		return false
	}
	o.logged[scheduler] = true
	return true
}

// FellBack counts a decision about a pod whose schedulerName no profile has, and logs the first for
// each name.
func (o *Observer) FellBack(ctx context.Context, verb, cluster, scheduler, profile string) {
	o.Metrics.fellBack(ctx, verb, profile)
	if o.fresh(scheduler) {
		o.Log.LogAttrs(ctx, slog.LevelWarn, "no profile has the schedulerName of a pod, so the first one judges it: "+
			"give the configuration a profile of that name, or keep such pods from this server", slog.String("scheduler", exchange.Clipped(scheduler, exchange.MaxDetail)),
			slog.String("profile", profile), slog.String("verb", verb), slog.String("cluster", cluster))
	}
}
