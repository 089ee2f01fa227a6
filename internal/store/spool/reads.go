package spool

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"berth/internal/store"
)

// Decision implements store.Decisions; a record that is still in the spool is
// returned from there.
func (w *Writer) Decision(ctx context.Context, id string) (*store.Decision, error) {
	if e, ok := w.j.find(id); ok {
		return e.Decision, nil
	}
	return w.Database.Decision(ctx, id)
}

// DeleteRevision implements store.Revisions.
func (w *Writer) DeleteRevision(ctx context.Context, cluster string, number int64) error {
	if err := w.waiting(); err != nil {
		return err
	}
	return w.Database.DeleteRevision(ctx, cluster, number)
}

// DeleteCluster implements store.Revisions.
func (w *Writer) DeleteCluster(ctx context.Context, cluster string) error {
	if err := w.waiting(); err != nil {
		return err
	}
	return w.Database.DeleteCluster(ctx, cluster)
}

// Prune implements store.Pruner.
func (w *Writer) Prune(ctx context.Context, before time.Time) (int64, error) {
	if err := w.waiting(); err != nil {
		return 0, err
	}
	return w.Database.Prune(ctx, before)
}

// waiting refuses to delete while records wait for the database: they may stand on what would go.
func (w *Writer) waiting() error {
	if n := w.j.records(); n > 0 {
		return fmt.Errorf("%w: %d decisions wait in the spool and may stand on what is to be deleted", store.ErrUnavailable, n)
	}
	return nil
}

// Close implements store.Store. What the database does not take in a few
// seconds stays on disk for the next start.
func (w *Writer) Close() error {
	w.once.Do(func() {
		w.await(5 * time.Second)
		<-w.turn // waits for the write under way
		w.mu.Lock()
		w.closed = true
		w.mu.Unlock()
		w.turn <- struct{}{}
		w.stop()
		w.work.Wait()
		if s := w.Status(); s.Records > 0 {
			w.o.Log.LogAttrs(context.Background(), slog.LevelWarn, "records stay in the spool; the next start hands them over", slog.Int64("records", s.Records), slog.Int64("bytes", s.Bytes))
		}
		w.end = errors.Join(w.Database.Close(), w.j.close())
	})
	return w.end
}

// await waits for the drainer while the database answers.
func (w *Writer) await(limit time.Duration) {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	for {
		w.mu.Lock()
		busy := w.queued && !w.down
		w.mu.Unlock()
		if !busy {
			return
		}
		select {
		case <-timer.C:
			return
		case <-time.After(5 * time.Millisecond):
		}
	}
}
