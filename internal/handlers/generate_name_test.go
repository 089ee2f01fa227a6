package handlers

import (
	"regexp"
	"strings"
	"testing"

	extenderv1 "k8s.io/kube-scheduler/extender/v1"

	"berth/internal/decision"
	"berth/internal/handlers/exchange"
)

var generated = regexp.MustCompile(`^job-[bcdfghjklmnpqrstvwxz2456789]{5}$`)

// TestGenerateName: a name is made as an API server makes it, and is in the record.
func TestGenerateName(t *testing.T) {
	h := start(t, nil)
	h.upload("default", small())
	p := strings.Replace(pod("x", "1", ""), `"name":"x"`, `"generateName":"job-"`, 1)
	seen := map[string]bool{}
	for _, more := range []string{`"dryRun":true`, `"dryRun":true`, `"explain":"full"`, `"snapshot":"default@latest","bind":true`, `"snapshot":"default@latest","bind":true`} {
		var d decision.Answer
		status := 201
		if strings.Contains(more, "dryRun") {
			status = 200
		}
		h.want(status, &d, "POST", "/v1/decisions", `{"pod":`+p+`,`+more+`}`)
		if !generated.MatchString(d.Pod.Name) || seen[d.Pod.Name] {
			t.Errorf("%s: %q after %v", more, d.Pod.Name, seen)
		}
		if seen[d.Pod.Name] = true; d.ID == "" {
			continue
		}
		var again struct {
			Identical bool
			Decision  decision.Answer
		}
		h.want(200, &again, "POST", "/v1/decisions/"+d.ID+"/replay", "")
		if !again.Identical || again.Decision.Pod.Name != d.Pod.Name {
			t.Errorf("%s: %+v", more, again)
		}
	}
	var got extenderv1.ExtenderFilterResult
	if h.want(200, &got, "POST", "/filter", filterBody(p, "n1")); got.Error != "" {
		t.Errorf("%+v", got)
	}
	// What is stored is found by its name.
	for _, body := range []string{`{"apply":[` + p + `]}`, `{"replace":[` + p + `]}`} {
		var refused exchange.Problem
		h.want(422, &refused, "POST", "/v1/snapshots/default@latest/changes", body)
		if len(refused.Errors) != 1 || !strings.Contains(refused.Errors[0].Message, "generateName is taken where a pod is judged") {
			t.Errorf("%+v", refused)
		}
	}
}
