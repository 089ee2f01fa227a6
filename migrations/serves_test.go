package migrations

import (
	"fmt"
	"io"
	"io/fs"
	"regexp"
	"slices"
	"strings"
	"testing"

	"berth/test/migrationstest"
)

// released is the schema of the last release, v0.3.0: a contraction may take away what the programs
// of that schema and of older ones alone use.
const released = 15

var (
	createTable = regexp.MustCompile(`(?is)^CREATE TABLE (\w+) \(`)
	createIndex = regexp.MustCompile(`(?is)^CREATE (UNIQUE )?INDEX \w+ ON (\w+) `)
	addColumn   = regexp.MustCompile(`(?is)^ALTER TABLE (\w+) ADD COLUMN (\w+) (.*)$`)
	alterTable  = regexp.MustCompile(`(?is)^ALTER TABLE (\w+) `)
	fill        = regexp.MustCompile(`(?is)^UPDATE (\w+) SET (\w+) = [^,]*$`)
	insertInto  = regexp.MustCompile(`(?is)^INSERT INTO (\w+) `)
	tightens    = regexp.MustCompile(`(?i)\b(CHECK|UNIQUE|PRIMARY|REFERENCES|GENERATED)\b`)
	notNull     = regexp.MustCompile(`(?i)\bNOT NULL\b`)
	hasDefault  = regexp.MustCompile(`(?i)\bDEFAULT\b`)
)

// narrowing returns the statements of a migration that programs of the schema before may not
// survive: everything but new tables, new columns that need no value, and indexes.
func narrowing(text string) (bad []string) {
	tables, columns := map[string]bool{}, map[string]bool{}
	for _, s := range migrationstest.Statements(text) {
		fits := false
		if m := createTable.FindStringSubmatch(s); m != nil {
			tables[m[1]], fits = true, true
		} else if m := createIndex.FindStringSubmatch(s); m != nil {
			fits = m[1] == "" || tables[m[2]]
		} else if m := addColumn.FindStringSubmatch(s); m != nil {
			columns[m[1]+"."+m[2]] = true
			fits = tables[m[1]] || !tightens.MatchString(m[3]) && !strings.Contains(strings.ToUpper(m[3]), ", ADD") && !strings.Contains(strings.ToUpper(m[3]), ", DROP") &&
				(!notNull.MatchString(m[3]) || hasDefault.MatchString(m[3]))
		} else if m := alterTable.FindStringSubmatch(s); m != nil {
			fits = tables[m[1]]
		} else if m := fill.FindStringSubmatch(s); m != nil {
			fits = tables[m[1]] || columns[m[1]+"."+m[2]] || m[1] == "schema_version"
		} else if m := insertInto.FindStringSubmatch(s); m != nil {
			fits = tables[m[1]]
		}
		if !fits {
			bad = append(bad, s)
		}
	}
	return bad
}

// TestMigrationsOnlyAdd: programs of the release before go on with every newer schema. A migration
// that takes away, renames or tightens what they use is none, unless it is listed as a contraction
// of what no program of the last release uses.
func TestMigrationsOnlyAdd(t *testing.T) {
	newest, err := Postgres.Newest()
	if err != nil {
		t.Fatal(err)
	}
	for n := Expanding; n <= newest; n++ {
		names, err := fs.Glob(Postgres, fmt.Sprintf("%04d_*.up.sql", n))
		if err != nil || len(names) != 1 {
			t.Fatal(names, err)
		}
		f, err := Postgres.Open(names[0])
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(f)
		if err != nil {
			t.Fatal(err)
		}
		bad := narrowing(strings.TrimSuffix(strings.TrimSpace(string(text)), Postgres.noted(n)))
		_, listed := contractions[n]
		switch {
		case listed && len(bad) == 0:
			t.Errorf("%s is listed as a contraction and only adds", names[0])
		case !listed && len(bad) > 0:
			t.Errorf("%s: servers of the release before may not go on after:\n%s\nList it in contractions (serves.go), one release after programs stopped to use that", names[0], strings.Join(bad, "\n"))
		}
	}
	for n, unused := range contractions {
		if unused > released || n > newest || n <= Expanding {
			t.Errorf("contraction %d: programs before schema %d use it, and the last release has schema %d", n, unused, released)
		}
	}
}

// TestNarrowing holds the judgement of TestMigrationsOnlyAdd.
func TestNarrowing(t *testing.T) {
	adds := `-- A comment; with a semicolon.
CREATE TABLE later (id text PRIMARY KEY, kind text NOT NULL CHECK (kind <> ';'));
ALTER TABLE later ADD COLUMN more text NOT NULL;
CREATE UNIQUE INDEX later_kinds ON later (kind);
INSERT INTO later VALUES ('a', 'b', 'c');
CREATE INDEX decisions_later ON decisions (cluster);
ALTER TABLE decisions ADD COLUMN later text;
ALTER TABLE decisions ADD COLUMN count bigint NOT NULL DEFAULT 0;
UPDATE decisions SET later = 'x' WHERE id = 'a';`
	if bad := narrowing(adds); len(bad) > 0 {
		t.Errorf("refused: %q", bad)
	}
	for _, s := range []string{
		"DROP TABLE decisions", "ALTER TABLE decisions DROP COLUMN node", "ALTER TABLE decisions RENAME COLUMN node TO host", "ALTER TABLE decisions RENAME TO records",
		"ALTER TABLE decisions ADD COLUMN later text NOT NULL", "ALTER TABLE decisions ADD COLUMN later text UNIQUE", "ALTER TABLE decisions ADD COLUMN a text, DROP COLUMN node",
		"ALTER TABLE decisions ADD CONSTRAINT c CHECK (node <> '')", "ALTER TABLE decisions ALTER COLUMN node TYPE bytea", "ALTER TABLE decisions ALTER COLUMN node SET NOT NULL",
		"CREATE UNIQUE INDEX decisions_later ON decisions (node)", "DROP INDEX decisions_time", "DROP VIEW decision_log", "UPDATE decisions SET node = 'x'",
		"UPDATE decisions SET later = 'x', node = 'y'", "DELETE FROM decisions", "TRUNCATE decisions", "INSERT INTO decisions VALUES ('a')", "DO $$ BEGIN DROP TABLE decisions; END $$",
		"REVOKE INSERT ON decisions FROM berth_writer", "CREATE TRIGGER t BEFORE INSERT ON decisions EXECUTE FUNCTION f()",
	} {
		if bad := narrowing("CREATE TABLE later (id text);\n" + s + ";\n"); !slices.Equal(bad, []string{s}) {
			t.Errorf("%s: refused are %q", s, bad)
		}
	}
}
