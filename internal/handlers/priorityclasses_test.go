package handlers

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"berth/internal/handlers/admit"
	"berth/internal/handlers/exchange"
	"berth/internal/handlers/rest"
)

func priorityClass(name, more string) string {
	return `{"apiVersion":"scheduling.k8s.io/v1","kind":"PriorityClass","metadata":{"name":"` + name + `"}` + more + `}`
}

func TestPriorityClasses(t *testing.T) {
	h := start(t, nil)
	const at = "/v1/priorityclasses"
	var list rest.PriorityClassList
	h.want(200, &list, "GET", at, "")
	if len(list.Items) != 2 || list.Kind != "PriorityClassList" || list.APIVersion != "scheduling.k8s.io/v1" {
		t.Errorf("at the start: %+v", list)
	}
	var c rest.PriorityClass
	a := h.want(201, &c, "POST", at+"?fieldValidation=Warn", priorityClass("high", `,"value":1000,"unknown":{"a":1},"description":"d"`))
	if c.Value != 1000 || c.PreemptionPolicy != "PreemptLowerPriority" || c.Metadata.UID == "" || c.Metadata.ResourceVersion == "" || c.Metadata.Generation != 1 || a.Header.Get("Location") != at+"/high" {
		t.Errorf("%s", a.body)
	}
	for what, want := range map[string]struct {
		status int
		method string
		path   string
		body   string
		says   string
		fields string
	}{
		"the same name":      {409, "POST", at, priorityClass("high", `,"value":1`), `priorityclasses.scheduling.k8s.io "high" already exists`, ""},
		"a reserved name":    {422, "POST", at, priorityClass("system-x", `,"value":1`), "reserved for system use only", "metadata.name FieldValueForbidden"},
		"too high":           {422, "POST", at, priorityClass("top", `,"value":1000000001`), "maximum allowed value", "value FieldValueForbidden"},
		"no int32":           {422, "POST", at, priorityClass("top", `,"value":3000000000`), "value", "value FieldValueTypeInvalid"},
		"a string":           {422, "POST", at, priorityClass("top", `,"value":"1"`), "value", "value FieldValueTypeInvalid"},
		"no object":          {400, "POST", at, `[]`, "not a JSON object", ""},
		"nothing":            {400, "POST", at, "", "not a JSON object", ""},
		"cut off":            {400, "POST", at, `{"metadata":`, "malformed JSON", ""},
		"deep":               {413, "POST", at, `{"a":` + strings.Repeat("[", 100) + strings.Repeat("]", 100) + `}`, "max-json-depth", ""},
		"too large":          {413, "POST", at, priorityClass("p", `,"description":"`+strings.Repeat("d", 65<<10)+`"`), "priority-class-max-bytes", ""},
		"a pod":              {400, "POST", at, `{"kind":"Pod"}`, "want PriorityClass", "kind FieldValueInvalid"},
		"another version":    {400, "POST", at, `{"apiVersion":"scheduling.k8s.io/v1beta1"}`, "want scheduling.k8s.io/v1", "apiVersion FieldValueInvalid"},
		"no name":            {422, "POST", at, priorityClass("", ""), "name or generateName is required", "metadata.name FieldValueRequired"},
		"a bad policy":       {422, "POST", at, priorityClass("p", `,"preemptionPolicy":"Sometimes"`), "Unsupported value", "preemptionPolicy FieldValueNotSupported"},
		"a version":          {422, "POST", at, `{"metadata":{"name":"v","resourceVersion":"1"}}`, "should not be set", "metadata.resourceVersion FieldValueForbidden"},
		"no cluster's name":  {400, "POST", at + "?cluster=a/b", priorityClass("p", ""), "cluster", "cluster FieldValueInvalid"},
		"a misspelt one":     {400, "GET", at + "?clutser=a", "", "clutser", "clutser FieldValueInvalid"},
		"unknown":            {404, "GET", at + "/none", "", `priorityclasses.scheduling.k8s.io "none" not found`, ""},
		"of another cluster": {404, "GET", at + "/high?cluster=prod", "", "not found", ""},
		"put of none":        {404, "PUT", at + "/none", priorityClass("none", ""), "not found", ""},
		"put of another":     {400, "PUT", at + "/high", priorityClass("low", ""), "does not match the name on the URL", "metadata.name FieldValueInvalid"},
		"delete of none":     {404, "DELETE", at + "/none", "", "not found", ""},
		"delete a built-in":  {403, "DELETE", at + "/system-node-critical", "", `priorityclasses.scheduling.k8s.io "system-node-critical" is forbidden: this is a system priority class and cannot be deleted`, ""},
		"another value":      {422, "PUT", at + "/high", priorityClass("high", `,"value":1001`), "may not be changed in an update.", "value FieldValueForbidden"},
		"another policy":     {422, "PUT", at + "/high", priorityClass("high", `,"value":1000,"preemptionPolicy":"Never"`), "field is immutable", "preemptionPolicy FieldValueInvalid"},
	} {
		var p exchange.Problem
		h.want(want.status, &p, want.method, want.path, want.body)
		fields := ""
		if len(p.Errors) > 0 {
			fields = p.Errors[0].Field + " " + p.Errors[0].Type
		}
		if !strings.Contains(p.Detail+p.Limit, want.says) || fields != want.fields {
			t.Errorf("%s: %q, fields %q", what, p.Detail, fields)
		}
	}

	stale := c.Metadata.ResourceVersion
	c = rest.PriorityClass{}
	h.want(200, &c, "PUT", at+"/high", priorityClass("high", `,"value":1000,"globalDefault":true`))
	if !c.GlobalDefault || c.Description != "" || c.Metadata.ResourceVersion == stale {
		t.Errorf("%+v", c)
	}
	var p exchange.Problem
	body := strings.Replace(priorityClass("high", `,"value":1000`), `{"name"`, `{"resourceVersion":"`+stale+`","name"`, 1)
	h.want(409, &p, "PUT", at+"/high", body)
	if !strings.Contains(p.Detail, "the object has been modified; please apply your changes to the latest version and try again") {
		t.Error(p.Detail)
	}
	h.want(403, &p, "POST", at, priorityClass("second", `,"value":1,"globalDefault":true`))
	if !strings.Contains(p.Detail, "PriorityClass high is already marked as default. Only one default can exist") {
		t.Error(p.Detail)
	}
	h.want(201, nil, "POST", at+"?cluster=prod", priorityClass("second", `,"value":1,"globalDefault":true`))
	var status struct{ Kind, Status string }
	h.want(200, &status, "DELETE", at+"/high", "")
	if status.Kind != "Status" || status.Status != "Success" {
		t.Errorf("%+v", status)
	}
	h.want(404, nil, "GET", at+"/high", "")

	// A cluster that is deleted takes its classes along.
	h.upload("prod", small())
	h.want(204, nil, "DELETE", "/v1/clusters/prod", "")
	list = rest.PriorityClassList{}
	h.want(200, &list, "GET", at+"?cluster=prod", "")
	h.upload("prod", small())
	var d struct{ Priority int32 }
	h.want(201, &d, "POST", "/v1/decisions", `{"snapshot":"prod@latest","pod":`+pod("p", "100m", "")+`}`)
	if len(list.Items) != 2 || d.Priority != 0 {
		t.Errorf("after the cluster was deleted: %d classes, and the default one gives %d", len(list.Items), d.Priority)
	}
}

