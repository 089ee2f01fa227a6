package main

import (
	"context"
	"fmt"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"sigs.k8s.io/yaml"
)

// TestDescriptionIsClean holds the description to the rules that `redocly lint` recommends, on
// machines without Node; `make redocly` runs the program itself.
func TestDescriptionIsClean(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "api", "openapi.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	doc, err := openapi3.NewLoader().LoadFromData(text)
	if err != nil {
		t.Fatal(err)
	}
	// References, parameters of paths, unique ids, and examples against their schemas.
	if err := doc.Validate(context.Background(), openapi3.EnableExamplesValidation()); err != nil {
		t.Error(err)
	}
	for _, f := range findings(t, text) {
		t.Error(f)
	}
}

// TestFindingsAreFound puts one fault after the other into a clean description.
func TestFindingsAreFound(t *testing.T) {
	const clean = `
info: {title: t, license: {name: Apache-2.0, url: https://license.example}}
servers: [{url: /}, {url: http://127.0.0.1}]
security: [{token: []}]
tags: [{name: a, description: d}]
paths:
  /a/{x}: {get: {operationId: one, summary: s, responses: {"200": {$ref: '#/components/responses/R'}, "404": {}}}}
  /a/b: {get: {operationId: two, summary: s, security: [], responses: {"204": {}, "431": {}}}}
components:
  securitySchemes: {token: {}}
  responses: {R: {content: {j: {schema: {$ref: '#/components/schemas/S'}}}}}
  schemas: {S: {properties: {enum: {type: string}, n: {type: string, nullable: true, enum: [v]}}}}
`
	if f := findings(t, []byte(clean)); len(f) > 0 {
		t.Fatal(f)
	}
	for _, c := range []struct{ old, new, want string }{
		{", url: https://license.example", "", "license"},
		{"servers: [{url: /}, {url: http://127.0.0.1}]", "servers: []", "server"},
		{"{url: http://127.0.0.1}", "{url: http://127.0.0.1/}", "slash"},
		{"127.0.0.1", "api.example.com", "example.com"},
		{"operationId: one", "operationId: o ne", "id"},
		{"summary: s", "summary: ''", "summary"},
		{`"204"`, `"304"`, "2xx"},
		{`"404"`, `"500"`, "4xx"},
		{"security: [{token: []}]", "security: [{other: []}]", "scheme other"},
		{"security: []", "security: [{third: []}]", "scheme third"},
		{"description: d", "description: ''", "tag a"},
		{"/a/b", "/{y}/b", "ambiguous"},
		{"/a/b", "/a/{y}", "ambiguous"},
		{"/a/b", "/a/b/", "slash"},
		{"/a/b", "'/a/b?c=1'", "query"},
		{"$ref: '#/components/responses/R'", "description: d", "responses/R"},
		{"n: {type: string,", "n: {", "nullable"},
		{"enum: [v]", "enum: [1]", "enum"},
	} {
		text := strings.Replace(clean, c.old, c.new, 1)
		f := strings.Join(findings(t, []byte(text)), "\n")
		if text == clean || !strings.Contains(f, c.want) {
			t.Errorf("%s instead of %s finds %q", c.new, c.old, f)
		}
	}
}

var (
	reference = regexp.MustCompile(`#/components/([^'"\s]+)`)
	parameter = regexp.MustCompile(`^\{.*\}$`)
)

