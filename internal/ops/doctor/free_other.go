//go:build !linux && !darwin

package doctor

// freeBytes knows nothing of other systems.
func freeBytes(string) (int64, bool) { return 0, false }

// openFiles is not known here.
func openFiles() (uint64, bool) { return 0, false }
