package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

// describeOperations adds what generators of clients need and annotations do not hold: servers, and
// each operation's id, whether it needs an identity, and examples of bodies. The notes on it in
// api/notes end its description. It changes what generators misread in schemas.
func describeOperations(root string, doc *openapi3.T) error {
	doc.Servers = openapi3.Servers{
		{URL: "/", Description: "the server that this description comes from"},
		{URL: "http://127.0.0.1:8080", Description: "a server at its default address"},
	}
	for _, s := range doc.Components.Schemas {
		forGenerators(s)
	}
	doc.Components.SecuritySchemes = openapi3.SecuritySchemes{"token": &openapi3.SecuritySchemeRef{Value: openapi3.NewSecurityScheme().
		WithType("http").WithScheme("bearer").
		WithDescription("A token of berth, of a service account or of an OpenID Connect provider. A client certificate may take its place. On loopback no identity is needed unless the server requires one.")}}
	doc.Security = *openapi3.NewSecurityRequirements().With(openapi3.NewSecurityRequirement().Authenticate("token")).With(openapi3.NewSecurityRequirement())
	names, err := handlerNames(filepath.Join(root, "internal", "handlers"))
	if err != nil {
		return err
	}
	for path, item := range doc.Paths.Map() {
		for method, op := range item.Operations() {
			if op.OperationID = names[strings.ToLower(method)+" "+path]; op.OperationID == "" {
				return fmt.Errorf("%s %s has no handler with such a @Router", method, path)
			}
			if op.Responses.Value("401") == nil {
				op.Security = openapi3.NewSecurityRequirements()
			}
			if err := giveExample(root, path, op); err != nil {
				return err
			}
			notes, err := os.ReadFile(filepath.Join(root, "api", "notes", op.OperationID+".md"))
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
			op.Description = strings.TrimSpace(op.Description + "\n\n" + string(notes))
		}
	}
	return nil
}

var route = regexp.MustCompile(`@Router\s+(\S+) \[(\w+)\]`)

// handlerNames returns the id of each route's operation, by method and path ("post /v1/decisions"):
// the name of its handler, or its path in words where a handler serves several.
func handlerNames(dir string) (map[string]string, error) {
	var files []string
	for _, room := range []string{".", "events", "extender", "rest"} {
		found, err := filepath.Glob(filepath.Join(dir, room, "*.go"))
		if err != nil {
			return nil, err
		}
		files = append(files, found...)
	}
	names := map[string]string{}
	for _, file := range files {
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		for _, d := range f.Decls {
			handler, ok := d.(*ast.FuncDecl)
			if !ok || handler.Doc == nil {
				continue
			}
			routes := route.FindAllStringSubmatch(handler.Doc.Text(), -1)
			for _, r := range routes {
				id := handler.Name.Name
				if len(routes) > 1 {
					id = inWords(r[1])
				}
				names[r[2]+" "+r[1]] = id
			}
		}
	}
	return names, nil
}

// inWords returns a path as one word without its parameters: "clustersScoreOnlyFilter" for
// /clusters/{cluster}/score-only/filter.
func inWords(path string) string {
	var id strings.Builder
	for _, part := range strings.FieldsFunc(path, func(r rune) bool { return r == '/' || r == '-' }) {
		switch {
		case strings.HasPrefix(part, "{"):
		case id.Len() == 0:
			id.WriteString(part)
		default:
			id.WriteString(strings.ToUpper(part[:1]) + part[1:])
		}
	}
	return id.String()
}

// giveExample adds the body that the documentation sends to such an operation.
func giveExample(root, path string, op *openapi3.Operation) error {
	file := ""
	switch {
	case op.OperationID == "decide":
		file = "decision.json"
	case strings.HasSuffix(path, "/filter"), strings.HasSuffix(path, "/prioritize"):
		file = "filter.json"
	default:
		return nil
	}
	text, err := os.ReadFile(filepath.Join(root, "examples", file))
	if err != nil {
		return err
	}
	var body any
	if err := json.Unmarshal(text, &body); err != nil {
		return fmt.Errorf("examples/%s: %w", file, err)
	}
	op.RequestBody.Value.Content["application/json"].Example = body
	return nil
}

// forGenerators changes what generators of clients misread in a schema. An object without named
// properties has none to them, so that it is said to have any. A property with a default is
// required of callers (openapi-typescript), so that its description names the default instead.
func forGenerators(s *openapi3.SchemaRef) {
	if s == nil || s.Ref != "" || s.Value == nil {
		return
	}
	v := s.Value
	if v.Type.Is("object") && len(v.Properties) == 0 && v.AdditionalProperties.Schema == nil {
		v.AdditionalProperties.Has = openapi3.Ptr(true)
	}
	for _, p := range v.Properties {
		if p.Ref == "" && p.Value.Default != nil {
			p.Value.Description = strings.TrimSpace(fmt.Sprintf("%s\nDefault: %v.", p.Value.Description, p.Value.Default))
			p.Value.Default = nil
		}
		forGenerators(p)
	}
	for _, p := range v.OneOf {
		forGenerators(p)
	}
	forGenerators(v.Items)
	forGenerators(v.AdditionalProperties.Schema)
}
