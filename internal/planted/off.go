//go:build !planted

package planted

// On is false: faults exist only in binaries built with the tag planted.
func On(Fault) bool { return false }
