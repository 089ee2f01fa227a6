package storetest

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"testing"
)

// onSmallDisk is set in a process that has a mount namespace of its own.
const onSmallDisk = "BERTH_ON_SMALL_DISK"

// SmallDiskFiles is how many files the file system of OnSmallDisk may have, itself included.
const SmallDiskFiles = 100

// OnSmallDisk runs a test whose name is its own, no subtest's, in a process with a mount namespace
// of its own, and there with a file system of so many bytes, which resize makes larger or smaller.
// The namespace needs no root where users may make one. Where the system refuses both, the test is
// skipped, but not in CI (CI=true): there it fails.
func OnSmallDisk(t *testing.T, bytes int64, test func(t *testing.T, dir string, resize func(bytes int64))) {
	t.Helper()
	if os.Getenv(onSmallDisk) == "" {
		inNamespace(t)
		return
	}
	dir := t.TempDir()
	mount := func(flags uintptr, bytes int64) error {
		return syscall.Mount("tmpfs", dir, "tmpfs", flags, fmt.Sprintf("size=%d,nr_inodes=%d,mode=0700", bytes, SmallDiskFiles))
	}
	if err := errors.Join(syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""), mount(0, bytes)); errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.EACCES) {
		noMount(t, err)
	} else if err != nil {
		t.Fatalf("mount a small file system: %v", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) })
	test(t, dir, func(bytes int64) {
		t.Helper()
		if err := mount(syscall.MS_REMOUNT, bytes); err != nil {
			t.Fatalf("resize the file system: %v", err)
		}
	})
}

// inNamespace runs the test that calls it in a process of its own: as root in a mount namespace,
// else as the root of a user namespace.
func inNamespace(t *testing.T) {
	t.Helper()
	start := func(attr *syscall.SysProcAttr) (*exec.Cmd, error) {
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v", "-test.timeout=5m")
		cmd.Env = append(os.Environ(), onSmallDisk+"=1")
		cmd.Stdout, cmd.Stderr = t.Output(), t.Output()
		cmd.SysProcAttr = attr
		return cmd, cmd.Start()
	}
	cmd, err := start(&syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS})
	if err != nil {
		cmd, err = start(&syscall.SysProcAttr{
			Cloneflags:  syscall.CLONE_NEWNS | syscall.CLONE_NEWUSER,
			UidMappings: []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}}, GidMappings: []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}},
		})
	}
	if err != nil {
		noMount(t, fmt.Errorf("no mount namespace can be made, neither as root nor in a user namespace: %w", err))
	}
	if err := cmd.Wait(); err != nil {
		t.Fatalf("%s on a small disk: %v", t.Name(), err)
	}
}
