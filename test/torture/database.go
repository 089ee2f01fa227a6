//go:build linux

package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"berth/test/pgtest"
)

// database is a private PostgreSQL that can be broken.
type database struct{ s *pgtest.Server }

func startDatabase() (*database, error) {
	s, err := pgtest.Start(pgtest.Options{})
	if err != nil {
		return nil, err
	}
	return &database{s}, nil
}

func (d *database) url() string    { return d.s.URL() }
func (d *database) socket() string { return d.s.Socket() }

// halt ends it in order, at once: sessions are cut off.
func (d *database) halt() error { return d.s.Halt(syscall.SIGINT) }

// kill ends every process of it as a crash would.
func (d *database) kill() error {
	all, err := d.processes()
	if err != nil {
		return err
	}
	for _, pid := range all {
		_ = syscall.Kill(pid, syscall.SIGKILL) // it may have ended just now
	}
	return d.s.Halt(syscall.SIGKILL)
}

// freeze stops every process of it where it stands: nothing answers, nothing is
// refused. The first to stop is the one that makes others.
func (d *database) freeze() error { return d.signalAll(syscall.SIGSTOP) }
func (d *database) thaw() error   { return d.signalAll(syscall.SIGCONT) }

func (d *database) signalAll(sig syscall.Signal) error {
	if err := d.s.Signal(sig); err != nil {
		return err
	}
	all, err := d.processes()
	if err != nil {
		return err
	}
	for _, pid := range all {
		_ = syscall.Kill(pid, sig) // it may have ended just now
	}
	return nil
}

// launch starts it again. After a crash the kernel may take a moment to give its
// memory back, and until then it refuses to start.
func (d *database) launch() error {
	var err error
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		if err = d.s.Launch(); err == nil {
			return nil
		}
	}
	return err
}

func (d *database) stop() error {
	return errors.Join(d.thaw(), d.s.Stop())
}

// processes returns the main process's children first and itself last.
func (d *database) processes() ([]int, error) {
	raw, err := os.ReadFile(filepath.Join(filepath.Dir(d.s.Socket()), "data", "postmaster.pid"))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil // it is down
	}
	if err != nil {
		return nil, err
	}
	first, _, _ := strings.Cut(string(raw), "\n")
	main, err := strconv.Atoi(strings.TrimSpace(first))
	if err != nil {
		return nil, fmt.Errorf("postmaster.pid: %w", err)
	}
	var all []int
	stats, _ := filepath.Glob("/proc/[0-9]*/stat") // none where there is no /proc: then only the main process is hit
	for _, path := range stats {
		raw, err := os.ReadFile(path)
		if err != nil {
			continue // it has ended
		}
		// pid (name) state ppid …; the name may hold anything.
		_, after, _ := strings.Cut(string(raw[strings.LastIndexByte(string(raw), ')')+1:]), " ")
		fields := strings.Fields(after)
		if len(fields) > 1 && fields[1] == strconv.Itoa(main) {
			if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path))); err == nil {
				all = append(all, pid)
			}
		}
	}
	return append(all, main), nil
}
