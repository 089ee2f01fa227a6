package main

import (
	"database/sql"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// behind runs statements on the file of a store that no server has open.
func behind(t *testing.T, dir string, statements ...string) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(dir, "berth.db"))
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range statements {
		if _, err := db.ExecContext(t.Context(), s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestChainSwitchedOff: whose seals are removed together with their count is told by the commands,
// by the server that starts on it, and over REST.
func TestChainSwitchedOff(t *testing.T) {
	dir := t.TempDir()
	s := serve(t, dir)
	upload := `{"apiVersion":"v1","kind":"List","items":[{"apiVersion":"v1","kind":"Node","metadata":{"name":"n1"},"status":{"allocatable":{"cpu":"4","memory":"8Gi","pods":"110"}}}]}`
	for _, path := range []string{"/v1/snapshots?cluster=a", "/v1/snapshots?cluster=b"} {
		if status, body := s.post(t, path, upload, "Content-Type", "application/json"); status != http.StatusCreated {
			t.Fatal(status, string(body))
		}
	}
	if err := s.stop(); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(s.log.String(), "audit verify") {
		t.Errorf("a whole chain is remarked on: %s", s.log)
	}
	if code, out, errs := command(t, "audit", "verify", "--data-dir", dir); code != 0 {
		t.Fatalf("before: %d %s%s", code, out, errs)
	}
	behind(t, dir, `DELETE FROM seals WHERE cluster = 'a'`, `UPDATE clusters SET seals = 0, seal_hash = x'' WHERE cluster = 'a'`)
	const found = "missing: the chain has no seal of its beginning"
	if code, out, errs := command(t, "audit", "verify", "--data-dir", dir); code != 2 || !strings.Contains(out, found) || !strings.Contains(out, "b: GOOD") {
		t.Errorf("verify: %d %s%s", code, out, errs)
	}
	if code, out, errs := command(t, "audit", "verify", "--data-dir", dir, "--accept-unchecked"); code != 0 || !strings.Contains(out, "accepted: the chain has no seal of its beginning") {
		t.Errorf("accepted: %d %s%s", code, out, errs)
	}
	s = serve(t, dir)
	for deadline := time.Now().Add(10 * time.Second); !strings.Contains(s.log.String(), "run audit verify") && time.Now().Before(deadline); {
		time.Sleep(5 * time.Millisecond)
	}
	if log := s.log.String(); !strings.Contains(log, `"detail":"cluster a: `) || strings.Contains(log, `"detail":"cluster b: `) {
		t.Errorf("the start does not tell: %s", log)
	}
	if status, text := s.get(t, "/readyz"); status != http.StatusOK || !strings.Contains(text, "[!]audit chains: 1 found at the start") {
		t.Errorf("/readyz: %d %s", status, text)
	}
	if _, text := s.get(t, "/metrics"); !strings.Contains(text, "\nberth_audit_findings 1\n") {
		t.Errorf("/metrics has not berth_audit_findings 1: %s", text)
	}
	if _, text := s.get(t, "/v1/clusters/a/audit"); !strings.Contains(text, `"what":"missing"`) || !strings.Contains(text, "no seal of its beginning") {
		t.Errorf("over REST: %s", text)
	}
}
