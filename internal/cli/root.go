package cli

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"berth/internal/revision"
)

const about = `Why is my pod pending, what would be evicted for it, what comes next: answers
with Kubernetes v1.36 semantics, from a berth server or the output of kubectl.

  %[2]s \
      > cluster.json
  %[1]s explain shop/checkout --snapshot cluster.json
  kubectl get pod checkout -o json | %[1]s lifecycle -`

// usage is cobra's, with flags broken at 80 columns and without what berth does
// not have.
const usage = `Usage:
  {{if .HasAvailableSubCommands}}{{.CommandPath}} COMMAND{{else}}{{.UseLine}}{{end}}
{{if .HasExample}}
Examples:
{{.Example}}
{{end}}{{if .HasAvailableSubCommands}}
Commands:
{{range .Commands}}{{if or .IsAvailableCommand (eq .Name "help")}}  {{rpad .Name .NamePadding}} {{.Short}}
{{end}}{{end}}{{end}}{{if .HasAvailableLocalFlags}}
Flags:
{{.LocalFlags.FlagUsagesWrapped 80 | trimTrailingWhitespaces}}
{{end}}{{if .HasAvailableInheritedFlags}}
Flags of all commands:
{{.InheritedFlags.FlagUsagesWrapped 80 | trimTrailingWhitespaces}}
{{end}}`

const help = `{{with (or .Long .Short)}}{{. | trimTrailingWhitespaces}}

{{end}}{{.UsageString}}
Exit codes: 0 yes, 2 no, 1 failure.
Every command with its output: docs/cli.md
`

// root is the program with all its commands; each has a file of its own.
func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:           "berth",
		Annotations:   map[string]string{cobra.CommandDisplayNameAnnotation: a.name},
		Short:         "Scheduling decisions, explained",
		Long:          fmt.Sprintf(about, a.name, revision.Collect),
		SilenceErrors: true,
		SilenceUsage:  true,
		// What is no command is said to be none, with the ones that are meant.
		SuggestionsMinimumDistance: 2,
		RunE:                       func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		PersistentPreRunE:          func(cmd *cobra.Command, _ []string) error { return a.hasPage(cmd) },
	}
	root.PersistentFlags().SortFlags = false
	a.o.register(root.PersistentFlags(), a.Env)
	root.AddCommand(
		a.pendingCommand(), a.explainCommand(), a.victimsCommand(), a.spreadCommand(),
		a.lifecycleCommand(), a.terminationCommand(),
		a.queueCommand(), a.garbageCommand(), a.classesCommand(), a.evictionsCommand(), a.pressureCommand(), a.admitCommand(), a.diffCommand(),
		a.fitCommand(), a.capacityCommand(), a.poolsCommand(), a.drainCommand(), a.loseCommand(), a.simulateCommand(), a.compareCommand(), a.rolloutCommand(),
		a.doctorCommand(), a.supportCommand(), a.auditCommand(), a.whoamiCommand(), a.versionCommand(), a.manualCommand(),
	)
	fixed := func(flag string, words ...string) {
		_ = root.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp)) // the flags are there
	}
	fixed("output", formTable, formWide, formJSON, formHTML)
	fixed("color", "auto", "always", "never")
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return &problem{what: flagError(err), next: "See " + cmd.CommandPath() + " --help."}
	})
	root.SetUsageTemplate(usage)
	root.SetHelpTemplate(help)
	return root
}

// flagError words an error of pflag, without strconv's words for what is no number.
func flagError(err error) string {
	var invalid *pflag.InvalidValueError
	var number *strconv.NumError
	if !errors.As(err, &invalid) || !errors.As(err, &number) {
		return err.Error()
	}
	want := "a whole number"
	if invalid.GetFlag().Value.Type() == "bool" {
		want = "true or false"
	}
	return fmt.Sprintf("--%s %q: want %s", invalid.GetFlag().Name, invalid.GetValue(), want)
}
