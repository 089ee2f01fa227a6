package migrations

import (
	"database/sql"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	_ "modernc.org/sqlite" // runs the views
)

var update = flag.Bool("update", false, "write docs/sql-reference.md anew")

// columnsOf returns the columns of each view, in order, as SQLite makes them.
func columnsOf(t *testing.T) map[string][]string {
	t.Helper()
	script, err := SQLite.Script()
	if err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	db.SetMaxOpenConns(1)
	if _, err := db.ExecContext(t.Context(), script); err != nil {
		t.Fatal(err)
	}
	const query = `SELECT m.name, c.name FROM sqlite_schema m JOIN pragma_table_info(m.name) c WHERE m.type = 'view' ORDER BY m.rowid, c.cid`
	rows, err := db.QueryContext(t.Context(), query)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	columns := map[string][]string{}
	for rows.Next() {
		var view, column string
		if err := rows.Scan(&view, &column); err != nil {
			t.Fatal(err)
		}
		columns[view] = append(columns[view], column)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return columns
}

// TestViewsAreDocumented: views.txt describes each view, its key and its columns, and nothing that
// is not there. Hours and days have their time beside the text.
func TestViewsAreDocumented(t *testing.T) {
	docs, err := Documented()
	if err != nil {
		t.Fatal(err)
	}
	columns, used := columnsOf(t), map[string]bool{}
	for _, view := range slices.Sorted(maps.Keys(columns)) {
		v := docs.View(view)
		if v == nil {
			t.Errorf("views.txt has no section of the view %s: view %s KIND (KEY): a row is …", view, view)
			continue
		}
		for _, column := range columns[view] {
			if docs.Text(view, column) == "" {
				t.Errorf("views.txt does not say what %s.%s means", view, column)
			}
			used[column] = used[column] || v.own[column] == ""
			if (column == "hour" || column == "day") && !slices.Contains(columns[view], column+"_at") {
				t.Errorf("%s has %s as a text, and no %s_at at its end", view, column, column)
			}
		}
		for column := range v.own {
			if !slices.Contains(columns[view], column) {
				t.Errorf("views.txt describes %s.%s, which is not there", view, column)
			}
		}
		for _, column := range v.Key {
			if !slices.Contains(columns[view], column) {
				t.Errorf("views.txt: the key of %s has %s, which is not there", view, column)
			}
		}
	}
	for _, v := range docs.Views {
		if columns[v.Name] == nil {
			t.Errorf("views.txt describes the view %s, which is not there", v.Name)
		}
	}
	for column := range docs.Common {
		if !used[column] {
			t.Errorf("views.txt: no view needs the common text of %s", column)
		}
	}
	for i, line := range strings.Split(docsText, "\n") {
		if utf8.RuneCountInString(line) > 100 {
			t.Errorf("views.txt:%d is over 100 columns", i+1)
		}
	}
}

// TestParseDocs: what the file may not hold is refused with its line.
func TestParseDocs(t *testing.T) {
	for _, text := range []string{
		"x: before any section", "common\nx: one\nx: two", "view v fact (k): a row\nview v fact (k): again",
		"view v other (k): a row", "common\na word: text", "common\nx", "common\nx: ",
	} {
		if d, err := parseDocs(text); err == nil {
			t.Errorf("%q is read as %v", text, d)
		}
	}
	d, err := parseDocs("# head\ncommon\nx: one\n  and more\n\nview v fact (none): a row\ny: two: three\n")
	if err != nil {
		t.Fatal(err)
	}
	for column, want := range map[string]string{"": "a row", "x": "one and more", "y": "two: three", "z": ""} {
		if got := d.Text("v", column); got != want {
			t.Errorf("v.%s: %q, want %q", column, got, want)
		}
	}
	if d.Text("w", "x") != "" || d.View("v").Key != nil {
		t.Errorf("w has a text, or v the key %v", d.View("v").Key)
	}
}

const reference = "../docs/sql-reference.md"

// TestReference holds docs/sql-reference.md to views.txt.
func TestReference(t *testing.T) {
	docs, err := Documented()
	if err != nil {
		t.Fatal(err)
	}
	want := written(docs, columnsOf(t))
	if *update {
		if err := os.WriteFile(reference, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile(reference)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(have), want); diff != "" {
		t.Errorf("docs/sql-reference.md is not as views.txt has it; make generate writes it anew (-have +want):\n%s", diff)
	}
}

// dimensions are the columns by which facts are joined with what describes them.
var dimensions = []struct {
	name    string
	columns []string
}{
	{"cluster", []string{"cluster"}},
	{"time", []string{"created_at", "since", "measured_at", "met_at", "hour_at", "day_at", "first_at", "first_attempt_at", "first_decided_at", "seen_at"}},
	{"decision", []string{"decision_id", "id"}},
	{"attempt", []string{"attempt"}},
	{"namespace", []string{"namespace"}},
	{"pod", []string{"pod", "pod_uid"}},
	{"pod_facts", []string{"pod_digest"}},
	{"node", []string{"node"}},
	{"plugin", []string{"plugin"}},
	{"revision_log", []string{"revision", "bound_revision"}},
	{"profile_log", []string{"profile_digest"}},
	{"caller", []string{"asked_by"}},
}

// written is docs/sql-reference.md.
func written(docs *Docs, columns map[string][]string) string {
	var b strings.Builder
	b.WriteString("# SQL reference: views and their columns\n\nMade from `migrations/views.txt` by `make generate`. " +
		"[sql.md](sql.md) says how to read them.\n")
	b.WriteString("\n## Facts and dimensions\n\nA fact is something that happened, a dimension describes what facts name, and a " +
		"summary\ncounts facts. Two views are joined by the columns that both have a mark for.\n\n| view | kind | key |")
	line := "| --- | --- | --- |"
	for _, d := range dimensions {
		b.WriteString(" " + d.name + " |")
		line += " --- |"
	}
	b.WriteString("\n" + line + "\n")
	for _, kind := range []string{"fact", "dimension", "summary"} {
		for _, v := range docs.Views {
			if v.Kind != kind {
				continue
			}
			fmt.Fprintf(&b, "| [%s](#%s) | %s | %s |", v.Name, v.Name, kind, strings.Join(v.Key, ", "))
			for _, d := range dimensions {
				mark := ""
				if i := slices.IndexFunc(d.columns, func(c string) bool { return slices.Contains(columns[v.Name], c) }); i >= 0 {
					mark = "`" + d.columns[i] + "`"
					if d.columns[i] == d.name {
						mark = "x"
					}
				}
				b.WriteString(" " + mark + " |")
			}
			b.WriteString("\n")
		}
	}
	b.WriteString("\n## Columns of many views\n\n| column | meaning, unless its view says another |\n| --- | --- |\n")
	for _, column := range slices.Sorted(maps.Keys(docs.Common)) {
		fmt.Fprintf(&b, "| %s | %s |\n", column, cell(docs.Common[column]))
	}
	for _, v := range docs.Views {
		fmt.Fprintf(&b, "\n## %s\n\n| %s | %s |\n| --- | --- |\n", v.Name, v.Kind, cell(v.Text))
		var common []string
		flush := func() {
			if common != nil {
				fmt.Fprintf(&b, "| %s | as above |\n", strings.Join(common, ", "))
			}
			common = nil
		}
		for _, column := range columns[v.Name] {
			if v.own[column] == "" {
				common = append(common, column)
				continue
			}
			flush()
			fmt.Fprintf(&b, "| %s | %s |\n", column, cell(v.own[column]))
		}
		flush()
	}
	return b.String()
}

func cell(text string) string { return strings.ReplaceAll(text, "|", "\\|") }
