package spool

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"berth/internal/store"
)

// ask runs a call that needs the database: not at all while it is away, and no
// longer than until that turns out.
func ask[T any](ctx context.Context, w *Writer, call func(context.Context) (T, error)) (T, error) {
	var none T
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	w.mu.Lock()
	if err := w.away(); err != nil {
		w.mu.Unlock()
		return none, err
	}
	w.reads[&cancel] = struct{}{}
	w.mu.Unlock()
	v, err := call(ctx)
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.reads, &cancel)
	if err != nil && errors.Is(err, context.Canceled) && ctx.Err() != nil {
		if away := w.away(); away != nil {
			return none, away
		}
	}
	if errors.Is(err, store.ErrUnavailable) {
		select {
		case w.kick <- struct{}{}: // look at once
		default:
		}
	}
	return v, err
}

func tell(ctx context.Context, w *Writer, call func(context.Context) error) error {
	_, err := ask(ctx, w, func(ctx context.Context) (struct{}, error) { return struct{}{}, call(ctx) })
	return err
}

// Decision implements store.Decisions; a record that is still in the spool is
// given from there.
func (w *Writer) Decision(ctx context.Context, id string) (*store.Decision, error) {
	if e, ok := w.j.find(id); ok {
		return e.Decision, nil
	}
	return ask(ctx, w, func(ctx context.Context) (*store.Decision, error) { return w.Store.Decision(ctx, id) })
}

// ListDecisions implements store.Decisions: those in the database.
func (w *Writer) ListDecisions(ctx context.Context, f store.DecisionFilter) ([]*store.Decision, error) {
	return ask(ctx, w, func(ctx context.Context) ([]*store.Decision, error) { return w.Store.ListDecisions(ctx, f) })
}

// FollowDecisions implements store.Decisions: those in the database, where the
// others get their Seq when they are handed over.
func (w *Writer) FollowDecisions(ctx context.Context, cluster string, after int64, limit int) ([]*store.Decision, error) {
	return ask(ctx, w, func(ctx context.Context) ([]*store.Decision, error) {
		return w.Store.FollowDecisions(ctx, cluster, after, limit)
	})
}

// FailedAttempts implements store.Attempts: those in the database.
func (w *Writer) FailedAttempts(ctx context.Context, f store.AttemptFilter) ([]store.FailedAttempts, error) {
	return ask(ctx, w, func(ctx context.Context) ([]store.FailedAttempts, error) { return w.Store.FailedAttempts(ctx, f) })
}

// LastChange implements store.Attempts.
func (w *Writer) LastChange(ctx context.Context, cluster string, revision int64) (int64, error) {
	return ask(ctx, w, func(ctx context.Context) (int64, error) { return w.Store.LastChange(ctx, cluster, revision) })
}

// ListGaps implements store.Gaps.
func (w *Writer) ListGaps(ctx context.Context, cluster string) ([]*store.Gap, error) {
	return ask(ctx, w, func(ctx context.Context) ([]*store.Gap, error) { return w.Store.ListGaps(ctx, cluster) })
}

// Newest implements store.Revisions.
func (w *Writer) Newest(ctx context.Context, cluster string) (*store.Revision, error) {
	return ask(ctx, w, func(ctx context.Context) (*store.Revision, error) { return w.Store.Newest(ctx, cluster) })
}

// Revision implements store.Revisions.
func (w *Writer) Revision(ctx context.Context, cluster string, number int64) (*store.Revision, error) {
	return ask(ctx, w, func(ctx context.Context) (*store.Revision, error) { return w.Store.Revision(ctx, cluster, number) })
}

// RevisionsAfter implements store.Revisions.
func (w *Writer) RevisionsAfter(ctx context.Context, cluster string, after int64, limit int) ([]*store.Revision, error) {
	return ask(ctx, w, func(ctx context.Context) ([]*store.Revision, error) {
		return w.Store.RevisionsAfter(ctx, cluster, after, limit)
	})
}

// ListRevisions implements store.Revisions.
func (w *Writer) ListRevisions(ctx context.Context, cluster string, before int64, limit int) ([]*store.Revision, error) {
	return ask(ctx, w, func(ctx context.Context) ([]*store.Revision, error) {
		return w.Store.ListRevisions(ctx, cluster, before, limit)
	})
}

// CheckpointAt implements store.Revisions.
func (w *Writer) CheckpointAt(ctx context.Context, cluster string, number int64) (*store.Checkpoint, error) {
	return ask(ctx, w, func(ctx context.Context) (*store.Checkpoint, error) {
		return w.Store.CheckpointAt(ctx, cluster, number)
	})
}

// PutCheckpoint implements store.Revisions.
func (w *Writer) PutCheckpoint(ctx context.Context, c *store.Checkpoint) error {
	return tell(ctx, w, func(ctx context.Context) error { return w.Store.PutCheckpoint(ctx, c) })
}

// Clusters implements store.Revisions.
func (w *Writer) Clusters(ctx context.Context, f store.ClusterFilter) ([]store.ClusterInfo, error) {
	return ask(ctx, w, func(ctx context.Context) ([]store.ClusterInfo, error) { return w.Store.Clusters(ctx, f) })
}

// DeleteRevision implements store.Revisions. While records wait for the
// database nothing is deleted: they may stand on it.
func (w *Writer) DeleteRevision(ctx context.Context, cluster string, number int64) error {
	if err := w.waiting(); err != nil {
		return err
	}
	return tell(ctx, w, func(ctx context.Context) error { return w.Store.DeleteRevision(ctx, cluster, number) })
}

// DeleteCluster implements store.Revisions, as DeleteRevision.
func (w *Writer) DeleteCluster(ctx context.Context, cluster string) error {
	if err := w.waiting(); err != nil {
		return err
	}
	return tell(ctx, w, func(ctx context.Context) error { return w.Store.DeleteCluster(ctx, cluster) })
}

func (w *Writer) waiting() error {
	if n := w.j.records(); n > 0 {
		return fmt.Errorf("%w: %d decisions wait in the spool and may stand on what is to be deleted", store.ErrUnavailable, n)
	}
	return nil
}

// Profile implements store.Profiles.
func (w *Writer) Profile(ctx context.Context, digest string) (*store.Profile, error) {
	return ask(ctx, w, func(ctx context.Context) (*store.Profile, error) { return w.Store.Profile(ctx, digest) })
}

// Retain implements store.Keeper.
func (w *Writer) Retain(ctx context.Context, before time.Time) (int64, error) {
	return ask(ctx, w, func(ctx context.Context) (int64, error) { return w.Store.Retain(ctx, before) })
}

// Sizes implements store.Keeper.
func (w *Writer) Sizes(ctx context.Context) (map[string]int64, error) {
	return ask(ctx, w, w.Store.Sizes)
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
		w.end = errors.Join(w.Store.Close(), w.j.close())
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
