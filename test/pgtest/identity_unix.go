//go:build unix

package pgtest

import (
	"errors"
	"os"
	"os/user"
	"strconv"
	"syscall"
)

// identity is whom the server runs as: PostgreSQL refuses root.
type identity struct {
	drop     bool
	uid, gid int
}

func serverIdentity() (identity, error) {
	if os.Geteuid() != 0 {
		return identity{}, nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, err := strconv.Atoi(u.Uid)
		if err != nil {
			return identity{}, err
		}
		gid, err := strconv.Atoi(u.Gid)
		if err != nil {
			return identity{}, err
		}
		return identity{drop: true, uid: uid, gid: gid}, nil
	}
	return identity{}, errors.New("postgres does not run as root, and there is no user postgres or nobody")
}

// own hands a file over to the server.
func (i identity) own(path string) error {
	if !i.drop {
		return nil
	}
	return os.Lchown(path, i.uid, i.gid)
}

func (i identity) process() *syscall.SysProcAttr {
	attr := &syscall.SysProcAttr{Setpgid: true} // an interrupt at the terminal is for the test
	if i.drop {
		attr.Credential = &syscall.Credential{Uid: uint32(i.uid), Gid: uint32(i.gid)}
	}
	dieWithParent(attr)
	return attr
}
