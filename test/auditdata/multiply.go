package main

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver named "pgx"
	_ "modernc.org/sqlite"             // the driver named "sqlite"
)

// copied are the tables that have rows a decision, a revision or a pod, and so are copied; those of
// them that a schema does not have are passed over. Roll-ups are built anew from them.
var copied = []string{
	"decisions", "revisions", "capacities", "judged_pods", "revision_changes", "replay_results", "denials",
}

// What a column holds, by its name.
var (
	times   = []string{"created_at", "decided_as_of", "measured_at", "seen_at", "pod_created_at", "asked_as_of", "minute", "first_at", "last_at"}
	ids     = []string{"id", "attempt", "decision_id"}
	numbers = []string{"number", "revision", "bound_revision"}
	marked  = []string{"pod", "pod_uid", "name", "uid", "victims", "objects", "changed", "message"}
	tokens  = []string{"token", "parent_token"}
)

// copier copies the tables of one store.
type copier struct {
	*sql.Conn
	sqlite bool
	copies int
	step   time.Duration
	// seqs and revisions are more than any place in the log, and any number of a revision.
	seqs, revisions int64
}

// multiply moves what is there behind its copies, in the log's order and in that of revisions, and
// makes them: the first copy is a step earlier, and so on.
func multiply(address []string, copies int, step time.Duration) error {
	driver, source, err := driverOf(address)
	if err != nil {
		return err
	}
	db, err := sql.Open(driver, source)
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	conn, err := db.Conn(context.Background()) // one, since its temporary tables are its own
	if err != nil {
		return err
	}
	c := &copier{Conn: conn, sqlite: driver == "sqlite", copies: copies, step: step}
	return c.run()
}

// driverOf are the driver of a store and what it opens.
func driverOf(address []string) (driver, source string, err error) {
	if address[0] != "--data-dir" {
		return "pgx", address[1], nil
	}
	files, err := filepath.Glob(filepath.Join(address[1], "*.db"))
	if err == nil && len(files) != 1 {
		err = fmt.Errorf("%s: want one database, not %q", address[1], files)
	}
	if err != nil {
		return "", "", err
	}
	return "sqlite", files[0], nil
}

func (c *copier) exec(statements ...string) error {
	for _, s := range statements {
		if _, err := c.ExecContext(context.Background(), s); err != nil {
			return fmt.Errorf("%s: %w", s, err)
		}
	}
	return nil
}

func (c *copier) run() error {
	ctx := context.Background()
	for query, into := range map[string]*int64{
		"SELECT coalesce(max(seq), 0) + 1 FROM decisions": &c.seqs, "SELECT coalesce(max(number), 0) + 1 FROM revisions": &c.revisions,
	} {
		if err := c.QueryRowContext(ctx, query).Scan(into); err != nil {
			return err
		}
	}
	prepare := []string{"SET session_replication_role = replica", "SET synchronous_commit = off"}
	if c.sqlite {
		prepare = []string{"PRAGMA synchronous = OFF", "PRAGMA journal_mode = MEMORY"}
	} else {
		prepare = append(prepare, c.partitions()...)
	}
	if err := c.exec(prepare...); err != nil {
		return err
	}
	for _, table := range copied {
		columns, err := c.columns(table)
		if err != nil {
			return err
		}
		if len(columns) == 0 {
			continue
		}
		if err := c.copy(table, columns); err != nil {
			return err
		}
	}
	after := []string{
		fmt.Sprintf("UPDATE clusters SET last_seq = last_seq + %d, newest = newest + %d", c.seqs*int64(c.copies), c.revisions*int64(c.copies)),
		fmt.Sprintf("UPDATE clusters SET decisions = decisions * %d, revisions = revisions * %[1]d", c.copies+1),
	}
	if c.sqlite {
		return c.exec(append(after, "ANALYZE", "PRAGMA journal_mode = WAL")...)
	}
	return c.exec(append(after, "VACUUM ANALYZE")...)
}

// partitions are the statements that make the months of the copies.
func (c *copier) partitions() (out []string) {
	now := time.Now().UTC()
	first := now.Add(-time.Duration(c.copies) * c.step)
	for month := time.Date(first.Year(), first.Month(), 1, 0, 0, 0, 0, time.UTC); month.Before(now); month = month.AddDate(0, 1, 0) {
		next := month.AddDate(0, 1, 0)
		out = append(out, fmt.Sprintf("CREATE TABLE IF NOT EXISTS decisions_p%s PARTITION OF decisions FOR VALUES FROM ('%s') TO ('%s')",
			month.Format("200601"), month.Format("2006-01-02 00:00+00"), next.Format("2006-01-02 00:00+00")))
	}
	return out
}

