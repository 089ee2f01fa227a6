package main

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"berth/test/process"
)

// memory is what the server has, in bytes; the audit's requests are sent to one with as much as
// theirs had.
var memory = 1 << 30

// server is the process under attack.
type server struct {
	*process.Server
	url      string
	bound    string // what holds it to its memory
	cgroup   string
	caller   *http.Client // the good one
	recorded string       // a decision that the good caller reads again
}

// launch starts a server in a memory cgroup, or with GOMEMLIMIT where none can be made.
func launch(program, dir string) (*server, error) {
	s := &server{bound: "GOMEMLIMIT and a look at the RSS", caller: &http.Client{Timeout: 5 * time.Second, Transport: &http.Transport{DialContext: from("127.0.0.3").DialContext, DisableKeepAlives: true}}}
	ready := filepath.Join(dir, "ready")
	var cmd *exec.Cmd
	cmd, s.cgroup = process.Within(memory, program, "serve", "--listen", "127.0.0.1:0", "--data-dir", filepath.Join(dir, "data"), "--ready-file", ready, "--log-level", "error")
	if s.cgroup != "" {
		s.bound = fmt.Sprintf("a cgroup of %d GiB", memory>>30)
	}
	var err error
	if s.Server, err = process.Start(cmd, ready); err != nil {
		_ = os.Remove(s.cgroup)
		return nil, err
	}
	s.url = "http://" + s.Host
	return s, nil
}

func (s *server) stop() {
	_ = s.Cmd.Process.Signal(syscall.SIGKILL)
	<-s.Ended
	if s.cgroup != "" {
		_ = os.Remove(s.cgroup)
	}
}

// cpu is what the process has used, in seconds.
func (s *server) cpu() float64 {
	spent, err := process.CPU(s.Cmd.Process.Pid)
	if err != nil {
		return 0 // it has ended
	}
	return spent.Seconds()
}

// forgetPeak makes the kernel begin the peak of the RSS anew.
func (s *server) forgetPeak() {
	_ = os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", s.Cmd.Process.Pid), []byte("5"), 0o600)
}

// peak is the highest RSS, in MiB.
func (s *server) peak() int {
	raw, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.Cmd.Process.Pid))
	_, rest, _ := strings.Cut(string(raw), "VmHWM:")
	line, _, _ := strings.Cut(rest, "kB")
	kib, _ := strconv.Atoi(strings.TrimSpace(line))
	return kib >> 10
}

// from dials from another address of loopback: slots and connections are shared by address.
func from(address string) *net.Dialer {
	return &net.Dialer{Timeout: 2 * time.Second, LocalAddr: &net.TCPAddr{IP: net.ParseIP(address)}}
}
