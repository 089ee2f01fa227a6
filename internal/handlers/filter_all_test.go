package handlers

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	extenderv1 "k8s.io/kube-scheduler/extender/v1"
)

// TestFilterOfAllNodes asks about all nodes, again and again, while pods, their order and the
// cluster change: a list with a stranger beside them has the same answer.
func TestFilterOfAllNodes(t *testing.T) {
	h := start(t, nil)
	rng := rand.New(rand.NewPCG(7, 8))
	names := make([]string, 100)
	for i := range names {
		names[i] = fmt.Sprintf("n%02d", i)
	}
	pods := []string{
		pod("web", "2", ""),
		pod("api", "2", ""),
		pod("big", "3", ""),
		pod("large", "1", `,"nodeSelector":{"cpu":"3"}`), // the same nodes as big, for another reason
		pod("huge", "64", ""),
		pod("zonal", "2", `,"nodeSelector":{"zone":"a"}`),
		pod("away", "3", `,"nodeSelector":{"zone":"b"}`),
		pod("gated", "2", `,"schedulingGates":[{"name":"g"}]`),
	}
	for round := range 150 {
		if round%25 == 0 {
			var items []string
			for i, name := range names {
				cpu := fmt.Sprint(2 + rng.IntN(2))
				items = append(items, node(name, cpu, "cpu", cpu, "zone", string(rune('a'+i%3))))
			}
			h.upload("default", listOf(items...))
		}
		if round%10 == 0 {
			at := rng.IntN(len(names))
			names = slices.Concat(names[at:], names[:at])
		}
		p := pods[rng.IntN(1+rng.IntN(len(pods)))]
		var got, want extenderv1.ExtenderFilterResult
		h.want(200, &got, "POST", "/filter", filterBody(p, names...))
		h.want(200, &want, "POST", "/filter", filterBody(p, append(slices.Clone(names), "stranger")...))
		delete(want.FailedNodes, "stranger")
		delete(want.FailedAndUnresolvableNodes, "stranger")
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("round %d, %s (-want +got):\n%s", round, p, diff)
		}
	}
}
