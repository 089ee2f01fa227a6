package main

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the answers in pages of docs and api/notes again")

// example finds the commands of a page, and the answer below them.
var example = regexp.MustCompile("(?s)\n```sh\n(.*?)```\n(?:```json\n(.*?)```\n)?")

// changing is what differs from run to run: ids, times and cursors.
var changing = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|\d{4}-\d\d-\d\dT[\d:.]+Z|"cursor":"[^"]*"`)

// TestTour runs the examples of docs/api.md, of docs/without-kubernetes.md and of the notes on
// operations (api/notes) in one shell, in their order. Each prints what the page has below it. With
// -update the pages are written again.
func TestTour(t *testing.T) {
	for _, program := range []string{"bash", "curl", "jq"} {
		if _, err := exec.LookPath(program); err != nil {
			if os.Getenv("CI") == "true" {
				t.Fatal(err)
			}
			t.Skip(err)
		}
	}
	notes, err := filepath.Glob(filepath.Join("..", "..", "api", "notes", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Abs(filepath.Join("..", "..", "examples"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir() // some examples write files
	if err := os.Symlink(files, filepath.Join(dir, "examples")); err != nil {
		t.Fatal(err)
	}
	const end = "== end of the example ==\n"
	var script strings.Builder
	type shown struct{ page, answer string }
	var want []shown
	docs := filepath.Join("..", "..", "docs")
	for _, page := range append([]string{filepath.Join(docs, "api.md"), filepath.Join(docs, "without-kubernetes.md")}, notes...) {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range example.FindAllStringSubmatch("\n"+string(text), -1) {
			if strings.HasPrefix(e[1], "server ") {
				continue // the program, not the API
			}
			script.WriteString(e[1] + "echo '" + strings.TrimSpace(end) + "'\n")
			want = append(want, shown{page, e[2]})
		}
	}
	if len(want) < 30 {
		t.Fatalf("only %d examples", len(want))
	}
	shell := exec.CommandContext(t.Context(), "bash")
	shell.Dir = dir
	shell.Stdin = strings.NewReader(strings.ReplaceAll(script.String(), "http://127.0.0.1:8080", serve(t, t.TempDir()).url))
	out, err := shell.Output()
	if err != nil {
		t.Fatal(err)
	}
	have := strings.Split(string(out), end)
	if len(have) != len(want)+1 {
		t.Fatalf("%d answers to %d examples:\n%s", len(have)-1, len(want), out)
	}
	for i, w := range want {
		if w.answer == "" {
			continue
		}
		d := cmp.Diff(changing.ReplaceAllString(w.answer, "…"), changing.ReplaceAllString(have[i], "…"))
		if d == "" {
			continue
		}
		if !*update {
			t.Errorf("example %d, %s (-page +answer):\n%s", i+1, w.page, d)
			continue
		}
		text, err := os.ReadFile(w.page)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(w.page, []byte(strings.Replace(string(text), w.answer, have[i], 1)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
