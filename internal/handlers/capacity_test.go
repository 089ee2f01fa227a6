package handlers

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"berth/internal/handlers/admit"
	"berth/internal/scenario"
	"berth/internal/store"
)

func TestCapacity(t *testing.T) {
	var kept keptCapacities
	h := start(t, func(o *admit.Options) { kept.Capacities, o.Capacities = o.Capacities, &kept })
	h.upload("prod", listOf(node("n1", "4", "team", "x"), node("n2", "2", "team", "y"), pod("web", "1", `,"nodeName":"n1"`)))
	var got scenario.Capacity
	h.want(http.StatusOK, &got, "GET", "/v1/clusters/prod/capacity?pool=team", "")
	if got.Snapshot != "prod@1" || got.Nodes.InUse != 1 || got.Resources[0].Free != 5000 || len(got.Resources[0].Pools) != 2 || got.Shapes[0].Example != "shop/web" || got.Shapes[0].Room != 5 {
		t.Errorf("%+v", got)
	}
	lines := func(want ...string) {
		t.Helper()
		metrics := string(h.want(http.StatusOK, nil, "GET", "/metrics", "").body)
		for _, line := range want {
			if !strings.Contains(metrics, line+"\n") {
				t.Errorf("no %s", line)
			}
		}
	}
	figures := []string{
		`berth_capacity_free{cluster="prod",resource="cpu"} 5000`, `berth_capacity_stranded{cluster="prod",resource="cpu"} 0`,
		`berth_capacity_room{cluster="prod",shape="cpu=1000"} 5`, `berth_capacity_nodes_in_use{cluster="prod"} 1`, `berth_capacity_nodes_bound{cluster="prod"} 1`,
	}
	kept.err = store.ErrUnavailable
	lines(figures...)
	if !strings.Contains(h.log.String(), "capacity was measured and not stored") {
		t.Error("a write that failed is not logged")
	}
	kept.err = nil
	h.upload("prod", listOf(node("n1", "4")))
	lines(figures...) // of the interval
	h.upload("test", listOf(node("n1", "3")))
	lines(figures...)
	want := store.Capacity{Cluster: "test", Revision: 1, MeasuredAt: kept.rows[0].MeasuredAt, Resource: "cpu", Allocatable: 3000, Free: 3000, Nodes: 1}
	if time.Since(want.MeasuredAt) > time.Minute || kept.rows[0] != want {
		t.Errorf("%+v", kept.rows)
	}
	for _, row := range kept.rows {
		if row.Cluster != "test" {
			t.Errorf("stored within the interval: %+v", row)
		}
	}
	h.want(http.StatusNotFound, nil, "GET", "/v1/clusters/none/capacity", "")
	h.want(http.StatusBadRequest, nil, "GET", "/v1/clusters/prod/capacity?snapshot=x", "")
}

// keptCapacities is a store that may fail.
type keptCapacities struct {
	store.Capacities
	rows []store.Capacity
	err  error
}

func (k *keptCapacities) PutCapacities(ctx context.Context, rows []store.Capacity) error {
	if k.err != nil {
		return k.err
	}
	k.rows = append(k.rows, rows...)
	return k.Capacities.PutCapacities(ctx, rows)
}
