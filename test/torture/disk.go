//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
)

// diskSize is small enough to be filled in a moment.
const diskSize = 96 << 20

// disk is where a replica spools. Mounted it is a file system of its own, which
// can be frozen and filled; elsewhere it is a plain directory, which can neither.
type disk struct {
	dir, image string
	mounted    bool
	frozen     bool
}

// newDisk mounts a small file system where that is possible; else notice names the reason not.
func newDisk(ctx context.Context, dir string) (_ *disk, notice string, err error) {
	d := &disk{dir: dir, image: dir + ".img"}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, "", err
	}
	if os.Geteuid() != 0 {
		return d, "no disk of its own can be mounted without root: it is neither frozen nor filled", nil
	}
	if err := os.WriteFile(d.image, nil, 0o600); err != nil {
		return nil, "", err
	}
	if err := os.Truncate(d.image, diskSize); err != nil {
		return nil, "", err
	}
	for _, c := range [][]string{{"mkfs.ext4", "-q", "-m", "0", d.image}, {"mount", "-o", "loop", d.image, dir}} {
		if out, err := exec.CommandContext(ctx, c[0], c[1:]...).CombinedOutput(); err != nil {
			return d, fmt.Sprintf("no disk of its own, so it is neither frozen nor filled: %v: %v %s", c, err, out), nil
		}
	}
	d.mounted = true
	return d, "", os.Chmod(dir, 0o700)
}

// freeze makes every write and fsync wait until thaw.
func (d *disk) freeze() error {
	d.frozen = true
	return command("fsfreeze", "-f", d.dir)
}

func (d *disk) thaw() error {
	if !d.frozen {
		return nil
	}
	d.frozen = false
	return command("fsfreeze", "-u", d.dir)
}

func (d *disk) ballast() string { return filepath.Join(d.dir, "ballast") }

// fill leaves no room: writes fail with ENOSPC.
func (d *disk) fill() error {
	f, err := os.OpenFile(d.ballast(), os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	chunk := make([]byte, 1<<20)
	for err == nil || len(chunk) > 512 {
		if err != nil {
			chunk = chunk[:len(chunk)/2]
		}
		_, err = f.Write(chunk)
	}
	if !errors.Is(err, syscall.ENOSPC) {
		return errors.Join(err, f.Close())
	}
	return f.Close()
}

func (d *disk) empty() error {
	if err := os.Remove(d.ballast()); !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

func (d *disk) close() error {
	if d == nil || !d.mounted {
		return nil
	}
	return errors.Join(d.thaw(), command("umount", d.dir), os.Remove(d.image))
}

func command(name string, args ...string) error {
	if out, err := exec.Command(name, args...).CombinedOutput(); err != nil {
		return fmt.Errorf("%s %v: %w %s", name, args, err, out)
	}
	return nil
}
