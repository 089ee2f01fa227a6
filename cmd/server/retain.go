package main

import (
	"context"
	"errors"
	"time"

	"go.opentelemetry.io/otel/metric/noop"
)

// retainCmd deletes old records once. On Postgres it is for a role that may, beside servers whose
// role may not.
type retainCmd struct {
	DataDir       string `default:"./data" placeholder:"DIR" help:"Directory of the embedded store, while no server has it open."`
	DatabaseURL   string `env:"BERTH_DATABASE_URL,DATABASE_URL" placeholder:"URL" help:"Postgres instead of the embedded store."`
	KeepDecisions age    `placeholder:"AGE" help:"Delete decisions older than this, such as 90d or 2160h; without it all are kept."`
	KeepRevisions age    `placeholder:"AGE" help:"Delete superseded revisions older than this that no decision references; at least 1h; without it all are kept."`
}

// Run deletes what is too old.
func (r *retainCmd) Run(ctx context.Context, s streams) (err error) {
	if err := checkKeepRevisions(r.KeepRevisions); err != nil {
		return err
	}
	log := newLogger(s.err, "auto", "info")
	st, err := (backend{dir: r.DataDir, url: r.DatabaseURL}).open(ctx, log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	keep := &settings{DatabaseURL: r.DatabaseURL, KeepDecisions: r.KeepDecisions, KeepRevisions: r.KeepRevisions}
	keeper, err := newKeeper(st, keep, noop.NewMeterProvider().Meter("berth"), log)
	if err != nil {
		return err
	}
	if !keeper.drop(ctx) {
		return errors.New("some records could not be deleted: see the lines above")
	}
	return nil
}

// checkKeepRevisions returns why revisions cannot be deleted at that age; 0 keeps all.
func checkKeepRevisions(a age) error {
	if a != 0 && time.Duration(a) < time.Hour {
		return errors.New("--keep-revisions must be at least 1h: decisions on their way to the store refer to revisions")
	}
	return nil
}
