package sqlite

import "syscall"

// fileSystem names the file system of dir where it is one to refuse.
func fileSystem(dir string) (string, error) {
	var st syscall.Statfs_t
	if err := syscall.Statfs(dir, &st); err != nil {
		return "", err
	}
	return remoteMagic(uint32(st.Type)), nil //nolint:unconvert // its width differs by architecture
}

// remoteMagic knows the numbers of statfs(2).
func remoteMagic(magic uint32) string {
	switch magic {
	case 0x6969:
		return "NFS"
	case 0x517B, 0xFF534D42, 0xFE534D42:
		return "SMB"
	case 0x65735546:
		return "FUSE"
	default:
		return ""
	}
}
