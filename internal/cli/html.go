package cli

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"berth/internal/handlers/web"
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
	if !slices.Contains(pageCommands, cmd.Name()) || cmd.Name() == "explain" && (cut("node") || cut("all") || cut("next")) {
		return &problem{what: "-o html: no page is about this", next: "It is for " + strings.Join(pageCommands, ", ") + "; explain without --node, --all and --next."}
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
	if text := strings.TrimSpace(notes.String()); text != "" {
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

// link names the server's page about what was shown, to a person at a terminal. The parts are path
// elements; a server that has no pages is not linked to.
func (a *app) link(ctx context.Context, s *source, parts ...string) {
	if s.dump != nil || !a.Watched || a.o.output == formJSON || a.o.output == formHTML {
		return
	}
	query := url.Values{"cluster": {s.cluster}}
	if s.older() {
		query = url.Values{"snapshot": {s.snapshot}}
	}
	page := s.client.Base.JoinPath(parts...)
	page.RawQuery = query.Encode()
	req, err := http.NewRequestWithContext(ctx, http.MethodHead, s.client.Base.JoinPath("settings").String(), http.NoBody)
	if err != nil {
		return
	}
	resp, err := s.client.HTTP.Do(req)
	if err != nil {
		return
	}
	_ = resp.Body.Close()
	if resp.StatusCode == http.StatusOK && strings.HasPrefix(resp.Header.Get("Content-Type"), "text/html") {
		fmt.Fprintf(a.Err, "page: %s\n", page)
	}
}
