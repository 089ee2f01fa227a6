package handlers

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"berth/internal/handlers/exchange"
)

func TestPodAdmission(t *testing.T) {
	h := start(t, nil)
	const at = "/v1/pods/admission"
	const container = `"containers":[{"name":"c","image":"img","env":[{"name":"A","value":"b"}],"command":["run"]}]`
	body := func(operation, spec, old string) string {
		out := fmt.Sprintf(`{"cluster":"prod","operation":%q,"pod":{"metadata":{"name":"p"},"spec":{%s%s}}`, operation, spec, container)
		if old != "" {
			out += fmt.Sprintf(`,"oldPod":{"metadata":{"name":"p","resourceVersion":"7"},"spec":{%s%s}}`, strings.TrimPrefix(old, "-"), container)
		}
		return out + "}"
	}
	judge := func(operation, spec, old string) (out struct {
		Allowed bool
		Pod     map[string]any
		Errors  []exchange.FieldError
	},
	) {
		t.Helper()
		h.want(200, &out, "POST", at, body(operation, spec, old))
		if out.Allowed != (out.Pod != nil) || out.Allowed != (len(out.Errors) == 0) || out.Errors == nil {
			t.Errorf("%s %s: allowed %v with pod %v and errors %v", operation, spec, out.Allowed, out.Pod != nil, out.Errors)
		}
		return out
	}
	get := func(o map[string]any, path ...string) any {
		var v any = o
		for _, p := range path {
			m, _ := v.(map[string]any)
			v = m[p]
		}
		return v
	}

	// A cluster without snapshot and classes has the built-in ones.
	if v := judge("CREATE", `"priorityClassName":"system-node-critical",`, ""); get(v.Pod, "spec", "priority") != 2000001000.0 {
		t.Errorf("%+v", v)
	}
	if v := judge("CREATE", `"priorityClassName":"high",`, ""); v.Allowed || v.Errors[0] != (exchange.FieldError{Field: "spec.priorityClassName", Type: "FieldValueForbidden", Message: "Forbidden: no PriorityClass with name high was found"}) {
		t.Errorf("%+v", v)
	}
	// The stored classes, then the snapshot's before them.
	h.want(201, nil, "POST", "/v1/priorityclasses?cluster=prod", priorityClass("high", `,"value":1000`))
	h.want(201, nil, "POST", "/v1/priorityclasses?cluster=prod", priorityClass("usual", `,"value":5,"globalDefault":true,"preemptionPolicy":"Never"`))
	if v := judge("CREATE", `"priorityClassName":"high",`, ""); get(v.Pod, "spec", "priority") != 1000.0 || get(v.Pod, "spec", "preemptionPolicy") != "PreemptLowerPriority" {
		t.Errorf("%+v", v)
	}
	if v := judge("CREATE", "", ""); get(v.Pod, "spec", "priorityClassName") != "usual" || get(v.Pod, "spec", "preemptionPolicy") != "Never" {
		t.Errorf("%+v", v)
	}
	h.upload("prod", listOf(priorityClass("high", `,"value":2000`)))
	v := judge("CREATE", `"priorityClassName":"high",`, "")
	if get(v.Pod, "spec", "priority") != 2000.0 {
		t.Errorf("the snapshot's class does not count: %+v", v)
	}
	// A pod takes the zone of the node that it names.
	h.upload("prod", listOf(priorityClass("high", `,"value":2000`), `{"apiVersion":"v1","kind":"Node","metadata":{"name":"n1","labels":{"topology.kubernetes.io/zone":"z1","disk":"ssd"}}}`))
	if v := judge("CREATE", `"nodeName":"n1",`, ""); fmt.Sprint(get(v.Pod, "metadata", "labels")) != "map[topology.kubernetes.io/zone:z1]" {
		t.Errorf("labels %v", get(v.Pod, "metadata", "labels"))
	}
	if v := judge("CREATE", `"nodeName":"n2",`, ""); get(v.Pod, "metadata", "labels") != nil {
		t.Errorf("labels %v", get(v.Pod, "metadata", "labels"))
	}
	// The whole pod comes back, also what no decision reads.
	if c, _ := json.Marshal(get(v.Pod, "spec", "containers")); !strings.Contains(string(c), `"command":["run"]`) || !strings.Contains(string(c), `"env":[{"name":"A","value":"b"}]`) || !strings.Contains(string(c), `"imagePullPolicy":"Always"`) {
		t.Errorf("%s", c)
	}
	if v := judge("CREATE", `"schedulingGates":[{"name":"a"}],`, ""); !strings.Contains(fmt.Sprint(get(v.Pod, "status", "conditions")), "SchedulingGated") {
		t.Errorf("%+v", v)
	}
	if v := judge("UPDATE", `"nodeSelector":{"a":"b"},`, `"schedulingGates":[{"name":"a"}],`); get(v.Pod, "metadata", "resourceVersion") != "7" {
		t.Errorf("%+v", v)
	}
	if v := judge("UPDATE", `"nodeSelector":{"a":"b"},`, "-"); v.Allowed || v.Errors[0].Field != "spec" || v.Errors[0].Type != "FieldValueForbidden" {
		t.Errorf("%+v", v)
	}
	h.want(200, nil, "POST", at, `{"operation":"CREATE","now":"2026-03-01T00:00:00Z","pod":{}}`)

	for what, c := range map[string]struct {
		status int
		body   string
	}{
		"nothing":               {400, ""},
		"no operation":          {400, `{"pod":{}}`},
		"another operation":     {400, `{"operation":"create","pod":{}}`},
		"no pod":                {400, `{"operation":"CREATE"}`},
		"a pod that is a list":  {400, `{"operation":"CREATE","pod":[]}`},
		"a node":                {400, `{"operation":"CREATE","pod":{"kind":"Node"}}`},
		"no old pod":            {400, `{"operation":"UPDATE","pod":{}}`},
		"an old pod too many":   {400, `{"operation":"CREATE","pod":{},"oldPod":{}}`},
		"an unknown field":      {400, `{"operation":"CREATE","pod":{},"dryRun":true}`},
		"a wrong type":          {400, `{"operation":"CREATE","pod":{"spec":{"priority":"x"}}}`},
		"a bomb":                {400, `{"operation":"CREATE","pod":{"spec":{"overhead":{"cpu":"1e-999999999"}}}}`},
		"a bomb behind escapes": {400, `{"operation":"CREATE","pod":{"spec":{"overhead":{"cpu":"1\u0065-999999999"}}}}`},
		"deep":                  {413, `{"operation":"CREATE","pod":` + strings.Repeat(`{"a":`, 100) + `1` + strings.Repeat("}", 100) + `}`},
		"a cluster's bad name":  {400, `{"cluster":"a/b","operation":"CREATE","pod":{}}`},
	} {
		var p exchange.Problem
		if h.want(c.status, &p, "POST", at, c.body); p.Detail == "" {
			t.Errorf("%s: no detail", what)
		}
	}
}
