// Package sqlite is the embedded store: one SQLite file in a directory that
// one process owns. It waits for the disk at every commit (WAL with
// synchronous=FULL), writes through one connection and reads through a pool,
// so that readers never wait for the writer.
package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"berth/internal/store"
	"berth/internal/store/lists"
	"berth/internal/store/sqlcommon"
	"berth/migrations"

	"github.com/gofrs/flock"
	"github.com/golang-migrate/migrate/v4/database"
	_ "modernc.org/sqlite" // the driver named "sqlite"
)

// FileName is the database's name inside its directory.
const FileName = "berth.db"

// Options tunes Open; the zero value is right for a server.
type Options struct {
	// BusyTimeout is how long to wait for a lock that another program, say a
	// sqlite3 shell, holds on the file. A call that waited so long in vain fails
	// with store.ErrUnavailable, and so do the next ones at once while the lock
	// is held. 0: 1 s.
	BusyTimeout time.Duration
	// Readers bounds the connections that read. 0: twice the processors, at
	// least 4.
	Readers int
	// CacheBytes bounds the pages that all connections keep together, half of
	// them the one that writes. The memory is SQLite's own: Go's collector does
	// not know it. 0: 64 MiB, 16 MiB for each that reads, and 1 MiB for batch replays.
	CacheBytes int64

	around func(database.Driver) database.Driver // of migrations; nil but in tests
}

func (o Options) withDefaults() Options {
	if o.BusyTimeout <= 0 {
		o.BusyTimeout = time.Second
	}
	if o.Readers <= 0 {
		o.Readers = max(4, 2*runtime.GOMAXPROCS(0))
	}
	return o
}

// Store is the embedded store. It is safe for concurrent use.
type Store struct {
	sqlcommon.Jobs
	sqlcommon.Logs
	sqlcommon.Holds
	sqlcommon.Origins
	sqlcommon.Tables
	sqlcommon.Classes
	sqlcommon.Rollups
	sqlcommon.Backfill
	sqlcommon.Calls

	path  string
	lock  *flock.Flock
	reads *sql.DB
	scans *sql.DB // for what goes through a table from one place to another
	// The statements of a batch replay, which reads page after page.
	decisionsAgain, changesAgain *sql.Stmt
	writes                       *writer
	stamps                       lists.StampIDs
	closed                       atomic.Bool
	full                         atomic.Bool // a write found no room, and room has seen none since
	busy                         busy
	locks                        sync.Map    // names that TryLock has given out
	file                         os.FileInfo // of path, as it was opened
	// fault is the first error after which the file can no longer be trusted.
	fault     atomic.Pointer[error]
	closeOnce sync.Once
	closeErr  error
	warnings  []error
}

var _ store.Store = (*Store)(nil)

// Open opens the store in dir, which it makes where it is missing, and brings
// its schema up to date. It refuses, with a reason that names the file or the
// directory: a directory on a network or user-space file system, one that
// another process (or Store) has open, a file that is no database, and a
// schema that is newer than this program.
func Open(ctx context.Context, dir string, o Options) (*Store, error) {
	o = o.withDefaults()
	path, lock, err := claim(dir)
	if err != nil {
		return nil, err
	}
	s := &Store{path: path, lock: lock, warnings: tighten(filepath.Dir(path)), busy: busy{timeout: o.BusyTimeout}}
	s.Jobs = sqlcommon.New(common{s}, sqlcommon.SQLite)
	s.Logs = sqlcommon.NewLogs(common{s}, sqlcommon.SQLite)
	s.Holds = sqlcommon.NewHolds(common{s}, sqlcommon.SQLite)
	s.Origins = sqlcommon.NewOrigins(common{s}, sqlcommon.SQLite)
	s.Tables = sqlcommon.NewTables(common{s}, sqlcommon.SQLite)
	s.Classes = sqlcommon.NewClasses(common{s}, sqlcommon.SQLite)
	s.Rollups = sqlcommon.NewRollups(common{s}, sqlcommon.SQLite)
	s.Backfill = sqlcommon.NewBackfill(common{s}, sqlcommon.SQLite)
	s.Calls = sqlcommon.NewCalls(common{s}, sqlcommon.SQLite)
	if err := s.toStoreErr(s.open(ctx, o)); err != nil {
		return nil, errors.Join(err, s.closeReads(), lock.Close())
	}
	return s, nil
}