// TestStoredClassesDecide: what is created here counts at once, also for the extender.
func TestStoredClassesDecide(t *testing.T) {
	h := start(t, nil)
	h.upload("default", small())
	h.want(422, nil, "POST", "/v1/decisions", `{"pod":`+pod("p", "100m", `,"priorityClassName":"high"`)+`}`)
	h.want(201, nil, "POST", "/v1/priorityclasses", priorityClass("high", `,"value":1000`))
	priority := func(body string) int32 {
		t.Helper()
		var d struct{ Priority int32 }
		h.want(201, &d, "POST", "/v1/decisions", body)
		return d.Priority
	}
	if got := priority(`{"pod":` + pod("p", "100m", `,"priorityClassName":"high"`) + `}`); got != 1000 {
		t.Errorf("priority %d", got)
	}
	var d struct{ ID string }
	h.want(201, &d, "POST", "/v1/decisions", `{"pod":`+pod("p", "100m", `,"priorityClassName":"high"`)+`}`)
	h.want(200, nil, "DELETE", "/v1/priorityclasses/high", "")
	h.want(422, nil, "POST", "/v1/decisions", `{"pod":`+pod("p", "100m", `,"priorityClassName":"high"`)+`}`)
	var r struct {
		Identical bool
		Decision  json.RawMessage
	}
	h.want(200, &r, "POST", "/v1/decisions/"+d.ID+"/replay", "")
	if !r.Identical || !strings.Contains(string(r.Decision), `"priority":1000`) {
		t.Errorf("replayed after the class was deleted: identical %v", r.Identical)
	}
}

