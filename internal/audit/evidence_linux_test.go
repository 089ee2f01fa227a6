package audit_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"

	"berth/internal/store/sqlite"
)

// TestEvidenceIsOnlyRead: a copy that cannot be written is checked without a lock, one that can be
// with it; neither is changed, and an older one is left to its own release.
func TestEvidenceIsOnlyRead(t *testing.T) {
	dir := t.TempDir()
	f := &fixture{t: t, url: dir}
	f.open("sqlite", "file:"+filepath.Join(dir, sqlite.FileName))
	f.fill()
	if _, err := sqlite.OpenEvidence(t.Context(), dir); !errors.Is(err, sqlite.ErrLocked) {
		t.Errorf("beside a server: %v", err)
	}
	if err := f.Store.Close(); err != nil {
		t.Fatal(err)
	}
	f.exec(`DROP VIEW decision_log`, `CREATE VIEW decision_log AS SELECT 1 AS one`)
	if err := f.db.Close(); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, sqlite.FileName)
	before, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	open := func(dir string) (evidence, error) { return sqlite.OpenEvidence(t.Context(), dir) }
	e, err := open(dir)
	if got := checked(t, e, err); !slices.Equal(got, []string{"schema changed 0"}) {
		t.Errorf("found %q", got)
	}
	fixed := t.TempDir()
	if err := os.WriteFile(filepath.Join(fixed, sqlite.FileName), before, 0o444); err != nil {
		t.Fatal(err)
	}
	asReader(t, fixed, func() { e, err = open(fixed) })
	if got := checked(t, e, err); !slices.Equal(got, []string{"schema changed 0"}) {
		t.Errorf("of a read-only copy found %q", got)
	}
	if names, err := filepath.Glob(filepath.Join(fixed, "*")); err != nil || len(names) != 1 {
		t.Errorf("a check left %q, %v", names, err)
	}
	after, err := os.ReadFile(file)
	if err != nil || string(after) != string(before) {
		t.Errorf("the check changed the file, %v", err)
	}
	if err := sqlite.MigrateTo(t.Context(), dir, 15); err != nil {
		t.Fatal(err)
	}
	if _, err := open(dir); !errors.Is(err, sqlite.ErrOlder) || !strings.Contains(err.Error(), "version 15") {
		t.Errorf("an older schema: %v", err)
	}
	if _, err := open(t.TempDir()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no store: %v", err)
	}
}

// TestEvidenceNeedsItsWAL: what a copy's WAL has is not left out in silence.
func TestEvidenceNeedsItsWAL(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, sqlite.FileName)
	if err := errors.Join(os.WriteFile(file, nil, 0o444), os.WriteFile(file+"-wal", []byte("x"), 0o444)); err != nil {
		t.Fatal(err)
	}
	var err error
	asReader(t, dir, func() { _, err = sqlite.OpenEvidence(t.Context(), dir) })
	if err == nil || !strings.Contains(err.Error(), "-wal") {
		t.Errorf("%v", err)
	}
}

// asReader runs f as a user who may read a directory and not write there.
func asReader(t *testing.T, dir string, f func()) {
	t.Helper()
	if err := errors.Join(os.Chmod(filepath.Dir(dir), 0o711), os.Chmod(dir, 0o555)); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Error(err)
		}
	}()
	if os.Geteuid() == 0 { // whom modes do not stop: another user's rights, for this thread alone
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		if err := syscall.Setfsuid(65534); err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := syscall.Setfsuid(0); err != nil {
				t.Error(err)
			}
		}()
	}
	f()
}
