package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"

	"berth/internal/store"
	"berth/internal/store/batch"
)

// writer is the one connection that writes, with its prepared statements.
type writer struct {
	db   *sql.DB
	conn *sql.Conn
	// turn holds a token while no call writes; a channel, not a mutex, so that
	// waiting for it obeys the context.
	turn  chan struct{}
	stmts map[string]*sql.Stmt
	// changes are the statements that exec runs, and args what it binds to one.
	changes map[string]change
	args    []driver.NamedValue
	// heads are those of clusters as the appends since the last other write left them.
	heads map[string]batch.Head
}

// change is a prepared statement of the driver itself: database/sql allocates 1.4 kB for the values
// of a row.
type change interface {
	driver.Stmt
	driver.StmtExecContext
}

func openWriter(ctx context.Context, path string, o Options) (_ *writer, err error) {
	db, err := sql.Open("sqlite", dsn(path, o, writing))
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	w := &writer{db: db, turn: make(chan struct{}, 1), stmts: map[string]*sql.Stmt{}, changes: map[string]change{}, heads: map[string]batch.Head{}}
	if w.conn, err = db.Conn(ctx); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	// begin waits itself: SQLite would do so without regard to the caller's context.
	if _, err := w.conn.ExecContext(ctx, fmt.Sprintf("PRAGMA busy_timeout(%d)", busyTry.Milliseconds())); err != nil {
		return nil, errors.Join(err, w.conn.Close(), db.Close())
	}
	w.turn <- struct{}{}
	return w, nil
}

// prepare makes the statement of a text, which is one of the program's own: once, and closed with
// the writer.
func (w *writer) prepare(query string) (err error) {
	if w.stmts[query] != nil {
		return nil
	}
	if w.stmts[query], err = w.conn.PrepareContext(context.Background(), query); err != nil { //nolint:sqlclosecheck // closed with the writer
		delete(w.stmts, query)
		return fmt.Errorf("prepare %q: %w", query, err)
	}
	return nil
}

// exec runs a prepared statement and tells how many rows it changed. It takes
// no context on purpose: the driver starts a goroutine for each statement
// whose context can end, and the caller looks at its context between entries.
func (w *writer) exec(query string, args ...any) (int64, error) {
	st, err := w.change(query)
	if err != nil {
		return 0, err
	}
	defer func() { clear(w.args); w.args = w.args[:0] }() // a payload may be large
	for i, arg := range args {
		v, err := driver.DefaultParameterConverter.ConvertValue(arg)
		if err != nil {
			return 0, err
		}
		w.args = append(w.args, driver.NamedValue{Ordinal: i + 1, Value: v})
	}
	res, err := st.ExecContext(context.Background(), w.args)
	if err != nil {
		return 0, err
	}
	return res.RowsAffected()
}

// change makes the statement of a text, as prepare does.
func (w *writer) change(query string) (change, error) {
	if st := w.changes[query]; st != nil {
		return st, nil
	}
	err := w.conn.Raw(func(conn any) error {
		st, err := conn.(driver.Conn).Prepare(query)
		if err == nil {
			w.changes[query] = st.(change)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("prepare %q: %w", query, err)
	}
	return w.changes[query], nil
}

// row reads one row through a prepared statement.
func (w *writer) row(query string, args []any, into ...any) error {
	if err := w.prepare(query); err != nil {
		return err
	}
	return w.stmts[query].QueryRowContext(context.Background(), args...).Scan(into...)
}

// maybe reads a row that need not be there, and reports whether it is.
func (w *writer) maybe(query string, args []any, into ...any) (bool, error) {
	err := w.row(query, args, into...)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	return err == nil, err
}

// each calls fn for each row of a prepared statement.
func (w *writer) each(query string, args []any, fn func(*sql.Rows) error) error {
	if err := w.prepare(query); err != nil {
		return err
	}
	rows, err := w.stmts[query].QueryContext(context.Background(), args...)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }() // its errors come through rows.Err
	for rows.Next() {
		if err := fn(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// numbers returns the one column of a prepared statement's rows.
func (w *writer) numbers(query string, args ...any) (ns []int64, err error) {
	err = w.each(query, args, func(rows *sql.Rows) error {
		var n int64
		err := rows.Scan(&n)
		ns = append(ns, n)
		return err
	})
	return ns, err
}

func (w *writer) close() error {
	<-w.turn // waits for the write under way
	// Calls that waited too find the store closed.
	defer func() { w.turn <- struct{}{} }()
	var errs []error
	for _, st := range w.changes {
		errs = append(errs, st.Close())
	}
	for _, st := range w.stmts {
		errs = append(errs, st.Close())
	}
	return errors.Join(append(errs, w.conn.Close(), w.db.Close())...)
}

// write runs fn in one immediate transaction, alone. An error or a panic of fn
// undoes everything.
func (s *Store) write(ctx context.Context, fn func(w *writer) error) error {
	return s.transact(ctx, func(w *writer) error {
		clear(w.heads)
		return fn(w)
	})
}

// transact is write of a fn that keeps the writer's heads as they are stored.
func (s *Store) transact(ctx context.Context, fn func(w *writer) error) (err error) {
	if err := s.usable(); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	w := s.writes
	select {
	case <-w.turn:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { w.turn <- struct{}{} }()
	if s.closed.Load() {
		return store.ErrClosed
	}
	if err := s.faulted(); err != nil {
		return err
	}
	if err := s.begin(ctx, w); err != nil {
		return s.toStoreErr(fmt.Errorf("begin: %w", err))
	}
	committed := false
	defer func() {
		if !committed {
			// SQLite may have undone it already and then says so: either way
			// nothing is left of it.
			_, _ = w.exec(sqlRollback)
			clear(w.heads)
		}
	}()
	if err := fn(w); err != nil {
		return s.toStoreErr(err)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if _, err := w.exec(sqlCommit); err != nil {
		return s.toStoreErr(fmt.Errorf("commit: %w", err))
	}
	committed = true
	return nil
}
