package manual

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write testdata anew")

// sample has a command of each form, and text with every character that roff treats in its own way.
var sample = Program{
	Name: "berth-sample", Section: 8, Version: "v9",
	Command: Command{
		Usage: "[COMMAND]", Short: "a sample's table", Long: "One paragraph.\nIt's `quoted` \\ ~ ^.\n.dot first\n\n  sample --flag   an example\n  sample two\n\nThe end.",
		Flags: []Flag{{Name: "all", Short: "a", Help: "Everything."}},
		Commands: []Command{
			{Name: "serve", Short: "Serve.", Default: true, Flags: []Flag{{Name: "mode", Value: "fast|slow", Words: []string{"fast", "slow"}, Default: "fast", Help: "How it's done."}}},
			{Name: "move", Usage: "FILE", Short: "Move.", Commands: []Command{{Name: "up", Short: "Up."}, {Name: "down", Short: "Down.", Flags: []Flag{{Name: "to", Value: "FILE", Help: "Where to."}}}}},
		},
	},
	Notes: [][2]string{{"SEE ALSO", "sample(1)"}},
}

// TestGolden holds what is written to files that were read by a person and by mandoc.
func TestGolden(t *testing.T) {
	all := map[string]string{"page.8": string(sample.Page())}
	for _, shell := range Shells {
		text, err := sample.Complete(shell, "berth-sample")
		if err != nil {
			t.Fatal(err)
		}
		all["completion."+shell] = text
	}
	for name, got := range all {
		file := filepath.Join("testdata", name)
		if *update {
			if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	if _, err := sample.Complete("tcsh", "x"); err == nil || !strings.Contains(err.Error(), "bash, zsh, fish") {
		t.Errorf("tcsh: %v", err)
	}
}

// TestBash runs the completion in bash, as its user would.
func TestBash(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("no bash here")
		}
		t.Skip("no bash here")
	}
	for line, want := range map[string]string{
		"":             "serve move --all --mode",
		"m":            "move",
		"move ":        "up down",
		"move down --": "--to",
		"--mode ":      "fast slow",
		"serve --m":    "--mode",
		"--all mo":     "move",
	} {
		words := append([]string{"berth-sample"}, strings.Split(line, " ")...)
		script := `. testdata/completion.bash; COMP_WORDS=("$@"); COMP_CWORD=$(($#-1)); _berth_sample; echo "${COMPREPLY[*]}"`
		out, err := exec.CommandContext(t.Context(), bash, append([]string{"-c", script, "bash"}, words...)...).CombinedOutput()
		if got := strings.TrimSpace(string(out)); err != nil || got != want {
			t.Errorf("%q: %v, completed by %q, want %q", line, err, got, want)
		}
	}
}
