package main

import (
	"go/ast"
	"slices"
)

// talk are names whose calls decide nothing: log lines, metrics, and the marks of traces.
var talk = []string{"klog", "logger", "loggerV", "metrics", "trace", "utilruntime"}

// quiet takes log lines and metrics out of a declaration, with the loggers that are handed on.
func quiet(n ast.Node) {
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BlockStmt:
			n.List = slices.DeleteFunc(n.List, talks)
		case *ast.CaseClause:
			n.Body = slices.DeleteFunc(n.Body, talks)
		case *ast.CommClause:
			n.Body = slices.DeleteFunc(n.Body, talks)
		case *ast.CallExpr:
			n.Args = slices.DeleteFunc(n.Args, isTalk)
		case *ast.FieldList:
			n.List = slices.DeleteFunc(n.List, func(f *ast.Field) bool {
				return len(f.Names) == 1 && isTalk(f.Names[0])
			})
		}
		return true
	})
}

// talks reports whether a statement does nothing else.
func talks(s ast.Stmt) bool {
	switch s := s.(type) {
	case *ast.ExprStmt:
		return root(s.X)
	case *ast.DeferStmt:
		return root(s.Call)
	case *ast.AssignStmt:
		return len(s.Lhs) == 1 && isTalk(s.Lhs[0])
	case *ast.IfStmt:
		if s.Else != nil {
			return false
		}
		s.Body.List = slices.DeleteFunc(s.Body.List, talks)
		return len(s.Body.List) == 0
	}
	return false
}

// root reports whether a call begins with one of the names, as logger.V(4).Info does.
func root(e ast.Expr) bool {
	for {
		switch x := e.(type) {
		case *ast.CallExpr:
			e = x.Fun
		case *ast.SelectorExpr:
			e = x.X
		default:
			return isTalk(e)
		}
	}
}

func isTalk(e ast.Expr) bool {
	x, ok := e.(*ast.Ident)
	return ok && slices.Contains(talk, x.Name)
}
