package main

import (
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

// TestConfigurationPage: the flags that the page names are flags of serve.
func TestConfigurationPage(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "configuration.md"))
	if err != nil {
		t.Fatal(err)
	}
	var line cli
	parser, err := kong.New(&line, kong.Exit(func(int) {}), kong.Writers(io.Discard, io.Discard))
	if err != nil {
		t.Fatal(err)
	}
	serve, err := parser.Parse([]string{"serve"})
	if err != nil {
		t.Fatal(err)
	}
	named := regexp.MustCompile("`--([a-z-]+)(\\*?)`").FindAllStringSubmatch(string(page), -1)
	if len(named) < 30 {
		t.Fatalf("only %d flags", len(named))
	}
	for _, m := range named {
		found := false
		for _, f := range serve.Flags() {
			found = found || f.Name == m[1] || m[2] == "*" && strings.HasPrefix(f.Name, m[1])
		}
		if !found {
			t.Errorf("serve has no flag --%s%s", m[1], m[2])
		}
	}
}
