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

// Decided is a decision as a log line has it.
type Decided struct {
	Verb, Snapshot          string
	Namespace, Pod, Outcome string
	Node                    string // empty: none
	Took                    time.Duration
}

// LogDecision writes a line about a decision, or counts it for the next line.
func (o *Observer) LogDecision(ctx context.Context, d Decided) {
	o.sample.skipped.Add(1)
	o.sample.sometimes.Do(func() {
		attrs := []slog.Attr{
			slog.String("verb", d.Verb), slog.String("snapshot", d.Snapshot),
			slog.String("pod", d.Namespace+"/"+d.Pod), slog.String("outcome", d.Outcome),
			slog.Duration("took", d.Took),
		}
		if o.pages {
			cluster, _, _ := strings.Cut(d.Snapshot, "@")
			attrs = append(attrs, slog.String("page", "/pods/"+url.PathEscape(d.Namespace)+"/"+
				url.PathEscape(d.Pod)+"?cluster="+url.QueryEscape(cluster)))
		}
		if d.Node != "" {
			attrs = append(attrs, slog.String("node", d.Node))
		}
		if n := o.sample.skipped.Swap(0) - 1; n > 0 {
			attrs = append(attrs, slog.Int64("othersNotLogged", n))
		}
		o.Log.LogAttrs(ctx, slog.LevelInfo, "decided", attrs...)
	})
}
