package postgres

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"berth/test/pgtest"
)

func TestOpenRefuses(t *testing.T) {
	server := func(o pgtest.Options) func(*testing.T) string {
		return func(t *testing.T) string {
			url := pgtest.Private(t, o).URL()
			if !o.Standby {
				if err := MigrateUp(t.Context(), url, MigrateOptions{}); err != nil {
					t.Fatal(err)
				}
			}
			return url
		}
	}
	tests := []struct {
		name string
		url  func(t *testing.T) string
		is   error
		says string
		soft bool // Unsafe lets it pass
	}{
		{"fsync off", server(pgtest.Options{Settings: []string{"fsync=off"}}), ErrFsync, "fsync is off", true},
		{"full_page_writes off", server(pgtest.Options{Settings: []string{"full_page_writes=off"}}), ErrFullPageWrites, "full_page_writes", true},
		{"synchronous_commit off in the session", func(t *testing.T) string {
			return pgtest.With(freshURL(t), "options", "-c synchronous_commit=off")
		}, ErrSynchronousCommit, "synchronous_commit", true},
		{"a pooler in transaction mode", func(t *testing.T) string { return pgtest.Pooler(t, freshURL(t)) }, ErrPooler, "transaction mode", true},
		{"a standby", server(pgtest.Options{Standby: true}), ErrStandby, "standby", false},
		{"a session that only reads", func(t *testing.T) string {
			return pgtest.With(freshURL(t), "options", "-c default_transaction_read_only=on")
		}, ErrStandby, "read-only", false},
		{"an encoding", func(t *testing.T) string { return pgtest.Encoded(t, pgtest.Shared(t), "LATIN1") }, ErrEncoding, "UTF8 but LATIN1", false},
		{"an empty schema", func(t *testing.T) string { return pgtest.URL(t) }, ErrUnmigrated, fmt.Sprintf("version 0, this program needs %d: run `server migrate up`", newest(t)), false},
		{"a newer schema", func(t *testing.T) string {
			url := freshURL(t)
			execRaw(t, url, "UPDATE schema_version SET version = 99, serves = 99")
			return url
		}, ErrSchema, fmt.Sprint("version 99, this program knows ", newest(t)), false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			url := tt.url(t)
			x, err := Examine(t.Context(), url)
			if err != nil || !errors.Is(errors.Join(slices.Concat(x.Hard, x.Soft, []error{x.Schema})...), tt.is) || x.Bytes == 0 || x.Free < 3 || x.Within < x.Ahead.Abs() {
				t.Errorf("examined: %v, %+v", err, x)
			}
			s, err := Open(t.Context(), url, Options{})
			if err == nil {
				t.Fatal("opened", s.Close())
			}
			if !errors.Is(err, tt.is) || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("error %v, want %v that says %q", err, tt.is, tt.says)
			}
			s, err = Open(t.Context(), url, Options{Unsafe: true})
			if !tt.soft {
				if !errors.Is(err, tt.is) {
					t.Errorf("with Unsafe: %v, want %v", err, tt.is)
				}
				return
			}
			if err != nil {
				t.Fatalf("with Unsafe: %v", err)
			}
			if w := s.Warnings(); len(w) != 1 || !errors.Is(w[0], tt.is) {
				t.Errorf("warnings %v, want %v", w, tt.is)
			}
			appendOne(t, s, "d1")
			if _, err := s.Decision(t.Context(), "d1"); err != nil {
				t.Error(err)
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestNoWarningsWhereAllIsWell(t *testing.T) {
	if w := openAt(t, freshURL(t), Options{Unsafe: true}).Warnings(); len(w) != 0 {
		t.Error(w)
	}
}

func TestPasswordStaysSecret(t *testing.T) {
	for _, url := range []string{"postgres://berth:hunter2@127.0.0.1:1/berth", "postgres://berth:hunter2@[bad/berth"} {
		_, err := Open(t.Context(), url, Options{})
		if err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("Open = %v", err)
		}
	}
}
