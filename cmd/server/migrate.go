package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"berth/internal/store/postgres"
	"berth/migrations"
)

type migrateCmd struct {
	DataDir        string        `default:"./data" placeholder:"DIR" help:"Directory of the embedded store."`
	DatabaseURL    string        `env:"BERTH_DATABASE_URL,DATABASE_URL" placeholder:"URL" help:"Postgres instead of the embedded store."`
	DirectURL      string        `name:"direct-database-url" env:"BERTH_DIRECT_DATABASE_URL" placeholder:"URL" help:"The database's own URL, where the other one leads through a pooler in transaction mode."`
	LockTimeout    time.Duration `default:"1m" placeholder:"DURATION" help:"How long a migration waits for other migrations, and for tables that are in use."`
	ServersTimeout time.Duration `default:"1m" placeholder:"DURATION" help:"How long a migration waits for servers that could not go on with the schema: on the way down for all, on the way up for those of releases before the last one. One that was killed counts for 30 s."`

	Up     migrateUpCmd     `cmd:"" help:"Bring the schema to the newest version."`
	Down   migrateDownCmd   `cmd:"" help:"Take the schema back; data of newer versions is lost."`
	Status migrateStatusCmd `cmd:"" help:"Print the version of the schema."`
}

func (m *migrateCmd) backend() backend {
	return backend{dir: m.DataDir, url: cmp.Or(m.DirectURL, m.DatabaseURL)}
}

// options says on standard error for whom a migration waits.
func (m *migrateCmd) options(s streams) postgres.MigrateOptions {
	return postgres.MigrateOptions{LockTimeout: m.LockTimeout, ServersTimeout: m.ServersTimeout, Waiting: func(line string) {
		_, _ = fmt.Fprintln(s.err, line) // a line that cannot be written changes nothing
	}}
}

type (
	migrateUpCmd struct {
		WriterRole string `placeholder:"ROLE" help:"On Postgres: give this role the rights that a server needs, which are none to change a record."`
	}
	migrateDownCmd struct {
		To int `required:"" placeholder:"VERSION" help:"Version to go back to; 0 removes everything."`
	}
	migrateStatusCmd struct{}
)

// Run migrates up.
func (u *migrateUpCmd) Run(ctx context.Context, c *cli, s streams) error {
	o := c.Migrate.options(s)
	if o.WriterRole = u.WriterRole; o.WriterRole != "" && c.Migrate.backend().url == "" {
		return errors.New("--writer-role is a role of Postgres: name the database by DATABASE_URL")
	}
	if err := c.Migrate.backend().migrate(ctx, migrations.Latest, o); err != nil {
		return err
	}
	return printStatus(ctx, c, s)
}

// Run migrates down.
func (d *migrateDownCmd) Run(ctx context.Context, c *cli, s streams) error {
	now, err := c.Migrate.backend().schema(ctx)
	if err != nil {
		return err
	}
	if d.To < 0 || d.To > now.Version {
		return fmt.Errorf("--to %d is not between 0 and the version it is at, %d", d.To, now.Version)
	}
	if err := c.Migrate.backend().migrate(ctx, d.To, c.Migrate.options(s)); err != nil {
		return err
	}
	return printStatus(ctx, c, s)
}

// Run prints the version of the schema.
func (*migrateStatusCmd) Run(ctx context.Context, c *cli, s streams) error {
	return printStatus(ctx, c, s)
}

func printStatus(ctx context.Context, c *cli, s streams) error {
	st, err := c.Migrate.backend().schema(ctx)
	if err != nil {
		return err
	}
	note := ""
	if st.Version > st.Latest && st.Works(st.Latest) {
		note = ", which serves this program"
	}
	_, err = fmt.Fprintf(s.out, "schema %d of %d%s\n", st.Version, st.Latest, note)
	return err
}
