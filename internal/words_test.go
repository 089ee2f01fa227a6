package internal_test

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
	"testing"
	"unicode"
)

// glossary is what docs/glossary.md keeps out of the code.
type glossary struct {
	// identifiers maps a word to the packages that may not use it; "" stands for all.
	identifiers map[string][]string
	// comments matches the phrases that no comment may hold.
	comments *regexp.Regexp
}

// readGlossary reads both tables of docs/glossary.md.
func readGlossary(t *testing.T) glossary {
	t.Helper()
	text, err := os.ReadFile("../docs/glossary.md")
	if err != nil {
		t.Fatal(err)
	}
	quoted := regexp.MustCompile("`([^`]+)`")
	g := glossary{identifiers: map[string][]string{}}
	var phrases []string
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		switch len(cells) {
		case 3:
			for _, m := range quoted.FindAllStringSubmatch(cells[2], -1) {
				room, word, scoped := strings.Cut(m[1], ".")
				if !scoped {
					room, word = "", m[1]
				}
				g.identifiers[word] = append(g.identifiers[word], room)
			}
		case 2:
			for _, m := range quoted.FindAllStringSubmatch(cells[0], -1) {
				phrases = append(phrases, strings.ReplaceAll(regexp.QuoteMeta(m[1]), " ", `\s+`))
			}
		}
	}
	if len(g.identifiers) < 20 || len(phrases) < 10 {
		t.Fatalf("read %d words and %d phrases from the glossary: its tables have another form", len(g.identifiers), len(phrases))
	}
	g.comments = regexp.MustCompile(`(?i)\b(` + strings.Join(phrases, "|") + `)\b`)
	return g
}

// bans reports whether the package may not use the word in an identifier.
func (g glossary) bans(pkg, word string) bool {
	for _, room := range g.identifiers[word] {
		if room == "" || room == pkg {
			return true
		}
	}
	return false
}

// camelWords returns the lower-case words of an identifier: "podsOnNode" has pods, on and node.
func camelWords(name string) []string {
	var words []string
	runes := []rune(name)
	begin := 0
	for i := 1; i <= len(runes); i++ {
		ends := i == len(runes) || runes[i] == '_' ||
			unicode.IsUpper(runes[i]) && (!unicode.IsUpper(runes[i-1]) || i+1 < len(runes) && unicode.IsLower(runes[i+1]))
		if ends {
			words = append(words, strings.ToLower(strings.Trim(string(runes[begin:i]), "_")))
			begin = i
		}
	}
	return words
}

// declared calls f for each identifier that the file declares.
func declared(file *ast.File, f func(*ast.Ident)) {
	ast.Inspect(file, func(n ast.Node) bool {
		switch v := n.(type) {
		case *ast.FuncDecl:
			f(v.Name)
		case *ast.TypeSpec:
			f(v.Name)
		case *ast.Field:
			for _, id := range v.Names {
				f(id)
			}
		case *ast.ValueSpec:
			for _, id := range v.Names {
				f(id)
			}
		case *ast.AssignStmt:
			for _, left := range v.Lhs {
				if id, ok := left.(*ast.Ident); ok && v.Tok == token.DEFINE {
					f(id)
				}
			}
		}
		return true
	})
}

// TestWords holds the code to docs/glossary.md.
func TestWords(t *testing.T) {
	g := readGlossary(t)
	found := map[string][]string{}
	fset := token.NewFileSet()
	for _, root := range []string{"../internal", "../cmd", "../test", "../migrations", "../deploy"} {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") {
				return err
			}
			file, err := parser.ParseFile(fset, path, nil, parser.ParseComments|parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			folder := strings.TrimPrefix(filepath.ToSlash(filepath.Dir(path)), "../")
			report := func(pos token.Pos, what string) {
				at := fset.Position(pos)
				found[folder] = append(found[folder], fmt.Sprintf("%s:%d %s", filepath.Base(at.Filename), at.Line, what))
			}
			declared(file, func(id *ast.Ident) {
				for _, word := range camelWords(id.Name) {
					if g.bans(file.Name.Name, word) {
						report(id.Pos(), id.Name)
					}
				}
			})
			for _, group := range file.Comments {
				for _, phrase := range g.comments.FindAllString(group.Text(), -1) {
					report(group.Pos(), "// … "+strings.Join(strings.Fields(phrase), " "))
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, folder := range slices.Sorted(maps.Keys(found)) {
		t.Errorf("%s: docs/glossary.md has another word for\n\t%s", folder, strings.Join(found[folder], "\n\t"))
	}
}

func TestCamelWords(t *testing.T) {
	for name, want := range map[string]string{
		"podsOnNode": "pods on node", "HTTPServer": "http server", "x": "x", "max_rows": "max rows", "ID": "id", "newUID": "new uid",
	} {
		if got := strings.Join(camelWords(name), " "); got != want {
			t.Errorf("camelWords(%q) = %q, want %q", name, got, want)
		}
	}
}
