package admit

import (
	"context"
	"errors"
	"strings"
	"testing"

	"berth/internal/access"
	"berth/internal/jobs/simulations"
	"berth/internal/store"
)

// countedJobs counts what is read of one job, which is of another cluster.
type countedJobs struct {
	Simulations
	found, read int
}

func (c *countedJobs) Find(_ context.Context, id string) (*simulations.Job, error) {
	c.found++
	if id != "theirs" {
		return nil, store.ErrNotFound
	}
	return &simulations.Job{ID: id, Cluster: "prod"}, nil
}

func (c *countedJobs) Get(context.Context, string) (*simulations.Job, error) {
	c.read++
	return &simulations.Job{}, nil
}

func (c *countedJobs) Cancel(context.Context, string) (*simulations.Job, error) {
	c.read++
	return &simulations.Job{}, nil
}

func (c *countedJobs) Delete(context.Context, string) error { c.read++; return nil }

// TestForeignJobTakesAsLongAsNone: of a job of another cluster one row is read, as of one that
// there is not, and never its answer.
func TestForeignJobTakesAsLongAsNone(t *testing.T) {
	who := &access.Identity{Kind: "token", Name: "a", Grants: access.Grants{{Role: "binder", Clusters: []string{"mine"}, Namespaces: []string{"*"}}}}
	ctx := access.With(t.Context(), who, "", "")
	for _, id := range []string{"theirs", "none"} {
		all := &countedJobs{}
		g := guardSimulations(all)
		_, get := g.Get(ctx, id)
		_, cancel := g.Cancel(ctx, id)
		for _, err := range []error{get, cancel, g.Delete(ctx, id)} {
			if !errors.Is(err, store.ErrNotFound) || strings.Contains(err.Error(), "prod") {
				t.Errorf("%s: %v", id, err)
			}
		}
		if all.found != 3 || all.read != 0 {
			t.Errorf("%s: %d rows, %d more", id, all.found, all.read)
		}
	}
}
