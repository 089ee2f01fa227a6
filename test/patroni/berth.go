//go:build linux

package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// berth is one server of berth.
type berth struct {
	dir, address string
	p            *process
}

// serve starts a server over the hosts of a URL.
func serve(ctx context.Context, program, dir, url string) (*berth, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	s := &berth{dir: dir}
	ready := filepath.Join(dir, "ready")
	var err error
	s.p, err = launch(nil, filepath.Join(dir, "log"), dir, []string{"DATABASE_URL=" + url}, program, "serve",
		"--listen", "127.0.0.1:0", "--data-dir", dir, "--spool-dir", filepath.Join(dir, "spool"), "--ready-file", ready, "--log-format", "json")
	if err != nil {
		return nil, err
	}
	return s, until(ctx, 30*time.Second, "the server "+filepath.Base(dir)+" starts", func() bool {
		address, err := os.ReadFile(ready)
		s.address = string(address)
		return err == nil
	})
}

func (s *berth) url() string { return "http://" + s.address }

// said is the server's log.
func (s *berth) said() string {
	b, _ := os.ReadFile(filepath.Join(s.dir, "log"))
	return string(b)
}

// drained reports whether nothing waits for the database.
func (s *berth) drained() bool {
	resp, err := client.Get(s.url() + "/metrics")
	if err != nil {
		return false
	}
	defer func() { _ = resp.Body.Close() }()
	var text strings.Builder
	_ = resp.Write(&text)
	return strings.Contains(text.String(), "\nberth_spool_records 0\n") && strings.Contains(text.String(), "\nberth_database_up 1\n")
}

// migrate makes the database and its schema.
func migrate(ctx context.Context, program string, leader *node, url string) error {
	if err := leader.query("postgres", "CREATE DATABASE berth"); err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, program, "migrate", "up")
	cmd.Env = append(os.Environ(), "DATABASE_URL="+url)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("migrate: %w\n%s", err, out)
	}
	return nil
}

// upload makes the cluster: nodes with room for all pods.
func upload(s *berth) error {
	var objects []string
	for i := range 20 {
		objects = append(objects, fmt.Sprintf(`{"apiVersion":"v1","kind":"Node","metadata":{"name":"n%d"},"status":{"allocatable":{"cpu":"100000","memory":"1Ti","pods":"100000"},"capacity":{"cpu":"100000","memory":"1Ti","pods":"100000"}}}`, i))
	}
	body := `{"apiVersion":"v1","kind":"List","items":[` + strings.Join(objects, ",") + `]}`
	resp, err := client.Post(s.url()+"/v1/snapshots?cluster=load", "application/json", strings.NewReader(body))
	if err != nil {
		return err
	}
	_ = resp.Body.Close()
	if resp.StatusCode != http.StatusCreated {
		return fmt.Errorf("upload: %s", resp.Status)
	}
	return nil
}
