package store

import (
	"context"
	"time"
)

// Query is a SELECT on the views, with @name for each argument.
type Query struct {
	SQL string
	// Args are strings, int64s and times, by name.
	Args map[string]any
	// MaxBytes bounds the texts of the answer: it ends before the row that would exceed it.
	MaxBytes int
}

// Table is the answer to a Query. Its values are nil, int64, float64, bool and string.
type Table struct {
	Columns []string
	// Types are integer, number, boolean, time or text by column; "" where the database has none.
	Types []string
	Rows  [][]any
	// Cut reports that MaxBytes left rows out.
	Cut bool
}

// Queries reads the views that people query, too.
type Queries interface {
	// Query runs a query where it can change nothing, until ctx ends.
	Query(ctx context.Context, q *Query) (*Table, error)
}

// Add appends a row of a driver's values, and reports whether there was room for it.
func (t *Table) Add(row []any, left *int) bool {
	for i, v := range row {
		switch v := v.(type) {
		case []byte:
			row[i] = string(v)
		case int16:
			row[i] = int64(v)
		case int32:
			row[i] = int64(v)
		case float32:
			row[i] = float64(v)
		case time.Time:
			row[i] = v.UTC().Format(time.RFC3339Nano)
		}
		*left -= 16
		if text, ok := row[i].(string); ok {
			*left -= len(text)
		}
	}
	if *left < 0 {
		t.Cut = true
		return false
	}
	t.Rows = append(t.Rows, row)
	return true
}
