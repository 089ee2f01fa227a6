package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"maps"
	"net/http"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/getkin/kin-openapi/openapi2"
	"github.com/getkin/kin-openapi/openapi2conv"
	"github.com/getkin/kin-openapi/openapi3"
	"github.com/swaggo/swag"
	"sigs.k8s.io/yaml"
)

// sources are the packages whose annotations and types make the description.
var sources = []string{"cmd/openapi", "internal/handlers", "internal/access", "internal/audit", "internal/blame", "internal/store", "internal/jobs/replays", "internal/jobs/simulations", "internal/queries", "internal/decision", "internal/decision/record", "internal/revision", "internal/engine", "internal/decision/admit", "internal/kube/object", "internal/podlife", "internal/podlife/admission", "internal/report", "internal/scenario", "internal/semantics", "internal/upgrade", "internal/world"}

// packageNames has the names that packages had when their schemas were first published. Clients
// that are generated have types of these names, so they stay.
var packageNames = map[string]string{"admit": "ledger", "revision": "cluster", "suggest": "advice"}

// published finds names of schemas, as keys and in references, whose package has another name now.
var published = regexp.MustCompile(`"(?:#/definitions/)?(?:` + strings.Join(slices.Sorted(maps.Keys(packageNames)), "|") + `)\.`)

// generate returns the description and the types of TypeScript as bytes, by file: the same sources,
// the same bytes.
func generate(root string) (map[string][]byte, error) {
	p := swag.New(swag.SetDebugger(log.New(io.Discard, "", 0)), swag.ParseUsingGoList(false))
	p.PropNamingStrategy = swag.CamelCase
	dirs := make([]string, len(sources))
	for i, s := range sources {
		dirs[i] = filepath.Join(root, filepath.FromSlash(s))
	}
	if err := p.ParseAPIMultiSearchDir(dirs, "main.go", 0); err != nil {
		return nil, fmt.Errorf("read annotations: %w", err)
	}
	js, err := json.Marshal(p.GetSwagger())
	if err != nil {
		return nil, fmt.Errorf("encode Swagger 2.0: %w", err)
	}
	js = published.ReplaceAllFunc(js, func(schema []byte) []byte {
		at := bytes.LastIndexAny(schema, `"/`) + 1
		name := strings.TrimSuffix(string(schema[at:]), ".")
		return append(slices.Clone(schema[:at]), packageNames[name]+"."...)
	})
	var v2 openapi2.T
	if err := json.Unmarshal(js, &v2); err != nil {
		return nil, fmt.Errorf("decode Swagger 2.0: %w", err)
	}
	v3, err := openapi2conv.ToV3(&v2)
	if err != nil {
		return nil, fmt.Errorf("convert to OpenAPI 3: %w", err)
	}
	patch(v3)
	if err := describeOperations(root, v3); err != nil {
		return nil, err
	}
	if js, err = v3.MarshalJSON(); err != nil {
		return nil, fmt.Errorf("encode OpenAPI 3: %w", err)
	}
	read, err := openapi3.NewLoader().LoadFromData(js)
	if err != nil {
		return nil, fmt.Errorf("read the description back: %w", err)
	}
	if err := read.Validate(context.Background()); err != nil {
		return nil, fmt.Errorf("the description is not valid: %w", err)
	}
	text, err := yaml.JSONToYAML(js)
	if err != nil {
		return nil, fmt.Errorf("write YAML: %w", err)
	}
	ts, err := typescript(read)
	if err != nil {
		return nil, err
	}
	return map[string][]byte{
		"api/openapi.yaml":   append([]byte("# Written by cmd/openapi from the handlers' annotations; do not edit.\n"), text...),
		"client/ts/types.ts": ts,
	}, nil
}

