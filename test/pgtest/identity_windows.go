package pgtest

import (
	"errors"
	"syscall"
)

type identity struct{}

func serverIdentity() (identity, error) {
	return identity{}, errors.New("this helper starts no server on Windows: set " + EnvURL)
}

func (identity) own(string) error { return nil }

func (identity) process() *syscall.SysProcAttr { return nil }
