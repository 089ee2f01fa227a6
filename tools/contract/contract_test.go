// Package contract holds api/openapi.yaml to that of the last release: what a client of it calls and
// reads is still there.
package contract

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/oasdiff/oasdiff/checker"
	"github.com/oasdiff/oasdiff/diff"
	"github.com/oasdiff/oasdiff/flatten/allof"
	"github.com/oasdiff/oasdiff/load"
)

// levels are where berth judges otherwise than oasdiff (docs/decisions/0166): kinds and causes in
// answers become more, which clients have to expect, and no property of an answer goes, though
// hardly any is required.
var levels = map[string]checker.Level{
	checker.ResponsePropertyEnumValueAddedId:  checker.INFO,
	checker.ResponseMediaTypeEnumValueAddedId: checker.INFO,
	checker.ResponseOptionalPropertyRemovedId: checker.ERR,
}

func TestLastReleaseHolds(t *testing.T) {
	for _, c := range breaks(t, released(t), read(t, filepath.Join("..", "..", "api", "openapi.yaml"))) {
		t.Errorf("%s %s: %s (%s)", c.GetOperation(), c.GetPath(), c.GetUncolorizedText(checker.NewDefaultLocalizer()), c.GetId())
	}
}

// TestBreaksAreFound breaks the description of the last release in one way after the other.
func TestBreaksAreFound(t *testing.T) {
	schema := func(d *openapi3.T, name string) *openapi3.Schema { return d.Components.Schemas[name].Value }
	decide := func(d *openapi3.T) *openapi3.Operation { return d.Paths.Value("/v1/decisions").Post }
	for want, change := range map[string]func(*openapi3.T){
		"":                                func(*openapi3.T) {},
		"api-removed-without-deprecation": func(d *openapi3.T) { d.Paths.Value("/v1/decisions").Get = nil },
		"new-required-request-property": func(d *openapi3.T) {
			s := schema(d, "DecisionRequest")
			s.Properties["why"], s.Required = openapi3.NewStringSchema().NewRef(), append(s.Required, "why")
		},
		"request-property-became-required": func(d *openapi3.T) { schema(d, "DecisionRequest").Required = []string{"snapshot"} },
		"request-property-removed":         func(d *openapi3.T) { delete(schema(d, "DecisionRequest").Properties, "dryRun") },
		"request-property-enum-value-removed": func(d *openapi3.T) {
			e := schema(d, "DecisionRequest").Properties["explain"].Value
			e.Enum = e.Enum[1:]
		},
		"request-property-type-changed": func(d *openapi3.T) {
			schema(d, "DecisionRequest").Properties["bind"].Value.Type = &openapi3.Types{"string"}
		},
		"response-optional-property-removed": func(d *openapi3.T) { delete(schema(d, "Snapshot").Properties, "digest") },
		"response-property-type-changed": func(d *openapi3.T) {
			schema(d, "Snapshot").Properties["revision"].Value.Type = &openapi3.Types{"string"}
		},
		"response-success-status-removed": func(d *openapi3.T) { decide(d).Responses.Delete("201") },
		"new-required-request-parameter": func(d *openapi3.T) {
			decide(d).Parameters = append(decide(d).Parameters, &openapi3.ParameterRef{
				Value: openapi3.NewQueryParameter("why").WithRequired(true).WithSchema(openapi3.NewStringSchema()),
			})
		},
	} {
		now := released(t)
		change(now)
		var ids []string
		for _, c := range breaks(t, released(t), now) {
			ids = append(ids, c.GetId())
		}
		if want == "" && len(ids) > 0 || want != "" && !slices.Contains(ids, want) {
			t.Errorf("%q is found as %q", want, slices.Compact(ids))
		}
	}
}

// breaks returns what clients of then may not do any more.
func breaks(t *testing.T, then, now *openapi3.T) (out checker.Changes) {
	t.Helper()
	// A property with a comment of its own is a reference within allOf: the same to clients.
	plain := func(d *openapi3.T) *load.SpecInfo {
		merged, err := allof.MergeSpec(d)
		if err != nil {
			t.Fatal(err)
		}
		return &load.SpecInfo{Spec: merged}
	}
	d, sources, err := diff.GetWithOperationsSourcesMap(diff.NewConfig(), plain(then), plain(now))
	if err != nil {
		t.Fatal(err)
	}
	config := checker.NewConfig(checker.GetAllChecks(), checker.WithSeverityLevels(levels))
	for _, c := range checker.CheckBackwardCompatibility(config, d, sources) {
		if c.GetLevel() >= checker.WARN {
			out = append(out, c)
		}
	}
	return out
}

// released returns the description of the last release, the only one that api/released has.
func released(t *testing.T) *openapi3.T {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", "..", "api", "released", "*.yaml"))
	if err != nil || len(files) != 1 {
		t.Fatalf("want the description of one release in api/released, have %q, %v", files, err)
	}
	return read(t, files[0])
}

func read(t *testing.T, file string) *openapi3.T {
	t.Helper()
	d, err := openapi3.NewLoader().LoadFromFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return d
}
