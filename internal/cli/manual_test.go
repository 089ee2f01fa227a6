package cli

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// TestManual: the page has every command, with its flags, and its examples name berth.
func TestManual(t *testing.T) {
	page := strings.NewReplacer(`\-`, "-", `\(aq`, "'").Replace((call{}).run(t, "manual").out)
	root := (&app{name: "berth", Streams: Streams{Env: func(string) string { return "" }}}).root()
	commands := 0
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		c.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
			if !f.Hidden && f.Name != "help" && !strings.Contains(page, "--"+f.Name) {
				t.Errorf("no --%s of %s", f.Name, c.Name())
			}
		})
		for _, sub := range c.Commands() {
			if sub.IsAvailableCommand() {
				commands++
				if _, path, _ := strings.Cut(sub.CommandPath(), " "); !strings.Contains(page, "\n.SS "+path) || !strings.Contains(page, sub.Short) {
					t.Errorf("no command %s", sub.Name())
				}
				walk(sub)
			}
		}
	}
	walk(root)
	if commands < 20 || !strings.Contains(page, "berth explain") || !strings.Contains(page, "kubectl-berth") {
		t.Errorf("%d commands in\n%s", commands, page)
	}
}
