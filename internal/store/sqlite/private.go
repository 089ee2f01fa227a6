package sqlite

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

// What a data directory of an older release, or one made by hand, may not allow. A group
// may be let in: a volume's (fsGroup) needs its directory, and one that reads by SQL needs the
// file.
const (
	notOfDirectory fs.FileMode = 0o007
	notOfFiles     fs.FileMode = 0o027
)

// tighten takes from others what they may do with the store's directory and with its files, and
// from the group what writes to the files. It returns what it changed, and what it could not.
func tighten(dir string) (warnings []error) {
	if runtime.GOOS == "windows" { // has no such bits
		return nil
	}
	db := filepath.Join(dir, FileName)
	for path, not := range map[string]fs.FileMode{dir: notOfDirectory, db: notOfFiles, db + "-wal": notOfFiles, db + "-shm": notOfFiles, db + ".lock": notOfFiles} {
		info, err := os.Lstat(path)
		if errors.Is(err, fs.ErrNotExist) || err == nil && info.Mode()&fs.ModeSymlink != 0 {
			continue
		}
		if err != nil {
			warnings = append(warnings, err)
			continue
		}
		was := info.Mode()
		if was.Perm()&not == 0 {
			continue
		}
		err = os.Chmod(path, was&(fs.ModePerm|fs.ModeSetgid|fs.ModeSticky|fs.ModeSetuid)&^not)
		switch {
		case err != nil:
			warnings = append(warnings, fmt.Errorf("%s has mode %#o, so that others than its owner can get at what is recorded, and it cannot be changed: %w", path, was.Perm(), err))
		default:
			warnings = append(warnings, fmt.Errorf("%s had mode %#o, so that others than its owner could get at what is recorded: it is %#o now", path, was.Perm(), was.Perm()&^not))
		}
	}
	return warnings
}

// Warnings are what people should know of the store's directory and files.
func (s *Store) Warnings() []error { return s.warnings }
