package handlers

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"berth/internal/handlers/admit"
	"berth/internal/handlers/exchange"
)

// laborious is a pod within the limits of counts whose node affinity takes long to judge, and
// longer to find suggestions for: no term matches any node, by the last of its requirements.
func laborious() string {
	var terms []string
	for i := range 60 {
		var list []string
		for k := range 60 {
			list = append(list, fmt.Sprintf(`{"key":"kubernetes.io/hostname","operator":"NotIn","values":["x%d-%d"]}`, i, k))
		}
		terms = append(terms, `{"matchExpressions":[`+strings.Join(list, ",")+`,{"key":"absent","operator":"Exists"}]}`)
	}
	return pod("laborious", "1", `,"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[`+strings.Join(terms, ",")+`]}}}`)
}

// TestSuggestionsKeepTheDeadline: the real engine over 5,000 nodes ends in time.
func TestSuggestionsKeepTheDeadline(t *testing.T) {
	const deadline = 300 * time.Millisecond
	h := start(t, func(o *admit.Options) { o.Limits.DecisionDeadline = deadline })
	nodes := make([]string, 5000)
	for i := range nodes {
		nodes[i] = node(fmt.Sprintf("n%05d", i), "4")
	}
	h.upload("default", listOf(nodes...))
	body := `{"dryRun":true,"suggest":true,"pod":` + laborious() + `}`
	began := time.Now()
	var p exchange.Problem
	a := h.want(http.StatusServiceUnavailable, &p, "POST", "/v1/decisions", body)
	// Some ten times as long without a look at the context; a slow machine gets time.
	if took := time.Since(began); took > deadline+5*time.Second {
		t.Errorf("refused after %v", took)
	}
	if p.Type != "urn:berth:problem:deadline" || a.Header.Get("Retry-After") == "" {
		t.Errorf("%+v, Retry-After %q", p, a.Header.Get("Retry-After"))
	}
}
