package main

import (
	"bytes"
	"io"
	"os/exec"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

// TestManual: the page has every command and flag that is not hidden, and so has each completion.
func TestManual(t *testing.T) {
	print := func(args ...string) string {
		var out bytes.Buffer
		if code := run(t.Context(), args, &out, io.Discard); code != 0 {
			t.Fatalf("%v ends with %d", args, code)
		}
		return out.String()
	}
	texts := map[string]string{"page": strings.ReplaceAll(print("manual"), `\-`, "-")}
	for _, shell := range []string{"bash", "zsh", "fish"} {
		texts[shell] = print("completion", shell)
	}
	var line cli
	parser, err := kong.New(&line)
	if err != nil {
		t.Fatal(err)
	}
	flags := 0
	for _, leaf := range parser.Model.Leaves(true) {
		for _, f := range leaf.Flags {
			if f.Hidden {
				continue
			}
			flags++
			for name, text := range texts {
				if !strings.Contains(text, "--"+f.Name) && !strings.Contains(text, "-l "+f.Name+" ") || !strings.Contains(text, leaf.Name) {
					t.Errorf("%s lacks %s --%s", name, leaf.Path(), f.Name)
				}
			}
		}
	}
	if flags < 50 {
		t.Errorf("%d flags", flags)
	}
	if bash, err := exec.LookPath("bash"); err == nil {
		cmd := exec.CommandContext(t.Context(), bash, "-n")
		cmd.Stdin = strings.NewReader(texts["bash"])
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("bash -n: %v: %s", err, out)
		}
	}
	if code := run(t.Context(), []string{"completion", "tcsh"}, io.Discard, io.Discard); code != 1 {
		t.Errorf("tcsh ends with %d", code)
	}
}
