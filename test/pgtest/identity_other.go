//go:build unix && !linux

package pgtest

import "syscall"

// dieWithParent has nothing to offer here: a killed test leaves its server.
func dieWithParent(*syscall.SysProcAttr) {}
