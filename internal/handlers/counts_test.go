package handlers

import (
	"fmt"
	"strings"
	"testing"

	"berth/internal/handlers/exchange"
	"berth/internal/handlers/limits"
)

// many joins n items.
func many(n int, item string) string {
	return strings.TrimSuffix(strings.Repeat(item+",", n), ",")
}

// TestCountsOfAPod sends lists that are one over their limit, to each kind of call that takes a
// pod; the refusal names the limit.
func TestCountsOfAPod(t *testing.T) {
	h := start(t, nil)
	h.upload("prod", small())
	l := limits.Default()
	expression := `{"key":"kubernetes.io/hostname","operator":"Gt","values":["1"]}`
	terms := func(list string) string {
		return `"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[` + list + `]}}}`
	}
	labels := func(n int) string {
		list := make([]string, n)
		for i := range list {
			list[i] = fmt.Sprintf(`"k%d":"v"`, i)
		}
		return `{` + strings.Join(list, ",") + `}`
	}
	resources := func(n int) string {
		list := make([]string, n)
		for i := range list {
			list[i] = fmt.Sprintf(`"example.com/r%d":"1"`, i)
		}
		return `{` + strings.Join(list, ",") + `}`
	}
	long := strings.Repeat("a", l.MaxNameBytes+1)
	for _, c := range []struct{ limit, spec, meta string }{
		{"max-expressions", terms(`{"matchExpressions":[` + many(l.MaxExpressions+1, expression) + `]}`), ""},
		{"max-node-affinity-terms", terms(many(l.MaxNodeTerms+1, `{"matchExpressions":[`+expression+`]}`)), ""},
		{"max-expression-values", terms(`{"matchExpressions":[{"key":"a","operator":"NotIn","values":[` + many(l.MaxValues+1, `"x"`) + `]}]}`), ""},
		{"max-pod-affinity-terms", `"affinity":{"podAntiAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[` + many(l.MaxPodTerms+1, `{"topologyKey":"zone","labelSelector":{}}`) + `]}}`, ""},
		{"max-match-label-keys", `"topologySpreadConstraints":[{"maxSkew":1,"topologyKey":"z","whenUnsatisfiable":"DoNotSchedule","labelSelector":{},"matchLabelKeys":[` + many(l.MaxLabelKeys+1, `"k"`) + `]}]`, ""},
		{"max-spread-constraints", `"topologySpreadConstraints":[` + many(l.MaxConstraints+1, `{"maxSkew":1,"topologyKey":"z","whenUnsatisfiable":"ScheduleAnyway"}`) + `]`, ""},
		{"max-tolerations", `"tolerations":[` + many(l.MaxTolerations+1, `{"operator":"Exists"}`) + `]`, ""},
		{"max-labels", `"nodeSelector":` + labels(l.MaxLabels+1), ""},
		{"max-labels", `"hostNetwork":false`, `,"labels":` + labels(l.MaxLabels+1)},
		{"max-resource-names", `"overhead":` + resources(l.MaxResources+1), ""},
		{"max-name-bytes", `"topologySpreadConstraints":[{"maxSkew":1,"topologyKey":"` + long + `","whenUnsatisfiable":"DoNotSchedule","labelSelector":{}}]`, ""},
		{"max-name-bytes", `"volumes":[{"name":"v","persistentVolumeClaim":{"claimName":"` + long + `"}}]`, ""},
		{"max-name-bytes", `"volumes":[{"name":"` + long + `","emptyDir":{}}]`, ""},
		{"max-name-bytes", `"resourceClaims":[{"name":"c","resourceClaimName":"` + long + `"}]`, ""},
	} {
		pod := `{"metadata":{"name":"p","namespace":"shop"` + c.meta + `},"spec":{"containers":[{"name":"c","image":"i"}],` + c.spec + `}}`
		for _, call := range []struct{ path, body string }{
			{"/v1/decisions", `{"snapshot":"prod@latest","pod":` + pod + `}`},
			{"/v1/snapshots/prod@latest/changes", `{"apply":[` + strings.Replace(pod, `{"metadata"`, `{"apiVersion":"v1","kind":"Pod","metadata"`, 1) + `]}`},
			{"/v1/snapshots?cluster=other", listOf(strings.Replace(pod, `{"metadata"`, `{"apiVersion":"v1","kind":"Pod","metadata"`, 1))},
		} {
			var p exchange.Problem
			h.want(413, &p, "POST", call.path, call.body)
			if p.Limit != c.limit {
				t.Errorf("%s at %s: %+v", c.limit, call.path, p)
			}
		}
		a := h.do("POST", "/clusters/prod/filter", `{"Pod":`+pod+`,"NodeNames":["n1"]}`)
		if a.StatusCode != 413 && !strings.Contains(string(a.body), c.limit) {
			t.Errorf("%s at /filter: %d %s", c.limit, a.StatusCode, a.body)
		}
	}
}
