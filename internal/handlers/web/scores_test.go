package web

import (
	"fmt"
	"strings"
	"testing"

	"berth/internal/engine"
)

// Every node is in one range of points, and the ranges are in order without a gap.
func TestBinsHoldEveryNode(t *testing.T) {
	for _, step := range []int64{0, 1, 7, 1000} {
		nodes := make([]engine.NodeVerdict, 40)
		for i := range nodes {
			score := 5000 - step*int64(i)
			nodes[i] = engine.NodeVerdict{Name: fmt.Sprintf("n%d", i), Score: &score}
		}
		bins, total, next := binsOf(nodes, "n0"), 0, int64(5000)
		for i, b := range bins {
			total += b.Nodes
			if b.To != next || b.From > b.To || b.Chosen != (i == 0) {
				t.Errorf("step %d: range %d is %d to %d, want to %d", step, i, b.From, b.To, next)
			}
			next = b.From - 1
		}
		if total != 40 || len(bins) > 10 || next != 5000-step*39-1 {
			t.Errorf("step %d: %d nodes in %d ranges down to %d", step, total, len(bins), next+1)
		}
	}
	if bins := binsOf(make([]engine.NodeVerdict, 10), ""); bins != nil {
		t.Errorf("of ten nodes: %+v", bins)
	}
}

// A pod's page counts all nodes by points with scores=all.
func TestPodPageCountsAllScores(t *testing.T) {
	base := sampled(t)
	objects := []string{`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"easy","namespace":"shop"},"spec":{"containers":[{"name":"c"}]}}`}
	for i := range 12 {
		objects = append(objects, fmt.Sprintf(`{"apiVersion":"v1","kind":"Node","metadata":{"name":"more-%d"},"status":{"allocatable":{"cpu":"%d","memory":"4Gi","pods":"20"}}}`, i, i+1))
	}
	apply(t, base, `{"apply":[`+strings.Join(objects, ",")+`]}`)
	body, _ := get(t, base+"/pods/shop/easy?cluster=sample")
	if !strings.Contains(body, "with a score</a>") || strings.Contains(body, "All nodes by points") {
		t.Errorf("of the best ten:\n%s", body)
	}
	body, _ = get(t, base+"/pods/shop/easy?cluster=sample&scores=all")
	if !strings.Contains(body, "<caption>All nodes by points") || strings.Contains(body, "with a score</a>") {
		t.Errorf("of all:\n%s", body)
	}
}
