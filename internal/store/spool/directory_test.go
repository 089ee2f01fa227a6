package spool

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"berth/internal/store"
)

// The spool is its owner's alone, and says so rather than mending it.
func TestDirectoryIsPrivate(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "spool")
	files, err := Directory(dir)
	if err != nil {
		t.Fatal(err)
	}
	j, _, err := openJournal(files, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if err := j.append(recordsOf(t, "c", 0, 1), began); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(dir, segmentName(1))
	for path, want := range map[string]os.FileMode{dir: 0o700, name: 0o600} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v", path, info.Mode(), err)
		}
	}
	if err := j.close(); err != nil {
		t.Fatal(err)
	}
	for path, mode := range map[string]os.FileMode{dir: 0o750, name: 0o604} {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		if _, err := Directory(dir); !errors.Is(err, ErrExposed) {
			t.Errorf("%s with mode %o: %v", path, mode, err)
		}
		if err := os.Chmod(path, info.Mode().Perm()); err != nil {
			t.Fatal(err)
		}
	}
}

// What is above the limit of a record is refused, not cut.
func TestRecordAboveLimit(t *testing.T) {
	opened(t, Options{Limits: Limits{Record: 4000}}, func(t *testing.T, w *Writer, db *database, _ *liar) {
		db.set(away)
		large, small := decision("c", 1), decision("c", 2)
		large.Decision.Input = make([]byte, 4000)
		if err := w.Append(t.Context(), []*store.Entry{large, small}); err != nil {
			t.Fatal(err)
		}
		if !errors.Is(large.Err, store.ErrUnavailable) || small.Err != nil {
			t.Errorf("large: %v, small: %v", large.Err, small.Err)
		}
	})
}
