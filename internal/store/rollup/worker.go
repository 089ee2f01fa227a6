package rollup

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"time"

	"berth/internal/store"
)

// Store is what a worker needs of a store.
type Store interface {
	store.Rollups
	TryLock(ctx context.Context, name string) (unlock func(), ok bool, err error)
}

const (
	// lookEvery is how far roll-ups stay behind the log: less would write more often what is summed
	// up by the hour anyway.
	lookEvery = 5 * time.Second
	// longWay is how many records have a catch-up say how far it is, and sayEvery how often.
	longWay, sayEvery = 50_000, 15 * time.Second
)

// Lock is the name of the lock of the process that keeps the roll-ups.
const Lock = "roll-ups"

// Worker keeps the roll-ups of a store up. Of several processes one works at a time.
type Worker struct {
	st     Store
	log    *slog.Logger
	behind atomic.Int64
	failed atomic.Int64
	broken bool // the last look failed, and was told
}

// NewWorker returns a worker.
func NewWorker(st Store, log *slog.Logger) *Worker { return &Worker{st: st, log: log} }

// Behind returns how many records the roll-ups were behind the log when this process looked last.
func (w *Worker) Behind() int64 { return w.behind.Load() }

// Failures returns how many looks have failed.
func (w *Worker) Failures() int64 { return w.failed.Load() }

// Run keeps the roll-ups up until ctx ends.
func (w *Worker) Run(ctx context.Context) {
	every := time.NewTicker(lookEvery)
	defer every.Stop()
	for {
		err := w.look(ctx)
		switch {
		case ctx.Err() != nil:
			return
		case err == nil:
			w.broken = false
		default:
			w.failed.Add(1)
			if !w.broken {
				w.log.LogAttrs(ctx, slog.LevelWarn, "roll-ups of the log are not kept up", slog.String("error", err.Error()))
			}
			w.broken = true
		}
		select {
		case <-ctx.Done():
			return
		case <-every.C:
		}
	}
}

// look adds what is new.
func (w *Worker) look(ctx context.Context) error {
	states, err := w.st.RollupStates(ctx)
	if err != nil {
		return err
	}
	var late []string
	all := int64(0)
	for i := range states {
		if states[i].Behind() > 0 || states[i].Revision < states[i].Newest {
			late = append(late, states[i].Cluster)
			all += states[i].Behind()
		}
	}
	w.behind.Store(all)
	if len(late) == 0 {
		return nil
	}
	unlock, ok, err := w.st.TryLock(ctx, Lock)
	if err != nil || !ok {
		return err
	}
	defer unlock()
	return w.catchUp(ctx, late, all)
}

// catchUp adds what clusters lack, in turns.
func (w *Worker) catchUp(ctx context.Context, late []string, all int64) error {
	began, said, done := time.Now(), time.Now(), int64(0)
	if all >= longWay {
		w.log.LogAttrs(ctx, slog.LevelInfo, "roll-ups of the log are made", slog.Int64("records", all))
	}
	for len(late) > 0 {
		var more []string
		for _, cluster := range late {
			step, err := w.st.RollUp(ctx, cluster)
			// Another process was faster, or the cluster is gone: the next look sees it.
			if err != nil && !errors.Is(err, store.ErrConflict) && !errors.Is(err, store.ErrNotFound) {
				return err
			}
			done += step.Records
			if step.More {
				more = append(more, cluster)
			}
		}
		late = more
		w.behind.Store(max(all-done, 0))
		if all >= longWay && time.Since(said) >= sayEvery {
			said = time.Now()
			w.log.LogAttrs(ctx, slog.LevelInfo, "roll-ups of the log are being made", slog.Int64("records", done), slog.Int64("of", all))
		}
	}
	if all >= longWay {
		w.log.LogAttrs(ctx, slog.LevelInfo, "roll-ups of the log are up to date", slog.Int64("records", done), slog.Duration("took", time.Since(began)))
	}
	return nil
}
