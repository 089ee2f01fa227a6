package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"berth/internal/planted"
)

// source is what the code says of faults.
type source struct {
	declared map[planted.Fault]string // constants by their values
	planted  map[string][]string      // files that ask On for a constant
}

// readSource parses everything but tests.
func readSource(root string) (*source, error) {
	s := &source{declared: map[planted.Fault]string{}, planted: map[string][]string{}}
	var twice error
	err := each(filepath.Join(root, "internal", "planted"), func(path string, f *ast.File) {
		ast.Inspect(f, func(n ast.Node) bool {
			if spec, ok := n.(*ast.ValueSpec); ok && isFault(spec) {
				for i, name := range spec.Names {
					lit, ok := spec.Values[i].(*ast.BasicLit)
					if !ok {
						continue
					}
					value := planted.Fault(strings.Trim(lit.Value, `"`))
					if other := s.declared[value]; other != "" {
						twice = fmt.Errorf("%s: %s and %s are both %s", path, other, name.Name, value)
					}
					s.declared[value] = name.Name
				}
			}
			return true
		})
	})
	if err != nil || twice != nil {
		return nil, fmt.Errorf("read the faults: %w%w", err, twice)
	}
	for _, dir := range []string{"cmd", "internal", "migrations"} {
		err := each(filepath.Join(root, dir), func(path string, f *ast.File) {
			ast.Inspect(f, func(n ast.Node) bool {
				call, ok := n.(*ast.CallExpr)
				if !ok || len(call.Args) != 1 || !isOn(call.Fun) {
					return true
				}
				if sel, ok := call.Args[0].(*ast.SelectorExpr); ok {
					s.planted[sel.Sel.Name] = append(s.planted[sel.Sel.Name], path)
				}
				return true
			})
		})
		if err != nil {
			return nil, err
		}
	}
	return s, nil
}

func isFault(spec *ast.ValueSpec) bool {
	kind, ok := spec.Type.(*ast.Ident)
	return ok && kind.Name == "Fault" && len(spec.Names) == len(spec.Values)
}

func isOn(e ast.Expr) bool {
	sel, ok := e.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	pkg, ok := sel.X.(*ast.Ident)
	return ok && pkg.Name == "planted" && sel.Sel.Name == "On"
}

// each parses the Go files below a folder, those of tests left out.
func each(dir string, f func(path string, file *ast.File)) error {
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err == nil {
			f(path, file)
		}
		return err
	})
}

// judge says what is wrong with a row before any test is run.
func (s *source) judge(root string, p planted.Plant) error {
	name := s.declared[p.Fault]
	switch at := s.planted[name]; {
	case name == "":
		return fmt.Errorf("NO CONSTANT of that name")
	case len(at) == 0:
		return fmt.Errorf("NOT PLANTED anywhere")
	case len(at) > 1 && !differ(at):
		return fmt.Errorf("PLANTED at %d places", len(at))
	}
	test, _, _ := strings.Cut(p.Test, "/")
	pattern := regexp.MustCompile(`(?m)^func ` + regexp.QuoteMeta(test) + `\(`)
	files, err := filepath.Glob(filepath.Join(root, p.Package, "*_test.go"))
	if err != nil {
		return err
	}
	found := slices.ContainsFunc(files, func(path string) bool {
		raw, err := os.ReadFile(path)
		return err == nil && pattern.Match(raw)
	})
	if !found {
		return errNoTest
	}
	return nil
}

// differ says that no two files are of one package: the two stores may have the
// same bug.
func differ(files []string) bool {
	seen := map[string]bool{}
	for _, f := range files {
		seen[filepath.Dir(f)] = true
	}
	return len(seen) == len(files)
}

// rowless gives the faults that are declared and that no row speaks of.
func (s *source) rowless() []planted.Fault {
	rest := maps.Clone(s.declared)
	for _, p := range planted.All {
		delete(rest, p.Fault)
	}
	return slices.Sorted(maps.Keys(rest))
}
