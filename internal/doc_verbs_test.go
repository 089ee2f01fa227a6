package internal_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// docVerb matches the beginning of a doc comment that promises a result.
var docVerb = regexp.MustCompile(`^(\w+) (returns|reports whether)\b`)

// TestDocVerbs shows that a function of which the doc comment says "returns" has a result, and one
// of which it says "reports whether" has a bool or an error.
func TestDocVerbs(t *testing.T) {
	for _, root := range []string{".", "../cmd", "../test", "../migrations", "../api"} {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") {
				return err
			}
			fset := token.NewFileSet()
			file, err := parser.ParseFile(fset, path, nil, parser.ParseComments)
			if err != nil {
				return err
			}
			ast.Inspect(file, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.FuncDecl:
					checkDocVerb(t, fset, n.Name, n.Doc, n.Type)
				case *ast.InterfaceType:
					for _, m := range n.Methods.List {
						if f, ok := m.Type.(*ast.FuncType); ok {
							checkDocVerb(t, fset, m.Names[0], m.Doc, f)
						}
					}
				}
				return true
			})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

func checkDocVerb(t *testing.T, fset *token.FileSet, name *ast.Ident, doc *ast.CommentGroup, f *ast.FuncType) {
	m := docVerb.FindStringSubmatch(doc.Text())
	if m == nil {
		return
	}
	at := fset.Position(name.Pos())
	if m[1] != name.Name {
		t.Errorf("%s: the comment of %s begins with %s", at, name.Name, m[1])
	}
	if f.Results == nil {
		t.Errorf("%s: %s %s nothing", at, name.Name, m[2])
		return
	}
	for _, r := range f.Results.List {
		if id, ok := r.Type.(*ast.Ident); ok && (id.Name == "bool" || id.Name == "error") {
			return
		}
	}
	if m[2] == "reports whether" {
		t.Errorf("%s: %s reports whether, and has neither a bool nor an error", at, name.Name)
	}
}
