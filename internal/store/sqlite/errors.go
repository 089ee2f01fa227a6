package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"syscall"

	"berth/internal/store"

	driver "modernc.org/sqlite"
	codes "modernc.org/sqlite/lib"
)

// Reasons for which Open refuses.
var (
	// ErrLocked reports that another process, or another Store, has the file open.
	ErrLocked = errors.New("another process uses this store")
	// ErrBusy reports that another program has locked the file. It comes with store.ErrUnavailable.
	ErrBusy = errors.New("another program, such as a shell or a backup, has locked")
	// ErrRemote reports that the directory is on a network or user-space file system.
	ErrRemote = errors.New("file system is not fit for the embedded store")
	// ErrSchema reports that the schema is newer than this program.
	ErrSchema = errors.New("schema is newer than this program")
)

// toStoreErr is the one place where the driver's errors become the store's.
// It also remembers the errors after which nothing written can be trusted.
func (s *Store) toStoreErr(err error) error {
	var de *driver.Error
	switch {
	case err == nil:
		return nil
	case errors.Is(err, sql.ErrNoRows):
		return store.ErrNotFound
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	case s.closed.Load():
		// database/sql has no sentinel for a closed DB.
		return store.ErrClosed
	case isBusy(err):
		return fmt.Errorf("%w: %w %s: %w", store.ErrUnavailable, ErrBusy, s.path, err)
	case errors.As(err, &de) && s.noRoom(de.Code()):
		s.full.Store(true)
		return fmt.Errorf("%w: %w", store.ErrFull, err)
	case errors.As(err, &de) && breaks(de.Code()):
		s.fault.CompareAndSwap(nil, &err)
	}
	return err
}

// noRoom reports whether an SQLite result code means that the disk has no room.
// SQLite has a code for that where a write to a file fails with ENOSPC. Where a
// quota is used up, where its shared memory cannot grow, or where a file cannot
// be made, it returns the code of an I/O error: then the disk is tried. None of
// these errors leaves anything half done: the transaction is undone.
func (s *Store) noRoom(code int) bool {
	switch code {
	case codes.SQLITE_IOERR_WRITE, codes.SQLITE_IOERR_SHMSIZE, codes.SQLITE_IOERR_SHMOPEN, codes.SQLITE_IOERR_SHMMAP:
	default:
		if code&0xff != codes.SQLITE_CANTOPEN {
			return code&0xff == codes.SQLITE_FULL
		}
	}
	err := tryDisk(filepath.Dir(s.path), little)
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}

// taken reports whether a write failed since a key that has to be unique is stored already.
func taken(err error) bool {
	var de *driver.Error
	return errors.As(err, &de) && de.Code() == codes.SQLITE_CONSTRAINT_UNIQUE
}

// breaks reports whether an SQLite result code means that the disk failed or the
// file is damaged. Going on after a failed fsync would acknowledge writes that
// may be gone, so the store writes nothing more until it is opened anew, which
// makes SQLite read back what the disk really has. A full disk is no such
// case: it undoes the transaction and may have room again later.
func breaks(code int) bool {
	switch code & 0xff {
	case codes.SQLITE_IOERR, codes.SQLITE_CORRUPT, codes.SQLITE_NOTADB:
		return true
	default:
		return false
	}
}
