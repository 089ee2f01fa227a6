package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// indexRequests builds the partitions' indexes by request one after the other without holding up
// writers, which no statement on the partitioned table can do: CREATE INDEX there finds them later,
// and takes them over. They have the names that it would give them. What an earlier attempt left
// behind unfinished is built anew.
func indexRequests(ctx context.Context, conn *pgx.Conn) error {
	const query = `SELECT c.relname, c.relname || '_request_id_idx' AS index, coalesce(x.indisvalid, false), x.indexrelid IS NOT NULL
FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
LEFT JOIN pg_index x ON x.indexrelid = to_regclass(quote_ident(current_schema()) || '.' || quote_ident(c.relname || '_request_id_idx'))
WHERE i.inhparent = to_regclass(quote_ident(current_schema()) || '.decisions') ORDER BY 1`
	rows, err := conn.Query(ctx, query)
	if err != nil {
		return fmt.Errorf("list partitions: %w", err)
	}
	var statements []string
	var table, index string
	var valid, there bool
	_, err = pgx.ForEachRow(rows, []any{&table, &index, &valid, &there}, func() error {
		if there && !valid {
			statements = append(statements, `DROP INDEX `+index)
		}
		if !valid {
			statements = append(statements, `CREATE INDEX CONCURRENTLY `+index+` ON `+table+` (request_id) WHERE request_id IS NOT NULL`)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("list partitions: %w", err)
	}
	for _, statement := range statements {
		if _, err := conn.Exec(ctx, statement); err != nil {
			return fmt.Errorf("%s: %w", statement, err)
		}
	}
	return nil
}
