// Package process starts the server that a suite watches from outside.
package process

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// Server is a running server.
type Server struct {
	Cmd *exec.Cmd
	// Host is where it listens, an address and a port.
	Host string
	// Ended is closed once the process has ended.
	Ended chan struct{}
}

// Start starts a command and waits until the server has written its ready file.
func Start(cmd *exec.Cmd, ready string) (*Server, error) {
	s := &Server{Cmd: cmd, Ended: make(chan struct{})}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	go func() { _ = cmd.Wait(); close(s.Ended) }()
	for range 600 {
		if address, err := os.ReadFile(ready); err == nil {
			s.Host = string(address)
			return s, nil
		}
		if !s.Alive() {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	s.Stop()
	return nil, errors.New("the server did not start")
}

// Alive reports whether the process has not ended.
func (s *Server) Alive() bool {
	select {
	case <-s.Ended:
		return false
	default:
		return true
	}
}

// Stop ends the process in order, or kills it where that takes over 30 seconds.
func (s *Server) Stop() {
	_ = s.Cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-s.Ended:
	case <-time.After(30 * time.Second):
		_ = s.Cmd.Process.Kill()
		<-s.Ended
	}
}
