package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"time"
)

type options struct {
	source, out, url, maintainer string
	platforms                    []platform
	dirty, warm                  bool
}

type platform struct{ system, arch string }

func (p platform) String() string { return p.system + "_" + p.arch }

// release is what is known of a build before anything is built.
type release struct {
	*options
	version, commit string
	time            time.Time         // of the commit
	texts           map[string][]byte // manual pages and completions, by file name
}

// name is the beginning of all files' names.
func (r *release) name() string { return "berth_" + r.version }

// command runs a program in the checkout and returns what it prints.
func command(dir string, env []string, name string, args ...string) ([]byte, error) {
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	var out, problems bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &problems
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("%s %s: %w: %s", name, strings.Join(args, " "), err, strings.TrimSpace(problems.String()))
	}
	return out.Bytes(), nil
}

var number = regexp.MustCompile(`const Number = "(v\d+\.\d+\.\d+[^"]*)"`)

// describe reads version, commit and time of a checkout, and refuses one with changes.
func describe(o *options) (*release, error) {
	r := &release{options: o, texts: map[string][]byte{}}
	raw, err := os.ReadFile(filepath.Join(o.source, "internal/version/version.go"))
	if err != nil {
		return nil, err
	}
	found := number.FindSubmatch(raw)
	if found == nil {
		return nil, errors.New("internal/version/version.go has no Number such as v1.2.3")
	}
	r.version = string(found[1])
	status, err := command(o.source, nil, "git", "status", "--porcelain")
	if err != nil {
		return nil, err
	}
	if len(status) > 0 && !o.dirty {
		return nil, fmt.Errorf("these files differ from the commit; commit them, or give -dirty to try:\n%s", status)
	}
	head, err := command(o.source, nil, "git", "log", "-1", "--format=%H %ct")
	if err != nil {
		return nil, err
	}
	commit, seconds, _ := strings.Cut(strings.TrimSpace(string(head)), " ")
	n, err := strconv.ParseInt(seconds, 10, 64)
	r.commit, r.time = commit, time.Unix(n, 0).UTC()
	return r, err
}

// settings are the environment of a build: whatever the caller's has that changes bytes is fixed.
func (p platform) settings() []string {
	return []string{"CGO_ENABLED=0", "GOOS=" + p.system, "GOARCH=" + p.arch, "GOFLAGS=", "GOAMD64=v1", "GOARM64=v8.0", "GOWORK=off", "GOEXPERIMENT="}
}

// compile builds the programs of a platform into a directory.
func (r *release) compile(p platform, dir string) error {
	_, err := command(r.source, p.settings(), "go", "build", "-trimpath", "-buildvcs=true", "-ldflags", "-s -w -buildid=", "-o", dir+"/", "./cmd/server", "./cmd/berth")
	return err
}

// build writes the release.
func build(o *options) error {
	r, err := describe(o)
	if err != nil {
		return err
	}
	work, err := os.MkdirTemp("", "berth-release")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(work) }()
	if err := errors.Join(os.RemoveAll(o.out), os.MkdirAll(o.out, 0o755)); err != nil {
		return err
	}
	host := platform{runtime.GOOS, runtime.GOARCH}
	if err := r.compile(host, filepath.Join(work, host.String())); err != nil {
		return err
	}
	if err := r.documents(filepath.Join(work, host.String())); err != nil {
		return err
	}
	images := map[string][]byte{}
	for _, p := range o.platforms {
		began := time.Now()
		programs := filepath.Join(work, p.String())
		if p != host {
			if err := r.compile(p, programs); err != nil {
				return err
			}
		}
		if err := r.platform(p, programs, images); err != nil {
			return fmt.Errorf("%s: %w", p, err)
		}
		fmt.Printf("%s in %.0f s\n", p, time.Since(began).Seconds())
	}
	if len(images) > 0 {
		if err := r.image(images); err != nil {
			return err
		}
	}
	if err := r.chart(); err != nil {
		return err
	}
	if o.url == "" {
		fmt.Println("no krew manifest: name where the archives can be fetched, make release RELEASE_URL=https://…")
	} else if err := r.krew(); err != nil {
		return err
	}
	if o.maintainer == "" {
		fmt.Println("no Debian packages: name who maintains them, make release MAINTAINER='NAME <ADDRESS>'")
	}
	return r.checksums()
}

// platform writes what is built for one platform; images gets the layer of a Linux one.
func (r *release) platform(p platform, programs string, images map[string][]byte) error {
	licences, err := collect(r.source, p)
	if err != nil {
		return err
	}
	bill, err := r.bill(p, programs, licences)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(r.out, r.name()+"_"+p.String()+".cdx.json"), bill, 0o644); err != nil {
		return err
	}
	c, err := r.contents(programs, licences.notices(r.version), bill)
	if err != nil {
		return err
	}
	packed, err := c.archive(r.time)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(r.out, r.name()+"_"+p.String()+".tar.gz"), packed, 0o644); err != nil {
		return err
	}
	if p.system != "linux" {
		return nil
	}
	if images[p.arch], err = c.layer(r.time); err != nil || r.maintainer == "" {
		return err
	}
	return r.debian(p.arch, c)
}

// documents asks the programs, built for this machine, for their manual pages and completions.
func (r *release) documents(programs string) error {
	for file, args := range map[string][]string{
		"berth.1": {"berth", "manual"}, "berth.bash": {"berth", "completion", "bash"},
		"berth.zsh": {"berth", "completion", "zsh"}, "berth.fish": {"berth", "completion", "fish"},
		"berth-server.8": {"server", "manual"}, "server.bash": {"server", "completion", "bash"},
		"server.zsh": {"server", "completion", "zsh"}, "server.fish": {"server", "completion", "fish"},
	} {
		text, err := command(r.source, nil, filepath.Join(programs, args[0]), args[1:]...)
		if err != nil {
			return err
		}
		r.texts[file] = text
	}
	return nil
}
