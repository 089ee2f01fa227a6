package pgtest

import "syscall"

// dieWithParent ends the server when the test is killed.
func dieWithParent(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGQUIT }
