package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestKilledRelaxed: the log of a relaxed server of v0.3.0 that was killed lacks a gap. A server
// does not go on as if nothing were missing.
func TestKilledRelaxed(t *testing.T) {
	dir := t.TempDir()
	mark := filepath.Join(dir, "relaxed")
	if err := os.WriteFile(mark, []byte(`{"clean":"2026-11-22T00:00:00Z","instance":"a:1"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	code, _, errs := command(t, "--listen", "127.0.0.1:0", "--data-dir", dir)
	if code != 1 || !strings.Contains(errs, mark) || !strings.Contains(errs, "start and stop v0.3.0 here once") {
		t.Fatalf("exit %d: %s", code, errs)
	}
	if _, err := os.Stat(filepath.Join(dir, "berth.db")); err == nil {
		t.Error("the store was opened, which may migrate it beyond v0.3.0")
	}
	if err := os.Remove(mark); err != nil {
		t.Fatal(err)
	}
	if err := serve(t, dir).stop(); err != nil {
		t.Error(err)
	}
}
