package record_test

import (
	"bytes"
	"database/sql"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	_ "github.com/jackc/pgx/v5/stdlib" // the driver named "pgx"

	"berth/internal/queries"
	"berth/internal/store"
	"berth/test/pgtest"
)

var update = flag.Bool("update", false, "write the examples of internal/queries/ready.md anew")

const guide = "../../queries/ready.md"

// tail is where the ready queries of the guide begin, behind their introduction.
var tail = regexp.MustCompile(`(?s)\n## Ready queries\n.*?\n(\n### .*)`)

// shownExample finds the example of a title.
var shownExample = regexp.MustCompile("(?s)### ([^\n]+)\n.*?```text\n(.*?)\n```")

// shownSQL finds the examples of docs/sql.md.
var shownSQL = regexp.MustCompile("(?s)```sql\n(.*?)\n```")

// written is a query as the guide has it: its question, what it says of it, its SQL in the text of
// each backend, and the example of its answer.
func written(q *queries.Query, example string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "\n### %s\n\n", q.Title)
	column := 0
	for i, word := range strings.Fields(q.Description) {
		switch {
		case i > 0 && column+1+len(word) > 100:
			b.WriteByte('\n')
			column = 0
		case i > 0:
			b.WriteByte(' ')
			column++
		}
		b.WriteString(word)
		column += len(word)
	}
	b.WriteString("\n")
	sqlite, postgres := q.Literal("sqlite", q.Example), q.Literal("postgres", q.Example)
	if sqlite == postgres {
		fmt.Fprintf(&b, "\n```sql\n%s\n```\n", sqlite)
	} else {
		fmt.Fprintf(&b, "\n```sql sqlite\n%s\n```\n\n```sql postgres\n%s\n```\n", sqlite, postgres)
	}
	fmt.Fprintf(&b, "\n```text\n%s\n```\n", example)
	return b.String()
}

