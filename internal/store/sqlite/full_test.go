package sqlite

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"berth/internal/store"
	"berth/test/storetest"
)

// TestFull: a disk without room is ErrFull, said by Ping as well, and is over when there is room.
func TestFull(t *testing.T) {
	storetest.OnSmallDisk(t, 2<<20, func(t *testing.T, dir string, resize func(int64)) {
		s := openAt(t, dir)
		fill := func() error {
			return s.write(t.Context(), func(w *writer) error {
				_, err := w.conn.ExecContext(t.Context(), "CREATE TABLE IF NOT EXISTS filler (b BLOB)")
				if err == nil {
					_, err = w.conn.ExecContext(t.Context(), "INSERT INTO filler VALUES (zeroblob(262144))")
				}
				return err
			})
		}
		var err error
		for err == nil {
			err = fill()
		}
		if !errors.Is(err, store.ErrFull) {
			t.Fatal(err)
		}
		if err := s.Ping(t.Context()); !errors.Is(err, store.ErrFull) {
			t.Errorf("ready on a full disk: %v", err)
		}
		resize(8 << 20)
		if err := s.Ping(t.Context()); err != nil {
			t.Errorf("with room again: %v", err)
		}
		if err := fill(); err != nil {
			t.Errorf("with room again: %v", err)
		}
	})
}

// TestOpenFull: a store on a disk without a byte, or without a file, to spare does not open for
// that reason. SQLite says "disk I/O error" of its shared memory then, and "unable to open database
// file" of its log.
func TestOpenFull(t *testing.T) {
	storetest.OnSmallDisk(t, 4<<20, func(t *testing.T, dir string, _ func(int64)) {
		closed := func(s *Store, err error) error {
			if err != nil {
				return err
			}
			return s.Close()
		}
		if err := closed(Open(t.Context(), dir, Options{})); err != nil {
			t.Fatal(err)
		}
		more := filepath.Join(dir, "more")
		for what, use := range map[string]func() error{
			"bytes": func() error { return os.WriteFile(more, make([]byte, 8<<20), 0o600) },
			"files": func() (err error) {
				for i := 0; err == nil && i <= storetest.SmallDiskFiles; i++ {
					err = os.WriteFile(filepath.Join(more, fmt.Sprint(i)), nil, 0o600)
				}
				return err
			},
		} {
			if what == "files" {
				if err := os.Mkdir(more, 0o700); err != nil {
					t.Fatal(err)
				}
			}
			if err := use(); !errors.Is(err, syscall.ENOSPC) {
				t.Fatalf("%s: the disk is not full: %v", what, err)
			}
			err := closed(Open(t.Context(), dir, Options{}))
			if !errors.Is(err, store.ErrFull) {
				t.Errorf("%s: %v", what, err)
			}
			t.Log(what, err)
			if err := os.RemoveAll(more); err != nil {
				t.Fatal(err)
			}
			if err := closed(Open(t.Context(), dir, Options{})); err != nil {
				t.Errorf("%s: with room again: %v", what, err)
			}
		}
	})
}
