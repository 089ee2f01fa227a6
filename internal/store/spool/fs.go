package spool

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"

	"github.com/gofrs/flock"
)

// FS is a directory as the spool uses it: flat, and its own while it is open.
// Tests give one that lies.
type FS interface {
	Names() ([]string, error)
	// Create makes a file that is not there yet, to be written.
	Create(name string) (File, error)
	// Open opens a file to be read.
	Open(name string) (File, error)
	Rename(from, to string) error
	Remove(name string) error
	// SyncDir makes names durable: without it a file that was made, renamed or
	// removed may come back as it was before.
	SyncDir() error
	// Close lets other processes in.
	Close() error
}

// File is a file as the spool uses it.
type File interface {
	io.Writer
	io.ReaderAt
	Sync() error
	Size() (int64, error)
	Close() error
}

type directory struct {
	path string
	lock *flock.Flock
}

// Directory opens a directory for the spool, makes it where it is missing, and
// keeps other processes out (ErrLocked). A directory or a file in it that
// others may read is refused (ErrExposed).
func Directory(path string) (FS, error) {
	if err := makeDurably(path); err != nil {
		return nil, fmt.Errorf("spool: %w", err)
	}
	if err := private(path); err != nil {
		return nil, fmt.Errorf("spool: %w", err)
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, fmt.Errorf("spool: %w", err)
	}
	for _, e := range entries {
		if err := private(filepath.Join(path, e.Name())); err != nil {
			return nil, fmt.Errorf("spool: %w", err)
		}
	}
	lock, err := lockFile(filepath.Join(path, "lock"))
	if err != nil {
		return nil, fmt.Errorf("spool: %w", err)
	}
	return &directory{path: path, lock: lock}, nil
}

// makeDurably makes a directory and those above it, each with its name on disk.
func makeDurably(path string) error {
	if _, err := os.Stat(path); err == nil || !errors.Is(err, os.ErrNotExist) {
		return err
	}
	parent := filepath.Dir(path)
	if parent != path {
		if err := makeDurably(parent); err != nil {
			return err
		}
	}
	if err := os.Mkdir(path, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	return syncDir(parent)
}

func private(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if mode := info.Mode().Perm(); mode&0o077 != 0 && runtime.GOOS != "windows" { // there the bits say nothing
		return fmt.Errorf("%w: %s has mode %#o: chmod it to %#o", ErrExposed, path, mode, mode&0o700)
	}
	return nil
}

func syncDir(path string) error {
	if runtime.GOOS == "windows" { // has no such thing
		return nil
	}
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

func (d *directory) Names() ([]string, error) {
	entries, err := os.ReadDir(d.path)
	if err != nil {
		return nil, err
	}
	names := make([]string, 0, len(entries))
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names, nil
}

func (d *directory) Create(name string) (File, error) {
	return open(filepath.Join(d.path, name), os.O_CREATE|os.O_EXCL|os.O_RDWR)
}

func (d *directory) Open(name string) (File, error) {
	return open(filepath.Join(d.path, name), os.O_RDWR) // a sync needs more than reading, on some systems
}

func open(path string, flags int) (File, error) {
	f, err := os.OpenFile(path, flags, 0o600)
	if err != nil {
		return nil, err
	}
	return osFile{f}, nil
}

func (d *directory) Rename(from, to string) error {
	return os.Rename(filepath.Join(d.path, from), filepath.Join(d.path, to))
}

func (d *directory) Remove(name string) error { return os.Remove(filepath.Join(d.path, name)) }

func (d *directory) SyncDir() error { return syncDir(d.path) }

func (d *directory) Close() error { return d.lock.Close() }

type osFile struct{ *os.File }

// Size implements File.
func (f osFile) Size() (int64, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}
