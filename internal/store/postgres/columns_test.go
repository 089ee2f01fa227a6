package postgres

import (
	"testing"

	"berth/internal/store"
	"berth/test/storetest"

	"github.com/jackc/pgx/v5"
)

func TestColumns(t *testing.T) {
	s := openAt(t, freshURL(t), Options{})
	const query = `SELECT c.relname || '.' || a.attname || ' ' || format_type(a.atttypid, a.atttypmod) || CASE WHEN a.attnotnull THEN '' ELSE ' null' END
FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
WHERE c.relnamespace = current_schema()::regnamespace AND c.relname IN ('decisions', 'stamps')`
	rows, err := s.pool.Query(t.Context(), query)
	if err != nil {
		t.Fatal(err)
	}
	schema, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	storetest.Columns(t, map[store.Kind]string{
		store.Text: "text", store.Key: "text", store.List: "text",
		store.Int: "integer", store.Stamp: "integer", store.BigInt: "bigint", store.Place: "bigint",
		store.Time: "timestamp with time zone", store.UID: "bytea", store.Digest: "bytea", store.Blob: "bytea",
	}, schema)
}
