package doctor

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"berth/internal/words"
)

// Free space below which a disk is named.
const (
	little    = 1 << 30
	tooLittle = 100 << 20
)

// Disk checks a directory that a server writes to, or would make. fit, if not nil, refuses file
// systems.
func Disk(what, dir string, fit func(dir string) error) []Finding {
	r := &Report{Check: "disk"}
	there := existing(dir)
	info, err := os.Stat(there)
	if err != nil || !info.IsDir() {
		r.Fail("Choose a directory.", "%s %s: %s is no directory that can be read", what, dir, there)
		return r.Findings
	}
	if fit != nil {
		if err := fit(there); err != nil {
			r.Fail("Choose a directory on a local disk.", "%s: %v", what, err)
		}
	}
	if f, err := os.CreateTemp(there, ".doctor-*"); err != nil {
		r.Fail("Run the server as the directory's owner, or give it the right to write.", "%s %s: %v", what, dir, err)
	} else if err := errors.Join(f.Close(), os.Remove(f.Name())); err != nil {
		r.Fail("Look at the disk.", "%s %s: %v", what, dir, err)
	}
	if mode := info.Mode().Perm(); there == dir && mode&0o007 != 0 {
		r.Warn("chmod o-rwx "+dir, "%s %s has mode %#o: other users get at what is recorded", what, dir, mode)
	}
	free, known := freeBytes(there)
	r.space(what, dir, free, known)
	return r.Findings
}

// space adds what is free to a directory in which nothing else was found.
func (r *Report) space(what, dir string, free int64, known bool) {
	const remedy = "Free space, or set --keep-decisions and --keep-revisions."
	switch text := words.Size(free); {
	case !known:
		if len(r.Findings) == 0 {
			r.Good("%s %s can be written to", what, dir)
		}
	case free < tooLittle:
		r.Fail(remedy, "%s %s: %s are free", what, dir, text)
	case free < little:
		r.Warn(remedy, "%s %s: %s are free", what, dir, text)
	case len(r.Findings) == 0:
		r.Good("%s %s can be written to; %s are free", what, dir, text)
	}
}

// existing returns dir, or the nearest directory above it that exists.
func existing(dir string) string {
	if abs, err := filepath.Abs(dir); err == nil {
		dir = abs
	}
	for {
		_, err := os.Lstat(dir)
		up := filepath.Dir(dir)
		if !errors.Is(err, fs.ErrNotExist) || up == dir {
			return dir
		}
		dir = up
	}
}
