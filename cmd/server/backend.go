package main

import (
	"context"
	"log/slog"
	"time"

	"berth/internal/store"
	"berth/internal/store/postgres"
	"berth/internal/store/sqlite"
)

// backend says where records are kept: in Postgres where a URL is given, else in
// a file under the data directory.
type backend struct {
	dir, url string
	unsafe   bool
}

// name is what metrics call the backend.
func (b backend) name() string {
	if b.url == "" {
		return "sqlite"
	}
	return "postgres"
}

func (b backend) open(ctx context.Context, log *slog.Logger) (store.Store, error) {
	if b.url == "" {
		return sqlite.Open(ctx, b.dir, sqlite.Options{})
	}
	st, err := postgres.Open(ctx, b.url, postgres.Options{Unsafe: b.unsafe})
	if err != nil {
		return nil, err
	}
	for _, w := range st.Warnings() {
		log.LogAttrs(ctx, slog.LevelError, "the database may lose what was answered", slog.Any("error", w))
	}
	return st, nil
}

// schema is where a schema stands, and where it could.
type schema struct{ version, latest int }

func (b backend) schema(ctx context.Context) (schema, error) {
	if b.url == "" {
		s, err := sqlite.MigrateStatus(ctx, b.dir)
		return schema{s.Version, s.Latest}, err
	}
	s, err := postgres.MigrateStatus(ctx, b.url)
	return schema{s.Version, s.Latest}, err
}

func (b backend) migrateUp(ctx context.Context) error {
	if b.url == "" {
		return sqlite.MigrateUp(ctx, b.dir)
	}
	return postgres.MigrateUp(ctx, b.url)
}

func (b backend) migrateTo(ctx context.Context, version int) error {
	if b.url == "" {
		return sqlite.MigrateTo(ctx, b.dir, version)
	}
	return postgres.MigrateTo(ctx, b.url, version)
}

// keepReplays is for how long a batch replay that has ended can be looked at.
const keepReplays = 30 * 24 * time.Hour

// keep looks after what grows with time: the store makes room ahead, and drops
// decisions older than age (0: none). It goes on until ctx ends.
func keep(ctx context.Context, st store.Store, age time.Duration, log *slog.Logger) {
	for {
		var before time.Time
		if age > 0 {
			before = time.Now().Add(-age)
		}
		switch n, err := st.Retain(ctx, before); {
		case ctx.Err() != nil:
			return
		case err != nil:
			log.LogAttrs(ctx, slog.LevelError, "old decisions could not be dropped", slog.String("error", err.Error()))
		case n > 0:
			log.LogAttrs(ctx, slog.LevelInfo, "old decisions were dropped", slog.Int64("decisions", n), slog.Time("before", before))
		}
		if n, err := st.PruneReplays(ctx, time.Now().Add(-keepReplays)); err != nil && ctx.Err() == nil {
			log.LogAttrs(ctx, slog.LevelError, "old batch replays could not be dropped", slog.String("error", err.Error()))
		} else if n > 0 {
			log.LogAttrs(ctx, slog.LevelInfo, "old batch replays were dropped", slog.Int64("replays", n))
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(6 * time.Hour):
		}
	}
}
