package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"berth/internal/audit"
	"berth/internal/store"
)

type auditCmd struct {
	Cluster     string `placeholder:"NAME" help:"Of this cluster alone."`
	DataDir     string `default:"./data" placeholder:"DIR" help:"Directory of the embedded store, while no server has it open, or a read-only copy of it."`
	DatabaseURL string `env:"BERTH_DATABASE_URL,DATABASE_URL" placeholder:"URL" help:"Postgres instead of the embedded store."`

	Verify auditVerifyCmd `cmd:"" help:"Check the hash chains of the log. Exit 0: nothing is found, 2: something is, 1: failed."`
	Head   auditHeadCmd   `cmd:"" help:"Print the ends of the hash chains, to be kept elsewhere as an anchor."`
}

type (
	auditVerifyCmd struct {
		Anchor          string `placeholder:"FILE" help:"What audit head printed before: the chains have to hold it."`
		After           int64  `placeholder:"SEAL" help:"With --cluster: continue behind this seal, which is taken as it is."`
		AcceptUnchecked bool   `help:"End with 0 also where something could not be checked, such as what is older than a chain without a seal of its beginning; the report names it."`
		Output          string `short:"o" default:"text" enum:"text,json" help:"Format of the report: text or json."`
	}
	auditHeadCmd struct{}
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

// Run prints the heads as JSON.
func (*auditHeadCmd) Run(ctx context.Context, c *cli, s streams) error {
	st, heads, err := c.Audit.open(ctx)
	if err != nil {
		return err
	}
	return errors.Join(writeIndented(s, audit.AnchorOf(heads)), st.Close())
}

// Run checks the chains.
func (v *auditVerifyCmd) Run(ctx context.Context, c *cli, s streams) (err error) {
	if v.After > 0 && c.Audit.Cluster == "" {
		return errors.New("--after is a seal of one chain: name it by --cluster")
	}
	var anchor audit.Anchor
	if v.Anchor != "" {
		raw, err := os.ReadFile(v.Anchor)
		if err == nil {
			err = json.Unmarshal(raw, &anchor)
		}
		if err != nil {
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
