package sqlite

import (
	"strings"
	"syscall"
)

// fileSystem names the file system of dir where it is one to refuse.
func fileSystem(dir string) (string, error) {
	var st syscall.Statfs_t
	if err := syscall.Statfs(dir, &st); err != nil {
		return "", err
	}
	var name strings.Builder
	for _, c := range st.Fstypename {
		if c == 0 {
			break
		}
		name.WriteByte(byte(c))
	}
	switch n := name.String(); {
	case n == "nfs":
		return "NFS", nil
	case n == "smbfs":
		return "SMB", nil
	case strings.Contains(n, "fuse"):
		return "FUSE", nil
	default:
		return "", nil
	}
}
