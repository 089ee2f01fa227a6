package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"berth/internal/audit"
	"berth/internal/store"
	"berth/internal/store/postgres"
	"berth/internal/store/sqlite"
)

type auditCmd struct {
	Cluster     string `placeholder:"NAME" help:"Of this cluster alone."`
	DataDir     string `default:"./data" placeholder:"DIR" help:"Directory of the embedded store, while no server has it open, or a read-only copy of it."`
	DatabaseURL string `env:"BERTH_DATABASE_URL,DATABASE_URL" placeholder:"URL" help:"Postgres instead of the embedded store."`

	Verify auditVerifyCmd `cmd:"" help:"Check the hash chains of the log. Exit 0: nothing is found, 2: something is, 1: failed."`
	Begin  auditBeginCmd  `cmd:"" help:"Write the seal of beginning of a chain that has lost its own (--cluster): what is stored is taken as it is."`
	Head   auditHeadCmd   `cmd:"" help:"Print the ends of the hash chains, to be kept elsewhere as an anchor."`
}

type (
	auditVerifyCmd struct {
		Anchor          string `placeholder:"FILE" help:"What audit head printed before: the chains have to hold it."`
		After           int64  `placeholder:"SEAL" help:"With --cluster: continue behind this seal, which is taken as it is."`
		AcceptUnchecked bool   `help:"End with 0 also where something could not be checked, such as what is older than a chain without a seal of its beginning; the report names it."`
		Output          string `short:"o" default:"text" enum:"text,json" help:"Format of the report: text or json."`
	}
	auditBeginCmd struct{}
	auditHeadCmd  struct {
		Into string `placeholder:"DIR" help:"Compare the chains with the last anchor in this directory, and write one into it. Exit 2: a chain no longer holds the last one."`
	}
)

// evidence is a store that is read to check it, and changed in nothing.
type evidence interface {
	store.Seals
	io.Closer
}

// open opens the store, and lists the heads that the command is about.
func (c *auditCmd) open(ctx context.Context) (st evidence, heads []store.SealHead, err error) {
	if st, err = (backend{dir: c.DataDir, url: c.DatabaseURL}).evidence(ctx); err != nil {
		return nil, nil, err
	}
	if heads, err = st.SealHeads(ctx, c.Cluster); err == nil && c.Cluster != "" && len(heads) == 0 {
		err = fmt.Errorf("--cluster %s: nothing is stored of it", c.Cluster)
	}
	if err != nil {
		return nil, nil, errors.Join(err, st.Close())
	}
	return st, heads, nil
}

// Run prints the heads as JSON, and keeps them where --into is.
func (h *auditHeadCmd) Run(ctx context.Context, c *cli, s streams) (err error) {
	st, heads, err := c.Audit.open(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	anchor := audit.AnchorOf(heads)
	if err := writeIndented(s, anchor); err != nil || h.Into == "" {
		return err
	}
	last, err := audit.LastAnchor(h.Into)
	if err != nil {
		return fmt.Errorf("--into: %w", err)
	}
	broken, err := last.Broken(ctx, st)
	if err != nil {
		return err
	}
	for _, f := range broken {
		if c.Audit.Cluster == "" || c.Audit.Cluster == f.Cluster {
			fmt.Fprintf(s.err, "%s: %s: %s\n", f.Cluster, f.What, f.Detail)
			err = exitError(2)
		}
	}
	// It is written all the same: a deletion is told once, and the files of before stay.
	if kept := anchor.Keep(h.Into, time.Now()); kept != nil {
		return fmt.Errorf("--into: %w", kept)
	}
	return err
}

// Run writes a seal of beginning.
func (*auditBeginCmd) Run(ctx context.Context, c *cli, s streams) error {
	if c.Audit.Cluster == "" {
		return errors.New("--cluster: name the chain that is to begin anew")
	}
	st, heads, err := c.Audit.open(ctx)
	if err != nil {
		return err
	}
	if err := st.Close(); err != nil {
		return err
	}
	if heads[0].Beginning > 0 {
		_, err := fmt.Fprintf(s.out, "%s: the chain has its beginning, seal %d\n", c.Audit.Cluster, heads[0].Beginning)
		return err
	}
	if c.Audit.DatabaseURL == "" {
		err = sqlite.WriteBeginning(ctx, c.Audit.DataDir, c.Audit.Cluster)
	} else {
		err = postgres.WriteBeginning(ctx, c.Audit.DatabaseURL, c.Audit.Cluster)
	}
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(s.out, "%s: the chain begins behind seal %d with what is stored\n", c.Audit.Cluster, heads[0].Number)
	return err
}

// Run checks the chains.
func (v *auditVerifyCmd) Run(ctx context.Context, c *cli, s streams) (err error) {
	if v.After > 0 && c.Audit.Cluster == "" {
		return errors.New("--after is a seal of one chain: name it by --cluster")
	}
	var anchor audit.Anchor
	if v.Anchor != "" {
		if anchor, err = audit.ReadAnchor(v.Anchor); err != nil {
			return fmt.Errorf("--anchor: %w", err)
		}
	}
	st, heads, err := c.Audit.open(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	good := true
	reports := []*audit.Report{}
	done := func(r *audit.Report) {
		if v.AcceptUnchecked {
			r.Accept()
		}
		good = good && r.Good()
		reports = append(reports, r)
		if v.Output == "text" {
			fmt.Fprint(s.out, r.Text())
		}
	}
	schema := &audit.Report{Rows: map[store.SealTable]int64{}, Findings: []audit.Finding{}}
	if err := schema.AddSchema(ctx, st); err != nil {
		return err
	}
	done(schema)
	for _, name := range anchor.Names(heads, c.Audit.Cluster) {
		last := time.Now()
		r, err := audit.Verify(ctx, st, name, audit.Options{After: v.After, Anchor: anchor.Of(name), Progress: func(seal, of int64) {
			if time.Since(last) >= lineEvery {
				last = time.Now()
				fmt.Fprintf(s.err, "cluster %s: seal %d of %d; --cluster %[1]s --after %[2]d continues from here\n", name, seal, of)
			}
		}})
		if err != nil {
			return err
		}
		done(r)
	}
	if v.Output == "json" {
		if err := writeIndented(s, reports); err != nil {
			return err
		}
	}
	if !good {
		return exitError(2)
	}
	return nil
}

func writeIndented(s streams, v any) error {
	enc := json.NewEncoder(s.out)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}
