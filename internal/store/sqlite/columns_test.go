package sqlite

import (
	"testing"

	"berth/internal/store"
	"berth/test/storetest"
)

func TestColumns(t *testing.T) {
	s := openAt(t, t.TempDir())
	const query = `SELECT m.name || '.' || c.name || ' ' || c.type || CASE WHEN c."notnull" OR c.pk THEN '' ELSE ' null' END
FROM sqlite_schema m, pragma_table_info(m.name) c WHERE m.name IN ('decisions', 'stamps')`
	rows, err := s.reads.QueryContext(t.Context(), query)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	var schema []string
	for rows.Next() {
		var column string
		if err := rows.Scan(&column); err != nil {
			t.Fatal(err)
		}
		schema = append(schema, column)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	storetest.Columns(t, map[store.Kind]string{
		store.Text: "TEXT", store.Key: "TEXT", store.List: "TEXT",
		store.Int: "INTEGER", store.BigInt: "INTEGER", store.Time: "INTEGER", store.Stamp: "INTEGER", store.Place: "INTEGER",
		store.UID: "BLOB", store.Digest: "BLOB", store.Blob: "BLOB",
	}, schema)
}
