package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"berth/test/pgtest"

	"github.com/jackc/pgx/v5"
)

// TestRollupRebuild: sums that someone changed are made again of the log, on both stores, once no
// server has them open.
func TestRollupRebuild(t *testing.T) {
	dir, url := t.TempDir(), pgtest.URL(t)
	pg, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = pg.Close(context.Background()) }()
	if code, _, errs := command(t, "migrate", "up", "--database-url", url); code != 0 {
		t.Fatal(errs)
	}
	const sums = `SELECT (SELECT sum(decisions) FROM hourly_decisions WHERE cluster = 'a') || ' ' || (SELECT sum(placements) FROM hourly_placements)
  || ' ' || (SELECT sum(decisions) FROM hourly_decisions WHERE cluster = 'b')`
	for _, x := range []struct {
		flags []string
		serve func(*settings)
		exec  func(query string) error
		sums  func() (text string, err error)
	}{
		{
			[]string{"--data-dir", dir},
			func(*settings) {},
			func(query string) error {
				behind(t, dir, query)
				return nil
			},
			func() (text string, err error) {
				lite, err := sql.Open("sqlite", "file:"+filepath.Join(dir, "berth.db"))
				if err == nil {
					err = errors.Join(lite.QueryRowContext(t.Context(), sums).Scan(&text), lite.Close())
				}
				return text, err
			},
		},
		{
			[]string{"--database-url", url},
			func(s *settings) { s.DatabaseURL = url },
			func(query string) error {
				_, err := pg.Exec(t.Context(), query)
				return err
			},
			func() (text string, err error) {
				err = pg.QueryRow(t.Context(), sums).Scan(&text)
				return text, err
			},
		},
	} {
		s := serve(t, dir, x.serve)
		for _, cluster := range []string{"a", "b"} {
			if status, body := s.post(t, "/v1/snapshots?cluster="+cluster, nodeNamed("n1"), "Content-Type", "application/json"); status != http.StatusCreated {
				t.Fatal(status, string(body))
			}
			for i := range 3 {
				body := fmt.Sprintf(`{"snapshot":"%s@latest","bind":true,"pod":{"metadata":{"name":"p%d"},"spec":{"containers":[{"name":"c","image":"i"}]}}}`, cluster, i)
				if status, body := s.post(t, "/v1/decisions", body, "Content-Type", "application/json"); status != http.StatusCreated {
					t.Fatal(status, string(body))
				}
			}
		}
		if err := s.stop(); err != nil {
			t.Fatal(err)
		}
		run := func(code int, said string, more ...string) {
			t.Helper()
			args := append(append([]string{"rollup"}, x.flags...), append([]string{"rebuild"}, more...)...)
			if got, out, errs := command(t, args...); got != code || !strings.Contains(out+errs, said) {
				t.Errorf("%v: %d %s%s", args, got, out, errs)
			}
		}
		want := func(sums string) {
			t.Helper()
			if got, err := x.sums(); err != nil || got != sums {
				t.Errorf("%v: the sums are %q, %v; want %q", x.flags, got, err, sums)
			}
		}
		run(0, "b: roll-ups made of 3 places of the log")
		want("3 6 3")
		for _, spoil := range []string{`UPDATE hourly_decisions SET decisions = decisions + 4`, `UPDATE hourly_placements SET placements = 7`} {
			if err := x.exec(spoil); err != nil {
				t.Fatal(err)
			}
		}
		run(1, "--cluster c: no decision of it is recorded", "--cluster", "c")
		want("7 14 7")
		run(0, "a: roll-ups made of 3 places of the log", "--cluster", "a")
		want("3 10 7")
		run(0, "b: roll-ups made of 3 places of the log")
		want("3 6 3")
	}
}
