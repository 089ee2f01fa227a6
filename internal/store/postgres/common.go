package postgres

import (
	"context"
	"errors"

	"berth/internal/store/sqlcommon"

	"github.com/jackc/pgx/v5"
)

// inTx runs fn in a transaction, again where its connection was lost: fn takes
// no harm from having taken effect before.
func (s *Store) inTx(ctx context.Context, fn func(context.Context, *pgx.Conn) error) error {
	ctx, done, err := s.enter(ctx)
	if err != nil {
		return err
	}
	defer done()
	begin := func(ctx context.Context, conn *pgx.Conn) error {
		if _, err := conn.Exec(ctx, "begin"); err != nil {
			return err
		}
		return fn(ctx, conn)
	}
	return s.transact(ctx, begin, commitTx, func() {})
}

// common is the store as package sqlcommon uses it.
type common struct{ *Store }

// Write implements sqlcommon.DB.
func (c common) Write(ctx context.Context, fn func(sqlcommon.Tx) error) error {
	return c.inTx(ctx, func(ctx context.Context, conn *pgx.Conn) error { return fn(commonTx{ctx, conn}) })
}

// Read implements sqlcommon.DB.
func (c common) Read(ctx context.Context, query string, args []any, row func(scan func(into ...any) error) error) error {
	ctx, done, err := c.enter(ctx)
	if err != nil {
		return err
	}
	defer done()
	rows, err := c.pool.Query(ctx, query, args...) //nolint:sqlclosecheck // each closes them
	if err != nil {
		return c.toStoreErr(ctx, err)
	}
	err = each(rows, func() error { return row(rows.Scan) })
	if errors.Is(err, sqlcommon.ErrEnough) {
		return nil
	}
	return c.toStoreErr(ctx, err)
}

type commonTx struct {
	ctx context.Context //nolint:containedctx // a transaction's, which lasts as long as it
	querier
}

func (t commonTx) Exec(query string, args ...any) (int64, error) {
	ct, err := t.querier.Exec(t.ctx, query, args...)
	return ct.RowsAffected(), err
}

func (t commonTx) Many(query string, args [][]any) error {
	return t.each(query, args, func(n int64) error { return sqlcommon.ExpectOne("write a row", n) })
}

func (t commonTx) Some(query string, args [][]any) (changed int64, err error) {
	err = t.each(query, args, func(n int64) error {
		changed += n
		return nil
	})
	return changed, err
}

// each runs a statement for each list of arguments in one round trip, and passes on how many rows
// each changed.
func (t commonTx) each(query string, args [][]any, changed func(int64) error) (err error) {
	if len(args) == 0 {
		return nil
	}
	b := &pgx.Batch{}
	for _, row := range args {
		b.Queue(query, row...)
	}
	results := t.querier.SendBatch(t.ctx, b)
	defer func() { err = errors.Join(err, results.Close()) }()
	for range args {
		ct, err := results.Exec()
		if err == nil {
			err = changed(ct.RowsAffected())
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (t commonTx) Rows(query string, args []any, row func(scan func(into ...any) error) error) error {
	rows, err := t.Query(t.ctx, query, args...) //nolint:sqlclosecheck // each closes them
	if err != nil {
		return err
	}
	return each(rows, func() error { return row(rows.Scan) })
}

func (t commonTx) Row(query string, args []any, into ...any) error {
	return t.querier.QueryRow(t.ctx, query, args...).Scan(into...)
}
