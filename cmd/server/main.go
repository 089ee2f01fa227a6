// Command server runs berth: scheduling decisions as a service. Without a subcommand it serves.
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/url"
	"os"

	"github.com/alecthomas/kong"

	"berth/internal/memory"
)

// cli is the command line. Each flag is also an environment variable: BERTH_ and its name in upper
// case.
type cli struct {
	Serve      serveCmd      `cmd:"" default:"withargs" help:"Serve (the default)."`
	Migrate    migrateCmd    `cmd:"" help:"Migrate the store's schema up or down, or print its version. The server migrates up when it starts."`
	Retain     retainCmd     `cmd:"" help:"Delete old records once, as a server does with --keep-decisions and --keep-revisions, and make the partitions of the months to come."`
	Rollup     rollupCmd     `cmd:"" help:"Make the sums of the log by the hour again."`
	Backfill   backfillCmd   `cmd:"" help:"Fill in what earlier releases did not record and what can be worked out: purposes and attempts of decisions, what revisions changed, facts of pods. Then the roll-ups are made again. It may be cut off, and goes on when it is started again."`
	Replay     replayCmd     `cmd:"" help:"Replay a recorded decision, or all decisions of a cluster. Exit 0: identical, 2: different, 1: failed."`
	Token      tokenCmd      `cmd:"" help:"Make, list, revoke and rotate API tokens."`
	Audit      auditCmd      `cmd:"" help:"Check the hash chains of the log, or print their ends."`
	Quarantine quarantineCmd `cmd:"" help:"Show the records that the database refused for good, and hand them in again."`
	Config     configCmd     `cmd:"" help:"Print the settings in force."`
	Doctor     doctorCmd     `cmd:"" help:"Check settings, store, disk, clocks, certificates, rights and kube-scheduler's configuration. Exit 0: in order, 1: warnings, 2: problems."`
	Version    versionCmd    `cmd:"" help:"Print the version."`

	Manual     manualCmd     `cmd:"" hidden:"" help:"Write the manual page."`
	Completion completionCmd `cmd:"" help:"Write the completion for a shell."`
}

const about = `Scheduling decisions with Kubernetes v1.36 semantics: explained, recorded, replayable.

Examples:
  server                                     serve on 127.0.0.1:8080, records in ./data
  server --listen 127.0.0.1:0 --ready-file r serve on a free port and write it to r
  server token create --name me --role admin print a new API token
  server replay 01938f3e-…                   replay a recorded decision
  server replay --cluster prod --since 7d    replay a week of decisions
  server audit verify --anchor anchor.json   check that the log is as it was written
  server quarantine show                     list what the database refused for good

Flags win over environment variables (BERTH_LISTEN is --listen), those over defaults.`

// exitError is an error that ends the process with this code. Its message, if any, was printed.
type exitError int

func (e exitError) Error() string { return fmt.Sprintf("exit %d", int(e)) }

func main() {
	memory.RaiseGCPercent()
	os.Exit(run(context.Background(), os.Args[1:], os.Stdout, os.Stderr))
}

// run is main without the process. It returns the exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) (code int) {
	var c cli
	defer func() {
		switch p := recover().(type) {
		case nil:
		case exitError: // kong printed help and wants to end
			code = int(p)
		default:
			panic(p)
		}
	}()
	parser, err := kong.New(&c, kong.Name("server"), kong.Description(about), kong.DefaultEnvars("BERTH"), kong.Writers(stdout, stderr),
		kong.Exit(func(code int) { panic(exitError(code)) }), kong.ConfigureHelp(kong.HelpOptions{Compact: true, NoExpandSubcommands: true}),
		kong.ExplicitGroups([]kong.Group{{Key: "limits", Title: "Limits (each refusal names its limit):"}}),
		kong.BindTo(ctx, (*context.Context)(nil)), kong.Bind(streams{stdout, stderr}))
	if err != nil {
		fmt.Fprintln(stderr, "server:", err)
		return 1
	}
	if err := refuseGone(args, os.Getenv); err != nil {
		fmt.Fprintln(stderr, "server:", err)
		return 1
	}
	k, err := parser.Parse(args)
	if err == nil {
		if flag := passwordInArguments(k); flag != "" {
			newLogger(stderr, cmp.Or(c.Serve.LogFormat, "text"), "warn").Warn("an argument holds a password, which every user of this machine can read in the list of processes: set DATABASE_URL (or BERTH_DIRECT_DATABASE_URL) instead, or leave the password out and name a file by PGPASSFILE", slog.String("flag", "--"+flag))
		}
		err = k.Run()
	}
	var ended exitError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &ended):
		return int(ended)
	}
	fmt.Fprintln(stderr, "server:", err)
	return 1
}

// passwordInArguments returns the flag by which a database's URL with a password is on the command
// line itself; empty: none.
func passwordInArguments(k *kong.Context) string {
	for _, p := range k.Path {
		if p.Flag == nil || p.Flag.Name != "database-url" && p.Flag.Name != "direct-database-url" || p.Resolved {
			continue
		}
		u, err := url.Parse(p.Flag.Target.String())
		if err != nil {
			continue // the flag is refused elsewhere
		}
		if _, has := u.User.Password(); has || u.Query().Has("password") {
			return p.Flag.Name
		}
	}
	return ""
}

// streams are where data and everything else go.
type streams struct{ out, err io.Writer }
