package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The pages show what the commands in them print; -update writes them again.
func TestGuideIsTrue(t *testing.T) {
	t.Chdir(filepath.Join("..", ".."))
	for page, least := range map[string]int{"docs/cli.md": 2, "docs/stories.md": 13, "internal/cli/testdata/guide.md": 33} {
		t.Run(page, func(t *testing.T) { pageIsTrue(t, filepath.FromSlash(page), least) })
	}
}

// pageIsTrue compares a page with what its commands print. It has at least that many commands.
func pageIsTrue(t *testing.T, file string, least int) {
	have := mustRead(t, file)
	var out strings.Builder
	ran := 0
	for i, block := range strings.Split(have, "```") {
		if i > 0 {
			out.WriteString("```")
		}
		body, shows := strings.CutPrefix(block, "console\n")
		if i%2 == 0 || !shows {
			out.WriteString(block)
			continue
		}
		out.WriteString("console\n")
		for _, line := range strings.Split(body, "\n") {
			command, is := strings.CutPrefix(line, "$ ")
			if !is || strings.HasPrefix(command, "echo ") {
				continue
			}
			ran++
			out.WriteString(shown(t, command))
		}
	}
	if ran < least {
		t.Errorf("only %d commands, want %d or more", ran, least)
	}
	if *update {
		if err := os.WriteFile(file, []byte(out.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	if d := cmp.Diff(have, out.String()); d != "" {
		t.Errorf("go test ./internal/cli -run Guide -update writes it (-have +want):\n%s", d)
	}
}

// shown is what a terminal shows of a command.
func shown(t *testing.T, command string) string {
	t.Helper()
	c := call{env: map[string]string{"BERTH_SNAPSHOT": filepath.Join("examples", "cluster.yaml")}}
	words, without := strings.CutPrefix(command, "env -u BERTH_SNAPSHOT ")
	if without {
		delete(c.env, "BERTH_SNAPSHOT")
	}
	args := strings.Fields(words)
	if args[0] != "berth" {
		t.Fatalf("%s is none of ours", command)
	}
	r := c.run(t, args[1:]...)
	return fmt.Sprintf("$ %s\n%s%s$ echo $?\n%d\n", command, r.out, r.err, r.code)
}

// Every call that the list of questions names is a path of the API.
func TestQuestionsNameCallsThatExist(t *testing.T) {
	page := mustRead(t, filepath.Join("..", "..", "docs", "cli.md"))
	paths := mustRead(t, filepath.Join("..", "..", "api", "openapi.yaml"))
	calls := regexp.MustCompile("`(GET|POST) (/v1/[^` ?]+)").FindAllStringSubmatch(page, -1)
	if len(calls) < 15 {
		t.Fatalf("only %d calls", len(calls))
	}
	for _, c := range calls {
		_, path, found := strings.Cut(paths, "\n  "+c[2]+":\n")
		path, _, _ = strings.Cut(path, "\n  /")
		if !found || !strings.Contains(path, "\n    "+strings.ToLower(c[1])+":\n") && !strings.HasPrefix(path, "    "+strings.ToLower(c[1])+":\n") {
			t.Errorf("openapi.yaml has no %s %s", c[1], c[2])
		}
	}
}
