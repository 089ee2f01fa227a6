package sqlite

import "fmt"

// refuseRemote refuses a directory on which SQLite's locks or its shared
// memory cannot be relied on: there the file breaks sooner or later. of names
// the file system where it is such a one.
func refuseRemote(dir string, of func(dir string) (string, error)) error {
	kind, err := of(dir)
	if err != nil {
		return fmt.Errorf("find file system of %s: %w", dir, err)
	}
	if kind != "" {
		return fmt.Errorf("%w: %s is on %s; choose a directory on a local disk, or Postgres", ErrRemote, dir, kind)
	}
	return nil
}

// CheckDirectory refuses a directory on a file system on which a store could not be relied on. It
// changes nothing.
func CheckDirectory(dir string) error { return refuseRemote(dir, fileSystem) }
