package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"go.opentelemetry.io/otel/metric"

	"berth/internal/handlers/admit"
	"berth/internal/revision"
	"berth/internal/store"
	"berth/internal/store/postgres"
)

// epochWatch keeps what this server has noticed of its database: that another one took its place,
// and what that one lacks.
type epochWatch struct {
	log *slog.Logger

	mu      sync.Mutex
	tell    []func(*store.EpochChange)
	epoch   func() int64 // nil: the store has none
	lost    int64        // decisions, as far as they are counted
	gap     string
	gapAt   time.Time
	refused int64
	old     error // the old primary that was refused last
	oldAt   time.Time
}

// options have a store report to the watch.
func (w *epochWatch) options() (*postgres.EpochOptions, error) {
	change, woken, err := revision.EpochRevision()
	return &postgres.EpochOptions{Instance: instance(), Change: change, Woken: woken, Changed: w.changed, Refused: w.oldPrimary}, err
}

// opened is called with the store that reports.
func (w *epochWatch) opened(st store.Store) {
	if p, ok := st.(*postgres.Store); ok {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.epoch = p.Epoch
	}
}

// then has functions called with each change, which must not call the store.
func (w *epochWatch) then(f ...func(*store.EpochChange)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.tell = append(w.tell, f...)
}

// namedAtOnce is how many ids stand in one line of the log, namedClusters how many clusters in the
// remark of /readyz.
const (
	namedAtOnce   = 100
	namedClusters = 5
)

func (w *epochWatch) changed(c *store.EpochChange) {
	ctx := context.Background()
	log := w.log.With(slog.Int64("epoch", c.To.Number), slog.Int64("timeline", c.To.Timeline), slog.Int64("timelineBefore", c.From.Timeline))
	for i := range c.Losses {
		l := &c.Losses[i]
		log.LogAttrs(ctx, slog.LevelError, "the database lacks what was answered", slog.String("cluster", l.Cluster), slog.String("what", lossText(l)), slog.Int64("lost", l.Lost),
			slog.Time("since", l.Since), slog.Time("until", l.Until), slog.Int64("firstRevision", l.FirstRevision), slog.Int64("lastRevision", l.LastRevision))
		for rest := l.IDs; len(rest) > 0; rest = rest[min(len(rest), namedAtOnce):] {
			log.LogAttrs(ctx, slog.LevelError, "decisions that are lost", slog.String("cluster", l.Cluster), slog.Any("decisions", rest[:min(len(rest), namedAtOnce)]))
		}
	}
	switch {
	case len(c.Losses) > 0:
	case c.Remembers:
		log.LogAttrs(ctx, slog.LevelInfo, "the database was replaced by another one, which has all that this server remembers", slog.Int64("lost", 0))
	default:
		log.LogAttrs(ctx, slog.LevelInfo, "the database was replaced by another one; this server remembers nothing of before")
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	var texts []string
	for i := range c.Losses {
		l := &c.Losses[i]
		if w.lost += max(0, l.Lost); i < namedClusters {
			texts = append(texts, l.Cluster+": "+lossText(l))
		}
	}
	if n := len(c.Losses) - len(texts); n > 0 {
		texts = append(texts, fmt.Sprintf("and %d clusters more", n))
	}
	if len(texts) > 0 {
		w.gapAt = c.At
		w.gap = fmt.Sprintf("the failover noticed at %s has lost answers (%s); the ids are in chain_epochs_log, see docs/runbooks.md#berthchaingap",
			c.At.Format(time.RFC3339), strings.Join(texts, "; "))
	}
	for _, f := range w.tell {
		f(c)
	}
}

// lossText is a loss in words.
func lossText(l *store.EpochLoss) string {
	between := fmt.Sprintf("answered from %s to %s", l.Since.Format(time.RFC3339), l.Until.Format(time.RFC3339))
	text := fmt.Sprintf("%d decisions %s", l.Lost, between)
	if l.Lost == store.UnknownLoss {
		text = "how many decisions is not known, " + between
		if len(l.IDs) > 0 {
			text = fmt.Sprintf("%d decisions at least, %s", len(l.IDs), between)
		}
	}
	if l.FirstRevision > 0 {
		text += fmt.Sprintf(", revisions %s to %d", revision.FormatID(l.Cluster, l.FirstRevision), l.LastRevision)
	}
	return text
}

// oldPrimary is told of each connection to one.
func (w *epochWatch) oldPrimary(err error) {
	w.mu.Lock()
	w.refused++
	fresh := time.Since(w.oldAt) > time.Minute
	w.old = err
	if fresh {
		w.oldAt = time.Now()
	}
	w.mu.Unlock()
	if fresh { // not with each attempt to connect
		w.log.LogAttrs(context.Background(), slog.LevelError, "an old primary takes writes and is not used", slog.Any("error", err))
	}
}

// notes are the remarks of /readyz.
func (w *epochWatch) notes() []admit.Note {
	return []admit.Note{{Name: "chain", Text: func() string {
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.old != nil && time.Since(w.oldAt) < 5*time.Minute {
			return strings.TrimPrefix(w.gap+"; "+w.old.Error(), "; ")
		}
		return w.gap
	}}}
}

// watchEpochs registers the metrics. They are there without a shared database, too, as 0.
func (t *telemetry) watchEpochs(w *epochWatch) error {
	epoch, err1 := t.meter.Int64ObservableGauge("berth.chain.epoch", metric.WithDescription("The epoch of the chains in the database; each failover and switchover begins one."))
	gap, err2 := t.meter.Float64ObservableGauge("berth.chain.gap.timestamp", metric.WithUnit("s"), metric.WithDescription("When this server last found that the database lacks what was answered; 0: not since it started."))
	lost, err3 := t.meter.Int64ObservableCounter("berth.chain.lost", metric.WithDescription("Answered decisions that the database lacks after a failover, as far as they are counted."))
	refused, err4 := t.meter.Int64ObservableCounter("berth.chain.refused", metric.WithDescription("Connections to an old primary that were refused."))
	if err := errors.Join(err1, err2, err3, err4); err != nil {
		return err
	}
	_, err := t.meter.RegisterCallback(func(_ context.Context, o metric.Observer) error {
		w.mu.Lock()
		defer w.mu.Unlock()
		at := 0.0
		if !w.gapAt.IsZero() {
			at = float64(w.gapAt.Unix())
		}
		if w.epoch != nil {
			o.ObserveInt64(epoch, w.epoch())
		}
		o.ObserveFloat64(gap, at)
		o.ObserveInt64(lost, w.lost)
		o.ObserveInt64(refused, w.refused)
		return nil
	}, epoch, gap, lost, refused)
	return err
}
