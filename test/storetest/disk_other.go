//go:build !linux

package storetest

import (
	"errors"
	"testing"
)

// SmallDiskFiles is how many files the file system of OnSmallDisk may have, itself included.
const SmallDiskFiles = 100

// OnSmallDisk skips the test: only Linux has mount namespaces.
func OnSmallDisk(t *testing.T, _ int64, _ func(t *testing.T, dir string, resize func(bytes int64))) {
	t.Helper()
	noMount(t, errors.New("a small disk is made on Linux only"))
}
