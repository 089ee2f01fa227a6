package main

import (
	"context"
	"log/slog"

	"berth/internal/memory"
	"berth/internal/store"
	"berth/internal/store/postgres"
	"berth/internal/store/sqlite"
	"berth/migrations"
)

// backend is where records are kept: in Postgres if a URL is given, else in a file under the data
// directory.
type backend struct {
	dir, url string
	unsafe   bool
	// serves is set where a server opens it, whose row says so.
	serves bool
	epochs *postgres.EpochOptions // nil: a command that answers nothing
}

// name returns the backend's name in metrics.
func (b backend) name() string {
	if b.url == "" {
		return "sqlite"
	}
	return "postgres"
}

func (b backend) open(ctx context.Context, log *slog.Logger) (store.Store, error) {
	if b.url == "" {
		o := sqlite.Options{}
		if total, ok := memory.Total(); ok {
			o.CacheBytes = total / 32 // the collector's limit leaves 15 percent to all that it does not know
		}
		st, err := sqlite.Open(ctx, b.dir, o)
		if err != nil {
			return nil, err
		}
		for _, w := range st.Warnings() {
			log.LogAttrs(ctx, slog.LevelWarn, "permissions of the data directory", slog.Any("error", w))
		}
		return st, nil
	}
	o := postgres.Options{Unsafe: b.unsafe, Epochs: b.epochs}
	if b.serves {
		o.Program = buildVersion().Version
	}
	st, err := postgres.Open(ctx, b.url, o)
	if err != nil {
		return nil, err
	}
	for _, w := range st.Warnings() {
		log.LogAttrs(ctx, slog.LevelError, "the database may lose what was answered", slog.Any("error", w))
	}
	return st, nil
}

// evidence opens the store to be checked.
func (b backend) evidence(ctx context.Context) (evidence, error) {
	if b.url == "" {
		return sqlite.OpenEvidence(ctx, b.dir)
	}
	return postgres.OpenEvidence(ctx, b.url)
}

func (b backend) schema(ctx context.Context) (migrations.Status, error) {
	if b.url == "" {
		return sqlite.MigrateStatus(ctx, b.dir)
	}
	return postgres.MigrateStatus(ctx, b.url)
}

// migrate brings the schema to a version, migrations.Latest for the newest.
func (b backend) migrate(ctx context.Context, version int, o postgres.MigrateOptions) error {
	switch {
	case b.url != "" && version == migrations.Latest:
		return postgres.MigrateUp(ctx, b.url, o)
	case b.url != "":
		return postgres.MigrateTo(ctx, b.url, version, o)
	case version == migrations.Latest:
		return sqlite.MigrateUp(ctx, b.dir)
	default:
		return sqlite.MigrateTo(ctx, b.dir, version)
	}
}
