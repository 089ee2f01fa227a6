package cli

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"berth/internal/cli/ledger"
	"berth/internal/revision"
	"berth/internal/words"
)

const about = `Why is my pod pending, what would be evicted for it, what comes next: answers
as Kubernetes v1.36 or another release gives them (--semantics), from a berth
server or the output of kubectl.

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
		a.queueCommand(), a.garbageCommand(), a.classesCommand(), a.evictionsCommand(), a.pressureCommand(), a.admitCommand(), a.diffCommand(), a.blameCommand(),
		a.fitCommand(), a.capacityCommand(), a.poolsCommand(), a.drainCommand(), a.loseCommand(), a.placeCommand(), a.holdCommand(), a.simulateCommand(), a.compareCommand(), a.rolloutCommand(), a.upgradeCommand(),
		a.exportCommand(), a.doctorCommand(), a.supportCommand(), a.auditCommand(), a.whoamiCommand(), a.versionCommand(), a.manualCommand(),
	)
	root.AddCommand(ledger.Commands(a.name, a.ledger)...)
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

// common are the flags that every question has.
type common struct {
	server, snapshot, cluster, config, profile string
	semantics                                  string
	kubeconfig, context                        string
	namespace, output, color                   string
	tokenFile, ca, key                         string
	all                                        bool // namespaces
	set                                        *pflag.FlagSet
}

// The forms of output.
const (
	formTable = "table"
	formWide  = "wide"
	formJSON  = "json"
	formHTML  = "html"
)

func (o *common) register(f *pflag.FlagSet, env func(string) string) {
	o.set = f
	text := func(v *string, name, fallback, help string) {
		if e := env("BERTH_" + strings.ToUpper(name)); e != "" {
			fallback = e
		}
		f.StringVar(v, name, fallback, help+" [$BERTH_"+strings.ToUpper(name)+"]")
	}
	text(&o.server, "server", "", "berth server to use, such as http://127.0.0.1:8080")
	f.Lookup("server").DefValue = words.Address(o.server) // help shows it
	f.StringVar(&o.tokenFile, "token-file", env("BERTH_TOKEN_FILE"), "file with the API token for the server [$BERTH_TOKEN_FILE]; or the token itself in $BERTH_TOKEN")
	text(&o.ca, "ca", "", "file with the CAs of the server's certificate, in PEM; by default those of the system")
	f.StringVar(&o.key, "idempotency-key", "", "key of a write, which a server does once in 24 hours; by default a new one")
	text(&o.snapshot, "snapshot", "", "no server: output of kubectl get -o json|yaml, - for stdin")
	f.StringVar(&o.kubeconfig, "kubeconfig", "", "read the cluster of this kubeconfig; by default kubectl's own files")
	f.StringVar(&o.context, "context", "", "context of the kubeconfig")
	text(&o.cluster, "cluster", "default", "the server's name of the cluster, or cluster@revision")
	text(&o.config, "config", "", "KubeSchedulerConfiguration to use")
	f.StringVar(&o.semantics, "semantics", "", "release of Kubernetes to decide as, such as v1.37, or \"v1.37 StorageCapacityScoring=false\"; by default the server's, v1.36 without one")
	text(&o.profile, "profile", "", "profile of the configuration, else the pod's scheduler")
	text(&o.color, "color", "auto", "auto, always or never; NO_COLOR counts")
	f.StringVarP(&o.namespace, "namespace", "n", "default", "namespace of a pod named without one; by default the context's for a cluster")
	f.StringVarP(&o.output, "output", "o", formTable, "table, wide (nothing is cut), json, or html: a page in one file")
}

// check refuses what cannot be meant. A source that is named on the command
// line wins over one from the environment.
func (o *common) check() error {
	if !slices.Contains([]string{formTable, formWide, formJSON, formHTML}, o.output) {
		return fmt.Errorf("-o %s: want table, wide, json or html", o.output)
	}
	if !slices.Contains([]string{"auto", "always", "never"}, o.color) {
		return fmt.Errorf("--color %s: want auto, always or never", o.color)
	}
	named := func(flag string) bool { return o.set.Changed(flag) }
	if named("kubeconfig") || named("context") {
		if named("server") || named("snapshot") {
			return errTwoSources
		}
		o.server, o.snapshot = "", ""
	}
	if o.server != "" && o.snapshot != "" {
		switch {
		case named("server") == named("snapshot"):
			return fmt.Errorf("both a server (%s) and a snapshot (%s): give one of --server and --snapshot", words.Address(o.server), o.snapshot)
		case named("server"):
			o.snapshot = ""
		default:
			o.server = ""
		}
	}
	return nil
}

// again returns the flags that make another command ask the same source. What
// comes from the environment is there again by itself.
func (o *common) again() []string {
	var out []string
	for _, f := range []struct{ name, value string }{
		{"server", o.server},
		{"token-file", o.tokenFile},
		{"ca", o.ca},
		{"snapshot", o.snapshot},
		{"kubeconfig", o.kubeconfig},
		{"context", o.context},
		{"cluster", o.cluster},
		{"config", o.config},
		{"semantics", o.semantics},
		{"profile", o.profile},
	} {
		if f.value != "" && o.set.Changed(f.name) {
			out = append(out, "--"+f.name, f.value)
		}
	}
	return out
}
