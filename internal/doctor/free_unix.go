//go:build linux || darwin

package doctor

import "syscall"

// freeBytes returns what the file system of a directory has left for this user.
func freeBytes(dir string) (int64, bool) {
	var st syscall.Statfs_t
	if err := syscall.Statfs(dir, &st); err != nil {
		return 0, false
	}
	return int64(st.Bavail) * int64(st.Bsize), true //nolint:unconvert // their widths differ by system
}
