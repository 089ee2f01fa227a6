package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/format"
	"go/scanner"
	"go/token"
	"path"
	"slices"
	"strconv"
	"strings"
)

// declared is a function, method, type, constant or variable: as tokens, by which it is compared,
// and as people read it.
type declared struct {
	tokens, source string
	isType         bool
	of             string // the type of a method
	starts         bool   // runs by itself, as init does
}

// gates is the variable that has the defaults of feature gates. Each is a declaration of its own,
// and those count that the code reads.
const (
	gates      = "pkg/features.defaultVersionedKubernetesFeatureGates"
	gatePrefix = gates + "["
)

// declare adds what a file declares.
func (t *tree) declare(pkg string, set *token.FileSet, f *ast.File, text []byte) error {
	paths := importNames(f)
	add := func(name string, n ast.Node, before string) error {
		before += imported(paths, n)
		quiet(n)
		var source bytes.Buffer
		if err := format.Node(&source, set, n); err != nil {
			return err
		}
		name = pkg + "." + name
		one := &declared{}
		switch n := n.(type) {
		case *ast.TypeSpec:
			one.isType = true
		case *ast.FuncDecl:
			one.starts = n.Name.Name == "init"
			if r := receiver(n); r != "" {
				one.of = pkg + "." + strings.TrimSuffix(r, ".")
			}
		}
		if old := t.declared[name]; old != nil { // init, _, or by another build tag
			before = old.tokens + " " + before
			source.WriteString("\n\n" + old.source)
		}
		one.tokens, one.source = before+tokens(source.Bytes()), source.String()
		t.declared[name] = one
		return nil
	}
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			d.Doc = nil
			if err := add(receiver(d)+d.Name.Name, d, ""); err != nil {
				return err
			}
		case *ast.GenDecl:
			var last ast.Node // what a constant without a value repeats
			for i, s := range d.Specs {
				switch s := s.(type) {
				case *ast.TypeSpec:
					if err := add(s.Name.Name, s, ""); err != nil {
						return err
					}
				case *ast.ValueSpec:
					before := ""
					if d.Tok == token.CONST {
						if len(s.Values) > 0 {
							last = s
						} else if last != nil {
							p, e := set.Position(last.Pos()).Offset, set.Position(last.End()).Offset
							before = fmt.Sprintf("%d of %s ", i, tokens(text[p:e]))
						}
					}
					if entries := t.entries(pkg, s); entries != nil {
						for _, kv := range entries {
							if err := add(s.Names[0].Name+"["+key(kv.Key)+"]", kv, ""); err != nil {
								return err
							}
						}
						continue
					}
					for _, n := range s.Names {
						if err := add(n.Name, s, before); err != nil {
							return err
						}
					}
				}
			}
		}
	}
	return nil
}

// entries are those of the variable that has the gates.
func (t *tree) entries(pkg string, s *ast.ValueSpec) (list []*ast.KeyValueExpr) {
	if pkg+"."+s.Names[0].Name != gates || len(s.Values) != 1 {
		return nil
	}
	if lit, ok := s.Values[0].(*ast.CompositeLit); ok {
		for _, e := range lit.Elts {
			if kv, ok := e.(*ast.KeyValueExpr); ok {
				list = append(list, kv)
			}
		}
	}
	return list
}

func key(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return e.Sel.Name
	}
	return "?"
}

// receiver is the type of a method, with a dot.
func receiver(d *ast.FuncDecl) string {
	if d.Recv == nil || len(d.Recv.List) == 0 {
		return ""
	}
	e := d.Recv.List[0].Type
	for {
		switch x := e.(type) {
		case *ast.StarExpr:
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.IndexListExpr:
			e = x.X
		case *ast.Ident:
			return x.Name + "."
		default:
			return "?."
		}
	}
}

// tokens is a text without comments, line ends and the commas that line ends need.
func tokens(text []byte) string {
	var s scanner.Scanner
	set := token.NewFileSet()
	s.Init(set.AddFile("", -1, len(text)), text, nil, 0)
	var out strings.Builder
	held := "" // a comma or semicolon, which a closing bracket makes needless
	for {
		_, tok, lit := s.Scan()
		switch {
		case tok == token.EOF:
			return out.String()
		case tok == token.SEMICOLON, tok == token.COMMA:
			held = tok.String() + " "
			continue
		case tok != token.RPAREN && tok != token.RBRACE && tok != token.RBRACK:
			out.WriteString(held)
		}
		held = ""
		if lit == "" {
			lit = tok.String()
		}
		out.WriteString(lit + " ")
	}
}

// importNames are the paths of a file's imports, by the names that they have there. Those of other
// modules than the followed are left out.
func importNames(f *ast.File) map[string]string {
	names := map[string]string{}
	for _, i := range f.Imports {
		p, err := strconv.Unquote(i.Path.Value)
		if err != nil || !isFollowed(p) {
			continue
		}
		name := path.Base(p)
		if i.Name != nil {
			name = i.Name.Name
		}
		names[name] = p
	}
	return names
}

// imported names the packages that a declaration uses, for the same text may call another one.
func imported(paths map[string]string, n ast.Node) string {
	var list []string
	ast.Inspect(n, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := s.X.(*ast.Ident); ok && paths[x.Name] != "" && !slices.Contains(list, paths[x.Name]) {
				list = append(list, paths[x.Name])
			}
		}
		return true
	})
	slices.Sort(list)
	return strings.Join(list, " ") + " "
}
