package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"berth/test/pgtest"
)

// TestQuarantine: records whose revision the database lacks are in quarantine, are counted and
// shown, and are handed in beside the running server once the revision is back.
func TestQuarantine(t *testing.T) {
	pg := pgtest.Private(t, pgtest.Options{})
	t.Cleanup(client.CloseIdleConnections)
	if code, out, errs := command(t, "migrate", "up", "--database-url", pg.URL()); code != 0 {
		t.Fatalf("%d %s %s", code, out, errs)
	}
	sql := func(statements string) {
		t.Helper()
		conn, err := pgx.Connect(t.Context(), pg.URL())
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = conn.Close(t.Context()) }()
		if _, err := conn.Exec(t.Context(), statements); err != nil {
			t.Fatal(err)
		}
	}
	dir := t.TempDir()
	where := []string{"quarantine", "--data-dir", dir}
	onPostgres := func(s *settings) { s.DatabaseURL = pg.URL() }
	r := serve(t, dir, onPostgres)
	if code, out := r.post(t, "/v1/snapshots", oneNode); code != http.StatusCreated {
		t.Fatalf("%d %s", code, out)
	}
	code, out := r.post(t, "/v1/decisions", fmt.Sprintf(question, "first"))
	if code != http.StatusCreated {
		t.Fatalf("%d %s", code, out)
	}
	metric := func(want string) {
		t.Helper()
		text := ""
		for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
			if text = get(t, r.url+"/metrics"); strings.Contains(text, "\nberth_spool_quarantine_records "+want+"\n") {
				return
			}
		}
		t.Fatalf("berth_spool_quarantine_records is not %s: %s", want, text)
	}
	metric("0")
	if code, out, errs := command(t, append(where, "show")...); code != 0 || out != "the quarantine is empty\n" {
		t.Errorf("%d %s %s", code, out, errs)
	}
	if err := pg.Halt(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	code, out = r.post(t, "/v1/decisions", fmt.Sprintf(question, "spooled"))
	var d struct{ ID, Durability string }
	if err := json.Unmarshal(out, &d); err != nil || code != http.StatusCreated || d.Durability != "spool" {
		t.Fatalf("%d %s", code, out)
	}
	if err := r.stop(); err != nil {
		t.Fatal(err)
	}
	if err := pg.Launch(); err != nil {
		t.Fatal(err)
	}
	sql(`CREATE TABLE kept_revisions AS TABLE revisions; CREATE TABLE kept_checkpoints AS TABLE checkpoints; DELETE FROM checkpoints; DELETE FROM revisions`)
	r = serve(t, dir, onPostgres)
	metric("1")
	if text := get(t, r.url+"/readyz"); !strings.Contains(text, "1 records in quarantine, see server quarantine show") {
		t.Error(text)
	}
	shown := func(code int, out string) {
		t.Helper()
		if !strings.Contains(out, d.ID+"  default  2") || !strings.Contains(out, "not found") {
			t.Errorf("%d %s", code, out)
		}
	}
	code, text, _ := command(t, append(where, "show")...)
	shown(code, text)
	retry := append(where, "retry", "--database-url", pg.URL())
	if code, text, _ = command(t, retry...); code != 2 {
		t.Errorf("retry: %d %s", code, text)
	}
	shown(code, text)
	sql(`INSERT INTO revisions SELECT * FROM kept_revisions; INSERT INTO checkpoints SELECT * FROM kept_checkpoints`)
	if code, text, errs := command(t, retry...); code != 0 || text != "1 records handed in, 0 left\n" {
		t.Errorf("retry: %d %s %s", code, text, errs)
	}
	metric("0")
	if left, err := filepath.Glob(filepath.Join(dir, "spool", "quarantine-*")); err != nil || len(left) > 0 {
		t.Errorf("%v, %v", left, err)
	}
	if code, out := r.post(t, "/v1/decisions/"+d.ID+"/replay", "{}"); code != http.StatusOK || !strings.HasPrefix(string(out), `{"identical":true`) {
		t.Errorf("%d %s", code, out)
	}
}
