package sqlite

import (
	"fmt"

	"github.com/gofrs/flock"
)

// lockFile takes a lock that the system releases when the process ends, however it ends. A stale
// lock cannot keep a server from starting.
func lockFile(path string) (*flock.Flock, error) {
	lock := flock.New(path, flock.SetPermissions(0o600))
	switch taken, err := lock.TryLock(); {
	case err != nil:
		return nil, fmt.Errorf("lock %s: %w", path, err)
	case !taken:
		return nil, fmt.Errorf("%w (%s is locked): stop the other server, or choose another --data-dir", ErrLocked, path)
	}
	return lock, nil
}
