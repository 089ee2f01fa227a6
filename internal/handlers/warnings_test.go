package handlers

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"berth/internal/handlers/rest"
)

// doubtful is a pod of which an API server warns.
const doubtful = `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"odd","namespace":"shop"},"spec":{"nodeSelector":{"beta.kubernetes.io/os":"linux"},` +
	`"containers":[{"name":"c","image":"i","env":[{"name":"A","value":"1"},{"name":"A","value":"2"}],"resources":{"requests":{"memory":"512m"}}}]}}`

var doubts = []string{
	`spec.containers[0].env[1]: hides previous definition of "A", which may be dropped when using apply`,
	`spec.containers[0].resources.requests[memory]: fractional byte value "512m" is invalid, must be an integer`,
	`spec.nodeSelector[beta.kubernetes.io/os]: deprecated since v1.14; use "kubernetes.io/os" instead`,
}

// TestAPIServersWarnings are given wherever a pod comes in full, in the body and as headers.
func TestAPIServersWarnings(t *testing.T) {
	h := ledgerOf(t)
	deployment := `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"odd","namespace":"shop"},"spec":{"selector":{"matchLabels":{"app":"a"}},"template":` +
		strings.Replace(strings.Replace(doubtful, `"name":"odd","namespace":"shop"`, `"labels":{"app":"a"}`, 1), `"apiVersion":"v1","kind":"Pod",`, "", 1) + `}}`
	at := func(prefix string) (out []string) {
		for _, d := range doubts {
			out = append(out, prefix+d)
		}
		return out
	}
	for _, c := range []struct {
		path, body string
		want       []string
	}{
		{"/v1/pods/admission", `{"operation":"CREATE","pod":` + doubtful + `}`, doubts},
		{"/v1/pods/admission", `{"operation":"CREATE","pod":` + deployment + `}`, at("spec.template.")},
		{"/v1/pods/admission", `{"operation":"UPDATE","pod":` + doubtful + `,"oldPod":` + doubtful + `}`, nil}, // as upstream
		{"/v1/decisions", `{"dryRun":true,"pod":` + doubtful + `}`, doubts},
		{"/v1/decisions", `{"pod":` + doubtful + `}`, doubts},
		{"/v1/decisions", `{"explain":"none","pod":` + doubtful + `}`, nil},
		{"/v1/previews", `{"objects":{"kind":"List","apiVersion":"v1","items":[]},"pod":` + doubtful + `}`, doubts},
		{"/v1/snapshots/default@latest/changes", `{"apply":[` + doubtful + `]}`, at("apply[0]: ")},
		{"/v1/snapshots/default@latest/changes", `{"apply":[{"kind":"ResourceQuota","apiVersion":"v1","metadata":{"name":"q"},"spec":{"hard":{"cpu":"4","limits.cpu":"2"}}}]}`, []string{"apply[0]: ResourceQuota cpu (4) should be less than limits.cpu (2)"}},
	} {
		a := h.do("POST", c.path, c.body)
		var got struct{ Warnings []string }
		if err := json.Unmarshal(a.body, &got); err != nil || a.StatusCode >= 300 {
			t.Fatalf("%s: %d, %v\n%s", c.path, a.StatusCode, err, a.body)
		}
		mine := slices.DeleteFunc(got.Warnings, func(text string) bool {
			return strings.Contains(text, " of a workload") || strings.HasPrefix(text, "pod: ")
		})
		if !slices.Equal(mine, c.want) {
			t.Errorf("%s %.60s: %q, want %q", c.path, c.body, mine, c.want)
		}
		for _, text := range c.want {
			if !slices.Contains(a.Header.Values("Warning"), fmt.Sprintf("299 - %q", text)) {
				t.Errorf("%s: no header for %q among %q", c.path, text, a.Header.Values("Warning"))
			}
		}
	}
}

// TestWarningHeadersAreBounded has a pod with many warnings, all of which are in the body.
func TestWarningHeadersAreBounded(t *testing.T) {
	h := ledgerOf(t)
	var env []string
	for range 60 {
		env = append(env, `{"name":"`+strings.Repeat("N", 400)+`","value":"1"}`)
	}
	body := strings.Replace(doubtful, `{"name":"A","value":"1"},{"name":"A","value":"2"}`, strings.Join(env, ","), 1)
	a := h.do("POST", "/v1/pods/admission", `{"operation":"CREATE","pod":`+body+`}`)
	var got rest.Admission
	if err := json.Unmarshal(a.body, &got); err != nil || a.StatusCode != http.StatusOK || len(got.Warnings) != 61 {
		t.Fatalf("%d, %v, %d warnings", a.StatusCode, err, len(got.Warnings))
	}
	list := a.Header.Values("Warning")
	if len(list) == 0 || len(list) > 20 {
		t.Errorf("%d headers", len(list))
	}
	total := 0
	for _, text := range list {
		if total += len(text); len(text) > 256+20 {
			t.Errorf("a header of %d bytes", len(text))
		}
	}
	if total > 5000 {
		t.Errorf("%d bytes of headers", total)
	}
}
