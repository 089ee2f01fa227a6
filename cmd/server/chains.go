package main

import (
	"context"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/metric"

	"berth/internal/audit"
	"berth/internal/store"
)

// lookAgain is how long a server waits for a store that did not answer before it looks again.
const lookAgain = 10 * time.Second

// chainsLook is what the server found when it looked at the log's hash chains at its start.
type chainsLook struct {
	found atomic.Pointer[[]audit.Finding] // nil: it has not looked yet
}

// watch registers the metric of what was found.
func (l *chainsLook) watch(meter metric.Meter) error {
	_, err := meter.Int64ObservableGauge("berth.audit.findings",
		metric.WithDescription("What does not fit in the log's hash chains, as the server found at its start; `audit verify` names all."),
		metric.WithInt64Callback(func(_ context.Context, o metric.Int64Observer) error {
			if found := l.found.Load(); found != nil {
				o.Observe(int64(len(*found)))
			}
			return nil
		}))
	return err
}

// run looks at the chains once, as soon as the store answers.
func (l *chainsLook) run(ctx context.Context, st store.Seals, log *slog.Logger) {
	for {
		found, err := audit.Look(ctx, st)
		if err == nil {
			l.found.Store(&found)
			for i, f := range found {
				if i == maxChainLines {
					log.LogAttrs(ctx, slog.LevelWarn, "more does not fit in the hash chains", slog.Int("more", len(found)-i))
					break
				}
				log.LogAttrs(ctx, slog.LevelWarn, "the log may not be as it was written: run audit verify", slog.String("found", f.What), slog.String("detail", where(f)))
			}
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(lookAgain):
		}
	}
}

// maxChainLines bounds the lines that a start writes about chains.
const maxChainLines = 20

// where names a finding with its cluster, if it is of one.
func where(f audit.Finding) string {
	if f.Cluster == "" {
		return f.Detail
	}
	return "cluster " + f.Cluster + ": " + f.Detail
}

// note is the remark of /readyz.
func (l *chainsLook) note() string {
	found := l.found.Load()
	if found == nil || len(*found) == 0 {
		return ""
	}
	f := (*found)[0]
	return fmt.Sprintf("%d found at the start that does not fit, run audit verify; first: %s", len(*found), where(f))
}
