package handlers

import (
	"reflect"
	"strings"
	"testing"

	"berth/internal/engine"
)

// TestExplainAll: the first rule and the digest are those of any other answer; what else
// rejects a node is beside them.
func TestExplainAll(t *testing.T) {
	h := start(t, nil)
	h.upload("default", small())
	type answer struct {
		engine.Decision
		BoundTo string
		Notes   []string
	}
	ask := func(explain string) (d answer) {
		h.want(200, &d, "POST", "/v1/decisions", `{"dryRun":true,"explain":"`+explain+`","pod":`+pod("new", "64", `,"nodeSelector":{"disk":"ssd"}`)+`}`)
		return d
	}
	full, all := ask("full"), ask("all")
	if full.Digest != all.Digest || len(full.Nodes) == 0 || len(full.Nodes) != len(all.Nodes) {
		t.Fatalf("%+v\n%+v", full, all)
	}
	for i := range all.Nodes {
		n, f := &all.Nodes[i], &full.Nodes[i]
		if n.Plugin != f.Plugin || n.Code != f.Code || len(f.AlsoFailing) > 0 {
			t.Errorf("%+v beside %+v", n, f)
		}
		also := n.AlsoFailing
		if len(also) == 0 || also[len(also)-1].Plugin != "NodeResourcesFit" || also[len(also)-1].Details[0].Kind != "resource" {
			t.Errorf("%s: %+v", n.Name, also)
		}
	}
	var bound answer
	h.want(200, &bound, "POST", "/v1/decisions", `{"podRef":{"namespace":"shop","name":"busy"},"dryRun":true,"explain":"none"}`)
	if bound.BoundTo != "n2" || len(bound.Notes) != 1 || !strings.Contains(bound.Notes[0], "n2 is a candidate like any other") {
		t.Errorf("%+v", bound)
	}
	// The record has the level that was asked for, and the answer is worked out again.
	var recorded, again struct {
		ID string
		engine.Decision
	}
	h.want(201, &recorded, "POST", "/v1/decisions", `{"explain":"all","pod":`+pod("new", "64", `,"nodeSelector":{"disk":"ssd"}`)+`}`)
	h.want(200, &again, "GET", "/v1/decisions/"+recorded.ID, "")
	if again.Digest != full.Digest || !reflect.DeepEqual(again.Nodes, all.Nodes) {
		t.Errorf("%+v", again)
	}
	var replayed struct{ Identical bool }
	h.want(200, &replayed, "POST", "/v1/decisions/"+recorded.ID+"/replay", "{}")
	if !replayed.Identical {
		t.Error("a replay differs")
	}
}