func (s *Store) open(ctx context.Context, o Options) error {
	if err := migrateTo(ctx, s.path, o, migrations.Latest); err != nil {
		return err
	}
	var err error
	if s.file, err = os.Stat(s.path); err != nil {
		return fmt.Errorf("open sqlite: %w", err)
	}
	if s.reads, err = openPool(s.path, o, reading, o.Readers); err != nil {
		return err
	}
	if s.scans, err = openPool(s.path, o, scanning, scanners); err != nil {
		return err
	}
	if s.decisionsAgain, err = s.scans.PrepareContext(ctx, sqlReplayDecisions); err != nil {
		return fmt.Errorf("open sqlite %s: %w", s.path, err)
	}
	if s.changesAgain, err = s.scans.PrepareContext(ctx, sqlReplayChanges); err != nil {
		return fmt.Errorf("open sqlite %s: %w", s.path, err)
	}
	if s.writes, err = openWriter(ctx, s.path, o); err != nil {
		return fmt.Errorf("open sqlite %s: %w", s.path, err)
	}
	// The directory is ours alone: a process that had a part of a replay, or a call, has ended.
	if err := errors.Join(s.ReleaseAll(ctx), s.FreeCalls(ctx)); err != nil {
		return fmt.Errorf("open sqlite %s: %w", s.path, err)
	}
	return nil
}

// openPool opens up to n connections that read.
func openPool(path string, o Options, u use, n int) (*sql.DB, error) {
	db, err := sql.Open("sqlite", dsn(path, o, u))
	if err != nil {
		return nil, fmt.Errorf("open sqlite %s: %w", path, err)
	}
	db.SetMaxOpenConns(n)
	db.SetMaxIdleConns(n)
	return db, nil
}

func (s *Store) closeReads() (err error) {
	for _, statement := range []*sql.Stmt{s.decisionsAgain, s.changesAgain} {
		if statement != nil {
			err = errors.Join(err, statement.Close())
		}
	}
	for _, db := range []*sql.DB{s.reads, s.scans} {
		if db != nil {
			err = errors.Join(err, db.Close())
		}
	}
	return err
}

// claim makes dir fit for a store and locks it.
func claim(dir string) (path string, lock *flock.Flock, err error) {
	dir, err = filepath.Abs(dir)
	if err != nil {
		return "", nil, fmt.Errorf("open sqlite: %w", err)
	}
	// The log tells who runs what where: it is for its owner only.
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", nil, fmt.Errorf("make data directory: %w", err)
	}
	if err := refuseRemote(dir, fileSystem); err != nil {
		return "", nil, err
	}
	path = filepath.Join(dir, FileName)
	lock, err = lockFile(path + ".lock")
	if err != nil {
		return "", nil, fmt.Errorf("open sqlite %s: %w", path, err)
	}
	// SQLite would make the file readable to all, and its WAL likewise.
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err == nil {
		err = f.Close()
	}
	if err != nil {
		return "", nil, errors.Join(fmt.Errorf("open sqlite: %w", err), lock.Close())
	}
	return path, lock, nil
}

// Path is the database's file.
func (s *Store) Path() string { return s.path }

// Ping implements store.Store.
func (s *Store) Ping(ctx context.Context) error {
	if err := s.usable(); err != nil {
		return err
	}
	if err := s.faulted(); err != nil {
		return err
	}
	if err := s.room(); err != nil {
		return err
	}
	if err := s.free(); err != nil {
		return err
	}
	var one int
	return s.toStoreErr(s.reads.QueryRowContext(ctx, "SELECT 1 FROM schema_migrations").Scan(&one))
}

// Room on the disk, in bytes.
const (
	enough = 1 << 20  // that there has to be again before the store calls itself ready
	little = 64 << 10 // without which a disk is full: SQLite's shared memory grows by half of it
)

// room reports whether a disk that was full has room again. A server that is not ready gets no
// calls whose writes could find out, and a small write that still fits proves nothing: so a file
// is written.
func (s *Store) room() error {
	if !s.full.Load() {
		return nil
	}
	if err := tryDisk(filepath.Dir(s.path), enough); err != nil {
		return fmt.Errorf("%w: %w", store.ErrFull, err)
	}
	s.full.Store(false)
	return nil
}

// tryDisk writes a file of n bytes and removes it.
func tryDisk(dir string, n int) error {
	f, err := os.CreateTemp(dir, ".room-*")
	if err != nil {
		return err
	}
	_, err = f.Write(make([]byte, n))
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close(), os.Remove(f.Name()))
}

// Close implements store.Store.
func (s *Store) Close() error {
	s.closeOnce.Do(func() {
		s.closed.Store(true)
		// The writer goes last: SQLite folds the WAL into the file when its last
		// connection goes, which a read-only one cannot do.
		s.closeErr = errors.Join(s.closeReads(), s.writes.close(), s.lock.Close())
	})
	return s.closeErr
}

func (s *Store) usable() error {
	if s.closed.Load() {
		return store.ErrClosed
	}
	return nil
}

func (s *Store) faulted() error {
	if p := s.fault.Load(); p != nil {
		return fmt.Errorf("store %s needs a restart after: %w", s.path, *p)
	}
	// What is written to a file without its name is gone with the process.
	switch now, err := os.Stat(s.path); {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%w: %s was removed or renamed while it is in use: put it back, or start the server again", store.ErrUnavailable, s.path)
	case err == nil && !os.SameFile(now, s.file):
		return fmt.Errorf("%w: %s was replaced while it is in use: put the file back, or start the server again", store.ErrUnavailable, s.path)
	}
	return nil
}
