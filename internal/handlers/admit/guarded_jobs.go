package admit

import (
	"context"
	"fmt"

	"berth/internal/handlers/exchange"
	"berth/internal/jobs/replays"
	"berth/internal/jobs/simulations"
	"berth/internal/store"
)

// jobCalls are the calls about jobs J, which questions Q start.
type jobCalls[Q, J any] interface {
	Start(ctx context.Context, q Q) (J, error)
	// Find returns a job without its answer, Get with it.
	Find(ctx context.Context, id string) (J, error)
	Get(ctx context.Context, id string) (J, error)
	List(ctx context.Context, cluster, before string, limit int) ([]J, error)
	Cancel(ctx context.Context, id string) (J, error)
	Delete(ctx context.Context, id string) error
}

// guardedJobs checks the cluster of each job.
type guardedJobs[Q, J any] struct {
	all  jobCalls[Q, J]
	kind string // as messages name a job
	in   func(Q) (cluster string)
	of   func(J) (id, cluster string)
}

func (g guardedJobs[Q, J]) Start(ctx context.Context, q Q) (j J, err error) {
	if err := MayIn(ctx, g.in(q)); err != nil {
		return j, err
	}
	return g.all.Start(ctx, q)
}

// Find looks a job up whether or not the caller may see it, by one row each: an answer, which takes
// longer to read, is read for those who may. So a job of another cluster takes as long as none.
func (g guardedJobs[Q, J]) Find(ctx context.Context, id string) (none J, err error) {
	j, err := g.all.Find(ctx, id)
	if err != nil {
		return none, err
	}
	if _, cluster := g.of(j); !Sees(ctx, cluster, "") {
		return none, &exchange.HiddenError{Cluster: cluster, Err: fmt.Errorf("%s %s: %w", g.kind, id, store.ErrNotFound)}
	}
	return j, nil
}

func (g guardedJobs[Q, J]) Get(ctx context.Context, id string) (none J, err error) {
	if _, err := g.Find(ctx, id); err != nil {
		return none, err
	}
	return g.all.Get(ctx, id)
}

func (g guardedJobs[Q, J]) List(ctx context.Context, name, before string, limit int) ([]J, error) {
	if name != "" {
		if err := MayIn(ctx, name); err != nil {
			return nil, err
		}
	}
	passes := func(j *J) bool {
		_, cluster := g.of(*j)
		return Sees(ctx, cluster, "")
	}
	return visible(limit, passes, func() ([]J, error) {
		page, err := g.all.List(ctx, name, before, limit)
		if len(page) > 0 {
			before, _ = g.of(page[len(page)-1])
		}
		return page, err
	})
}

func (g guardedJobs[Q, J]) Cancel(ctx context.Context, id string) (none J, err error) {
	if _, err := g.Find(ctx, id); err != nil {
		return none, err
	}
	return g.all.Cancel(ctx, id)
}

func (g guardedJobs[Q, J]) Delete(ctx context.Context, id string) error {
	if _, err := g.Find(ctx, id); err != nil {
		return err
	}
	return g.all.Delete(ctx, id)
}

// guardedReplays checks the cluster of each batch replay.
type guardedReplays struct {
	guardedJobs[replays.Request, *replays.Job]
	all Replays
}

func guardReplays(all Replays) guardedReplays {
	return guardedReplays{guardedJobs[replays.Request, *replays.Job]{
		all: all, kind: "batch replay",
		in: func(q replays.Request) string { return q.Cluster },
		of: func(j *replays.Job) (id, cluster string) { return j.ID, j.Cluster },
	}, all}
}

func (g guardedReplays) Differences(ctx context.Context, id string, after store.ReplayCursor, limit int) ([]*replays.Difference, error) {
	if _, err := g.Find(ctx, id); err != nil {
		return nil, err
	}
	return g.all.Differences(ctx, id, after, limit)
}

// guardedSimulations checks the cluster of each job of a question about what comes next.
type guardedSimulations struct {
	guardedJobs[*simulations.Question, *simulations.Job]
	all Simulations
}

func guardSimulations(all Simulations) guardedSimulations {
	return guardedSimulations{guardedJobs[*simulations.Question, *simulations.Job]{
		all: all, kind: "job",
		in: func(q *simulations.Question) string { return q.Cluster },
		of: func(j *simulations.Job) (id, cluster string) { return j.ID, j.Cluster },
	}, all}
}

func (g guardedSimulations) Question(ctx context.Context, id string) ([]byte, error) {
	if _, err := g.Find(ctx, id); err != nil {
		return nil, err
	}
	return g.all.Question(ctx, id)
}
