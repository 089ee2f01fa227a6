// Package sqlcommon has what both backends store by the same SQL: tables that no call waits for.
package sqlcommon

import (
	"context"
	"fmt"
	"math"
	"strings"
	"sync"
	"time"
)

// DB is a backend's database, which speaks a dialect. A missing row is store.ErrNotFound.
type DB interface {
	// Write runs fn in a transaction, again where its connection was lost.
	Write(ctx context.Context, fn func(Tx) error) error
	// Read passes the rows of a query to row, which may end it by ErrEnough.
	Read(ctx context.Context, query string, args []any, row func(scan func(into ...any) error) error) error
}

// Tx is a transaction.
type Tx interface {
	// Exec returns how many rows a statement changed.
	Exec(query string, args ...any) (int64, error)
	// Many runs a statement that writes a row, once for each list of arguments.
	Many(query string, args [][]any) error
	// Some is Many of a statement that may change no row. It returns how many rows changed.
	Some(query string, args [][]any) (int64, error)
	Row(query string, args []any, into ...any) error
	// Rows passes the rows of a query to row.
	Rows(query string, args []any, row func(scan func(into ...any) error) error) error
}

// Numbers runs a query that returns a number for each name.
func Numbers(ctx context.Context, db DB, query string) (map[string]int64, error) {
	all := map[string]int64{}
	err := db.Read(ctx, query, nil, func(scan func(into ...any) error) error {
		var name string
		var n int64
		err := scan(&name, &n)
		all[name] = n
		return err
	})
	return all, err
}

// ExpectOne returns an error where a statement that writes one row changed none, or more.
func ExpectOne(what string, n int64) error {
	if n != 1 {
		return fmt.Errorf("%s: %d rows changed, not 1", what, n)
	}
	return nil
}

// Dialect turns the common text into a backend's. $1 is a parameter; words in braces are listed
// below. Times are passed and read as time.Time, by Time.
type Dialect struct {
	words *strings.Replacer
	texts sync.Map // by common text
	// LockJobs makes calls that store jobs wait for each other; empty where all writers do.
	LockJobs string
	// RowLocks: transactions lock rows, and so have to do it in one order.
	RowLocks bool
}

// SQLite is the dialect of a database with one writer.
var SQLite = &Dialect{words: strings.NewReplacer(
	"$", "?",
	"{now}", "CAST(unixepoch('subsec') * 1000000 AS INTEGER)", "{us}", "",
	"{update}", "", "{no key update}", "", "{share}", "", "{skip p}", "", "{skip s}", "",
	"{decisions by revision}", "decisions INDEXED BY decisions_by_revision",
	"{decisions d by revision}", "decisions d INDEXED BY decisions_by_revision",
	"{differences}", `CASE WHEN json_extract(x.payload, '$.error') IS NULL THEN
  coalesce(json_array_length(x.payload, '$.differences'), 0) + coalesce(json_extract(x.payload, '$.differencesOmitted'), 0) END`,
	"{names 2}", "SELECT value FROM json_each(?2)", "{names 4}", "SELECT value FROM json_each(?4)",
)}

// Postgres is the dialect of a database with many writers.
var Postgres = &Dialect{
	words: strings.NewReplacer(
		"{now}", "clock_timestamp()", "{us}", " * interval '1 microsecond'",
		"{update}", " FOR UPDATE", "{no key update}", " FOR NO KEY UPDATE", "{share}", " FOR SHARE",
		"{skip p}", " FOR UPDATE OF p SKIP LOCKED", "{skip s}", " FOR UPDATE OF s SKIP LOCKED",
		"{decisions by revision}", "decisions", "{decisions d by revision}", "decisions d",
		"{differences}", `CASE WHEN x.payload::json ->> 'error' IS NULL THEN
  coalesce(json_array_length(x.payload::json -> 'differences'), 0) + coalesce((x.payload::json ->> 'differencesOmitted')::bigint, 0) END`,
		"{names 2}", "SELECT json_array_elements_text($2::json)", "{names 4}", "SELECT json_array_elements_text($4::json)",
	),
	LockJobs: `SELECT pg_advisory_xact_lock(hashtext('berth jobs ' || current_schema()))`,
	RowLocks: true,
}

// Text returns a common text in the dialect, the same string each time.
func (d *Dialect) Text(common string) string {
	if text, ok := d.texts.Load(common); ok {
		return text.(string)
	}
	text, _ := d.texts.LoadOrStore(common, d.words.Replace(common))
	return text.(string)
}

// Time reads a time into At, from microseconds since 1970 or a timestamp. NULL is the zero time.
// So is infinity, which no program of ours writes: an error would take all other rows of an answer
// with it.
type Time struct{ At *time.Time }

// Scan implements sql.Scanner.
func (t Time) Scan(src any) error {
	switch v := src.(type) {
	case nil:
		*t.At = time.Time{}
	case int64:
		*t.At = time.UnixMicro(v).UTC()
	case time.Time:
		*t.At = v.UTC()
	case string: // as pgx reads infinity
		if strings.TrimPrefix(v, "-") != "infinity" {
			return fmt.Errorf("read a time: the column has %.40q", v)
		}
		*t.At = time.Time{}
	default:
		return fmt.Errorf("read a time: the column has a %T", src)
	}
	return nil
}

// ceil rounds a bound up: stored times are whole microseconds, so t >= x holds for them exactly
// where t >= ceil(x) does.
func ceil(t time.Time) time.Time {
	return t.Add(time.Microsecond - 1).Truncate(time.Microsecond)
}

// most is a limit on rows that is always there.
func most(limit int) int64 {
	if limit <= 0 {
		return math.MaxInt64
	}
	return int64(limit)
}
