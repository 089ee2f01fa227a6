// Package process starts the server that a suite watches from outside.
package process

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
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

// Send sends JSON and returns the answer, which has to be one of success. headers are names and
// values in turns.
func (s *Server) Send(client *http.Client, method, path, body string, headers ...string) ([]byte, error) {
	req, err := http.NewRequest(method, "http://"+s.Host+path, strings.NewReader(body)) //nolint:noctx // the process ends with it
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	res, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	defer func() { _ = res.Body.Close() }()
	raw, err := io.ReadAll(res.Body)
	if err == nil && res.StatusCode >= 300 {
		err = fmt.Errorf("%s: %d %.300s", path, res.StatusCode, raw)
	}
	return raw, err
}
