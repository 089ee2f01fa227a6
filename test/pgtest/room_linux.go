package pgtest

import "syscall"

// roomy reports that a directory is a file system in memory with space for a
// server and what tests write.
func roomy(dir string) bool {
	const tmpfs, need = 0x01021994, 4 << 30
	var st syscall.Statfs_t
	if err := syscall.Statfs(dir, &st); err != nil || int64(st.Type) != tmpfs {
		return false
	}
	return st.Bavail*uint64(st.Bsize) >= need && syscall.Access(dir, 2) == nil
}
