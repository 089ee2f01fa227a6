package postgres

import (
	"context"
	"errors"
	"fmt"

	"berth/migrations"

	dialect "github.com/golang-migrate/migrate/v4/database/pgx/v5"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
)

// MigrateUp brings the schema at url to the newest version. It refuses a standby (ErrStandby), an
// encoding other than UTF-8 (ErrEncoding) and a pooler in transaction mode (ErrPooler), through
// which neither locks nor settings hold.
func MigrateUp(ctx context.Context, url string, o MigrateOptions) error {
	return migrateTo(ctx, url, migrations.Latest, o)
}

// MigrateTo is MigrateUp to a version, up or down; version 0 takes everything away. It waits for
// servers that could not go on with that schema (ErrServing).
func MigrateTo(ctx context.Context, url string, version int, o MigrateOptions) error {
	if version < 0 {
		return fmt.Errorf("migrate: no version %d", version)
	}
	return migrateTo(ctx, url, version, o)
}

// MigrateStatus reads where the schema at url stands.
func MigrateStatus(ctx context.Context, url string) (st migrations.Status, err error) {
	cfg, err := parse(url)
	if err != nil {
		return migrations.Status{}, fmt.Errorf("migrate: %w", err)
	}
	cfg.DefaultQueryExecMode = pgx.QueryExecModeExec // no named statement, which a pooler may lose
	conn, err := pgx.ConnectConfig(ctx, cfg)
	if err != nil {
		return migrations.Status{}, fmt.Errorf("migrate: %w", err)
	}
	defer hangUp(conn)
	if st.Latest, err = migrations.Postgres.Newest(); err != nil {
		return migrations.Status{}, err
	}
	st.Schema, err = schemaOf(ctx, conn)
	return st, err
}

// notes is the table in which golang-migrate notes a version. It is ours alone: other programs of
// one schema have theirs in the library's schema_migrations, which berth neither reads nor writes.
// (Releases up to v0.3.0 used that one, too; the version that counts is schema_version's.)
const notes = "berth_migrations"

func migrateTo(ctx context.Context, url string, want int, o MigrateOptions) error {
	o = o.withDefaults()
	cfg, err := parse(url)
	if err != nil {
		return fmt.Errorf("migrate: %w", err)
	}
	cfg.ConnectTimeout = Options{}.withDefaults().ConnectTimeout
	known, err := migrations.Postgres.Newest()
	if err != nil {
		return err
	}
	if err := migratable(ctx, cfg); err != nil {
		return fmt.Errorf("migrate %s: %w", place(cfg), err)
	}
	conn, err := pgx.ConnectConfig(ctx, cfg)
	if err != nil {
		return fmt.Errorf("migrate: %w", err)
	}
	defer hangUp(conn) // and with it goes the lock
	// Programs that migrate at once take turns: what is read below must hold.
	if err := o.lock(ctx, conn); err != nil {
		return fmt.Errorf("migrate %s: %w", place(cfg), err)
	}
	stands, err := schemaOf(ctx, conn)
	if err != nil {
		return err
	}
	have := stands.Version
	if want == migrations.Latest {
		if have > known && stands.Works(known) {
			return nil // a newer program made it, and it serves this one
		}
		want = known
	}
	switch {
	case have > known:
		return fmt.Errorf("%w: %s has version %d, this program knows %d", ErrSchema, place(cfg), have, known)
	case want > known:
		return fmt.Errorf("migrate %s: no version %d, the newest is %d", place(cfg), want, known)
	}
	if err := migrations.Reachable(have, want); err != nil {
		return fmt.Errorf("migrate %s: %w", place(cfg), err)
	}
	if err := o.unused(ctx, conn, have, want); err != nil {
		return fmt.Errorf("migrate %s from version %d to %d: %w", place(cfg), have, want, err)
	}
	err = wait(ctx, o.LockTimeout, o.Waiting, ErrLocked, func() (bool, string, error) {
		err := o.change(ctx, cfg, conn, want)
		if s := sqlState(err); s == stateLockNotAvailable || s == stateDeadlock {
			return false, fmt.Sprintf("a table that another session uses: end its transaction, then migrate again: %v", err), nil
		}
		return true, "", err
	})
	if err != nil {
		return fmt.Errorf("migrate %s from version %d to %d: %w", place(cfg), have, want, explain(cfg.User, err))
	}
	if o.WriterRole != "" && want == known {
		if err := grant(ctx, conn, o.WriterRole); err != nil {
			return fmt.Errorf("migrate %s: give role %s its rights: %w", place(cfg), o.WriterRole, err)
		}
	}
	if want == 0 {
		if _, err := conn.Exec(ctx, `DROP TABLE IF EXISTS `+notes); err != nil {
			return fmt.Errorf("migrate %s to version 0: %w", place(cfg), err)
		}
	}
	return nil
}

// change brings the schema from where it stands to a version. It may be tried again after any
// error: each migration takes effect whole or not at all.
func (o MigrateOptions) change(ctx context.Context, cfg *pgx.ConnConfig, conn *pgx.Conn, want int) error {
	have, err := schemaOf(ctx, conn)
	if err != nil {
		return err
	}
	db := stdlib.OpenDB(*cfg, stdlib.OptionAfterConnect(o.boundLocks))
	target, err := dialect.WithInstance(db, &dialect.Config{MigrationsTable: notes})
	if err != nil {
		return errors.Join(migrations.Brief(err), db.Close())
	}
	if o.around != nil {
		target = o.around(target)
	}
	steps := migrations.Steps{
		migrations.Beginnings: func() error { return o.writeBeginnings(ctx, conn, migrations.Beginnings-1, "") },
		migrations.Requests:   func() error { return indexRequests(ctx, conn) },
	}
	return migrations.Postgres.Run(target, have.Version, want, steps, nil)
}

// schemaOf reads the version that the last migration left.
func schemaOf(ctx context.Context, conn *pgx.Conn) (have migrations.Schema, err error) {
	var there bool
	const exists = `SELECT to_regclass(quote_ident(current_schema()) || '.schema_version') IS NOT NULL`
	if err := conn.QueryRow(ctx, exists).Scan(&there); err != nil {
		return have, fmt.Errorf("read schema version: %w", err)
	}
	if !there {
		return have, nil
	}
	if err := conn.QueryRow(ctx, sqlSchema).Scan(&have.Version, &have.Serves); err != nil {
		return have, fmt.Errorf("read schema version: %w", err)
	}
	return have, nil
}

// sqlSchema reads the schema's version, and the oldest one whose programs it serves, a column that
// earlier schemas lack.
const sqlSchema = `SELECT max(version), coalesce(max((to_jsonb(v)->>'serves')::bigint), 0) FROM schema_version v HAVING count(*) = 1`
