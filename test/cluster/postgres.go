package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
)

// postgres is a private database that can be stopped.
type postgres struct {
	url   string
	cmd   *exec.Cmd
	in    io.WriteCloser
	lines *bufio.Scanner
}

// postgres starts one and makes berth's schema in it.
func (e *env) postgres() (*postgres, error) {
	p := &postgres{cmd: exec.Command(e.options.database)}
	p.cmd.Stderr = os.Stderr
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	var err error
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p.lines = bufio.NewScanner(out)
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start a database: %w", err)
	}
	e.later(func() {
		_ = p.in.Close() // it ends with its input
		_ = p.cmd.Wait() // and says so on its own
	})
	if p.url, err = p.line(); err != nil {
		return nil, err
	}
	if text, err := exec.Command(e.options.server, "migrate", "up", "--database-url", p.url).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("migrate: %w: %s", err, text)
	}
	return p, nil
}

func (p *postgres) line() (string, error) {
	if !p.lines.Scan() {
		return "", fmt.Errorf("the database ended: %w", p.lines.Err())
	}
	return strings.TrimSpace(p.lines.Text()), nil
}

func (p *postgres) do(word string) error {
	if _, err := fmt.Fprintln(p.in, word); err != nil {
		return err
	}
	_, err := p.line()
	return err
}
