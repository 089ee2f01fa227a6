package main

import (
	"context"
	"fmt"

	"berth/internal/store/sqlite"
)

type migrateCmd struct {
	DataDir string `default:"./data" placeholder:"DIR" help:"Directory of the embedded store."`

	Up     migrateUpCmd     `cmd:"" help:"Bring the schema to the newest version."`
	Down   migrateDownCmd   `cmd:"" help:"Take the schema back; what newer versions stored is lost."`
	Status migrateStatusCmd `cmd:"" help:"Say where the schema stands."`
}

type (
	migrateUpCmd   struct{}
	migrateDownCmd struct {
		To int `required:"" placeholder:"VERSION" help:"Version to go back to; 0 takes everything away."`
	}
	migrateStatusCmd struct{}
)

// Run migrates up.
func (*migrateUpCmd) Run(ctx context.Context, c *cli, s streams) error {
	if err := sqlite.MigrateUp(ctx, c.Migrate.DataDir); err != nil {
		return err
	}
	return printStatus(ctx, c, s)
}

// Run migrates down.
func (d *migrateDownCmd) Run(ctx context.Context, c *cli, s streams) error {
	now, err := sqlite.MigrateStatus(ctx, c.Migrate.DataDir)
	if err != nil {
		return err
	}
	if d.To < 0 || d.To > now.Version {
		return fmt.Errorf("--to %d is not between 0 and the version it is at, %d", d.To, now.Version)
	}
	if err := sqlite.MigrateTo(ctx, c.Migrate.DataDir, d.To); err != nil {
		return err
	}
	return printStatus(ctx, c, s)
}

// Run says where the schema stands.
func (*migrateStatusCmd) Run(ctx context.Context, c *cli, s streams) error {
	return printStatus(ctx, c, s)
}

func printStatus(ctx context.Context, c *cli, s streams) error {
	st, err := sqlite.MigrateStatus(ctx, c.Migrate.DataDir)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(s.out, "schema %d of %d\n", st.Version, st.Latest)
	return err
}
