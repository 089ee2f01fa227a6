package spool

import (
	"context"
	"time"

	"berth/internal/store"
)

// The calls of replicas, batch replays and priority classes all need the
// database; those that others ask for are refused at once while it is away.

// reach returns why the database cannot be asked now, if it cannot.
func (w *Writer) reach() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.away()
}

// Heads implements store.Sharing.
func (w *Writer) Heads(ctx context.Context) (map[string]store.Head, error) {
	return ask(ctx, w, w.Store.Heads)
}

// TryLock implements store.Sharing.
func (w *Writer) TryLock(ctx context.Context, name string) (unlock func(), ok bool, err error) {
	if err := w.reach(); err != nil {
		return nil, false, err
	}
	return w.Store.TryLock(ctx, name)
}

// Turn implements store.Sharing.
func (w *Writer) Turn(ctx context.Context, cluster string) (end func(), err error) {
	if err := w.reach(); err != nil {
		return nil, err
	}
	return w.Store.Turn(ctx, cluster)
}

// Prune implements store.Pruner. While records wait for the database nothing is
// deleted: they may stand on it.
func (w *Writer) Prune(ctx context.Context, before time.Time) (int64, error) {
	if err := w.waiting(); err != nil {
		return 0, err
	}
	return ask(ctx, w, func(ctx context.Context) (int64, error) { return w.Store.Prune(ctx, before) })
}

// Usage implements store.Keeper.
func (w *Writer) Usage(ctx context.Context) (store.Usage, error) { return ask(ctx, w, w.Store.Usage) }

// Replay implements store.Replays.
func (w *Writer) Replay(ctx context.Context, id string) (*store.Replay, error) {
	return ask(ctx, w, func(ctx context.Context) (*store.Replay, error) { return w.Store.Replay(ctx, id) })
}

// ListReplays implements store.Replays.
func (w *Writer) ListReplays(ctx context.Context, cluster, before string, limit int) ([]*store.Replay, error) {
	return ask(ctx, w, func(ctx context.Context) ([]*store.Replay, error) {
		return w.Store.ListReplays(ctx, cluster, before, limit)
	})
}

// ReplayStates implements store.Replays.
func (w *Writer) ReplayStates(ctx context.Context) (map[string]int64, error) {
	return ask(ctx, w, w.Store.ReplayStates)
}

// ReplayDifferences implements store.Replays.
func (w *Writer) ReplayDifferences(ctx context.Context, id string, after store.ReplayCursor, limit int) ([]*store.ReplayDifference, error) {
	return ask(ctx, w, func(ctx context.Context) ([]*store.ReplayDifference, error) {
		return w.Store.ReplayDifferences(ctx, id, after, limit)
	})
}

// PlanReplay implements store.Replays.
func (w *Writer) PlanReplay(ctx context.Context, cluster string, since, until time.Time, size int64) ([]*store.ReplayPart, error) {
	return ask(ctx, w, func(ctx context.Context) ([]*store.ReplayPart, error) {
		return w.Store.PlanReplay(ctx, cluster, since, until, size)
	})
}

// CreateReplay implements store.Replays.
func (w *Writer) CreateReplay(ctx context.Context, r *store.Replay, parts []*store.ReplayPart) error {
	return tell(ctx, w, func(ctx context.Context) error { return w.Store.CreateReplay(ctx, r, parts) })
}

// EndReplay implements store.Replays.
func (w *Writer) EndReplay(ctx context.Context, id, state, reason string) error {
	return tell(ctx, w, func(ctx context.Context) error { return w.Store.EndReplay(ctx, id, state, reason) })
}

// DeleteReplay implements store.Replays.
func (w *Writer) DeleteReplay(ctx context.Context, id string) error {
	return tell(ctx, w, func(ctx context.Context) error { return w.Store.DeleteReplay(ctx, id) })
}

// ClaimReplay implements store.Replays.
func (w *Writer) ClaimReplay(ctx context.Context, owner string, lease time.Duration) (*store.ReplayPart, error) {
	return ask(ctx, w, func(ctx context.Context) (*store.ReplayPart, error) { return w.Store.ClaimReplay(ctx, owner, lease) })
}

// PriorityClasses implements store.PriorityClasses.
func (w *Writer) PriorityClasses(ctx context.Context, cluster string) ([]*store.PriorityClass, int64, error) {
	type list struct {
		all     []*store.PriorityClass
		version int64
	}
	l, err := ask(ctx, w, func(ctx context.Context) (l list, err error) {
		l.all, l.version, err = w.Store.PriorityClasses(ctx, cluster)
		return l, err
	})
	return l.all, l.version, err
}

// PriorityClassVersions implements store.PriorityClasses.
func (w *Writer) PriorityClassVersions(ctx context.Context) (map[string]int64, error) {
	return ask(ctx, w, w.Store.PriorityClassVersions)
}

// PriorityClass implements store.PriorityClasses.
func (w *Writer) PriorityClass(ctx context.Context, cluster, name string) (*store.PriorityClass, error) {
	return ask(ctx, w, func(ctx context.Context) (*store.PriorityClass, error) {
		return w.Store.PriorityClass(ctx, cluster, name)
	})
}

// PutPriorityClass implements store.PriorityClasses.
func (w *Writer) PutPriorityClass(ctx context.Context, c *store.PriorityClass, expected int64) (int64, error) {
	return ask(ctx, w, func(ctx context.Context) (int64, error) { return w.Store.PutPriorityClass(ctx, c, expected) })
}

// DeletePriorityClass implements store.PriorityClasses.
func (w *Writer) DeletePriorityClass(ctx context.Context, cluster, name string, expected int64) error {
	return tell(ctx, w, func(ctx context.Context) error {
		return w.Store.DeletePriorityClass(ctx, cluster, name, expected)
	})
}

// Lead implements store.Leads.
func (w *Writer) Lead(ctx context.Context, claim store.Lead, lease time.Duration) (store.Lead, error) {
	return ask(ctx, w, func(ctx context.Context) (store.Lead, error) { return w.Store.Lead(ctx, claim, lease) })
}

// Resign implements store.Leads.
func (w *Writer) Resign(ctx context.Context, cluster, owner string) error {
	if err := w.reach(); err != nil {
		return err
	}
	return w.Store.Resign(ctx, cluster, owner)
}

// WantConfirmation implements store.Confirmations.
func (w *Writer) WantConfirmation(ctx context.Context, cluster string) (int64, error) {
	return ask(ctx, w, func(ctx context.Context) (int64, error) { return w.Store.WantConfirmation(ctx, cluster) })
}

// Confirm implements store.Confirmations.
func (w *Writer) Confirm(ctx context.Context, cluster string, question, revision int64) error {
	return tell(ctx, w, func(ctx context.Context) error { return w.Store.Confirm(ctx, cluster, question, revision) })
}

// Confirmation implements store.Confirmations.
func (w *Writer) Confirmation(ctx context.Context, cluster string) (store.Confirmation, error) {
	return ask(ctx, w, func(ctx context.Context) (store.Confirmation, error) { return w.Store.Confirmation(ctx, cluster) })
}
