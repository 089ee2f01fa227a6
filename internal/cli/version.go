package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"berth/internal/engine"
	"berth/internal/handlers/rest"
	"berth/internal/manual"
	"berth/internal/semantics"
)

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Which version is this?", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if err := a.o.check(); err != nil {
				return err
			}
			v := a.version
			if a.o.output != formJSON {
				_, err := fmt.Fprintf(a.Out, "berth %s (engine %s, Kubernetes %s semantics; knows %s)\ncommit %s, %s, %s\n", v.Version, engine.Version, semantics.Default().Name, semantics.Known(), v.Commit, v.Go, v.Platform)
				return err
			}
			raw, err := json.Marshal(struct {
				Version
				Engine    string `json:"engine"`
				Semantics string `json:"semantics"`
				// Releases are those that decisions can follow.
				Releases []string `json:"releases"`
			}{v, engine.Version, semantics.Default().Name, semantics.Names()})
			if err != nil {
				return err
			}
			return a.json(raw)
		},
	}
}

// manualCommand writes the manual page, for packages and archives.
func (a *app) manualCommand() *cobra.Command {
	return &cobra.Command{
		Use: "manual", Short: "Write the manual page", Args: cobra.NoArgs, Hidden: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := a.Out.Write(manualOf(cmd.Root(), a.version.Version).Page())
			return err
		},
	}
}

// manualOf is the table of commands as the manual page shows it.
func manualOf(root *cobra.Command, version string) manual.Program {
	return manual.Program{
		Name: root.Name(), Section: 1, Version: version,
		Command: manual.Command{Usage: "COMMAND [flags]", Short: root.Short, Long: root.Long, Flags: flagsOf(root.PersistentFlags()), Commands: commandsOf(root)},
		Notes: [][2]string{
			{"EXIT STATUS", "0: yes. 2: no. 1: failure."},
			{"SEE ALSO", "berth-server(8), kubectl(1). Named kubectl-berth it is a plugin of kubectl."},
		},
	}
}

func commandsOf(c *cobra.Command) (list []manual.Command) {
	for _, sub := range c.Commands() {
		if !sub.IsAvailableCommand() || sub.Name() == "help" || sub.Name() == "completion" {
			continue
		}
		_, usage, _ := strings.Cut(sub.Use, " ")
		long := sub.Long
		if sub.Example != "" {
			long += "\n\n" + sub.Example
		}
		list = append(list, manual.Command{Name: sub.Name(), Usage: usage, Short: sub.Short, Long: long, Flags: flagsOf(sub.LocalNonPersistentFlags()), Commands: commandsOf(sub)})
	}
	return list
}

func flagsOf(set *pflag.FlagSet) (list []manual.Flag) {
	set.VisitAll(func(f *pflag.Flag) {
		if f.Hidden || f.Name == "help" {
			return
		}
		value, help := pflag.UnquoteUsage(f)
		shown := f.DefValue
		if shown == "false" || shown == "[]" || shown == "0" || shown == "0s" {
			shown = ""
		}
		list = append(list, manual.Flag{Name: f.Name, Short: f.Shorthand, Value: value, Help: help, Default: shown})
	})
	return list
}

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
	var who rest.Whoami
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
