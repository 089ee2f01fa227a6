package cli

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/spf13/cobra"

	"berth/internal/handlers"
)

func (a *app) whoamiCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "whoami",
		Short: "Who am I to the server, and what may I do?",
		Long: `Whom the server takes the caller for, and the roles that it grants by cluster
and namespace. Needs --server. The identity is the API token of --token-file or
BERTH_TOKEN; a server on loopback needs none.`,
		Example:           "  BERTH_TOKEN=$(cat token) " + a.name + " whoami --server https://berth.example:8443",
		Args:              cobra.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              func(cmd *cobra.Command, _ []string) error { return a.whoami(cmd.Context()) },
	}
}

func (a *app) whoami(ctx context.Context) error {
	if err := a.o.check(); err != nil {
		return err
	}
	if a.o.server == "" {
		return &problem{what: "whoami asks a server, and none is named", next: "Add --server URL, or set BERTH_SERVER."}
	}
	s, err := newServer(a)
	if err != nil {
		return err
	}
	raw, err := s.call(ctx, http.MethodGet, nil, nil, "v1", "whoami")
	if err != nil {
		return err
	}
	if a.o.output == formJSON {
		return a.json(raw)
	}
	var who handlers.Whoami
	if err := readInto(raw, &who); err != nil {
		return err
	}
	text := strings.TrimSpace(who.Kind + " " + who.Name)
	if len(who.Groups) > 0 {
		text += ", in " + strings.Join(who.Groups, ", ")
	}
	for _, g := range who.Grants {
		text += fmt.Sprintf("\n%s: clusters %s, namespaces %s", g.Role, strings.Join(g.Clusters, " "), strings.Join(g.Namespaces, " "))
	}
	if len(who.Grants) == 0 {
		text += "\nmay do nothing: no grant"
	}
	_, err = fmt.Fprintln(a.Out, text)
	return err
}
