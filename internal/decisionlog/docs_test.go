package decisionlog_test

import (
	"bytes"
	"database/sql"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	_ "github.com/jackc/pgx/v5/stdlib" // the driver named "pgx"

	"berth/internal/store/pgtest"
)

var update = flag.Bool("update", false, "write the examples of docs/sql.md anew")

const guide = "../../docs/sql.md"

// documented is a query of the guide in the text that a backend takes, with the
// example of its answer.
type documented struct {
	title   string
	sql     map[string]string // by backend
	example string
}

// parseGuide reads the blocks of the guide: ```sql runs on every backend, ```sql
// sqlite and ```sql postgres are the two texts of one question, and the ```text
// after them is its answer.
func parseGuide(t *testing.T) (all []*documented, text string) {
	t.Helper()
	raw, err := os.ReadFile(guide)
	if err != nil {
		t.Fatal(err)
	}
	text = string(raw)
	var d *documented
	title := ""
	for _, m := range regexp.MustCompile("(?s)(?:^|\n)(?:### ([^\n]+)|```(sql sqlite|sql postgres|sql|text)\n(.*?)\n?```)").FindAllStringSubmatch(text, -1) {
		switch {
		case m[1] != "":
			title, d = m[1], nil
		case title == "":
		case m[2] == "text" && d != nil:
			d.example, d = m[3], nil
		case m[2] != "text":
			if d == nil {
				d = &documented{title: title, sql: map[string]string{}}
				all = append(all, d)
			}
			for _, backend := range []string{"sqlite", "postgres"} {
				if m[2] == "sql" || m[2] == "sql "+backend {
					d.sql[backend] = m[3]
				}
			}
		}
	}
	return all, text
}

// TestDocumentedQueries runs each query of docs/sql.md on the corpus, on both
// backends, and compares the result with the example beside it.
func TestDocumentedQueries(t *testing.T) {
	list, text := parseGuide(t)
	if len(list) < 15 {
		t.Fatalf("%d queries in the guide", len(list))
	}
	for _, backend := range []string{"sqlite", "postgres"} {
		t.Run(backend, func(t *testing.T) {
			st, address := backends[backend](t)
			c := openCorpus(t, st)
			c.fill(t)
			c.fillLive(t)
			db := asReader(t, backend, address)
			answers := map[*documented]string{}
			for _, d := range list {
				answers[d] = answer(t, db, d.title, d.sql[backend])
			}
			c.close()
			for _, d := range list {
				if *update && backend == "sqlite" {
					text = strings.Replace(text, "```text\n"+d.example+"\n```", "```text\n"+answers[d]+"\n```", 1)
					d.example = answers[d]
				}
				if diff := cmp.Diff(masked(d.example), masked(answers[d])); diff != "" {
					t.Errorf("%s (-guide +%s):\n%s", d.title, backend, diff)
				}
				if strings.Count(answers[d], "\n") < 1 {
					t.Errorf("%s: the corpus has no answer", d.title)
				}
			}
			if backend == "sqlite" {
				inShell(t, filepath.Join(address, "berth.db"), list, answers)
			}
		})
	}
	if *update {
		if err := os.WriteFile(guide, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
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
		hide[i] = strings.HasSuffix(name, "_ms") || strings.HasSuffix(name, "decision_id")
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
func inShell(t *testing.T, file string, list []*documented, answers map[*documented]string) {
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
	for _, d := range list {
		var stderr bytes.Buffer
		cmd := exec.CommandContext(t.Context(), shell, "-readonly", "-header", "-separator", "|", file, d.sql["sqlite"])
		cmd.Stderr = &stderr
		out, err := cmd.Output()
		if err != nil {
			t.Errorf("%s: %v: %s", d.title, err, stderr.String())
			continue
		}
		if diff := cmp.Diff(masked(answers[d]), masked(strings.TrimSuffix(string(out), "\n"))); diff != "" {
			t.Errorf("%s (-driver +shell):\n%s", d.title, diff)
		}
	}
}
