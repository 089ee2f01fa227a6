package observe

import (
	"context"
	"log/slog"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"
)

// decisionSample limits the log lines about decisions: the first ten, then one a second, so that
// the log of a busy server does not grow with its load.
type decisionSample struct {
	sometimes rate.Sometimes
	skipped   atomic.Int64
}

func newDecisionSample() *decisionSample {
	return &decisionSample{sometimes: rate.Sometimes{First: 10, Interval: time.Second}}
}

// LogDecision writes a line about a decision, or counts it for the next line. pod is
// namespace/name.
func (o *Observer) LogDecision(ctx context.Context, verb, snapshot, namespace, pod, outcome, node string, took time.Duration) {
	o.sample.skipped.Add(1)
	o.sample.sometimes.Do(func() {
		attrs := []slog.Attr{
			slog.String("verb", verb), slog.String("snapshot", snapshot), slog.String("pod", namespace+"/"+pod),
			slog.String("outcome", outcome), slog.Duration("took", took),
		}
		if o.pages {
			name, _, _ := strings.Cut(snapshot, "@")
			attrs = append(attrs, slog.String("page", "/pods/"+url.PathEscape(namespace)+"/"+url.PathEscape(pod)+"?cluster="+url.QueryEscape(name)))
		}
		if node != "" {
			attrs = append(attrs, slog.String("node", node))
		}
		if n := o.sample.skipped.Swap(0) - 1; n > 0 {
			attrs = append(attrs, slog.Int64("othersNotLogged", n))
		}
		o.Log.LogAttrs(ctx, slog.LevelInfo, "decided", attrs...)
	})
}
