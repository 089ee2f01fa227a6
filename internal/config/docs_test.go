package config_test

import (
	"os"
	"strings"
	"testing"

	"berth/internal/config"
	"berth/internal/semantics"
)

// TestDocumentedExamples: a reader may paste what the guide shows.
func TestDocumentedExamples(t *testing.T) {
	guide, err := os.ReadFile("../../docs/configuration.md")
	if err != nil {
		t.Fatal(err)
	}
	parts := strings.Split(string(guide), "```yaml\n")
	if len(parts) < 4 {
		t.Fatalf("%d examples in the guide", len(parts)-1)
	}
	for _, p := range parts[1:] {
		doc, _, _ := strings.Cut(p, "```")
		c, err := config.Read([]byte(doc), semantics.Default())
		if err != nil {
			t.Errorf("%v\n%s", err, doc)
			continue
		}
		if len(c.Ignored) > 0 || c.Profiles[0].Digest == config.Default(semantics.Default())[0].Digest && len(c.Profiles) == 1 {
			t.Errorf("the example does nothing:\n%s%v", doc, c.Ignored)
		}
	}
}
