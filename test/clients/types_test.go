package clients

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"berth/api"
)

// schemas are those of types whose names differ from theirs.
var schemas = map[string]string{
	"PodName": "PlacementPod", "Patch": "ledger.Patch", "Deletion": "ledger.Deletion", "Victim": "engine.Victim",
	"HeldPod": "store.HeldPod", "Error": "Problem",
}

// TestTypesAreDescribed: each field of the types of the module client is a property of the schema
// that the type is of, and has its type.
func TestTypesAreDescribed(t *testing.T) {
	doc, err := openapi3.NewLoader().LoadFromData(api.OpenAPI)
	if err != nil {
		t.Fatal(err)
	}
	fields := 0
	for _, name := range []string{"types.go", "events.go", "errors.go"} {
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, "client", name), nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			spec, ok := n.(*ast.TypeSpec)
			if !ok {
				return true
			}
			of, ok := spec.Type.(*ast.StructType)
			if !ok {
				return false
			}
			schema := spec.Name.Name
			if other := schemas[schema]; other != "" {
				schema = other
			}
			if doc.Components.Schemas[schema] == nil {
				t.Errorf("%s is a type of no schema: want one of its name, or a line in schemas", spec.Name.Name)
				return false
			}
			for _, f := range of.Fields.List {
				tag, _, _ := strings.Cut(reflect.StructTag(strings.Trim(f.Tag.Value, "`")).Get("json"), ",")
				if tag == "-" {
					continue
				}
				fields++
				p := doc.Components.Schemas[schema].Value.Properties[tag]
				if p == nil {
					t.Errorf("%s.%s is no property of %s", spec.Name.Name, tag, schema)
				} else if want := kinds(f.Type); !slices.Contains(want, kindOf(p.Value)) {
					t.Errorf("%s.%s is %q in the description, and %q here", schema, tag, kindOf(p.Value), want)
				}
			}
			return false
		})
	}
	if fields < 100 {
		t.Errorf("only %d fields", fields)
	}
}

// kinds returns the types of JSON that a Go type may hold.
func kinds(e ast.Expr) []string {
	switch x := e.(type) {
	case *ast.StarExpr:
		return kinds(x.X)
	case *ast.ArrayType:
		return []string{"array"}
	case *ast.MapType:
		return []string{"object"}
	case *ast.SelectorExpr: // time.Time
		return []string{"string"}
	case *ast.Ident:
		switch x.Name {
		case "string":
			return []string{"string"}
		case "bool":
			return []string{"boolean"}
		case "int", "int32", "int64":
			return []string{"integer"}
		}
	}
	return []string{"object"}
}

func kindOf(s *openapi3.Schema) string {
	for s.Type == nil && len(s.AllOf) == 1 {
		s = s.AllOf[0].Value
	}
	if s.Type == nil {
		return ""
	}
	return s.Type.Slice()[0]
}
