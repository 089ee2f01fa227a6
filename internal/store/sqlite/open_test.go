package sqlite

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func TestOpenRefuses(t *testing.T) {
	tests := []struct {
		name  string
		plant func(t *testing.T, dir string)
		is    error  // nil: any
		says  string // beside the file's name
	}{
		{"a store that is open", func(t *testing.T, dir string) { openAt(t, dir) }, ErrLocked, "another process uses this store"},
		{"a file that is no database", func(t *testing.T, dir string) {
			write(t, filepath.Join(dir, FileName), strings.Repeat("no database ", 1000))
		}, nil, "not a database"},
		{"a newer schema", func(t *testing.T, dir string) {
			if err := MigrateUp(t.Context(), dir); err != nil {
				t.Fatal(err)
			}
			execRaw(t, dir, "PRAGMA user_version = 99")
		}, ErrSchema, fmt.Sprint("version 99, this program knows ", newest(t))},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			tt.plant(t, dir)
			s, err := Open(t.Context(), dir, Options{})
			if err == nil {
				t.Fatal("opened", s.Close())
			}
			if tt.is != nil && !errors.Is(err, tt.is) {
				t.Errorf("error %v, want %v", err, tt.is)
			}
			for _, want := range []string{tt.says, filepath.Join(dir, FileName)} {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error %q does not say %q", err, want)
				}
			}
		})
	}
}

func TestSecondProcessIsRefused(t *testing.T) {
	dir := t.TempDir()
	s := openAt(t, dir)
	out, err := child(t, "open", dir).CombinedOutput()
	if err == nil || !strings.Contains(string(out), s.Path()) || !strings.Contains(string(out), ErrLocked.Error()) {
		t.Errorf("second process: %v, %s", err, out)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if out, err := child(t, "open", dir).CombinedOutput(); err != nil {
		t.Errorf("after Close: %v, %s", err, out)
	}
}

func TestRemoteFileSystemsAreRefused(t *testing.T) {
	for _, kind := range []string{"NFS", "SMB", "FUSE"} {
		err := refuseRemote("/data", func(string) (string, error) { return kind, nil })
		if !errors.Is(err, ErrRemote) || !strings.Contains(err.Error(), "/data is on "+kind) {
			t.Errorf("%s: %v", kind, err)
		}
	}
	if err := refuseRemote(t.TempDir(), fileSystem); err != nil {
		t.Errorf("the directory for tests: %v", err)
	}
	if err := refuseRemote(filepath.Join(t.TempDir(), "missing"), fileSystem); err == nil {
		t.Error("a directory that is not there passed")
	}
}

// A path is put into a URI, where these letters mean something.
func TestOpenInAwkwardDirectory(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a b?mode=memory#c%20d&é")
	s := openAt(t, dir)
	if _, err := os.Stat(filepath.Join(dir, FileName)); err != nil {
		t.Error(err)
	}
	if s.Path() != filepath.Join(dir, FileName) {
		t.Errorf("Path = %s", s.Path())
	}
}

func TestFilesAreTheOwnersOnly(t *testing.T) {
	if runtime.GOOS == "windows" {
		return // has no such bits
	}
	dir := filepath.Join(t.TempDir(), "data")
	openAt(t, dir)
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(files) != 4 { // the database, its WAL and shared memory, the lock
		t.Errorf("files %v, want 4", files)
	}
	for _, f := range files {
		info, err := f.Info()
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s is %v", f.Name(), info.Mode())
		}
	}
}

// TestTightened: what an existing directory and existing files let others do is taken from them,
// and told.
func TestTightened(t *testing.T) {
	if runtime.GOOS == "windows" {
		return // has no such bits
	}
	dir := filepath.Join(t.TempDir(), "data")
	if err := openAt(t, dir).Close(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, FileName)
	for p, mode := range map[string]os.FileMode{dir: 0o777 | os.ModeSetgid, path: 0o666, path + ".lock": 0o640} {
		if err := os.Chmod(p, mode); err != nil {
			t.Fatal(err)
		}
	}
	s := openAt(t, dir)
	for p, want := range map[string]os.FileMode{dir: 0o770 | os.ModeSetgid | os.ModeDir, path: 0o640, path + "-wal": 0o640, path + "-shm": 0o640, path + ".lock": 0o640} {
		info, err := os.Stat(p)
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode()&^0o040 != want&^0o040 {
			t.Errorf("%s is %v, want %v", p, info.Mode(), want)
		}
	}
	told := fmt.Sprint(s.Warnings())
	if len(s.Warnings()) != 2 || !strings.Contains(told, dir+" had mode 0777") || !strings.Contains(told, path+" had mode 0666") {
		t.Errorf("told %s", told)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if s := openAt(t, dir); len(s.Warnings()) != 0 {
		t.Errorf("told again: %v", s.Warnings())
	}
}

func TestPragmasReachEveryConnection(t *testing.T) {
	s := openAt(t, t.TempDir())
	want := map[string]string{"journal_mode": "wal", "synchronous": "2", "busy_timeout": "10", "foreign_keys": "1"}
	for pragma, value := range want {
		var got string
		if err := s.writes.conn.QueryRowContext(t.Context(), "PRAGMA "+pragma).Scan(&got); err != nil || got != value {
			t.Errorf("writer's %s = %q, %v, want %q", pragma, got, err, value)
		}
	}
	for range 3 {
		conn, err := s.reads.Conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = conn.Close() }()
		if _, err := conn.ExecContext(t.Context(), "DELETE FROM decisions"); err == nil {
			t.Error("a reader may write")
		}
	}
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}
