package sqlite

import (
	"context"
	"database/sql"
	"time"

	"berth/internal/store"
)

// Query implements store.Queries. The connections that read refuse to write (dsn).
func (s *Store) Query(ctx context.Context, q *store.Query) (*store.Table, error) {
	if err := s.usable(); err != nil {
		return nil, err
	}
	args := make([]any, 0, len(q.Args))
	for name, value := range q.Args {
		if at, ok := value.(time.Time); ok {
			value = at.UnixMicro()
		}
		args = append(args, sql.Named(name, value))
	}
	rows, err := s.reads.QueryContext(ctx, q.SQL, args...)
	if err != nil {
		return nil, s.toStoreErr(err)
	}
	defer func() { _ = rows.Close() }() // its errors come through rows.Err
	t := &store.Table{}
	if t.Columns, err = rows.Columns(); err != nil {
		return nil, s.toStoreErr(err)
	}
	declared, err := rows.ColumnTypes()
	if err != nil {
		return nil, s.toStoreErr(err)
	}
	for _, c := range declared {
		t.Types = append(t.Types, map[string]string{"INTEGER": "integer", "REAL": "number", "TEXT": "text", "BLOB": "text"}[c.DatabaseTypeName()])
	}
	left := q.MaxBytes
	for rows.Next() {
		row, into := make([]any, len(t.Columns)), make([]any, len(t.Columns))
		for i := range row {
			into[i] = &row[i]
		}
		if err := rows.Scan(into...); err != nil {
			return nil, s.toStoreErr(err)
		}
		if !t.Add(row, &left) {
			return t, nil
		}
	}
	return t, s.toStoreErr(rows.Err())
}
