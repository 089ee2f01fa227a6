package planted

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// module is where the packages' paths begin.
const module = "../.."

// Every declared fault has its row, every row a fault that is planted at one
// place, and a test that exists. Whether that test finds it, make faults says.
func TestFaultsAreWhole(t *testing.T) {
	declared := constants(t)
	planted := places(t)
	rows := map[string]bool{}
	for _, p := range All {
		name := declared[p.Fault]
		if name == "" {
			t.Errorf("%s has a row and no constant", p.Fault)
			continue
		}
		if rows[string(p.Fault)] {
			t.Errorf("%s has two rows", p.Fault)
		}
		rows[string(p.Fault)] = true
		if at := planted[name]; len(at) != 1 {
			t.Errorf("%s is planted at %v, not at one place", name, at)
		}
		if p.What == "" {
			t.Errorf("%s: nobody says what goes wrong", p.Fault)
		}
		if !hasTest(t, p) {
			t.Errorf("%s: %s has no test %s", p.Fault, p.Package, p.Test)
		}
	}
	for fault, name := range declared {
		if !rows[string(fault)] {
			t.Errorf("%s has no row", name)
		}
	}
	for name, at := range planted {
		known := false
		for _, n := range declared {
			known = known || n == name
		}
		if !known {
			t.Errorf("%v: %s is no constant of this package", at, name)
		}
	}
}

// constants gives the constants of type Fault by their values.
func constants(t *testing.T) map[Fault]string {
	t.Helper()
	found := map[Fault]string{}
	each(t, ".", func(path string, f *ast.File) {
		ast.Inspect(f, func(n ast.Node) bool {
			spec, ok := n.(*ast.ValueSpec)
			if !ok || len(spec.Names) != len(spec.Values) {
				return true
			}
			kind, ok := spec.Type.(*ast.Ident)
			if !ok || kind.Name != "Fault" {
				return true
			}
			for i, name := range spec.Names {
				lit, ok := spec.Values[i].(*ast.BasicLit)
				if !ok {
					t.Errorf("%s: %s is no plain string", path, name.Name)
					continue
				}
				value := Fault(strings.Trim(lit.Value, `"`))
				if other := found[value]; other != "" {
					t.Errorf("%s and %s are both %s", other, name.Name, value)
				}
				found[value] = name.Name
			}
			return true
		})
	})
	return found
}

// places gives by constant where On asks for it, outside of tests.
func places(t *testing.T) map[string][]string {
	t.Helper()
	found := map[string][]string{}
	for _, dir := range []string{"cmd", "internal", "migrations"} {
		each(t, filepath.Join(module, dir), func(path string, f *ast.File) {
			ast.Inspect(f, func(n ast.Node) bool {
				call, ok := n.(*ast.CallExpr)
				if !ok || !selects(call.Fun, "On") || len(call.Args) != 1 {
					return true
				}
				if sel, ok := call.Args[0].(*ast.SelectorExpr); ok {
					found[sel.Sel.Name] = append(found[sel.Sel.Name], path)
				}
				return true
			})
		})
	}
	return found
}

func selects(e ast.Expr, name string) bool {
	sel, ok := e.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	pkg, ok := sel.X.(*ast.Ident)
	return ok && pkg.Name == "planted" && sel.Sel.Name == name
}

// each parses the Go files below a folder, those of tests left out.
func each(t *testing.T, dir string, f func(path string, file *ast.File)) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err == nil {
			f(path, file)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func hasTest(t *testing.T, p Plant) bool {
	t.Helper()
	name, _, _ := strings.Cut(p.Test, "/")
	pattern := regexp.MustCompile(`(?m)^func ` + regexp.QuoteMeta(name) + `\(`)
	files, err := filepath.Glob(filepath.Join(module, p.Package, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	return slices.ContainsFunc(files, func(path string) bool {
		raw, err := os.ReadFile(path)
		return err == nil && pattern.Match(raw)
	})
}
