package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"

	"berth/internal/store"
	"berth/migrations"

	"github.com/gofrs/flock"
)

// ErrOlder reports that the schema is older than this program.
var ErrOlder = errors.New("schema is older than this program")

// Evidence is a store that is read to check its hash chains. Nothing of it is changed, migrated or
// put right.
type Evidence struct {
	sealReader
	db   *sql.DB
	lock *flock.Flock // nil where nothing can be written
}

var _ store.Seals = (*Evidence)(nil)

// OpenEvidence opens the store in dir as evidence. A directory that cannot be written, such as a
// read-only copy, is read without a lock: nothing may write there meanwhile.
func OpenEvidence(ctx context.Context, dir string) (_ *Evidence, err error) {
	dir, err = filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("open sqlite: %w", err)
	}
	path := filepath.Join(dir, FileName)
	if _, err := os.Stat(path); err != nil {
		return nil, fmt.Errorf("open sqlite: %w", err)
	}
	e := &Evidence{}
	address := dsn(path, Options{}.withDefaults(), reading)
	if writable(dir, path) {
		if e.lock, err = lockFile(path + ".lock"); err != nil {
			return nil, fmt.Errorf("open sqlite %s: %w", path, err)
		}
	} else {
		if wal, err := os.Stat(path + "-wal"); err == nil && wal.Size() > 0 {
			return nil, fmt.Errorf("open sqlite %s: its -wal file has commits that are not in it, and to read them takes a directory that can be written: copy both there", path)
		}
		address = "file:" + (&url.URL{Path: path}).EscapedPath() + "?mode=ro&immutable=1&_pragma=query_only(1)"
	}
	if e.db, err = sql.Open("sqlite", address); err != nil {
		return nil, errors.Join(fmt.Errorf("open sqlite %s: %w", path, err), e.Close())
	}
	e.sealReader = sealReader{e.db}
	var have int
	if err := e.db.QueryRowContext(ctx, "PRAGMA user_version").Scan(&have); err != nil {
		return nil, errors.Join(fmt.Errorf("read schema version of %s: %w", path, err), e.Close())
	}
	known, err := migrations.SQLite.Newest()
	switch {
	case err != nil:
		err = errors.Join(err, e.Close())
	case have > known:
		err = errors.Join(fmt.Errorf("%w: %s has version %d, this program knows %d", ErrSchema, path, have, known), e.Close())
	case have < known:
		err = errors.Join(fmt.Errorf("%w: %s has version %d, this program checks %d: use the release that wrote it, or `server migrate up` on a copy", ErrOlder, path, have, known), e.Close())
	}
	if err != nil {
		return nil, err
	}
	return e, nil
}

// writable reports whether a store can be written; root may write files whose modes forbid it.
func writable(dir, path string) bool {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return false
	}
	if f.Close() != nil {
		return false
	}
	f, err = os.CreateTemp(dir, ".audit-*")
	if err != nil {
		return false
	}
	return errors.Join(f.Close(), os.Remove(f.Name())) == nil
}

// Close ends the use of the store.
func (e *Evidence) Close() (err error) {
	if e.db != nil {
		err = e.db.Close()
	}
	if e.lock != nil {
		err = errors.Join(err, e.lock.Close())
	}
	return err
}
