package handlers

import (
	"runtime"
	"strings"
	"testing"
	"time"
	"weak"

	"berth/internal/revision"
)

// A deleted cluster's state is collected, whatever was asked about it and scraped before.
func TestStatesOfDeletedClustersAreCollected(t *testing.T) {
	h := start(t, nil)
	h.upload("prod", small())
	const pod = `{"metadata":{"name":"p","namespace":"shop","uid":"u"},"spec":{"containers":[{"name":"c"}]}}`
	nodes := strings.ReplaceAll(`{"Pod":`+pod+`,"Nodes":{"items":[`+node("a", "77")+`]}}`, "\n", "")
	h.want(200, nil, "POST", "/clusters/prod/filter", nodes)
	h.want(200, nil, "POST", "/clusters/prod/filter", `{"Pod":`+pod+`,"NodeNames":["a"]}`)
	h.want(201, nil, "POST", "/v1/decisions", `{"snapshot":"prod@1","pod":`+pod+`}`)
	h.want(200, nil, "GET", "/metrics", "")
	state := func() weak.Pointer[revision.View] {
		v, err := h.m.View(t.Context(), "prod", 0)
		if err != nil {
			t.Fatal(err)
		}
		return weak.Make(v)
	}()
	h.want(204, nil, "DELETE", "/v1/clusters/prod", "")
	for range 100 {
		runtime.GC()
		if state.Value() == nil {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Error("the state is still in memory")
}
