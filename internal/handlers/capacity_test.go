package handlers

import (
	"net/http"
	"strings"
	"testing"

	"berth/internal/scenario"
)

func TestCapacity(t *testing.T) {
	h := start(t, nil)
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
	lines(figures...)
	h.upload("prod", listOf(node("n1", "4")))
	lines(figures...) // of the interval
	h.want(http.StatusNotFound, nil, "GET", "/v1/clusters/none/capacity", "")
	h.want(http.StatusBadRequest, nil, "GET", "/v1/clusters/prod/capacity?snapshot=x", "")
}
