package handlers

import (
	"testing"

	"berth/internal/report"
)

// The pods that wait, with why: as the queue has them, and those of one namespace.
func TestPending(t *testing.T) {
	h := start(t, nil)
	h.want(201, nil, "POST", "/v1/snapshots?cluster=c", `{"kind":"List","apiVersion":"v1","items":[
{"kind":"Node","apiVersion":"v1","metadata":{"name":"n1"},"status":{"allocatable":{"cpu":"2","memory":"4Gi","pods":"10"}}},
{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a","namespace":"x"},"spec":{"containers":[{"name":"c","resources":{"requests":{"cpu":"3"}}}]}},
{"kind":"Pod","apiVersion":"v1","metadata":{"name":"b","namespace":"x"},"spec":{"containers":[{"name":"c","resources":{"requests":{"cpu":"3"}}}]}},
{"kind":"Pod","apiVersion":"v1","metadata":{"name":"g","namespace":"y"},"spec":{"schedulingGates":[{"name":"g"}],"containers":[{"name":"c"}]}}]}`)
	var all report.Pending
	h.want(200, &all, "GET", "/v1/clusters/c/pending", "")
	if len(all.Pods) != 3 || all.Counts.Judged != 2 || all.Pods[0].Remedy == nil || all.Pods[1].Like == nil || all.Pods[2].State != "gated" ||
		all.Pods[0].Why != "No node fits: of 1 node 1 lacks cpu even when empty." || all.Snapshot != "c@1" {
		t.Errorf("%+v", all)
	}
	var some report.Pending
	h.want(200, &some, "GET", "/v1/clusters/c/pending?namespace=x&limit=1&suggest=false", "")
	if len(some.Pods) != 1 || some.Pods[0].Remedy != nil || some.Counts.Omitted != 1 || some.Counts.Elsewhere != 1 {
		t.Errorf("%+v", some)
	}
	for _, query := range []string{"limit=0", "limit=1001", "suggest=1"} {
		h.want(400, nil, "GET", "/v1/clusters/c/pending?"+query, "")
	}
	h.want(404, nil, "GET", "/v1/clusters/none/pending", "")
}
