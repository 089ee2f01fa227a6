package postgres

import (
	"errors"
	"fmt"
	"testing"

	"berth/migrations"
	"berth/test/pgtest"
)

// TestBehindPgBouncer: in session mode, as Debian's package starts it, everything works and each
// session has our settings. In transaction mode migrations are refused, and a server serves only
// with Unsafe.
func TestBehindPgBouncer(t *testing.T) {
	for _, mode := range []string{"session", "transaction"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			server := pgtest.Private(t, pgtest.Options{})
			through := pgtest.PgBouncer(t, server, mode)
			err := MigrateUp(t.Context(), through, MigrateOptions{})
			unsafe := mode == "transaction"
			if unsafe != errors.Is(err, ErrPooler) || !unsafe && err != nil {
				t.Fatalf("migrate: %v", err)
			}
			if unsafe {
				if err := MigrateUp(t.Context(), server.URL(), MigrateOptions{}); err != nil {
					t.Fatal(err)
				}
			}
			if st, err := MigrateStatus(t.Context(), through); err != nil || st.Version != newest(t) {
				t.Errorf("status %+v, %v", st, err)
			}
			s, err := Open(t.Context(), through, Options{})
			if unsafe {
				if !errors.Is(err, ErrPooler) {
					t.Fatalf("Open: %v", err)
				}
				s, err = Open(t.Context(), through, Options{Unsafe: true})
			}
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = s.Close() }()
			for _, id := range []string{"d1", "d2", "d3"} {
				appendOne(t, s, id)
				if _, err := s.Decision(t.Context(), id); err != nil {
					t.Error(err)
				}
			}
			if err := s.Ping(t.Context()); err != nil {
				t.Error(err)
			}
			var seqscan string
			if err := s.pool.QueryRow(t.Context(), `SELECT current_setting('enable_seqscan')`).Scan(&seqscan); err != nil || !unsafe && seqscan != "off" {
				t.Errorf("enable_seqscan is %q, %v", seqscan, err)
			}
			_ = s.Close() // or a session of its own would hold the lock of a table
			if unsafe {
				return
			}
			for _, version := range []int{newest(t) - 1, migrations.Latest} {
				if err := migrateTo(t.Context(), through, version, MigrateOptions{}); err != nil {
					t.Errorf("to %d: %v", version, err)
				}
			}
		})
	}
}

// BenchmarkBehindPgBouncer writes and reads records directly and through a pooler, on a database of
// its own each.
func BenchmarkBehindPgBouncer(b *testing.B) {
	for _, mode := range []string{"direct", "session", "transaction"} {
		open := func(b *testing.B) *Store {
			server := pgtest.Private(b, pgtest.Options{})
			if err := MigrateUp(b.Context(), server.URL(), MigrateOptions{}); err != nil {
				b.Fatal(err)
			}
			through := server.URL()
			if mode != "direct" {
				through = pgtest.PgBouncer(b, server, mode)
			}
			return openAt(b, through, Options{Unsafe: mode == "transaction"})
		}
		for _, committers := range []int{1, 64} {
			b.Run(fmt.Sprintf("%s/write/%d", mode, committers), func(b *testing.B) { benchGroupOn(b, open(b), committers) })
		}
		b.Run(mode+"/read", func(b *testing.B) {
			s := open(b)
			appendOne(b, s, "d1")
			for b.Loop() {
				if _, err := s.Decision(b.Context(), "d1"); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// Behind a pooler in transaction mode, whose clients keep their connections, another database is
// noticed with the next ping.
func TestDatabasePutBackBehindPooler(t *testing.T) {
	s := pgtest.Private(t, pgtest.Options{})
	migratedIn(t, s.URL())
	p := &pair{t: t, primary: s, standby: s, url: pgtest.PgBouncer(t, s, "transaction")}
	p.server = openAt(t, p.url, Options{Unsafe: true, Epochs: p.noticed.options("a")})
	p.write(1)
	s.Halted(t)
	back := s.Keep(t)
	if err := s.Launch(); err != nil {
		t.Fatal(err)
	}
	p.retry(p.server.Ping)
	lost := p.write(2)
	s.Halted(t)
	back()
	if err := s.Launch(); err != nil {
		t.Fatal(err)
	}
	p.retry(p.server.Ping)
	changes, _ := p.noticed.all()
	if len(changes) != 1 || len(changes[0].Losses) != 1 || len(changes[0].Losses[0].IDs) != len(lost) {
		t.Fatalf("noticed %+v", changes)
	}
	p.follow()
	p.write(1)
	p.good()
}
