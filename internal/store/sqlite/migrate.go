package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"berth/migrations"

	"github.com/golang-migrate/migrate/v4"
	dialect "github.com/golang-migrate/migrate/v4/database/sqlite"
	"github.com/golang-migrate/migrate/v4/source/iofs"
)

// latest asks migrateTo for the newest version that this program knows.
const latest = -1

// Status tells where a store's schema stands.
type Status struct {
	Version int // 0: no schema yet
	Latest  int // the newest that this program knows
}

// MigrateUp brings the schema in dir to the newest version.
func MigrateUp(ctx context.Context, dir string) error { return migrateDir(ctx, dir, latest) }

// MigrateTo brings the schema in dir to a version, up or down; version 0 takes
// everything away. The store must not be open.
func MigrateTo(ctx context.Context, dir string, version int) error {
	if version < 0 {
		return fmt.Errorf("migrate: no version %d", version)
	}
	return migrateDir(ctx, dir, version)
}

// MigrateStatus reads where the schema in dir stands. The store must not be open.
func MigrateStatus(ctx context.Context, dir string) (st Status, err error) {
	path, lock, err := claim(dir)
	if err != nil {
		return Status{}, err
	}
	defer func() { err = errors.Join(err, lock.release()) }()
	if st.Latest, err = migrations.Newest(migrations.SQLite, "sqlite"); err != nil {
		return Status{}, err
	}
	st.Version, err = schemaVersion(ctx, path, Options{}.withDefaults())
	return st, err
}

func migrateDir(ctx context.Context, dir string, version int) (err error) {
	path, lock, err := claim(dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.release()) }()
	return migrateTo(ctx, path, Options{}.withDefaults(), version)
}

// migrateTo changes the schema of a file whose lock the caller holds.
func migrateTo(ctx context.Context, path string, o Options, want int) (err error) {
	known, err := migrations.Newest(migrations.SQLite, "sqlite")
	if err != nil {
		return err
	}
	have, err := schemaVersion(ctx, path, o)
	if err != nil {
		return err
	}
	if want == latest {
		want = known
	}
	switch {
	case have > known:
		return fmt.Errorf("%w: %s has version %d, this program knows %d", ErrSchema, path, have, known)
	case want > known:
		return fmt.Errorf("migrate %s: no version %d, the newest is %d", path, want, known)
	}
	source, err := iofs.New(migrations.SQLite, "sqlite")
	if err != nil {
		return fmt.Errorf("read migrations: %w", err)
	}
	db, err := sql.Open("sqlite", dsn(path, o, false))
	if err != nil {
		return errors.Join(fmt.Errorf("open sqlite %s: %w", path, err), source.Close())
	}
	target, err := dialect.WithInstance(db, &dialect.Config{})
	if err != nil {
		return errors.Join(fmt.Errorf("open sqlite %s: %w", path, err), db.Close(), source.Close())
	}
	m, err := migrate.NewWithInstance("iofs", source, "sqlite", target)
	if err != nil {
		return errors.Join(fmt.Errorf("migrate %s: %w", path, err), target.Close(), source.Close())
	}
	defer func() {
		sourceErr, targetErr := m.Close()
		err = errors.Join(err, sourceErr, targetErr)
	}()
	if err := migrations.Run(m, have, want); err != nil {
		return fmt.Errorf("migrate %s from version %d to %d: %w", path, have, want, err)
	}
	return nil
}

// schemaVersion reads the version that the last migration left.
func schemaVersion(ctx context.Context, path string, o Options) (version int, err error) {
	db, err := sql.Open("sqlite", dsn(path, o, false))
	if err != nil {
		return 0, fmt.Errorf("open sqlite %s: %w", path, err)
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	var mode string
	if err := db.QueryRowContext(ctx, "PRAGMA journal_mode").Scan(&mode); err != nil {
		return 0, fmt.Errorf("open sqlite %s: %w", path, err)
	}
	if mode != "wal" {
		return 0, fmt.Errorf("open sqlite %s: the file system allows no WAL (journal mode is %s)", path, mode)
	}
	if err := db.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil {
		return 0, fmt.Errorf("read schema version of %s: %w", path, err)
	}
	return version, nil
}
