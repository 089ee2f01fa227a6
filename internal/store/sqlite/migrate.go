package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"berth/migrations"

	dialect "github.com/golang-migrate/migrate/v4/database/sqlite"
	driver "modernc.org/sqlite"
	codes "modernc.org/sqlite/lib"
)

// MigrateUp brings the schema in dir to the newest version.
func MigrateUp(ctx context.Context, dir string) error { return migrateDir(ctx, dir, migrations.Latest) }

// MigrateTo brings the schema in dir to a version, up or down; version 0 takes
// everything away. The store must not be open.
func MigrateTo(ctx context.Context, dir string, version int) error {
	if version < 0 {
		return fmt.Errorf("migrate: no version %d", version)
	}
	return migrateDir(ctx, dir, version)
}

// MigrateStatus reads where the schema in dir stands. The store must not be open.
func MigrateStatus(ctx context.Context, dir string) (st migrations.Status, err error) {
	path, lock, err := claim(dir)
	if err != nil {
		return migrations.Status{}, err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	if st.Latest, err = migrations.SQLite.Newest(); err != nil {
		return migrations.Status{}, err
	}
	st.Version, err = schemaVersion(ctx, path, Options{}.withDefaults())
	return st, err
}

func migrateDir(ctx context.Context, dir string, version int) (err error) {
	path, lock, err := claim(dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	return migrateTo(ctx, path, Options{}.withDefaults(), version)
}

// migrateTo changes the schema of a file whose lock the caller holds.
func migrateTo(ctx context.Context, path string, o Options, want int) error {
	known, err := migrations.SQLite.Newest()
	if err != nil {
		return err
	}
	have, err := schemaVersion(ctx, path, o)
	if err != nil {
		return err
	}
	if want == migrations.Latest {
		want = known
	}
	switch {
	case have > known:
		return fmt.Errorf("%w: %s has version %d, this program knows %d", ErrSchema, path, have, known)
	case want > known:
		return fmt.Errorf("migrate %s: no version %d, the newest is %d", path, want, known)
	}
	if err := migrations.Reachable(have, want); err != nil {
		return fmt.Errorf("migrate %s: %w", path, err)
	}
	db, err := sql.Open("sqlite", dsn(path, o, writing))
	if err != nil {
		return fmt.Errorf("open sqlite %s: %w", path, err)
	}
	target, err := dialect.WithInstance(db, &dialect.Config{})
	if err != nil {
		return errors.Join(fmt.Errorf("open sqlite %s: %w", path, err), db.Close())
	}
	if o.around != nil {
		target = o.around(target)
	}
	current := func(views string) (bool, error) {
		is, err := viewsAre(ctx, db, views)
		if is && err == nil {
			is, err = docsAre(ctx, db)
		}
		return is, err
	}
	steps := migrations.Steps{migrations.Beginnings: func() error { return writeBeginnings(ctx, db, migrations.Beginnings-1, "") }}
	if err := migrations.SQLite.Run(target, have, want, steps, current); err != nil {
		return fmt.Errorf("migrate %s from version %d to %d: %w", path, have, want, err)
	}
	return nil
}

// viewsAre reports whether a file's views are the database's, so that opening one
// whose views are in place writes nothing.
func viewsAre(ctx context.Context, db *sql.DB, views string) (bool, error) {
	rows, err := db.QueryContext(ctx, `SELECT sql FROM sqlite_schema WHERE type = 'view'`)
	if err != nil {
		return false, fmt.Errorf("read views: %w", err)
	}
	defer func() { _ = rows.Close() }() // its errors come through rows.Err
	same := 0
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			return false, fmt.Errorf("read views: %w", err)
		}
		if strings.Contains(views, "\n"+text+";") {
			same++
		}
	}
	return same == strings.Count(views, "\nCREATE VIEW "), rows.Err()
}

// docsAre reports whether column_docs has what this program says about the views. The columns of a
// view whose table is damaged cannot be listed: its texts stay as they are, since the server opens
// such a file, and its check of the schema names the table.
func docsAre(ctx context.Context, db *sql.DB) (bool, error) {
	docs, err := migrations.Documented()
	if err != nil {
		return false, err
	}
	const query = `SELECT c.view, c.name, d.text
FROM (SELECT name AS view, '' AS name FROM sqlite_schema WHERE type = 'view'
  UNION ALL SELECT m.name, i.name FROM sqlite_schema m JOIN pragma_table_info(m.name) i WHERE m.type = 'view') c
LEFT JOIN column_docs d ON d.view = c.view AND d."column" = c.name`
	rows, err := db.QueryContext(ctx, query)
	if err != nil {
		return damagedView(err)
	}
	defer func() { _ = rows.Close() }() // its errors come through rows.Err
	for rows.Next() {
		var view, column string
		var text sql.NullString
		if err := rows.Scan(&view, &column, &text); err != nil {
			return false, fmt.Errorf("read the texts of views: %w", err)
		}
		if text.String != docs.Text(view, column) {
			return false, nil
		}
	}
	if err := rows.Err(); err != nil {
		return damagedView(err)
	}
	return true, nil
}

// damagedView is docsAre's answer to an error: SQLite's plain one is of the SQL of a view.
func damagedView(err error) (bool, error) {
	var e *driver.Error
	if errors.As(err, &e) && e.Code() == codes.SQLITE_ERROR {
		return true, nil
	}
	return false, fmt.Errorf("read the texts of views: %w", err)
}

// schemaVersion reads the version that the last migration left.
func schemaVersion(ctx context.Context, path string, o Options) (version int, err error) {
	db, err := sql.Open("sqlite", dsn(path, o, writing))
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
