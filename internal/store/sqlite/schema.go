package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	"berth/internal/store"
	"berth/internal/store/seal"
	"berth/migrations"
)

// Schema implements store.Seals.
func (s *Store) Schema(ctx context.Context) ([]store.SchemaFault, error) {
	if err := s.usable(); err != nil {
		return nil, err
	}
	faults, err := sealReader{s.reads}.Schema(ctx)
	return faults, s.toStoreErr(err)
}

// object is a table, index, view or trigger of a schema.
type object struct{ kind, table, text string }

// Schema implements store.Seals: it compares all of the schema with that of a new store.
func (r sealReader) Schema(ctx context.Context) (faults []store.SchemaFault, err error) {
	want, err := made()
	if err != nil {
		return nil, err
	}
	have, err := objects(ctx, r.q)
	if err != nil {
		return nil, err
	}
	fault := func(name string, o object, what store.SchemaWhat, format string, args ...any) {
		faults = append(faults, store.SchemaFault{Object: o.kind + " " + name, What: what, Detail: fmt.Sprintf(format, args...)})
	}
	for _, name := range slices.Sorted(maps.Keys(want)) {
		o, is := have[name]
		switch w := want[name]; {
		case !is:
			fault(name, w, store.SchemaMissing, "%s %s is gone", w.kind, name)
		case o != w:
			fault(name, w, store.SchemaChanged, "%s %s is not as the migrations make it", w.kind, name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(have)) {
		// Tables and views of others do no harm; what hangs on one of ours may.
		o := have[name]
		_, ours := want[o.table]
		if _, is := want[name]; !is && ours {
			fault(name, o, store.SchemaInserted, "no migration makes the %s %s on %s", o.kind, name, o.table)
		}
	}
	rows, err := r.q.QueryContext(ctx, seal.Profiles)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }() // its errors come through rows.Err
	for rows.Next() {
		var digest string
		var payload []byte
		if err := rows.Scan(&digest, &payload); err != nil {
			return nil, err
		}
		faults = append(faults, seal.ProfileFaults(digest, payload)...)
	}
	return faults, rows.Err()
}

// made returns the schema of a new store.
var made = sync.OnceValues(func() (map[string]object, error) {
	script, err := migrations.SQLite.Script()
	if err != nil {
		return nil, err
	}
	db, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		return nil, err
	}
	defer func() { _ = db.Close() }() // nothing was kept
	db.SetMaxOpenConns(1)
	if _, err := db.Exec(script); err != nil { //nolint:noctx // it takes milliseconds, once a process
		return nil, fmt.Errorf("make a schema in memory: %w", err)
	}
	return objects(context.Background(), db)
})

// objects returns the objects that have a text, by name, but for golang-migrate's table.
func objects(ctx context.Context, q interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
},
) (map[string]object, error) {
	const query = `SELECT type, name, tbl_name, sql FROM sqlite_schema WHERE sql IS NOT NULL AND tbl_name <> 'schema_migrations' AND name NOT LIKE 'sqlite\_%' ESCAPE '\'`
	rows, err := q.QueryContext(ctx, query)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }() // its errors come through rows.Err
	all := map[string]object{}
	for rows.Next() {
		var o object
		var name string
		if err := rows.Scan(&o.kind, &name, &o.table, &o.text); err != nil {
			return nil, err
		}
		o.text = plain(o)
		all[name] = o
	}
	return all, rows.Err()
}

var (
	comment = regexp.MustCompile(`--[^\n]*`)
	spaces  = regexp.MustCompile(`\s+`)
)

// plain returns an object's text without comments and layout, a table's with its parts in order: a
// column that a way down took away comes again behind the others.
func plain(o object) string {
	text := spaces.ReplaceAllString(comment.ReplaceAllString(o.text, " "), " ")
	open, last := strings.Index(text, "("), strings.LastIndex(text, ")")
	if o.kind != "table" || open < 0 || last < open {
		return text
	}
	var parts []string
	depth, quoted, from := 0, false, open+1
	for i := open + 1; i < last; i++ {
		switch c := text[i]; {
		case c == '\'':
			quoted = !quoted
		case quoted:
		case c == '(':
			depth++
		case c == ')':
			depth--
		case c == ',' && depth == 0:
			parts, from = append(parts, strings.TrimSpace(text[from:i])), i+1
		}
	}
	parts = append(parts, strings.TrimSpace(text[from:last]))
	slices.Sort(parts)
	return strings.TrimSpace(text[:open]) + " (" + strings.Join(parts, ", ") + ")" + text[last+1:]
}