// patch mends what Swagger 2.0 cannot say.
func patch(doc *openapi3.T) {
	doc.OpenAPI = "3.0.3"
	for path, item := range doc.Paths.Map() {
		for _, op := range item.Operations() {
			patchParameters(path, op)
			patchSlowBodies(op)
			for status, resp := range op.Responses.Map() {
				patchResponse(status, resp)
			}
		}
	}
	// A configuration may be an object or YAML in a string.
	for _, name := range []string{"DecisionRequest", "ReplayRequest", "BatchRequest"} {
		if s := doc.Components.Schemas[name]; s != nil {
			config := s.Value.Properties["config"]
			config.Value = &openapi3.Schema{
				Description: config.Value.Description,
				OneOf:       openapi3.SchemaRefs{openapi3.NewObjectSchema().NewRef(), openapi3.NewStringSchema().NewRef()},
			}
		}
	}
	// What was recorded and replayed may be any value, or be missing. A schema without a type may
	// be null, and "nullable" has no meaning there (OpenAPI 3.0.3).
	if s := doc.Components.Schemas["Difference"]; s != nil {
		for _, name := range []string{"recorded", "replayed"} {
			s.Value.Properties[name].Value = &openapi3.Schema{Description: "any value; null where it is absent"}
		}
	}
	for _, name := range []string{"QueryAnswer", "ViewPage"} {
		if s := doc.Components.Schemas[name]; s != nil {
			s.Value.Properties["rows"].Value.Items.Value.Items.Value = &openapi3.Schema{Description: "a number, a text, a boolean or null"}
		}
	}
	if s := doc.Components.Schemas["advice.Op"]; s != nil {
		s.Value.Properties["value"].Value = &openapi3.Schema{Description: "any value; absent for remove"}
	}
}

// patchSlowBodies adds the answer to bodies that come slower than min-body-rate to every
// operation that reads one: the bound is held where calls are admitted, not in a handler.
func patchSlowBodies(op *openapi3.Operation) {
	if op.RequestBody == nil {
		return
	}
	slow := http.StatusText(http.StatusRequestTimeout)
	op.Responses.Set("408", &openapi3.ResponseRef{Value: openapi3.NewResponse().WithDescription(slow).
		WithContent(openapi3.NewContentWithSchemaRef(openapi3.NewSchemaRef("#/components/schemas/Problem", nil), []string{"application/problem+json"}))})
}

// patchParameters drops path parameters that a path does not have: the extender's verbs are
// described once for both their paths.
func patchParameters(path string, op *openapi3.Operation) {
	kept := openapi3.Parameters{}
	for _, p := range op.Parameters {
		if p.Value.In != openapi3.ParameterInPath || strings.Contains(path, "{"+p.Value.Name+"}") {
			kept = append(kept, p)
		}
	}
	op.Parameters = kept
}

// patchResponse sets the media type of problems and names the header that every answer of berth's
// own has: 431 comes from net/http.
func patchResponse(status string, resp *openapi3.ResponseRef) {
	const problem = "#/components/schemas/Problem"
	for _, form := range []string{"text/csv", "application/x-ndjson"} {
		if file := resp.Value.Content[form]; file != nil {
			file.Schema = openapi3.NewStringSchema().NewRef()
		}
	}
	for _, media := range resp.Value.Content {
		if media.Schema != nil && media.Schema.Ref == problem {
			resp.Value.Content = openapi3.Content{"application/problem+json": &openapi3.MediaType{Schema: &openapi3.SchemaRef{Ref: problem}}}
			break
		}
	}
	if status == strconv.Itoa(http.StatusRequestHeaderFieldsTooLarge) {
		return
	}
	if resp.Value.Headers == nil {
		resp.Value.Headers = openapi3.Headers{}
	}
	resp.Value.Headers["X-Request-Id"] = &openapi3.HeaderRef{Value: &openapi3.Header{Parameter: openapi3.Parameter{
		Description: "names the request in logs", Schema: openapi3.NewStringSchema().NewRef(),
	}}}
}
