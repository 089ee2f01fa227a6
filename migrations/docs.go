package migrations

import (
	_ "embed"
	"fmt"
	"regexp"
	"strings"
	"sync"
)

//go:embed views.txt
var docsText string

// ViewDoc is what views.txt says about a view.
type ViewDoc struct {
	Name string
	// Kind is fact, dimension or summary.
	Kind string
	// Key has the columns that no two rows have in common; empty where there are none.
	Key  []string
	Text string
	// own are the texts of its columns alone.
	own map[string]string
}

// Docs are the texts of all views, in the order of views.txt.
type Docs struct {
	Views  []ViewDoc
	Common map[string]string
}

// Documented returns what views.txt says.
var Documented = sync.OnceValues(func() (*Docs, error) { return parseDocs(docsText) })

var viewHead = regexp.MustCompile(`^view (\w+) (fact|dimension|summary) \(([\w, ]+)\): (.+)$`)

func parseDocs(text string) (*Docs, error) {
	d := &Docs{}
	var texts map[string]string // those of the section that is read
	names := map[string]bool{}
	for i, line := range strings.Split(strings.ReplaceAll(text, "\n  ", " "), "\n") {
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		column, meaning, is := strings.Cut(line, ": ")
		head := viewHead.FindStringSubmatch(line)
		switch {
		case line == "common":
			texts = map[string]string{}
			d.Common = texts
		case head != nil && !names[head[1]]:
			texts, names[head[1]] = map[string]string{}, true
			v := ViewDoc{Name: head[1], Kind: head[2], Text: head[4], own: texts}
			if head[3] != "none" {
				v.Key = strings.Split(head[3], ", ")
			}
			d.Views = append(d.Views, v)
		case !is || meaning == "" || head != nil || texts == nil || texts[column] != "" || strings.ContainsAny(column, " '") || strings.Contains(meaning, "$$"):
			return nil, fmt.Errorf("views.txt: entry %d is none of a view, or there twice: %s", i+1, line)
		default:
			texts[column] = meaning
		}
	}
	return d, nil
}

// View returns what is said about a view; nil where nothing is.
func (d *Docs) View(name string) *ViewDoc {
	for i := range d.Views {
		if d.Views[i].Name == name {
			return &d.Views[i]
		}
	}
	return nil
}

// Text returns what a view's column means or, of column "", what its row is; "" where nothing says
// so.
func (d *Docs) Text(view, column string) string {
	v := d.View(view)
	switch {
	case v == nil:
		return ""
	case column == "":
		return v.Text
	}
	if text, is := v.own[column]; is {
		return text
	}
	return d.Common[column]
}

// docs returns the statements that write the texts into the database, run after the views: the
// columns are those that the views have there, so that views.txt need not list them all.
func (d Dialect) docs() (string, error) {
	docs, err := Documented()
	if err != nil {
		return "", err
	}
	var rows []string
	row := func(view, column, text string) {
		rows = append(rows, "('"+view+"', '"+column+"', '"+strings.ReplaceAll(text, "'", "''")+"')")
	}
	for column, text := range docs.Common {
		row("", column, text)
	}
	for _, v := range docs.Views {
		row(v.Name, "", v.Text)
		for column, text := range v.own {
			row(v.Name, column, text)
		}
	}
	return strings.Replace(d.documented, "@texts", strings.Join(rows, ",\n"), 1), nil
}

// commentOn sets PostgreSQL's comments. Those of a view of our name that another schema has stay.
const commentOn = `DO $$
DECLARE
  r record;
BEGIN
  FOR r IN
    WITH texts (view, name, text) AS (VALUES
@texts
    )
    SELECT c.relname, NULL AS attname, t.text FROM texts t
    JOIN pg_class c ON c.relname = t.view AND c.relkind = 'v' AND c.relnamespace = current_schema()::regnamespace
    WHERE t.name = ''
    UNION ALL
    SELECT c.relname, a.attname, coalesce(own.text, common.text)
    FROM pg_class c
    JOIN texts v ON v.view = c.relname AND v.name = ''
    JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
    LEFT JOIN texts own ON own.view = c.relname AND own.name = a.attname
    LEFT JOIN texts common ON common.view = '' AND common.name = a.attname
    WHERE c.relkind = 'v' AND c.relnamespace = current_schema()::regnamespace
  LOOP
    IF r.attname IS NULL THEN
      EXECUTE format('COMMENT ON VIEW %I IS %L', r.relname, r.text);
    ELSE
      EXECUTE format('COMMENT ON COLUMN %I.%I IS %L', r.relname, r.attname, r.text);
    END IF;
  END LOOP;
END
$$;
`

// fillDocs fills SQLite's table column_docs; the row of a view itself has no column.
const fillDocs = `DELETE FROM column_docs;
WITH texts ("view", name, text) AS (VALUES
@texts
)
INSERT INTO column_docs ("view", "column", text)
SELECT t."view", t.name, t.text FROM texts t WHERE t.name = '' AND t."view" <> ''
UNION ALL
SELECT v."view", c.name, coalesce(own.text, common.text)
FROM texts v
JOIN pragma_table_info(v."view") c
LEFT JOIN texts own ON own."view" = v."view" AND own.name = c.name
LEFT JOIN texts common ON common."view" = '' AND common.name = c.name
WHERE v.name = '' AND v."view" <> '' AND coalesce(own.text, common.text) IS NOT NULL;
`
