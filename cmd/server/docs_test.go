package main

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the table of docs/configuration.md again")

// TestConfigurationPage: the page's table says of each flag what --help and config print do.
func TestConfigurationPage(t *testing.T) {
	t.Setenv("DATABASE_URL", "")
	page := filepath.Join("..", "..", "docs", "configuration.md")
	have, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	const head = "| Flag | Default | Meaning |\n|---|---|---|\n"
	before, rest, found := strings.Cut(string(have), head)
	if !found {
		t.Fatalf("%s has no table of flags", page)
	}
	_, after, _ := strings.Cut(rest, "\n\n")
	want := before + head + flagRows(t) + "\n" + after
	if *update {
		if err := os.WriteFile(page, []byte(want), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(string(have), want); diff != "" {
		t.Errorf("go test ./cmd/server -run ConfigurationPage -update writes it (-have +want):\n%s", diff)
	}
}

// flagRows are the flags of serve, as rows of a table.
func flagRows(t *testing.T) string {
	t.Helper()
	var printed bytes.Buffer
	if code := run(t.Context(), []string{"config", "print"}, &printed, io.Discard); code != 0 {
		t.Fatalf("config print ends with %d", code)
	}
	defaults := map[string]string{}
	for line := range strings.Lines(printed.String()) {
		name, value, _ := strings.Cut(line, ": ")
		value, _, _ = strings.Cut(value, "  # ")
		switch value = strings.Trim(value, `"`); value {
		case "", "[]", "map[]", "false", "0s":
		default:
			defaults[name] = "`" + value + "`"
		}
	}
	var line cli
	parser, err := kong.New(&line, kong.DefaultEnvars("BERTH"), kong.Exit(func(int) {}))
	if err != nil {
		t.Fatal(err)
	}
	k, err := parser.Parse([]string{"serve"})
	if err != nil {
		t.Fatal(err)
	}
	var rows strings.Builder
	for _, group := range k.Selected().AllFlags(true) {
		for _, f := range group {
			if f.Name == "help" {
				continue
			}
			name := "--" + f.Name
			if f.PlaceHolder != "" {
				name += " " + f.PlaceHolder
			}
			fmt.Fprintf(&rows, "| `%s` | %s | %s |\n", strings.ReplaceAll(name, "|", `\|`), defaults[f.Name], strings.ReplaceAll(f.Help, "|", `\|`))
		}
	}
	return rows.String()
}
