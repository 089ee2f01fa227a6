package cli

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"berth/internal/manual"
)

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