// TestDocumentedQueries runs each ready query on the corpus, on both backends, as the guide writes
// it and as the API runs it, and compares the result with the example in the guide. docs/sql.md
// names each.
func TestDocumentedQueries(t *testing.T) {
	raw, err := os.ReadFile(guide)
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("../../../docs/sql.md")
	if err != nil {
		t.Fatal(err)
	}
	text, list, examples := string(raw), queries.All(), map[string]string{}
	for _, m := range shownExample.FindAllStringSubmatch(text[max(0, strings.Index(text, "## Ready queries")):], -1) {
		examples[m[1]] = m[2]
	}
	for _, backend := range []string{"sqlite", "postgres"} {
		t.Run(backend, func(t *testing.T) {
			st, address := backends[backend](t)
			c := openCorpus(t, st)
			c.fill(t)
			c.fillLive(t)
			c.fillAudit(t)
			fillEvidence(t, backend, address, c.now)
			db := asReader(t, backend, address)
			for i := range list {
				q := &list[i]
				got := answer(t, db, q.Title, q.Literal(backend, q.Example))
				if *update && backend == "sqlite" {
					examples[q.Title] = got
				}
				if diff := cmp.Diff(masked(examples[q.Title]), masked(got)); diff != "" {
					t.Errorf("%s (-guide +%s):\n%s", q.Title, backend, diff)
				}
				if strings.Count(got, "\n") < 1 {
					t.Errorf("%s: the corpus has no answer", q.Title)
				}
				if q.Chart != nil {
					checkChart(t, db, backend, q, got)
				}
				if diff := cmp.Diff(masked(got), masked(asTheAPI(t, st, q))); diff != "" {
					t.Errorf("%s (-with literals +with parameters):\n%s", q.Title, diff)
				}
			}
			for _, m := range shownSQL.FindAllStringSubmatch(string(page), -1) {
				if got := answer(t, db, "docs/sql.md", m[1]); strings.Count(got, "\n") < 1 && !strings.Contains(m[1], "IS NULL") {
					t.Errorf("docs/sql.md: the corpus has no answer to\n%s", m[1])
				}
			}
			c.close()
			if backend == "sqlite" {
				inShell(t, filepath.Join(address, "berth.db"), list, examples)
			}
		})
	}
	var want strings.Builder
	for i := range list {
		if row := fmt.Sprintf("| `%s` | %s |\n", list[i].Name, list[i].Title); !strings.Contains(string(page), row) {
			t.Errorf("docs/sql.md lacks the row\n%s", row)
		}
		want.WriteString(written(&list[i], examples[list[i].Title]))
	}
	at := tail.FindStringSubmatchIndex(text)
	if at == nil {
		t.Fatal("the guide has no ready queries")
	}
	if *update {
		if err := os.WriteFile(guide, []byte(text[:at[2]]+want.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(text[at[2]:], want.String()); diff != "" {
		t.Errorf("the guide is not as internal/queries has it; -update writes it anew (-guide +queries):\n%s", diff)
	}
}

// checkChart wants the columns of a query's chart to be of its answer, and its panel of Grafana to
// have points on PostgreSQL, where each has a time and a number.
func checkChart(t *testing.T, db *sql.DB, backend string, q *queries.Query, got string) {
	t.Helper()
	columns, _, _ := strings.Cut(got, "\n")
	for _, column := range []string{q.Chart.Time, q.Chart.Series, q.Chart.Value} {
		if column != "" && !slices.Contains(strings.Split(columns, "|"), column) {
			t.Errorf("%s: a chart of %s, which is none of %s", q.Title, column, columns)
		}
	}
	if backend != "postgres" {
		return
	}
	quoted := func(name string) string { return "'" + q.Example[name] + "'" }
	panel := strings.NewReplacer("$__timeFrom()", quoted("since"), "$__timeTo()", quoted("until"),
		"${cluster_of_log:sqlstring}", quoted("cluster"), "${namespace:sqlstring}", quoted("namespace")).Replace(q.Chart.Grafana)
	points := answer(t, db, q.Title, "SELECT count(*), min(extract(year FROM time)), count(metric), count(value) FROM ("+panel+") p")
	if cells := strings.Split(strings.Split(points, "\n")[1], "|"); cells[0] == "0" || cells[1] != "2026" || cells[2] != cells[0] || cells[3] == "0" {
		t.Errorf("%s: the panel has %s\n%s", q.Title, points, panel)
	}
}

// asTheAPI runs a query with its parameters, through the store.
func asTheAPI(t *testing.T, st store.Queries, q *queries.Query) string {
	t.Helper()
	limit, err := strconv.Atoi(q.Example[queries.Limit])
	if err != nil {
		t.Fatal(err)
	}
	args, err := q.Bind(q.Example, limit)
	if err != nil {
		t.Fatal(err)
	}
	table, err := st.Query(t.Context(), &store.Query{SQL: q.SQL, Args: args, MaxBytes: 1 << 20})
	if err != nil {
		t.Fatalf("%s: %v", q.Title, err)
	}
	out := []string{strings.Join(table.Columns, "|")}
	for _, row := range table.Rows {
		texts := make([]string, len(row))
		for i, v := range row {
			texts[i] = show(v)
		}
		out = append(out, strings.Join(texts, "|"))
	}
	return strings.Join(out, "\n")
}

// asReader connects as people do: read-only to the file, and as berth_reader.
func asReader(t *testing.T, backend, address string) *sql.DB {
	t.Helper()
	if backend == "sqlite" {
		return readOnly(t, address)
	}
	db, err := sql.Open("pgx", pgtest.With(address, "role", "berth_reader"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// answer returns a query's columns and rows as text.
func answer(t *testing.T, db *sql.DB, title, query string) string {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), query)
	if err != nil {
		t.Fatalf("%s: %v\n%s", title, err, query)
	}
	defer func() { _ = rows.Close() }()
	columns, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	out := []string{strings.Join(columns, "|")}
	for rows.Next() {
		values, into := make([]any, len(columns)), make([]any, len(columns))
		for i := range values {
			into[i] = &values[i]
		}
		if err := rows.Scan(into...); err != nil {
			t.Fatal(err)
		}
		texts := make([]string, len(values))
		for i, v := range values {
			texts[i] = show(v)
		}
		out = append(out, strings.Join(texts, "|"))
	}
	if err := rows.Err(); err != nil {
		t.Fatalf("%s: %v", title, err)
	}
	return strings.Join(out, "\n")
}

// show writes a value as both shells do, near enough.
func show(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case []byte:
		return string(v)
	case time.Time:
		return v.UTC().Format(time.RFC3339)
	}
	return fmt.Sprint(v)
}

// masked hides what differs from run to run: ids, and how long things took.
func masked(answer string) string {
	lines := strings.Split(answer, "\n")
	hide := map[int]bool{}
	for i, name := range strings.Split(lines[0], "|") {
		hide[i] = strings.HasSuffix(name, "_ms") || strings.HasSuffix(name, "decision_id") || name == "attempt"
	}
	for n, line := range lines[1:] {
		cells := strings.Split(line, "|")
		for i := range cells {
			if hide[i] {
				cells[i] = "…"
			}
			cells[i] = strings.TrimSuffix(cells[i], ".0") // the shell writes whole reals so
		}
		lines[n+1] = strings.Join(cells, "|")
	}
	return strings.Join(lines, "\n")
}

// inShell runs the queries in the sqlite3 shell, where there is one that is not older
// than the guide says; the file is no longer open then.
func inShell(t *testing.T, file string, list []queries.Query, answers map[string]string) {
	t.Helper()
	shell, err := exec.LookPath("sqlite3")
	if err != nil {
		t.Log("no sqlite3 shell here: the driver alone was asked")
		return
	}
	version, err := exec.CommandContext(t.Context(), shell, "--version").Output()
	var major, minor int
	if n, _ := fmt.Sscanf(string(version), "%d.%d", &major, &minor); err != nil || n != 2 || major < 3 || major == 3 && minor < 38 {
		t.Logf("the shell is %s, %v: older than the guide asks for", version, err)
		return
	}
	for i := range list {
		q := &list[i]
		var stderr bytes.Buffer
		cmd := exec.CommandContext(t.Context(), shell, "-readonly", "-header", "-separator", "|", file, q.Literal("sqlite", q.Example))
		cmd.Stderr = &stderr
		out, err := cmd.Output()
		if err != nil {
			t.Errorf("%s: %v: %s", q.Title, err, stderr.String())
			continue
		}
		if diff := cmp.Diff(masked(answers[q.Title]), masked(strings.TrimSuffix(string(out), "\n"))); diff != "" {
			t.Errorf("%s (-driver +shell):\n%s", q.Title, diff)
		}
	}
}
