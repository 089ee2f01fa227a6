package handlers

import (
	"slices"
	"strings"
	"testing"

	"berth/api"

	"github.com/getkin/kin-openapi/openapi3"
)

// TestEndpointsAreAnnotated compares the endpoints with what swag makes of the annotations: each
// has its description, with the same parameters of the query.
func TestEndpointsAreAnnotated(t *testing.T) {
	doc, err := openapi3.NewLoader().LoadFromData(api.OpenAPI)
	if err != nil {
		t.Fatal(err)
	}
	described := 0
	for _, item := range doc.Paths.Map() {
		described += len(item.Operations())
	}
	compared := 0
	for _, e := range everyEndpoint() {
		method, path, _ := strings.Cut(e.Route, " ")
		item := doc.Paths.Value(path)
		if item == nil || item.GetOperation(method) == nil {
			if strings.HasPrefix(path, "/v1/") {
				t.Errorf("%s has no annotations", e.Route)
			}
			continue
		}
		compared++
		if !strings.HasPrefix(path, "/v1/") {
			continue
		}
		var have []string
		for _, p := range item.GetOperation(method).Parameters {
			if p.Value.In == "query" {
				have = append(have, p.Value.Name)
			}
		}
		want := slices.Clone(e.Query)
		slices.Sort(want)
		slices.Sort(have)
		if !slices.Equal(have, want) {
			t.Errorf("%s takes %q, and its annotations have %q", e.Route, want, have)
		}
	}
	if compared != described || described < 60 {
		t.Errorf("%d of %d operations are endpoints", compared, described)
	}
}