// findings returns what is wrong with a description, in words that begin with the place.
func findings(t *testing.T, text []byte) (out []string) {
	t.Helper()
	var doc struct {
		Info struct {
			License struct{ Name, URL string }
		}
		Servers  []struct{ URL string }
		Security []map[string]any
		Tags     []struct{ Name, Description string }
		Paths    map[string]map[string]struct {
			OperationID, Summary string
			Security             []map[string]any
			Responses            map[string]any
		}
		Components map[string]map[string]any
	}
	var tree any
	if err := yaml.Unmarshal(text, &doc); err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(text, &tree); err != nil {
		t.Fatal(err)
	}
	found := func(wrong bool, format string, args ...any) {
		if wrong {
			out = append(out, fmt.Sprintf(format, args...))
		}
	}
	found(doc.Info.License.Name == "" || doc.Info.License.URL == "", "info has no license with a URL")
	found(len(doc.Servers) == 0, "no server is named")
	for _, s := range doc.Servers {
		at, err := url.Parse(s.URL)
		found(err != nil || strings.HasSuffix(at.Hostname(), "example.com"), "server %s: example.com, or no URL", s.URL)
		found(s.URL != "/" && strings.HasSuffix(s.URL, "/"), "server %s ends with a slash", s.URL)
	}
	schemes := func(at string, needs []map[string]any) {
		for _, n := range needs {
			for name := range n {
				found(doc.Components["securitySchemes"][name] == nil, "%s: no security scheme %s", at, name)
			}
		}
	}
	schemes("security", doc.Security)
	for _, tag := range doc.Tags {
		found(tag.Description == "", "tag %s has no description", tag.Name)
	}
	paths := slices.Sorted(maps.Keys(doc.Paths))
	for i, path := range paths {
		found(path != "/" && strings.HasSuffix(path, "/"), "path %s ends with a slash", path)
		found(strings.Contains(path, "?"), "path %s has a query", path)
		for _, other := range paths[:i] {
			found(ambiguous(path, other), "paths %s and %s are ambiguous", other, path)
		}
		for method, op := range doc.Paths[path] {
			at := method + " " + path
			found(op.OperationID == "" || url.PathEscape(op.OperationID) != op.OperationID, "%s has the id %q", at, op.OperationID)
			found(op.Summary == "", "%s has no summary", at)
			schemes(at, op.Security)
			for _, class := range "24" {
				is := func(status string) bool { return strings.HasPrefix(status, string(class)) }
				found(!slices.ContainsFunc(slices.Collect(maps.Keys(op.Responses)), is), "%s has no answer of %cxx", at, class)
			}
		}
	}
	used := map[string]bool{}
	for _, r := range reference.FindAllSubmatch(text, -1) {
		used[string(r[1])] = true
	}
	for kind, named := range doc.Components {
		for name := range named {
			found(kind != "securitySchemes" && !used[kind+"/"+name], "components/%s/%s is not used", kind, name)
		}
	}
	return append(out, inSchemas("", tree)...)
}

// ambiguous reports whether a path may fit two templates, neither of which is the more exact one.
func ambiguous(a, b string) bool {
	as, bs := strings.Split(a, "/"), strings.Split(b, "/")
	if len(as) != len(bs) {
		return false
	}
	exactA, exactB := 0, 0
	for i := range as {
		switch free, other := parameter.MatchString(as[i]), parameter.MatchString(bs[i]); {
		case free && !other:
			exactB++
		case other && !free:
			exactA++
		case !free && as[i] != bs[i]:
			return false
		}
	}
	return (exactA > 0) == (exactB > 0)
}

// inSchemas returns the schemas that are nullable without a type, or have an enum of another type.
func inSchemas(at string, node any) (out []string) {
	switch n := node.(type) {
	case []any:
		for i, v := range n {
			out = append(out, inSchemas(fmt.Sprintf("%s[%d]", at, i), v)...)
		}
	case map[string]any:
		kind, _ := n["type"].(string)
		if n["nullable"] == true && kind == "" {
			out = append(out, at+" is nullable and has no type")
		}
		if values, is := n["enum"].([]any); is && kind != "" {
			for _, v := range values {
				if _, text := v.(string); text != (kind == "string") {
					out = append(out, fmt.Sprintf("%s is of type %q and has the enum's value %v", at, kind, v))
				}
			}
		}
		for k, v := range n {
			out = append(out, inSchemas(at+"/"+k, v)...)
		}
	}
	return out
}
