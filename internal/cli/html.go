package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"berth/internal/web"
	"berth/internal/words"
)

// pageCommands have a page in the explorer, which -o html writes.
var pageCommands = []string{"explain", "pending", "queue", "capacity", "fit", "drain", "lose", "pools", "simulate", "compare"}

// hasPage refuses -o html of a command that no page is about.
func (a *app) hasPage(cmd *cobra.Command) error {
	if a.o.output != formHTML {
		return nil
	}
	cut := func(name string) bool { f := cmd.Flags().Lookup(name); return f != nil && f.Changed }
	if !slices.Contains(pageCommands, cmd.Name()) || cmd.Name() == "explain" && (cut("node") || cut("all")) {
		return &problem{what: "-o html: no page is about this", next: "It is for " + strings.Join(pageCommands, ", ") + "; explain without --node and --all."}
	}
	a.line = cmd.CommandPath()
	for _, arg := range cmd.Flags().Args() {
		a.line += " " + words.Quote(arg)
	}
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if !strings.Contains(f.Name, "token") { // the file is passed on
			a.line += " --" + f.Name + "=" + words.Quote(f.Value.String())
		}
	})
	return nil
}

// html writes the explorer's page about an answer as one file.
func (a *app) html(gaps *gaps, answer any) error {
	notes := &page{wide: true}
	notes.gaps(gaps)
	file := &web.File{Command: a.line, Version: a.version.Version, Server: a.o.server, Now: a.Now().UTC()}
	if a.o.server != "" {
		file.Cluster, _, _ = strings.Cut(a.o.cluster, "@")
	}
	if text := strings.TrimSpace(notes.out.String()); text != "" {
		file.Notes = strings.Split(text, "\n")
	}
	if gaps != nil {
		file.Absent, file.Source = gaps.kinds, gaps.of+" "+gaps.verb()+" "
	}
	if err := file.Write(a.Out, answer); err != nil {
		return fmt.Errorf("-o html: %w", err)
	}
	return nil
}

// webAnswer is the verdict as a page shows it.
func (v *verdict) webAnswer() *web.PodAnswer {
	out := &web.PodAnswer{}
	if v.told != nil {
		out.Story = &v.told.Story
	}
	if v.got != nil {
		out.Decision = &v.got.Answer
	}
	return out
}
