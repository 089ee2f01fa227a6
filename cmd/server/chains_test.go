package main

import (
	"database/sql"
	"net/http"
	"os"
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

// nodeNamed is a snapshot of a node.
func nodeNamed(name string) string {
	return `{"apiVersion":"v1","kind":"List","items":[{"apiVersion":"v1","kind":"Node","metadata":{"name":"` + name + `"},"status":{"allocatable":{"cpu":"4","memory":"8Gi","pods":"110"}}}]}`
}

// TestChainSwitchedOff: whose seals are removed together with their count is told by the commands,
// by the server that starts on it, and over REST.
func TestChainSwitchedOff(t *testing.T) {
	dir := t.TempDir()
	s := serve(t, dir)
	upload := nodeNamed("n1")
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
	if err := s.stop(); err != nil {
		t.Fatal(err)
	}
	if code, out, errs := command(t, "audit", "begin", "--data-dir", dir); code != 1 || !strings.Contains(errs, "--cluster") {
		t.Errorf("begin: %d %s%s", code, out, errs)
	}
	for _, want := range []string{"a: the chain begins behind seal 0", "a: the chain has its beginning, seal 1"} {
		if code, out, errs := command(t, "audit", "begin", "--data-dir", dir, "--cluster", "a"); code != 0 || !strings.Contains(out, want) {
			t.Errorf("begin: %d %s%s", code, out, errs)
		}
	}
	if code, out, errs := command(t, "audit", "verify", "--data-dir", dir); code != 0 || !strings.Contains(out, "checked against seal 1") {
		t.Errorf("begun: %d %s%s", code, out, errs)
	}
}

// TestAnchorsAreKept: each anchor is compared with the one before, which stays; a chain that does
// not hold it is told, once.
func TestAnchorsAreKept(t *testing.T) {
	dir, anchors := t.TempDir(), t.TempDir()
	s := serve(t, dir)
	upload := func(name string) {
		t.Helper()
		node := nodeNamed(name)
		if status, body := s.post(t, "/v1/snapshots?cluster=a", node, "Content-Type", "application/json"); status != http.StatusCreated {
			t.Fatal(status, string(body))
		}
	}
	upload("n1")
	upload("n2")
	if err := s.stop(); err != nil {
		t.Fatal(err)
	}
	head := func(want int, text string) {
		t.Helper()
		if code, out, errs := command(t, "audit", "head", "--data-dir", dir, "--into", anchors); code != want || !strings.Contains(out, `"heads"`) || !strings.Contains(errs, text) || want == 0 && errs != "" {
			t.Errorf("%d %s%s", code, out, errs)
		}
	}
	head(0, "")
	head(0, "")
	behind(t, dir, `DELETE FROM checkpoints WHERE number = 2`, `DELETE FROM revisions WHERE number = 2`, `DELETE FROM seals WHERE number = 2`,
		`DELETE FROM revision_changes WHERE revision = 2`,
		`UPDATE clusters SET seals = 1, newest = 1, revisions = 1, token = (SELECT token FROM revisions), seal_hash = (SELECT hash FROM seals)`)
	if code, out, errs := command(t, "audit", "verify", "--data-dir", dir); code != 0 {
		t.Errorf("the cut end shows without an anchor: %d %s%s", code, out, errs)
	}
	head(2, "a: anchor: seal 2 of the anchor is not there")
	head(0, "")
	files, err := filepath.Glob(filepath.Join(anchors, "*"))
	if err != nil || len(files) != 4 {
		t.Errorf("%q, %v", files, err)
	}
	if code, out, errs := command(t, "audit", "verify", "--data-dir", dir, "--anchor", files[0]); code != 2 || !strings.Contains(out, "anchor: seal 2") {
		t.Errorf("the first anchor: %d %s%s", code, out, errs)
	}
	if err := os.WriteFile(filepath.Join(anchors, "anchor-9.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, _, errs := command(t, "audit", "head", "--data-dir", dir, "--into", anchors); code != 1 || !strings.Contains(errs, "anchor-9.json") {
		t.Errorf("an anchor that cannot be read: %d %s", code, errs)
	}
}

// TestRetain: a pass of retention by a command.
func TestRetain(t *testing.T) {
	dir := t.TempDir()
	s := serve(t, dir)
	if status, body := s.post(t, "/v1/snapshots?cluster=a", nodeNamed("n1"), "Content-Type", "application/json"); status != http.StatusCreated {
		t.Fatal(status, string(body))
	}
	if status, body := s.post(t, "/v1/decisions", `{"snapshot":"a@latest","pod":{"metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"i"}]}}}`, "Content-Type", "application/json"); status != http.StatusCreated {
		t.Fatal(status, string(body))
	}
	if err := s.stop(); err != nil {
		t.Fatal(err)
	}
	if code, out, errs := command(t, "retain", "--data-dir", dir, "--keep-decisions", "1h", "--keep-revisions", "1h"); code != 0 || strings.Contains(errs, "dropped") {
		t.Errorf("what is new: %d %s%s", code, out, errs)
	}
	time.Sleep(2 * time.Millisecond)
	if code, out, errs := command(t, "retain", "--data-dir", dir, "--keep-decisions", "1ms"); code != 0 || !strings.Contains(errs, "old records were dropped") {
		t.Errorf("what is old: %d %s%s", code, out, errs)
	}
	if code, out, errs := command(t, "audit", "verify", "--data-dir", dir); code != 0 || !strings.Contains(out, "0 decisions") {
		t.Errorf("afterwards: %d %s%s", code, out, errs)
	}
	if code, _, errs := command(t, "retain", "--data-dir", dir, "--keep-revisions", "1m"); code != 1 || !strings.Contains(errs, "--keep-revisions") {
		t.Errorf("%d %s", code, errs)
	}
	if code, _, errs := command(t, "migrate", "--data-dir", dir, "up", "--writer-role", "w"); code != 1 || !strings.Contains(errs, "--writer-role") {
		t.Errorf("%d %s", code, errs)
	}
}
