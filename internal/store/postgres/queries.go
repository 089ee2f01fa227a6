package postgres

import (
	"context"
	"strconv"
	"time"

	"berth/internal/store"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
)

// Query implements store.Queries, in a transaction that the database ends with ctx and that may not
// write.
func (s *Store) Query(ctx context.Context, q *store.Query) (*store.Table, error) {
	ctx, done, err := s.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	t := &store.Table{}
	err = pgx.BeginTxFunc(ctx, s.pool, pgx.TxOptions{AccessMode: pgx.ReadOnly}, func(tx pgx.Tx) error {
		if until, ok := ctx.Deadline(); ok {
			left := time.Until(until).Milliseconds() + 500 // so that ctx, whose error is plainer, ends first
			if _, err := tx.Exec(ctx, "SELECT set_config('statement_timeout', $1, true)", strconv.FormatInt(max(left, 1), 10)); err != nil {
				return err
			}
		}
		rows, err := tx.Query(ctx, q.SQL, pgx.NamedArgs(q.Args))
		if err != nil {
			return err
		}
		for _, f := range rows.FieldDescriptions() {
			t.Columns, t.Types = append(t.Columns, f.Name), append(t.Types, typeOf(f.DataTypeOID))
		}
		left := q.MaxBytes
		return each(rows, func() error {
			row, err := rows.Values()
			if err != nil {
				return err
			}
			for i, v := range row {
				if n, ok := v.(pgtype.Numeric); ok {
					row[i] = number(n)
				}
			}
			if !t.Cut {
				t.Add(row, &left)
			}
			return nil
		})
	})
	if err != nil {
		return nil, s.toStoreErr(ctx, err)
	}
	return t, nil
}

// typeOf returns the type of a column, in the words of store.Table.
func typeOf(oid uint32) string {
	switch oid {
	case pgtype.Int2OID, pgtype.Int4OID, pgtype.Int8OID:
		return "integer"
	case pgtype.Float4OID, pgtype.Float8OID, pgtype.NumericOID:
		return "number"
	case pgtype.BoolOID:
		return "boolean"
	case pgtype.TimestamptzOID:
		return "time"
	}
	return "text"
}

// number is a numeric value, as sums of counts are: an int64 where it is a whole number.
func number(n pgtype.Numeric) any {
	if whole, err := n.Int64Value(); err == nil && whole.Valid {
		return whole.Int64
	}
	if f, err := n.Float64Value(); err == nil && f.Valid {
		return f.Float64
	}
	return nil
}
