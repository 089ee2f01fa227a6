package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"berth/internal/store"
	"berth/internal/store/seal"
	"berth/migrations"
)

// Schema implements store.Seals.
func (s *Store) Schema(ctx context.Context) ([]store.SchemaFault, error) {
	ctx, done, err := s.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	faults, err := sealReader{s.pool}.Schema(ctx)
	return faults, s.toStoreErr(ctx, err)
}

// Our tables, those of $1, with their partitions.
const ourTables = `WITH ours AS (
  SELECT c.oid, c.relname, c.relkind, c.relpersistence, c.relrowsecurity OR c.relforcerowsecurity AS secured
  FROM pg_class c WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p')
  AND (c.relname = ANY ($1) OR c.relname ~ '^decisions_(p[0-9]{6}|default)$')
), views AS (
  SELECT c.oid, c.relname, c.reloptions FROM pg_class c
  WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'v' AND c.relname = ANY ($2)
)
`

// What lies behind tables and views, and changes what is read or written: what, kind, name, text.
const sqlBehind = ourTables + `SELECT 'changed', 'table', relname, 'table ' || relname || ' is not LOGGED: a crash of the database empties it' FROM ours WHERE relpersistence <> 'p'
UNION ALL SELECT 'changed', 'table', relname, 'row-level security is on for table ' || relname FROM ours WHERE secured
UNION ALL SELECT 'inserted', 'policy', p.polname, 'no migration makes the policy ' || p.polname || ' on ' || o.relname FROM pg_policy p JOIN ours o ON o.oid = p.polrelid
UNION ALL SELECT 'inserted', 'trigger', t.tgname, 'no migration makes the trigger ' || t.tgname || ' on ' || o.relname
FROM pg_trigger t JOIN (SELECT oid, relname FROM ours UNION ALL SELECT oid, relname FROM views) o ON o.oid = t.tgrelid WHERE NOT t.tgisinternal
UNION ALL SELECT 'changed', 'trigger', t.tgname, 'foreign keys of ' || o.relname || ' are not kept: trigger ' || t.tgname || ' is disabled'
FROM pg_trigger t JOIN ours o ON o.oid = t.tgrelid WHERE t.tgisinternal AND t.tgenabled <> 'O'
UNION ALL SELECT 'inserted', 'rule', r.rulename, 'no migration makes the rule ' || r.rulename || ' on ' || o.relname
FROM pg_rewrite r JOIN (SELECT oid, relname FROM ours UNION ALL SELECT oid, relname FROM views) o ON o.oid = r.ev_class WHERE r.rulename <> '_RETURN'
UNION ALL SELECT 'changed', 'view', relname, 'view ' || relname || ' has options: ' || array_to_string(reloptions, ', ') FROM views WHERE reloptions IS NOT NULL
UNION ALL SELECT 'missing', 'table', n, 'table ' || n || ' is gone' FROM unnest($1::text[]) n WHERE n NOT IN (SELECT relname FROM ours)
UNION ALL SELECT 'missing', 'index', n, 'index ' || n || ' is gone' FROM unnest($3::text[]) n
WHERE n NOT IN (SELECT relname FROM pg_class WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('i', 'I'))
ORDER BY 1, 2, 3, 4`

// Schema implements store.Seals: it looks at what lies behind tables and views, and compares views
// with temporary ones that are made of the same statements.
func (r sealReader) Schema(ctx context.Context) (faults []store.SchemaFault, err error) {
	views, err := migrations.Postgres.Views()
	if err != nil {
		return nil, err
	}
	names := make([]string, len(views))
	for i, v := range views {
		names[i] = v.Name
	}
	tx, err := r.Begin(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, tx.Rollback(context.WithoutCancel(ctx))) }()
	if faults, err = behind(ctx, tx, names); err != nil {
		return nil, err
	}
	have, err := definitions(ctx, tx, `current_schema()::regnamespace`, names)
	if err != nil {
		return nil, err
	}
	for _, v := range views {
		err := pgx.BeginFunc(ctx, tx, func(tx pgx.Tx) error {
			_, err := tx.Exec(ctx, strings.Replace(v.Text, "CREATE OR REPLACE VIEW", "CREATE TEMPORARY VIEW", 1))
			return err
		})
		switch sqlState(err) {
		case stateUndefinedTable, stateUndefinedColumn: // of a table that is gone, or changed
			faults = append(faults, store.SchemaFault{
				Object: "view " + v.Name, What: store.SchemaChanged,
				Detail: "what view " + v.Name + " reads is not there: " + err.Error(),
			})
			delete(have, v.Name)
			names = slices.DeleteFunc(names, func(n string) bool { return n == v.Name })
			continue
		case statePrivilege, stateReadOnly:
			return append(faults, store.SchemaFault{
				Object: "views", What: store.SchemaUnchecked,
				Detail: "views were not compared: it takes a temporary view, which the role may not make here " +
					"(GRANT TEMPORARY ON DATABASE, not on a standby): " + err.Error(),
			}), nil
		}
		if err != nil {
			return nil, fmt.Errorf("view %s: %w", v.Name, err)
		}
	}
	want, err := definitions(ctx, tx, `pg_my_temp_schema()`, names)
	if err != nil {
		return nil, err
	}
	return append(faults, compareViews(names, have, want)...), nil
}

// behind finds what lies behind tables and views, and profiles that are not what their digests say.
func behind(ctx context.Context, tx pgx.Tx, views []string) (faults []store.SchemaFault, err error) {
	tables, indexes, err := migrations.Postgres.Tables()
	if err != nil {
		return nil, err
	}
	rows, err := tx.Query(ctx, sqlBehind, tables, views, indexes)
	if err != nil {
		return nil, err
	}
	err = each(rows, func() error {
		var f store.SchemaFault
		var kind, name string
		err := rows.Scan(&f.What, &kind, &name, &f.Detail)
		f.Object = kind + " " + name
		faults = append(faults, f)
		return err
	})
	if err != nil {
		return nil, err
	}
	if rows, err = tx.Query(ctx, seal.Profiles); err != nil {
		return nil, err
	}
	err = each(rows, func() error {
		var digest string
		var payload []byte
		err := rows.Scan(&digest, &payload)
		faults = append(faults, seal.ProfileFaults(digest, payload)...)
		return err
	})
	return faults, err
}

// compareViews returns the views that are gone, or are not as the migrations make them.
func compareViews(names []string, have, want map[string]string) (faults []store.SchemaFault) {
	for _, name := range slices.Sorted(slices.Values(names)) {
		f := store.SchemaFault{Object: "view " + name}
		switch text, is := have[name]; {
		case !is:
			f.What, f.Detail = store.SchemaMissing, "view "+name+" is gone"
		case text != want[name]:
			f.What, f.Detail = store.SchemaChanged, "view "+name+" is not as the migrations make it"
		default:
			continue
		}
		faults = append(faults, f)
	}
	return faults
}

// definitions returns what the views of a schema select, by name.
func definitions(ctx context.Context, tx pgx.Tx, schema string, names []string) (map[string]string, error) {
	rows, err := tx.Query(ctx, `SELECT relname, pg_get_viewdef(oid) FROM pg_class WHERE relkind = 'v' AND relname = ANY ($1) AND relnamespace = `+schema, names)
	if err != nil {
		return nil, err
	}
	texts := map[string]string{}
	return texts, each(rows, func() error {
		var name, text string
		err := rows.Scan(&name, &text)
		texts[name] = text
		return err
	})
}
