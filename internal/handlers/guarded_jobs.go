package handlers

import (
	"context"
	"fmt"

	"berth/internal/replays"
	"berth/internal/simulations"
	"berth/internal/store"
)

// guardedReplays checks the cluster of each batch replay.
type guardedReplays struct{ all Replays }

func (g guardedReplays) Start(ctx context.Context, q replays.Request) (*replays.Job, error) {
	if err := mayIn(ctx, q.Cluster); err != nil {
		return nil, err
	}
	return g.all.Start(ctx, q)
}

func (g guardedReplays) Get(ctx context.Context, id string) (*replays.Job, error) {
	j, err := g.all.Get(ctx, id)
	if err == nil && !sees(ctx, j.Cluster, "") {
		return nil, fmt.Errorf("batch replay %s: %w", id, store.ErrNotFound)
	}
	return j, err
}

func (g guardedReplays) List(ctx context.Context, name, before string, limit int) ([]*replays.Job, error) {
	return jobsOf(ctx, name, before, limit, g.all.List, func(j *replays.Job) (string, string) { return j.ID, j.Cluster })
}

// jobsOf lists the jobs that the caller may see.
func jobsOf[J any](ctx context.Context, name, before string, limit int, list func(ctx context.Context, name, before string, limit int) ([]J, error), of func(J) (id, cluster string)) ([]J, error) {
	if name != "" {
		if err := mayIn(ctx, name); err != nil {
			return nil, err
		}
	}
	passes := func(j *J) bool {
		_, at := of(*j)
		return sees(ctx, at, "")
	}
	return visible(limit, passes, func() ([]J, error) {
		page, err := list(ctx, name, before, limit)
		if len(page) > 0 {
			before, _ = of(page[len(page)-1])
		}
		return page, err
	})
}

func (g guardedReplays) Cancel(ctx context.Context, id string) (*replays.Job, error) {
	if _, err := g.Get(ctx, id); err != nil {
		return nil, err
	}
	return g.all.Cancel(ctx, id)
}

func (g guardedReplays) Delete(ctx context.Context, id string) error {
	if _, err := g.Get(ctx, id); err != nil {
		return err
	}
	return g.all.Delete(ctx, id)
}

func (g guardedReplays) Differences(ctx context.Context, id string, after store.ReplayCursor, limit int) ([]*replays.Difference, error) {
	if _, err := g.Get(ctx, id); err != nil {
		return nil, err
	}
	return g.all.Differences(ctx, id, after, limit)
}

// guardedSimulations checks the cluster of each job.
type guardedSimulations struct{ all Simulations }

func (g guardedSimulations) Start(ctx context.Context, q *simulations.Question) (*simulations.Job, error) {
	if err := mayIn(ctx, q.Cluster); err != nil {
		return nil, err
	}
	return g.all.Start(ctx, q)
}

func (g guardedSimulations) Get(ctx context.Context, id string) (*simulations.Job, error) {
	j, err := g.all.Get(ctx, id)
	if err == nil && !sees(ctx, j.Cluster, "") {
		return nil, fmt.Errorf("job %s: %w", id, store.ErrNotFound)
	}
	return j, err
}

func (g guardedSimulations) List(ctx context.Context, name, before string, limit int) ([]*simulations.Job, error) {
	return jobsOf(ctx, name, before, limit, g.all.List, func(j *simulations.Job) (string, string) { return j.ID, j.Cluster })
}

func (g guardedSimulations) Cancel(ctx context.Context, id string) (*simulations.Job, error) {
	if _, err := g.Get(ctx, id); err != nil {
		return nil, err
	}
	return g.all.Cancel(ctx, id)
}

func (g guardedSimulations) Delete(ctx context.Context, id string) error {
	if _, err := g.Get(ctx, id); err != nil {
		return err
	}
	return g.all.Delete(ctx, id)
}