type column struct{ name, kind string }

// columns are the columns of a table that is there, in its order.
func (c *copier) columns(table string) (out []column, err error) {
	query := "SELECT column_name, data_type FROM information_schema.columns WHERE table_schema = current_schema() AND table_name = $1 ORDER BY ordinal_position"
	if c.sqlite {
		query = "SELECT name, lower(type) FROM pragma_table_info($1) ORDER BY cid"
	}
	rows, err := c.QueryContext(context.Background(), query, table)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var col column
		if err := rows.Scan(&col.name, &col.kind); err != nil {
			return nil, err
		}
		out = append(out, col)
	}
	return out, rows.Err()
}

// copy puts the originals of a table aside, and moves and copies them from there.
func (c *copier) copy(table string, columns []column) error {
	begun := time.Now()
	var move []string
	for _, col := range columns {
		if to := c.later(col.name, 0); to != col.name {
			move = append(move, col.name+" = "+to)
		}
	}
	originals := "originals_" + table
	statements := []string{"CREATE TEMPORARY TABLE " + originals + " AS SELECT * FROM " + table}
	if len(move) > 0 {
		statements = append(statements, "UPDATE "+table+" SET "+strings.Join(move, ", "))
	}
	if table == "revisions" {
		statements = append(statements, "UPDATE checkpoints SET number = "+c.later("number", 0))
	}
	for k := 1; k <= c.copies; k++ {
		names, values := make([]string, len(columns)), make([]string, len(columns))
		for i, col := range columns {
			names[i], values[i] = col.name, c.of(col, k)
		}
		statements = append(statements, fmt.Sprintf("INSERT INTO %s (%s) SELECT %s FROM %s", table, strings.Join(names, ", "), strings.Join(values, ", "), originals))
	}
	if err := c.exec(append(statements, "DROP TABLE "+originals)...); err != nil {
		return err
	}
	fmt.Printf("%s: %s\n", table, time.Since(begun).Round(time.Second))
	return nil
}

// later is the place of a row of copy k in an order that ends with the originals.
func (c *copier) later(name string, k int) string {
	before := int64(c.copies - k)
	switch {
	case name == "seq":
		return fmt.Sprintf("seq + %d", before*c.seqs)
	case slices.Contains(numbers, name):
		return fmt.Sprintf("CASE WHEN %s > 0 THEN %[1]s + %d ELSE %[1]s END", name, before*c.revisions)
	}
	return name
}

// of is a column's value in copy k.
func (c *copier) of(col column, k int) string {
	name, micros := col.name, c.step.Microseconds()*int64(k)
	switch {
	case slices.Contains(times, name) && c.sqlite:
		return fmt.Sprintf("%s - %d", name, micros)
	case slices.Contains(times, name):
		return fmt.Sprintf("%s - interval '%d microseconds'", name, micros)
	case slices.Contains(ids, name): // of version 8, which no original is
		return fmt.Sprintf("substr(%s, 1, 14) || '8' || substr(%[1]s, 16, 18) || '%03d'", name, k)
	case slices.Contains(tokens, name):
		return fmt.Sprintf("%s || '-%d'", name, k)
	case name == "pod_uid" && col.kind == "blob":
		return fmt.Sprintf("CAST(substr(pod_uid, 1, 4) || x'%04x' || substr(pod_uid, 7) AS BLOB)", k)
	case name == "pod_uid" && col.kind == "bytea":
		return fmt.Sprintf(`overlay(pod_uid PLACING '\x%04x'::bytea FROM 5)`, k)
	case name == "pod_digest" && col.kind == "blob":
		return fmt.Sprintf("CAST(substr(pod_digest, 1, 28) || x'%08x' AS BLOB)", k)
	case name == "pod_digest" && col.kind == "text": // sha256: and the same bytes
		return fmt.Sprintf("substr(pod_digest, 1, 63) || '%08x'", k)
	case name == "pod_digest" && col.kind == "bytea":
		return fmt.Sprintf(`overlay(pod_digest PLACING '\x%08x'::bytea FROM 29)`, k)
	case slices.Contains(marked, name):
		return fmt.Sprintf("replace(replace(%s, '%s', '-x%03d-'), '%s', '-%04x-4000-')", name, nameMark, k, uidMark, k)
	}
	return c.later(name, k)
}
