package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The guide shows what the commands in it print; -update writes it again.
func TestGuideIsTrue(t *testing.T) {
	t.Chdir(filepath.Join("..", ".."))
	file := filepath.Join("docs", "cli.md")
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
	if ran < 12 {
		t.Errorf("only %d commands", ran)
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
