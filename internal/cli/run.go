package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
)

// Version is what a build knows of itself.
type Version struct {
	Version string `json:"version"`
	Commit  string `json:"commit"`
	Go      string `json:"go"`
	// Platform is such as linux/amd64.
	Platform string `json:"platform"`
}

// pluginName is the program's file name as a plugin of kubectl.
const pluginName = "kubectl-berth"

// app is one run of the program.
type app struct {
	Streams
	name    string // as the user calls it: berth, or kubectl berth
	version Version
	o       common
	read    bool // stdin was read
}

// Run runs the command line and gives the exit code. program is the path that
// the process was started by: as kubectl-berth it speaks of itself as kubectl
// berth.
func Run(ctx context.Context, program string, args []string, s Streams, v Version) int {
	a := &app{Streams: s, name: "berth", version: v}
	base := strings.TrimSuffix(filepath.Base(program), ".exe")
	if base == pluginName {
		a.name = "kubectl berth"
	}
	root := a.root()
	root.SetArgs(args)
	root.SetIn(s.In)
	root.SetOut(s.Out)
	root.SetErr(s.Err)
	err := root.ExecuteContext(ctx)
	switch {
	case err == nil:
		return exitYes
	case errors.Is(err, answerNo):
		return exitNo
	}
	a.complain(err)
	return exitBroken
}

// complain says what is wrong, why, and what to do next.
func (a *app) complain(err error) {
	fmt.Fprintf(a.Err, "%s: %s\n", a.name, clean(err.Error()))
	var p *problem
	if errors.As(err, &p) && p.next != "" {
		fmt.Fprintf(a.Err, "%s\n", p.next)
	}
}

const about = `Why is my pod pending, who would have to go, what comes next: answers with
Kubernetes v1.36 semantics, from a berth server or from what kubectl prints.

  kubectl get nodes,pods,ns,svc,rs,sts,pdb,pc -A -o json > cluster.json
  %[1]s explain shop/checkout --snapshot cluster.json
  kubectl get pod checkout -o json | %[1]s lifecycle -`

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:           "berth",
		Annotations:   map[string]string{cobra.CommandDisplayNameAnnotation: a.name},
		Short:         "Scheduling decisions, explained",
		Long:          fmt.Sprintf(about, a.name),
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.NoArgs,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.PersistentFlags().SortFlags = false
	a.o.register(root.PersistentFlags(), a.Env)
	root.AddCommand(a.explainCommand(), a.victimsCommand(), a.spreadCommand(), a.lifecycleCommand(), a.terminationCommand(), a.versionCommand())
	root.InitDefaultCompletionCmd()
	root.SetHelpTemplate(`{{with (or .Long .Short)}}{{. | trimTrailingWhitespaces}}

{{end}}{{if or .Runnable .HasSubCommands}}{{.UsageString}}{{end}}
Exit codes: 0 yes, 2 the answer is no, 1 something is broken.
Every command with its output: docs/cli.md
`)
	return root
}
