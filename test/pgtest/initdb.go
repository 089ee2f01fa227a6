package pgtest

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// findBinaries returns the folder of postgres and initdb: from PATH, from
// Debian's folders (newest first), or as pg_config says.
func findBinaries() (string, error) {
	var dirs []string
	if path, err := exec.LookPath("postgres"); err == nil {
		if path, err = filepath.EvalSymlinks(path); err == nil {
			dirs = append(dirs, filepath.Dir(path))
		}
	}
	debian, _ := filepath.Glob("/usr/lib/postgresql/*/bin") // the pattern is sound
	slices.SortFunc(debian, func(a, b string) int { return major(b) - major(a) })
	dirs = append(dirs, debian...)
	if out, err := exec.Command("pg_config", "--bindir").Output(); err == nil {
		dirs = append(dirs, strings.TrimSpace(string(out)))
	}
	for _, dir := range dirs {
		if executable(filepath.Join(dir, "postgres")) && executable(filepath.Join(dir, "initdb")) {
			return dir, nil
		}
	}
	return "", fmt.Errorf("no postgres and initdb in PATH, /usr/lib/postgresql/*/bin or where pg_config points: install them with %s, or set %s", Install, EnvURL)
}

// major reads the 15 in /usr/lib/postgresql/15/bin; 0 where there is none.
func major(dir string) int {
	n, _ := strconv.Atoi(filepath.Base(filepath.Dir(dir)))
	return n
}

func executable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && !info.IsDir() && info.Mode().Perm()&0o111 != 0
}

var notWord = regexp.MustCompile(`[^A-Za-z0-9.]+`)

// initialise makes the data directory: a copy of the cached one takes a third
// of the time that initdb does.
func (s *Server) initialise() error {
	version, err := exec.Command(filepath.Join(s.bin, "postgres"), "--version").Output()
	if err != nil {
		return fmt.Errorf("ask postgres its version: %w", err)
	}
	cached := ""
	if dir, err := os.UserCacheDir(); err == nil {
		cached = filepath.Join(dir, "berth", "initdb-"+notWord.ReplaceAllString(strings.TrimSpace(string(version)), "-"))
		if _, err := os.Stat(filepath.Join(cached, "PG_VERSION")); err == nil {
			return s.copyData(cached)
		}
	}
	cmd := exec.Command(filepath.Join(s.bin, "initdb"), "-D", s.data(), "-U", "berth",
		"--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync")
	cmd.Dir, cmd.SysProcAttr = s.dir, s.who.process()
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("initdb: %w\n%s", err, out)
	}
	if cached != "" {
		if err := keep(s.data(), cached); err != nil {
			fmt.Fprintln(os.Stderr, "initdb is not cached:", err) // the next run takes a second longer
		}
	}
	return nil
}

// keep copies a data directory into the cache, whole or not at all.
func keep(data, cached string) error {
	if err := os.MkdirAll(filepath.Dir(cached), 0o700); err != nil {
		return err
	}
	temp, err := os.MkdirTemp(filepath.Dir(cached), "copy")
	if err != nil {
		return err
	}
	err = os.CopyFS(temp, os.DirFS(data))
	if err == nil {
		err = os.Rename(temp, cached)
	}
	if err != nil {
		err = errors.Join(err, os.RemoveAll(temp))
		if _, there := os.Stat(cached); there == nil {
			return nil // another test binary was first
		}
	}
	return err
}

func (s *Server) copyData(cached string) error {
	if err := os.CopyFS(s.data(), os.DirFS(cached)); err != nil {
		return fmt.Errorf("copy the cached data directory: %w", err)
	}
	if err := os.Chmod(s.data(), 0o700); err != nil {
		return err
	}
	return filepath.WalkDir(s.data(), func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return s.who.own(path)
	})
}
