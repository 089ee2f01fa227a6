package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"text/tabwriter"
	"time"

	"berth/internal/store/spool"
)

type quarantineCmd struct {
	DataDir  string `default:"./data" placeholder:"DIR" help:"Directory of the server, with the spool below it."`
	SpoolDir string `placeholder:"DIR" help:"The server's --spool-dir; DIR/spool below --data-dir if not set."`

	Show  quarantineShowCmd  `cmd:"" help:"List the records in quarantine."`
	Retry quarantineRetryCmd `cmd:"" help:"Hand the records in quarantine in to the database again. Exit 0: none is left, 2: some were refused again, 1: failed."`
}

type (
	quarantineShowCmd struct {
		Output string `short:"o" default:"text" enum:"text,json" help:"Format of the list: text or json."`
	}
	quarantineRetryCmd struct {
		DatabaseURL    string `env:"BERTH_DATABASE_URL,DATABASE_URL" required:"" placeholder:"URL" help:"Database that the server has."`
		DatabaseUnsafe bool   `help:"Hand in to a database whose settings may lose what it has acknowledged."`
	}
)

func (c *quarantineCmd) dir() string {
	s := settings{DataDir: c.DataDir, SpoolDir: c.SpoolDir}
	return s.spoolDir()
}

// Run lists what is in quarantine.
func (q *quarantineShowCmd) Run(c *cli, s streams) error {
	list, err := spool.Quarantined(c.Quarantine.dir())
	if err != nil {
		return err
	}
	if q.Output == "json" {
		e := json.NewEncoder(s.out)
		e.SetIndent("", "  ")
		return e.Encode(list)
	}
	if len(list) == 0 {
		_, err := fmt.Fprintln(s.out, "the quarantine is empty")
		return err
	}
	return printRefused(s, list)
}

func printRefused(s streams, list []spool.Refused) error {
	w := tabwriter.NewWriter(s.out, 0, 4, 2, ' ', 0)
	_, err := fmt.Fprintln(w, "KIND\tID\tCLUSTER\tTIME\tREASON")
	for _, r := range list {
		at := "-"
		if !r.At.IsZero() {
			at = r.At.UTC().Format(time.RFC3339)
		}
		_, one := fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", r.Kind, orDash(r.ID), orDash(r.Cluster), at, r.Reason)
		err = errors.Join(err, one)
	}
	return errors.Join(err, w.Flush())
}

func orDash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}

// Run hands in what is in quarantine.
func (q *quarantineRetryCmd) Run(ctx context.Context, c *cli, s streams) (err error) {
	st, err := backend{url: q.DatabaseURL, unsafe: q.DatabaseUnsafe}.open(ctx, slog.New(slog.NewTextHandler(s.err, nil)))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	in, left, err := spool.Retry(ctx, c.Quarantine.dir(), st)
	if _, told := fmt.Fprintf(s.out, "%d records handed in, %d left\n", len(in), len(left)); err == nil {
		err = told
	}
	if err != nil || len(left) == 0 {
		return err
	}
	if err := printRefused(s, left); err != nil {
		return err
	}
	return exitError(2)
}
