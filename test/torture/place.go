//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// place is everything that can break: Postgres, the way to it, the replicas and
// their disks.
type place struct {
	dir      string
	program  string
	next     string          // that of the next release, in the scenario upgrade
	flags    map[string]bool // that the server knows
	pg       *database
	replicas []*replica
	notices  []string
}

// newPlace starts Postgres, brings its schema up, and starts the replicas.
func newPlace(ctx context.Context, o options, dir string) (_ *place, err error) {
	p := &place{dir: dir, program: o.Server, next: o.next}
	defer func() {
		if err != nil {
			err = errors.Join(err, p.close())
		}
	}()
	help, err := exec.CommandContext(ctx, o.Server, "serve", "--help").Output()
	if err != nil {
		return nil, fmt.Errorf("ask the server its flags: %w", err)
	}
	p.flags = map[string]bool{}
	for _, name := range []string{"--spool-dir", "--drain-delay"} {
		p.flags[name] = strings.Contains(string(help), name)
	}
	if p.pg, err = startDatabase(); err != nil {
		return nil, err
	}
	if out, err := exec.CommandContext(ctx, o.Server, "migrate", "up", "--database-url", p.pg.url()).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("migrate: %w\n%s", err, out)
	}
	for i := range o.Replicas {
		r, err := p.newReplica(ctx, fmt.Sprintf("r%d", i+1))
		if err != nil {
			return nil, err
		}
		p.replicas = append(p.replicas, r)
	}
	for _, r := range p.replicas {
		if err := r.awaitReady(ctx); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// newReplica starts a server with a disk and a way to Postgres of its own.
func (p *place) newReplica(ctx context.Context, name string) (_ *replica, err error) {
	dir := filepath.Join(p.dir, name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	r := &replica{name: name, program: p.program, dir: dir}
	defer func() {
		if err != nil {
			err = errors.Join(err, r.close())
		}
	}()
	var notice string
	if r.disk, notice, err = newDisk(ctx, filepath.Join(dir, "disk")); err != nil {
		return nil, err
	}
	if notice != "" {
		p.notices = append(p.notices, name+": "+notice)
	}
	if r.link, err = newLink(p.pg.socket()); err != nil {
		return nil, err
	}
	r.args = []string{"serve", "--listen", "127.0.0.1:0", "--data-dir", r.disk.dir, "--database-url", r.link.url(), "--log-format", "text"}
	if p.flags["--spool-dir"] {
		r.args = append(r.args, "--spool-dir", r.spoolDir())
	}
	if p.flags["--drain-delay"] {
		r.args = append(r.args, "--drain-delay", drainDelay.String())
	}
	return r, r.start()
}

// close ends everything, in the order in which it uses each other.
func (p *place) close() error {
	var errs []error
	for _, r := range p.replicas {
		errs = append(errs, r.close())
	}
	if p.pg != nil {
		errs = append(errs, p.pg.stop())
	}
	return errors.Join(errs...)
}