// TestPriorityClassesOfASnapshot has a class in the snapshot and in the store, and a
// default one in each.
func TestPriorityClassesOfASnapshot(t *testing.T) {
	h := start(t, nil)
	const at = "/v1/priorityclasses?cluster=prod"
	h.want(201, nil, "POST", at, priorityClass("both", `,"value":1000`))
	h.want(201, nil, "POST", at, priorityClass("usual", `,"value":10,"globalDefault":true`))
	h.upload("prod", listOf(node("n1", "4"), priorityClass("both", `,"value":7`), priorityClass("own", `,"value":500,"globalDefault":true`)))
	var list rest.PriorityClassList
	h.want(200, &list, "GET", at, "")
	var got []string
	for _, c := range list.Items {
		got = append(got, fmt.Sprintf("%s %d %s %s", c.Metadata.Name, c.Value, c.Source, c.OverriddenBy))
	}
	if d := cmp.Diff([]string{
		"both 7 snapshot ", "both 1000 stored snapshot", "own 500 snapshot ", "system-cluster-critical 2000000000 system ",
		"system-node-critical 2000001000 system ", "usual 10 stored ",
	}, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if list.Snapshot != "prod@1" || len(list.Warnings) != 1 || list.Warnings[0] != "own, usual are all globalDefault: pods that name no class get own, the snapshot's before the stored one" {
		t.Errorf("%s, %q", list.Snapshot, list.Warnings)
	}
}

// TestStoredClassesAreBounded: by cluster, and over all clusters, whose names callers make up.
func TestStoredClassesAreBounded(t *testing.T) {
	h := start(t, func(o *admit.Options) { o.Limits.MaxPriorityClasses, o.Limits.MaxAllPriorityClasses = 2, 4 })
	create := func(status int, cluster, name string) (p exchange.Problem) {
		t.Helper()
		h.want(status, &p, "POST", "/v1/priorityclasses?cluster="+cluster, priorityClass(name, `,"value":1`))
		return p
	}
	create(201, "a", "one")
	create(201, "a", "two")
	if p := create(413, "a", "three"); p.Limit != "max-priority-classes" {
		t.Errorf("in one cluster: %+v", p)
	}
	create(201, "b", "one")
	h.want(200, nil, "DELETE", "/v1/priorityclasses/one?cluster=b", "")
	create(201, "c", "one")
	// b had one, which its version remembers.
	if p := create(413, "d", "one"); p.Limit != "max-all-priority-classes" || !strings.Contains(p.Detail, "max-all-priority-classes=4") {
		t.Errorf("in all clusters: %+v", p)
	}
	h.want(200, nil, "DELETE", "/v1/priorityclasses/two?cluster=a", "")
	create(201, "d", "one")
}
