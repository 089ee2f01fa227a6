package sqlite

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"berth/internal/store"

	driver "modernc.org/sqlite"
	codes "modernc.org/sqlite/lib"
)

// busyTry is how long SQLite itself waits for the file's lock, and busyPause how long the writer
// waits between two tries.
const busyTry, busyPause = 10 * time.Millisecond, 5 * time.Millisecond

// busy remembers that another program holds the lock of the file.
type busy struct {
	timeout time.Duration
	since   atomic.Pointer[time.Time] // when it was first waited for in vain; nil: the lock is free
}

// begin begins a write. It waits for the lock of another program until the timeout or the end of
// ctx. Once a wait was in vain, calls do not wait until a try succeeds: else each batch that is
// queued would wait for as long, one after the other.
func (s *Store) begin(ctx context.Context, w *writer) error {
	bound := s.busy.timeout
	if s.busy.since.Load() != nil {
		bound = 0
	}
	for start := time.Now(); ; {
		_, err := w.exec(sqlBegin)
		if !isBusy(err) {
			s.busy.since.Store(nil)
			return err
		}
		if time.Since(start) >= bound {
			s.busy.since.CompareAndSwap(nil, &start)
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(busyPause):
		}
	}
}

// free reports whether the lock that writes found taken is free again, by a write of nothing: a
// server that is not ready gets no calls that could find out.
func (s *Store) free() error {
	since := s.busy.since.Load()
	if since == nil {
		return nil
	}
	select {
	case <-s.writes.turn:
	default:
		return nil // a write is under way, and finds out
	}
	defer func() { s.writes.turn <- struct{}{} }()
	if s.closed.Load() {
		return store.ErrClosed
	}
	if err := s.begin(context.Background(), s.writes); err != nil {
		return fmt.Errorf("since %s: %w", since.UTC().Format(time.RFC3339), s.toStoreErr(err))
	}
	_, err := s.writes.exec(sqlRollback)
	return s.toStoreErr(err)
}

// isBusy reports whether SQLite could not have a lock of the file.
func isBusy(err error) bool {
	var de *driver.Error
	return errors.As(err, &de) && de.Code()&0xff == codes.SQLITE_BUSY
}
