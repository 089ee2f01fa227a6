package overlay

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strings"
)

// recorder is the package that instrumented files call.
const recorder = "berth/test/conformance/tables/record"

// methods are the extension points that are recorded, and FindPodVolumes, which
// VolumeBinding's Filter hands its question to and which has tests of its own.
var methods = []string{
	"PreFilter", "Filter", "PreScore", "Score", "NormalizeScore", "PostFilter", "PreEnqueue", "SelectVictimsOnNode", "PodEligibleToPreemptOthers",
	"FindPodVolumes",
}

// splice is text to be put into a source at an offset.
type splice struct {
	at   int
	text string
}

// edits collects the changes of one file.
type edits struct {
	fset  *token.FileSet
	src   []byte
	list  []splice
	after bytes.Buffer // declarations that go to the file's end
}

// Instrument returns a source with its calls recorded; nil where nothing is to be.
func Instrument(name string, src []byte) ([]byte, error) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, name, src, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	e := &edits{fset: fset, src: src}
	if strings.HasSuffix(name, "_test.go") {
		e.tests(file)
	} else {
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Body != nil {
				e.method(f)
			}
		}
	}
	if len(e.list) == 0 {
		return nil, nil
	}
	e.list = append(e.list, splice{e.offset(file.Name.End()), fmt.Sprintf("; import tablesrecord %q", recorder)})
	slices.SortFunc(e.list, func(a, b splice) int { return a.at - b.at })
	var out bytes.Buffer
	last := 0
	for _, s := range e.list {
		out.Write(src[last:s.at])
		out.WriteString(s.text)
		last = s.at
	}
	out.Write(src[last:])
	out.Write(e.after.Bytes())
	return out.Bytes(), nil
}

func (e *edits) offset(p token.Pos) int { return e.fset.Position(p).Offset }

func (e *edits) text(n ast.Node) string { return string(e.src[e.offset(n.Pos()):e.offset(n.End())]) }

// tests marks the start of every function that is given a test alone.
func (e *edits) tests(file *ast.File) {
	ast.Inspect(file, func(n ast.Node) bool {
		var kind *ast.FuncType
		var body *ast.BlockStmt
		switch n := n.(type) {
		case *ast.FuncDecl:
			if !strings.HasPrefix(n.Name.Name, "Test") {
				return true
			}
			kind, body = n.Type, n.Body
		case *ast.FuncLit:
			kind, body = n.Type, n.Body
		default:
			return true
		}
		if body == nil || len(kind.Params.List) != 1 || len(kind.Params.List[0].Names) != 1 || !isTest(e.text(kind.Params.List[0].Type)) {
			return true
		}
		t := kind.Params.List[0].Names[0].Name
		at := e.offset(body.Lbrace) + 1
		if len(body.List) > 0 && e.text(body.List[0]) == t+".Parallel()" {
			at = e.offset(body.List[0].End()) // it pauses there until its turn comes
		}
		e.list = append(e.list, splice{at, "; tablesrecord.Enter(" + t + ");"})
		return true
	})
}

// isTest reports whether a type is what a test is handed: Go's own or the wrapper of
// upstream's ktesting.
func isTest(kind string) bool { return kind == "*testing.T" || kind == "ktesting.TContext" }

// method renames a method that is recorded and wraps it; a constructor likewise.
func (e *edits) method(f *ast.FuncDecl) {
	results := 0
	if f.Type.Results != nil {
		results = f.Type.Results.NumFields()
	}
	name := f.Name.Name
	constructor := f.Recv == nil && strings.HasPrefix(name, "New") && results == 2 && f.Type.TypeParams == nil && e.makesPlugin(f)
	if !constructor && (f.Recv == nil || !slices.Contains(methods, name) || results == 0) {
		return
	}
	if constructor && f.Type.Params.NumFields() < 3 {
		return
	}
	var params, args []string
	for i, p := range e.flatten(f.Type.Params) {
		arg := fmt.Sprintf("a%d", i)
		params, args = append(params, arg+" "+p), append(args, arg)
	}
	var said []string
	for i := range results {
		said = append(said, fmt.Sprintf("r%d", i))
	}
	e.list = append(e.list, splice{e.offset(f.Name.Pos()), "recorded"})
	w := &e.after
	call := "recorded" + name + "(" + strings.Join(args, ", ") + ")"
	types := "(" + strings.Join(e.flatten(f.Type.Results), ", ") + ")"
	if constructor {
		fmt.Fprintf(w, "\nfunc %s(%s) %s {\n\t%s := %s\n", name, strings.Join(params, ", "), types, strings.Join(said, ", "), call)
		fmt.Fprintf(w, "\ttablesrecord.Made(r0, %s)\n\treturn %s\n}\n", strings.Join(args, ", "), strings.Join(said, ", "))
		return
	}
	fmt.Fprintf(w, "\nfunc (pl %s) %s(%s) %s {\n", e.text(f.Recv.List[0].Type), name, strings.Join(params, ", "), types)
	fmt.Fprintf(w, "\tcall := tablesrecord.Begin(pl, %q, %s)\n", name, strings.Join(args, ", "))
	fmt.Fprintf(w, "\t%s := pl.%s\n\tcall.End(%s)\n\treturn %s\n}\n", strings.Join(said, ", "), call, strings.Join(said, ", "), strings.Join(said, ", "))
}

// makesPlugin reports whether a function returns a plugin.
func (e *edits) makesPlugin(f *ast.FuncDecl) bool {
	first := e.text(f.Type.Results.List[0].Type)
	return strings.HasSuffix(first, ".Plugin") || first == "*DefaultPreemption"
}

// flatten returns the types of a list of fields, one for each name.
func (e *edits) flatten(list *ast.FieldList) []string {
	var out []string
	if list == nil {
		return nil
	}
	for _, f := range list.List {
		for range max(1, len(f.Names)) {
			out = append(out, e.text(f.Type))
		}
	}
	return out
}
