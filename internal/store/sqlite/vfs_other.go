//go:build !linux

package sqlite

// vfsName is SQLite's own VFS.
const vfsName = ""

func registerVFS() error { return nil }
