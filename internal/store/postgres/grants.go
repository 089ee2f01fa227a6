package postgres

import (
	"context"
	"strings"

	"github.com/jackc/pgx/v5"
)

// writerGrants are the rights of a server's role, as docs/audit.md has them: it adds records, and
// changes none.
const writerGrants = `GRANT SELECT, INSERT ON ALL TABLES IN SCHEMA public TO berth_writer;
GRANT USAGE ON ALL SEQUENCES IN SCHEMA public TO berth_writer;
GRANT UPDATE (seen_at) ON judged_pods TO berth_writer;
GRANT UPDATE ON clusters, confirmations, leads, tokens, placement_holds, rollups, hourly_decisions,
  hourly_failures, hourly_placements, hourly_durations TO berth_writer;
GRANT UPDATE, DELETE ON priority_classes, priority_class_versions, replays, replay_parts,
  replay_differences, simulations, simulation_parts, decision_gaps, servers, waits,
  keyed_calls TO berth_writer;
ALTER DEFAULT PRIVILEGES FOR ROLE berth_owner IN SCHEMA public GRANT SELECT, INSERT ON TABLES TO berth_writer;
`

// grant runs writerGrants for a role, in the schema and as the owner that conn has.
func grant(ctx context.Context, conn *pgx.Conn, role string) error {
	var schema, owner string
	if err := conn.QueryRow(ctx, `SELECT current_schema(), current_user`).Scan(&schema, &owner); err != nil {
		return err
	}
	name := func(s string) string { return pgx.Identifier{s}.Sanitize() }
	text := `GRANT USAGE ON SCHEMA public TO berth_writer; ` + writerGrants
	text = strings.NewReplacer("berth_writer", name(role), "SCHEMA public", "SCHEMA "+name(schema), "berth_owner", name(owner)).Replace(text)
	return conn.PgConn().Exec(ctx, text).Close()
}
