package sqlite

import (
	"errors"
	"os/exec"
	"testing"

	"berth/internal/store"
)

// TestFull: a disk without room is ErrFull, said by Ping as well, and is over when there is room.
func TestFull(t *testing.T) {
	dir := t.TempDir()
	if err := exec.Command("mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", dir).Run(); err != nil {
		t.Skip("no file system of its own can be mounted here")
	}
	t.Cleanup(func() { _ = exec.Command("umount", "-l", dir).Run() })
	s, err := Open(t.Context(), dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	fill := func() error {
		return s.write(t.Context(), func(w *writer) error {
			_, err := w.conn.ExecContext(t.Context(), "CREATE TABLE IF NOT EXISTS filler (b BLOB)")
			if err == nil {
				_, err = w.conn.ExecContext(t.Context(), "INSERT INTO filler VALUES (zeroblob(262144))")
			}
			return err
		})
	}
	for err == nil {
		err = fill()
	}
	if !errors.Is(err, store.ErrFull) {
		t.Fatal(err)
	}
	if err := s.Ping(t.Context()); !errors.Is(err, store.ErrFull) {
		t.Errorf("ready on a full disk: %v", err)
	}
	if err := exec.Command("mount", "-o", "remount,size=8m", dir).Run(); err != nil {
		t.Fatal(err)
	}
	if err := s.Ping(t.Context()); err != nil {
		t.Errorf("with room again: %v", err)
	}
	if err := fill(); err != nil {
		t.Errorf("with room again: %v", err)
	}
}
