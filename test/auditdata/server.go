package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"berth/test/process"
)

// callers are the identities of the load, each with a role and the cluster that it is for.
// Anonymous calls come beside them.
var callers = []struct{ name, role, cluster string }{
	{"sre", "admin", ""},
	{"scheduler-prod", "binder", "prod"},
	{"scheduler", "binder", ""},
	{"controller", "admin", ""},
	{"planner", "decider", ""},
	{"dashboard", "viewer", "prod"},
}

const anonymous = ""

// server is a running server and the tokens of its callers.
type server struct {
	*process.Server
	program, dir string
	address      []string
	tokens       map[string]string
	client       *http.Client
}

// open brings the schema up to date, makes the tokens, and starts the server.
func open(program, dir string, address []string) (*server, error) {
	s := &server{program: program, dir: dir, address: address, tokens: map[string]string{}}
	s.client = &http.Client{Timeout: time.Minute, Transport: &http.Transport{MaxIdleConnsPerHost: 32}}
	if _, err := s.command("migrate", "up"); err != nil {
		return nil, err
	}
	for _, c := range callers {
		args := []string{"token", "create", "--name", c.name, "--role", c.role}
		if c.cluster != "" {
			args = append(args, "--cluster", c.cluster)
		}
		out, err := s.command(args...)
		if err != nil {
			return nil, err
		}
		s.tokens[c.name] = strings.TrimSpace(string(out))
	}
	return s, s.serve()
}

func (s *server) command(args ...string) ([]byte, error) {
	var said bytes.Buffer
	cmd := exec.Command(s.program, append(args, s.address...)...)
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w: %s", args, err, said.Bytes())
	}
	return out, nil
}

// serve starts the server with more flags.
func (s *server) serve(flags ...string) (err error) {
	ready := filepath.Join(s.dir, "ready")
	if err := os.Remove(ready); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	args := append([]string{"serve", "--listen", "127.0.0.1:0", "--ready-file", ready, "--log-level", "error", "--capacity-interval", "1s"}, s.address...)
	s.Server, err = process.Start(exec.Command(s.program, append(args, flags...)...), ready)
	return err
}

// send makes a call by name, or anonymously, and reads an answer that is a success into a value.
func (s *server) send(by, method, path string, in, into any) (status int, err error) {
	body, err := json.Marshal(in)
	if err != nil {
		return 0, err
	}
	req, err := http.NewRequest(method, "http://"+strings.TrimSpace(s.Host)+path, bytes.NewReader(body)) //nolint:noctx // the client has a deadline
	if err != nil {
		return 0, err
	}
	req.Header.Set("Content-Type", "application/json")
	if by != anonymous {
		req.Header.Set("Authorization", "Bearer "+s.tokens[by])
	}
	res, err := s.client.Do(req)
	if err != nil {
		return 0, err
	}
	defer func() { _ = res.Body.Close() }()
	var answer bytes.Buffer
	if _, err := answer.ReadFrom(res.Body); err != nil {
		return res.StatusCode, err
	}
	if res.StatusCode >= 300 {
		return res.StatusCode, fmt.Errorf("%s %s by %q: %d %.300s", method, path, by, res.StatusCode, answer.Bytes())
	}
	if into != nil {
		err = json.Unmarshal(answer.Bytes(), into)
	}
	return res.StatusCode, err
}
