package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"berth/internal/store/sqlcommon"
)

// common is the store as package sqlcommon uses it.
type common struct{ *Store }

// Write implements sqlcommon.DB.
func (c common) Write(ctx context.Context, fn func(sqlcommon.Tx) error) error {
	return c.write(ctx, func(w *writer) error { return fn(commonTx{w}) })
}

// Read implements sqlcommon.DB.
func (c common) Read(ctx context.Context, query string, args []any, row func(scan func(into ...any) error) error) error {
	if err := c.usable(); err != nil {
		return err
	}
	rows, err := c.reads.QueryContext(ctx, query, inMicros(args)...)
	if err != nil {
		return c.toStoreErr(err)
	}
	defer func() { _ = rows.Close() }() // its errors come through rows.Err
	for rows.Next() {
		if err := row(rows.Scan); errors.Is(err, sqlcommon.ErrEnough) {
			return nil
		} else if err != nil {
			return c.toStoreErr(err)
		}
	}
	return c.toStoreErr(rows.Err())
}

type commonTx struct{ w *writer }

func (t commonTx) Exec(query string, args ...any) (int64, error) {
	return t.w.exec(query, inMicros(args)...)
}

func (t commonTx) Many(query string, args [][]any) error {
	for _, row := range args {
		n, err := t.Exec(query, row...)
		if err == nil {
			err = sqlcommon.ExpectOne("write a row", n)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (t commonTx) Some(query string, args [][]any) (changed int64, err error) {
	for _, row := range args {
		n, err := t.Exec(query, row...)
		if err != nil {
			return 0, err
		}
		changed += n
	}
	return changed, nil
}

func (t commonTx) Rows(query string, args []any, row func(scan func(into ...any) error) error) error {
	return t.w.each(query, inMicros(args), func(rows *sql.Rows) error { return row(rows.Scan) })
}

func (t commonTx) Row(query string, args []any, into ...any) error {
	return t.w.row(query, inMicros(args), into...)
}

// inMicros replaces times by what columns hold.
func inMicros(args []any) []any {
	for i, arg := range args {
		if t, ok := arg.(time.Time); ok {
			args[i] = t.UnixMicro()
		}
	}
	return args
}
