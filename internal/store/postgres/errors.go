package postgres

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"

	"berth/internal/store"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// Reasons for which Open refuses.
var (
	// ErrStandby reports that the server takes no writes.
	ErrStandby = errors.New("database is a read-only standby")
	// ErrFsync reports that a power cut would damage the database.
	ErrFsync = errors.New("fsync is off: a power cut would lose records")
	// ErrSynchronousCommit reports that commits are acknowledged before they are on disk.
	ErrSynchronousCommit = errors.New("synchronous_commit is off: a crash would lose acknowledged records")
	// ErrFullPageWrites reports that torn pages could not be repaired.
	ErrFullPageWrites = errors.New("full_page_writes is off: a power cut may tear pages")
	// ErrPooler reports that a session's state does not survive its transactions.
	ErrPooler = errors.New("a pooler in transaction mode is between berth and the database: connect directly, or in session mode")
	// ErrEncoding reports that the database's encoding is not UTF8.
	ErrEncoding = errors.New("database encoding is not UTF8")
	// ErrUnmigrated reports that the schema is missing or older than this program.
	ErrUnmigrated = errors.New("schema is not up to date")
	// ErrSchema reports that the schema is newer than this program.
	ErrSchema = errors.New("schema is newer than this program")
	// ErrChanged reports that the schema was changed beneath a program that serves from it. It
	// comes with store.ErrUnavailable: the same call succeeds once the schema is back.
	ErrChanged = errors.New("the schema is not the one that this program was started with")
)

// SQLSTATEs and classes of them.
const (
	stateUniqueViolation  = "23505"
	stateCheckViolation   = "23514"
	stateSerialization    = "40001"
	stateDeadlock         = "40P01"
	statePrivilege        = "42501"
	stateDuplicateTable   = "42P07"
	stateLockNotAvailable = "55P03"
	stateQueryCanceled    = "57014"
	stateReadOnly         = "25006"
	stateIdleInTx         = "25P03"
	stateDiskFull         = "53100"

	stateUndefinedTable    = "42P01"
	stateUndefinedColumn   = "42703"
	stateUndefinedFunction = "42883"
	stateNoSuchConstraint  = "42P10" // of an ON CONFLICT
	stateDatatypeMismatch  = "42804"
	stateCachedPlan        = "0A000" // the result of a prepared statement has another type now

	classConnection = "08"
	classResources  = "53" // disk full, out of memory, too many connections
	classOperator   = "57P"
)

// sqlState returns an error's SQLSTATE; "" where the server said nothing.
func sqlState(err error) string {
	var pe *pgconn.PgError
	if errors.As(err, &pe) {
		return pe.Code
	}
	return ""
}

// toStoreErr is the one place where the driver's errors become the store's. ctx
// is the caller's: a deadline that we set ourselves means that the database is
// too slow, not that the caller lost patience.
func (s *Store) toStoreErr(ctx context.Context, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, pgx.ErrNoRows):
		return store.ErrNotFound
	case s.closed.Load():
		return store.ErrClosed // the pool has no such sentinel of its own
	case errors.Is(context.Cause(ctx), store.ErrUnavailable):
		return context.Cause(ctx) // the gate was shut
	case ctx.Err() != nil:
		return fmt.Errorf("%w: %w", ctx.Err(), err)
	case errors.Is(err, store.ErrUnavailable):
		return err
	}
	var ce *pgconn.ConnectError
	if errors.As(err, &ce) {
		s.retry.failed()
	}
	if sqlState(err) == stateDiskFull {
		return fmt.Errorf("%w: %w: %w", store.ErrUnavailable, store.ErrFull, err)
	}
	if otherSchema(err) {
		s.forget()
		return fmt.Errorf("%w: %w: %w", store.ErrUnavailable, ErrChanged, err)
	}
	if unavailable(err) || ce != nil {
		return fmt.Errorf("%w: %w", store.ErrUnavailable, err)
	}
	return err
}

// Away reports whether Open failed because the database is not there for now, and not for what it
// is, or for what the URL has.
func Away(err error) bool {
	if !errors.Is(err, store.ErrUnavailable) || errors.Is(err, ErrChanged) {
		return false
	}
	return sqlState(err) == "" || unavailable(err)
}

// unavailable reports whether the same call may succeed later.
func unavailable(err error) bool {
	switch state := sqlState(err); state {
	case "":
		return lost(err)
	case stateSerialization, stateDeadlock, stateLockNotAvailable, stateQueryCanceled, stateReadOnly, stateIdleInTx:
		return true
	default:
		return strings.HasPrefix(state, classConnection) || strings.HasPrefix(state, classResources) ||
			strings.HasPrefix(state, classOperator)
	}
}

// otherSchema reports whether a statement names what its schema does not have. Tests run every
// statement on the schema of this program, so the schema is another one.
func otherSchema(err error) bool {
	switch sqlState(err) {
	case stateUndefinedTable, stateUndefinedColumn, stateUndefinedFunction, stateNoSuchConstraint,
		stateDatatypeMismatch, stateCachedPlan:
		return true
	}
	return false
}

// lost reports whether the connection is gone, or the database did not answer in
// time: what it did of the call is not known.
func lost(err error) bool {
	var ne net.Error
	return errors.As(err, &ne) || pgconn.Timeout(err) || pgconn.SafeToRetry(err) ||
		errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed) ||
		errors.Is(err, pgconn.ErrConnClosed) || errors.Is(err, context.DeadlineExceeded)
}
