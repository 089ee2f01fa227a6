package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"berth/internal/queries"
	"berth/test/process"
)

// given are the values of parameters that the ready queries are measured with, as SQL; the cluster
// is prod. What a log does not tell is taken from a query's own example.
var given = map[string]string{
	"namespace": "SELECT ''",
	"pod":       "SELECT pod FROM decision_scores WHERE cluster = 'prod' ORDER BY created_at DESC LIMIT 1",
	"node":      "SELECT node FROM decision_log WHERE cluster = 'prod' AND node <> '' ORDER BY created_at DESC LIMIT 1",
	"id":        "SELECT id FROM decision_log WHERE cluster = 'prod' AND bound_revision > 0 ORDER BY created_at DESC LIMIT 1",
	"request":   "SELECT request_id FROM decision_log WHERE cluster = 'prod' ORDER BY created_at DESC LIMIT 1",
	"outcome":   "SELECT ''", "verb": "SELECT ''",
}

// podNamespace is that of the pod.
const podNamespace = "SELECT namespace FROM decision_scores WHERE cluster = 'prod' ORDER BY created_at DESC LIMIT 1"

// measure runs each ready query whose name contains a word, about the cluster prod and the last
// span of time, and prints the wall time and the CPU of the faster of two runs. A store's processes
// have to be of this machine.
func measure(address []string, span time.Duration, only string) error {
	driver, source, err := driverOf(address)
	if err != nil {
		return err
	}
	db, err := sql.Open(driver, source)
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	ctx := context.Background()
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	backend, pid := "sqlite", os.Getpid()
	if driver == "pgx" {
		backend = "postgres"
		if err := conn.QueryRowContext(ctx, "SELECT pg_backend_pid()").Scan(&pid); err != nil {
			return err
		}
		// One process does a query's whole work, so that its CPU is the query's.
		for _, set := range []string{
			"SET ROLE berth_reader", "SET jit = off", "SET statement_timeout = '120s'", "SET max_parallel_workers_per_gather = 0",
		} {
			if _, err := conn.ExecContext(ctx, set); err != nil {
				return err
			}
		}
	}
	var failed []error
	for i := range queries.All() {
		q := &queries.All()[i]
		if !strings.Contains(q.Name, only) {
			continue
		}
		if err := measureOne(conn, backend, pid, q, span); err != nil {
			failed = append(failed, fmt.Errorf("%s: %w", q.Name, err))
		}
	}
	return errors.Join(failed...)
}

func measureOne(conn *sql.Conn, backend string, pid int, q *queries.Query, span time.Duration) error {
	ctx, now := context.Background(), time.Now().UTC().Truncate(time.Second)
	values := map[string]string{
		"cluster": "prod", "since": now.Add(-span).Format(time.RFC3339), "until": now.Add(time.Second).Format(time.RFC3339), "limit": "100",
	}
	for _, name := range q.Parameters {
		ask := given[name]
		if name == "namespace" && slices.Contains(q.Parameters, "pod") && !slices.Contains(q.Optional, "pod") {
			ask = podNamespace
		}
		switch {
		case values[name] != "":
		case ask == "":
			values[name] = q.Example[name]
		default:
			var value string
			if err := conn.QueryRowContext(ctx, ask).Scan(&value); err != nil {
				return err
			}
			values[name] = value
		}
	}
	text := strings.TrimSuffix(q.Literal(backend, values), ";")
	best, cpu, rows := time.Hour, time.Duration(0), 0
	for range 2 {
		before, err := process.CPU(pid)
		if err != nil {
			return err
		}
		begun := time.Now()
		if rows, _, err = read(conn, text); err != nil {
			return err
		}
		took := time.Since(begun)
		after, err := process.CPU(pid)
		if err != nil {
			return err
		}
		if took < best {
			best, cpu = took, after-before
		}
	}
	parts := "-"
	if backend == "postgres" {
		_, plan, err := read(conn, "EXPLAIN "+text)
		if err != nil {
			return err
		}
		names := map[string]bool{}
		for _, name := range partition.FindAllString(plan, -1) {
			names[name] = true
		}
		parts = fmt.Sprint(len(names))
	}
	fmt.Printf("%s|%.2f|%.2f|%d|%s\n", q.Name, best.Seconds(), cpu.Seconds(), rows, parts)
	return nil
}

var partition = regexp.MustCompile(`decisions_(p\d+|default)`)

// read reads an answer whole: how many rows it has, and their first columns as text.
func read(conn *sql.Conn, query string) (n int, text string, err error) {
	rows, err := conn.QueryContext(context.Background(), query)
	if err != nil {
		return 0, "", err
	}
	defer func() { _ = rows.Close() }()
	columns, err := rows.Columns()
	if err != nil {
		return 0, "", err
	}
	values, into := make([]any, len(columns)), make([]any, len(columns))
	for i := range values {
		into[i] = &values[i]
	}
	var first strings.Builder
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return 0, "", err
		}
		n++
		fmt.Fprintln(&first, values[0])
	}
	return n, first.String(), rows.Err()
}
