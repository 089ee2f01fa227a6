package spool

import (
	"fmt"

	"github.com/gofrs/flock"
)

// lockFile takes a lock that the system releases when the process ends, however it ends.
func lockFile(path string) (*flock.Flock, error) {
	lock := flock.New(path, flock.SetPermissions(0o600))
	switch taken, err := lock.TryLock(); {
	case err != nil:
		return nil, err
	case !taken:
		return nil, fmt.Errorf("%w: %s", ErrLocked, path)
	}
	return lock, nil
}
