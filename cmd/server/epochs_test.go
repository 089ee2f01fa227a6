package main

import (
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"berth/internal/store/postgres"
	"berth/test/pgtest"
)

// A server whose database lost what it answered says so where people look, and serves on.
func TestDatabaseThatLostAnswers(t *testing.T) {
	s := pgtest.Private(t, pgtest.Options{})
	if err := postgres.MigrateUp(t.Context(), s.URL(), postgres.MigrateOptions{}); err != nil {
		t.Fatal(err)
	}
	r := serve(t, t.TempDir(), func(o *settings) { o.DatabaseURL = s.URL() })
	if code, out := r.post(t, "/v1/snapshots", oneNode); code != http.StatusCreated {
		t.Fatalf("%d %s", code, out)
	}
	halt := func() {
		if err := s.Halt(syscall.SIGQUIT); err != nil {
			t.Fatal(err)
		}
	}
	launch := func() {
		if err := s.Launch(); err != nil {
			t.Fatal(err)
		}
	}
	decide := func(name string) (out []byte) {
		for range 200 {
			code, answer := r.post(t, "/v1/decisions", decisionOn(name))
			if code == http.StatusCreated {
				return answer
			}
			if out = answer; code != http.StatusServiceUnavailable {
				break
			}
			time.Sleep(50 * time.Millisecond)
		}
		t.Fatalf("%s: %s", name, out)
		return nil
	}
	halt()
	back := s.Keep(t)
	launch()
	decide("lost")
	halt()
	back()
	launch()
	if out := decide("after"); !strings.Contains(string(out), `"boundSnapshot":"default@1000000001"`) {
		t.Errorf("after: %s", out)
	}
	conn, err := pgx.Connect(t.Context(), s.URL())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(t.Context()) }()
	var profiles int
	if err := conn.QueryRow(t.Context(), `SELECT count(*) FROM profiles`).Scan(&profiles); err != nil || profiles != 1 {
		t.Errorf("%d profiles are stored again, %v", profiles, err)
	}
	if _, text := r.get(t, "/readyz"); !strings.Contains(text, "[!]chain: the failover noticed at ") || !strings.Contains(text, "default: 1 decisions answered from ") ||
		!strings.Contains(text, "revisions default@2 to 2") {
		t.Errorf("readyz: %s", text)
	}
	text := r.scrape(t)
	for _, want := range []string{"berth_chain_epoch 1\n", "berth_chain_lost_total 1\n", "berth_chain_refused_total 0\n", "berth_chain_gap_timestamp_seconds 1."} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s", want)
		}
	}
	if _, out := r.get(t, "/v1/clusters/default/pods/default/lost"); strings.Contains(out, "upload one") {
		t.Error(out)
	}
}
