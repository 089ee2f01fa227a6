package storetest

import (
	"context"
	"testing"

	"berth/internal/store"
)

// measured is two resources of a cluster at a revision.
func measured(cluster string, revision int64) []store.Capacity {
	half := 12.5
	c := store.Capacity{
		Cluster: cluster, Revision: revision, MeasuredAt: at(int(revision)), Resource: "cpu",
		Allocatable: 8000, Requested: 5000, Free: 3000, Stranded: 200, Fragmentation: &half, Nodes: 9, NodesInUse: 7, NodesBound: 4,
	}
	pods := c
	pods.Resource, pods.Allocatable, pods.Requested, pods.Free, pods.Stranded, pods.Fragmentation = "pods", 1<<53+1, 5, 1<<53-4, 0, nil
	return []store.Capacity{c, pods}
}

func init() {
	register("Capacities", cases{
		"OfNoRevision": func(t *testing.T, s store.Store) {
			wantErr(t, "PutCapacities", s.PutCapacities(t.Context(), measured("prod", 1)), nil)
		},
	}, calls{
		"PutCapacities": func(ctx context.Context, s store.Store) error { return s.PutCapacities(ctx, measured("prod", 1)) },
	})
}

// CapacityView writes what was measured into an empty store, and wants it to go with its revisions.
func CapacityView(t *testing.T, s store.Store, ask Ask) {
	t.Helper()
	put := func(rows []store.Capacity) {
		t.Helper()
		wantErr(t, "PutCapacities", s.PutCapacities(t.Context(), rows), nil)
	}
	stored := func(want ...string) {
		t.Helper()
		compareRows(t, ask, []question{{`SELECT snapshot, resource, requested FROM capacity ORDER BY cluster, revision, resource`, want}})
	}
	appendAll(t, s, revision("prod", 1), revision("prod", 2), revision("prod", 3), revision("test", 1))
	for _, r := range []int64{1, 2, 3, 4} { // 4 is not stored
		put(measured("prod", r))
	}
	put(measured("test", 1))
	other := measured("prod", 1)
	other[0].Requested, other[1].Requested = 1, 1
	put(other) // another replica's, later
	compareRows(t, ask, []question{{
		`SELECT snapshot, time, resource, allocatable, requested, free, stranded, coalesce(fragmentation, -1.5), nodes, nodes_in_use, nodes_bound FROM capacity WHERE cluster = 'prod' AND revision = 1 ORDER BY resource`,
		[]string{
			"prod@1|2026-02-28T23:59:59.123456Z|cpu|8000|5000|3000|200|12.5|9|7|4",
			"prod@1|2026-02-28T23:59:59.123456Z|pods|9007199254740993|5|9007199254740988|0|-1.5|9|7|4",
		},
	}})
	wantErr(t, "DeleteRevision", s.DeleteRevision(t.Context(), "prod", 1), nil)
	stored("prod@2|cpu|5000", "prod@2|pods|5", "prod@3|cpu|5000", "prod@3|pods|5", "test@1|cpu|5000", "test@1|pods|5")
	_, err := s.Prune(t.Context(), at(100))
	wantErr(t, "Prune", err, nil)
	stored("prod@3|cpu|5000", "prod@3|pods|5", "test@1|cpu|5000", "test@1|pods|5")
	wantErr(t, "DeleteCluster", s.DeleteCluster(t.Context(), "prod"), nil)
	stored("test@1|cpu|5000", "test@1|pods|5")
}
