package handlers

import (
	"testing"
)

// A body that says nothing about a cluster must not empty it: an empty body is what curl sends of a file that is not
// there, a Status what an apiserver answers to somebody who may not list.
func TestUploadOfNothingKeepsTheState(t *testing.T) {
	h := start(t, nil)
	was := h.upload("prod", small())
	for name, c := range map[string]struct {
		body, media string
		status      int
		field       string
	}{
		"empty":           {"", "application/json", 400, ""},
		"blank":           {" \n\t ", "", 400, ""},
		"empty YAML":      {"---\n# nothing\n---\n", "application/yaml", 400, ""},
		"a Status":        {`{"kind":"Status","apiVersion":"v1","status":"Failure","code":403}`, "application/json", 422, "kind"},
		"a List of those": {listOf(`{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"c"}}`), "application/json", 422, "kind"},
		"a wrong kind":    {`{"kind":"Foo","apiVersion":"v1","items":[]}`, "", 422, "kind"},
	} {
		var p Problem
		h.want(c.status, &p, "POST", "/v1/snapshots?cluster=prod", c.body, "Content-Type", c.media)
		if c.field != "" && (len(p.Errors) != 1 || p.Errors[0].Field != c.field) {
			t.Errorf("%s: %+v", name, p)
		}
	}
	var now Snapshot
	if h.want(200, &now, "GET", "/v1/snapshots/prod@latest", ""); now.ID != was.ID {
		t.Fatalf("the state is %s, and was %s", now.ID, was.ID)
	}
	for _, body := range []string{`{"kind":"List","apiVersion":"v1","items":[]}`, `{"kind":"List","apiVersion":"v1","items":null}`} {
		h.want(201, &now, "POST", "/v1/snapshots?cluster=prod", body)
		h.upload("prod", small())
	}
}
