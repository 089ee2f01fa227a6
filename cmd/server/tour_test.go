package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// example finds the commands of a page, and the answer below them.
var example = regexp.MustCompile("(?s)\n```sh\n(.*?)```\n(?:```json\n(.*?)```\n)?")

// changing is what differs from run to run: ids, times and cursors.
var changing = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|\d{4}-\d\d-\d\dT[\d:.]+Z|"cursor":"[^"]*"`)

// TestTour runs the examples of docs/api.md in one shell, in their order. Each prints what the page
// has below it.
func TestTour(t *testing.T) {
	for _, program := range []string{"bash", "curl", "jq"} {
		if _, err := exec.LookPath(program); err != nil {
			if os.Getenv("CI") == "true" {
				t.Fatal(err)
			}
			t.Skip(err)
		}
	}
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "api.md"))
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
	var want []string
	for _, e := range example.FindAllStringSubmatch(string(page), -1) {
		if strings.HasPrefix(e[1], "server ") {
			continue // the program, not the API
		}
		script.WriteString(e[1] + "echo '" + strings.TrimSpace(end) + "'\n")
		want = append(want, e[2])
	}
	if len(want) < 35 {
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
		if w == "" {
			continue
		}
		if d := cmp.Diff(changing.ReplaceAllString(w, "…"), changing.ReplaceAllString(have[i], "…")); d != "" {
			t.Errorf("example %d (-docs/api.md +answer):\n%s", i+1, d)
		}
	}
}
